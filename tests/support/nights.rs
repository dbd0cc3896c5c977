//! What stands in the documents of a store of nights.

use serde_json::{Value, json};

use super::dir::TestDir;

/// The documents of a store, in their order, with the hash that seals each.
fn nights(dir: &TestDir, store: &str) -> Vec<Value> {
    let read = std::fs::read_dir(dir.path(store).join("nights")).expect("a folder");
    let mut names: Vec<_> = read.map(|entry| entry.expect("a file").path()).collect();
    names.sort();
    let night = |path: &std::path::PathBuf| {
        let text = zstd::decode_all(std::fs::File::open(path).expect("a file")).expect("zstd");
        serde_json::from_slice(&text).expect("JSON")
    };
    names.iter().map(night).collect()
}

/// The logs of all nights of a store, each with the run of its night.
pub(crate) fn logs_of(dir: &TestDir, store: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for mut night in nights(dir, store) {
        let run = night["run"].take();
        for mut log in night["logs"].as_array().expect("a list").clone() {
            log["run"] = run.clone();
            all.push(log);
        }
    }
    all
}

/// Changes the document of a night and seals it again.
pub(crate) fn change_night(dir: &TestDir, name: &str, change: impl FnOnce(&mut Value)) {
    let text = zstd::decode_all(&*dir.read(name)).expect("zstd");
    let mut night: Value = serde_json::from_slice(&text).expect("JSON");
    change(&mut night);
    night.as_object_mut().expect("an object").remove("seal");
    dir.write(name, condenser::pipeline::seal_packed(&json!(night)).expect("it can be written"));
}
