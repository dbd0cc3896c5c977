//! A folder for one test, and whole folders as text to compare.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A folder that goes away with the test.
pub(crate) struct TestDir {
    dir: tempfile::TempDir,
}

impl TestDir {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("the test needs a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder can be made");
        }
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect(name)
    }
}

/// All files below `root` by their relative names.
pub(crate) fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).expect("it lies below").to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).expect("a file can be read"));
            }
        }
    }
    found
}
