//! The library of `shim.c`, built with the compiler that links Rust programs too, and what it is told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::dir::TestDir;

/// Where the library lies; built once in a process.
fn library() -> &'static Path {
    static BUILT: OnceLock<(TestDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let dir = TestDir::new();
        let path = dir.path("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attack/shim.c");
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&path).arg(source).arg("-ldl");
        assert!(command.status().expect("cc is there: Rust links with it").success());
        (dir, path)
    });
    path
}

/// Variables that load the library and say these things to it.
pub(super) fn shimmed(say: &[(&str, &str)]) -> BTreeMap<String, String> {
    let said = say.iter().map(|&(name, value)| (format!("ATTACK_{name}"), value.to_owned()));
    said.chain([("LD_PRELOAD".to_owned(), library().to_string_lossy().into_owned())]).collect()
}
