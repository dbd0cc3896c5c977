//! Writes the vocabularies that the engine embeds. `cargo run --release -p condenser-benches --bin vocabularies`

use std::path::Path;

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

const LEVEL: i32 = 22;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/core/vocabularies");
    let vocabularies: [(&str, &CoreBPE); 2] =
        [("o200k_base", o200k_base_singleton()), ("cl100k_base", cl100k_base_singleton())];
    for (name, encoding) in vocabularies {
        // Behind the last token there is a gap, and then come the special ones.
        let tokens: Vec<Vec<u8>> = (0..).map_while(|rank| encoding.decode_bytes(&[rank]).ok()).collect();
        let lengths = tokens.iter().map(|token| u8::try_from(token.len()).expect("tokens are short"));
        let bytes: Vec<u8> = lengths.chain(tokens.iter().flatten().copied()).collect();
        let compressed = zstd::encode_all(&*bytes, LEVEL).expect("it is in memory");
        #[expect(clippy::disallowed_methods, reason = "a file of the repository, which git looks after")]
        std::fs::write(folder.join(format!("{name}.zst")), compressed).expect("a folder that can be written");
    }
}
