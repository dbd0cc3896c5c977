//! Where the real corpora are. They are not in the repository: `CONDENSER_CORPORA` names their folder, or they lie
//! beside it in `shared/corpora`. On CI they must be there.

use std::path::{Path, PathBuf};

/// Name and lines of every corpus; empty when there are none, which CI does not forgive.
pub fn lines() -> Vec<(String, Vec<String>)> {
    files()
        .into_iter()
        .map(|path| {
            let name = path.file_name().expect("a file").to_string_lossy().replace(".jsonl.zst", "");
            let bytes = zstd::decode_all(std::fs::File::open(&path).expect("readable")).expect("whole");
            let text = String::from_utf8(bytes).expect("UTF-8");
            (name, text.lines().map(str::to_owned).collect())
        })
        .collect()
}

/// The corpus files, sorted.
pub fn files() -> Vec<PathBuf> {
    let folder = std::env::var_os("CONDENSER_CORPORA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora"), PathBuf::from);
    let mut found: Vec<PathBuf> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".jsonl.zst"))
        .collect();
    found.sort();
    assert!(
        !found.is_empty() || std::env::var_os("CI").is_none(),
        "no corpora in {}: CI needs them, see CONDENSER_CORPORA",
        folder.display()
    );
    if found.is_empty() {
        println!("no corpora in {}: nothing tested over them", folder.display());
    }
    found
}
