//! Runs the built program and tells everything when it does something else than expected.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::dir::TestDir;

/// What may be stored of originals.
pub(crate) const FORMS: [&str; 2] = ["hidden", "whole"];

/// One call of the program.
pub(crate) struct TestCommand {
    command: Command,
    input: Vec<u8>,
}

/// `condenser` with arguments, in the folder `root`.
pub(crate) fn condenser(root: &Path, args: &[&str]) -> TestCommand {
    let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
    command.args(args).current_dir(root).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    TestCommand { command, input: Vec::new() }
}

/// Compresses `in.jsonl` with these flags in every format, and restores it from each; gives with the format what the first mark of
/// the conversation `s` hides.
pub(crate) fn in_every_format(dir: &TestDir, flags: &[&str]) -> [(&'static str, String); 3] {
    ["jsonl", "parquet", "arrow"].map(|format| {
        condenser(dir.root(), &[&["compress", "in.jsonl", "-o", format, "--format", format][..], flags].concat()).ok();
        condenser(dir.root(), &["verify", format]).ok();
        let back = format!("{format}-back");
        condenser(dir.root(), &["restore", format, "-o", &back]).ok();
        assert_eq!(dir.read(&format!("{back}/in.jsonl")), dir.read("in.jsonl"), "{flags:?} {format}");
        let hidden = condenser(dir.root(), &["get", format, "s", "--mark", "1"]).ok();
        (format, String::from_utf8(hidden.stdout).expect("text"))
    })
}

/// What a call gave.
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl TestCommand {
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Adds variables to the environment.
    pub(crate) fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.command.envs(variables);
        self
    }

    /// Runs and expects this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Told {
        let command = format!("{:?}", self.command);
        let told = self.ends();
        assert!(
            told.code == Some(code),
            "{command} ended with {:?}, not with {code}\nstderr:\n{}\nstdout:\n{}",
            told.code,
            told.stderr,
            String::from_utf8_lossy(&told.stdout).chars().take(2000).collect::<String>()
        );
        told
    }

    /// Runs and expects no panic.
    #[track_caller]
    pub(crate) fn ends(mut self) -> Told {
        let mut child = self.command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("stdin was piped");
        let input = std::mem::take(&mut self.input);
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let Output { status, stdout, stderr } = child.wait_with_output().expect("the program ends");
        writer.join().expect("writing does not panic");
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        assert!(!stderr.contains("panicked at"), "a panic was printed:\n{stderr}");
        Told { code: status.code(), stdout, stderr }
    }

    /// Runs and expects a clean end.
    #[track_caller]
    pub(crate) fn ok(self) -> Told {
        self.exits(0)
    }
}
