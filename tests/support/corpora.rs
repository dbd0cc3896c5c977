//! The corpora that tests look at: the sample corpus of the repository, or real ones where `CONDENSER_CORPORA` names
//! their folder. A test that looks at them has `corpora` in its name, so that one filter finds all of them.

use std::path::{Path, PathBuf};

/// The folder of the real corpora; `None` when none is named.
pub fn folder() -> Option<PathBuf> {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    assert!(test == "main" || test.contains("corpora"), "{test} looks at corpora and should be called so");
    let folder = std::env::var_os("CONDENSER_CORPORA").map(PathBuf::from);
    if let Some(folder) = &folder {
        assert!(folder.join("README.md").exists(), "no corpora in {}: see CONDENSER_CORPORA", folder.display());
    } else {
        println!("CONDENSER_CORPORA is not set: nothing is looked at beside what is in the repository");
    }
    folder
}

/// The files of the real corpora in `folder` of it, or of the sample corpus, that end so; sorted, and not empty.
pub fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.to_string_lossy().ends_with(ending));
    found.sort();
    assert!(!found.is_empty(), "no *{ending} in {}", folder.display());
    found
}

/// The files with a conversation a line: of the real corpora, or of the sample corpus.
pub fn files() -> Vec<PathBuf> {
    folder().map_or_else(sample_files, |folder| files_in(&folder, ".jsonl.zst"))
}

/// Name and lines of every corpus, or of the files of the sample corpus.
pub fn lines() -> Vec<(String, Vec<String>)> {
    files().iter().map(|path| lines_of(path)).collect()
}

/// The same of the sample corpus, in any case.
pub fn sample() -> Vec<(String, Vec<String>)> {
    sample_files().iter().map(|path| lines_of(path)).collect()
}

fn sample_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found: Vec<PathBuf> = ["jobs/sample", "jobs/sample/sessions", "tests/data"]
        .iter()
        .flat_map(|folder| files_in(&root.join(folder), ".jsonl"))
        .collect();
    assert!(found.len() >= 9);
    found
}

fn lines_of(path: &Path) -> (String, Vec<String>) {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let mut bytes = std::fs::read(path).expect("readable");
    if path.extension().is_some_and(|ending| ending == "zst") {
        bytes = zstd::decode_all(bytes.as_slice()).expect("whole");
    }
    let text = String::from_utf8(bytes).expect("UTF-8");
    (name.replace(".jsonl", "").replace(".zst", ""), text.lines().map(str::to_owned).collect())
}
