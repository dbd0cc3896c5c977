//! Writes the published schemas anew from the types. `cargo run -p condenser-benches --bin schemas`

use std::path::Path;

use condenser::report::{generated, schema_names};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas");
    for name in schema_names() {
        let text = generated(name).expect("the name is known");
        #[expect(clippy::disallowed_methods, reason = "a file of the repository, which git looks after")]
        std::fs::write(folder.join(format!("{name}.json")), text).expect("a folder that can be written");
    }
}
