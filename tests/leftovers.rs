//! Restores that were killed, and two at once in one folder: what nobody works on any more goes, all else stays.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

/// Nobody waits longer for a program that starts.
const PATIENCE: Duration = Duration::from_mins(2);

/// A restore in the middle of its work: it has opened its file and waits for the rest of its records.
struct Held {
    child: Child,
    records: ChildStdin,
}

/// Compresses `text` as a filter: records on one side, the sidecar on the other.
fn filtered(dir: &TestDir, text: &str) -> Vec<u8> {
    condenser(dir.root(), &["compress", "-", "-o", "-", "--sidecar", "side.zst", "--recency-window", "0", "--quiet"])
        .input(text)
        .ok()
        .stdout
}

fn temporaries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "tmp")).collect()
}

/// Starts a restore into `out/` of `dir` and gives it its first records only.
fn hold(dir: &TestDir, name: &str, records: &[u8]) -> Held {
    let before = temporaries(&dir.path("out"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
    command.args(["restore", "--sidecar", "side.zst", "-o", &format!("out/{name}"), "-"]).current_dir(dir.root());
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it was piped");
    stdin.write_all(records).expect("it reads");
    let began = Instant::now();
    while temporaries(&dir.path("out")).iter().all(|path| before.contains(path)) {
        assert!(began.elapsed() < PATIENCE, "the restore opens its file");
        std::thread::yield_now();
    }
    Held { child, records: stdin }
}

#[test]
fn what_a_killed_restore_left_goes_with_the_next_and_nothing_of_one_at_work() {
    let dir = TestDir::new();
    let text = jsonl(40, 5);
    let records = filtered(&dir, &text);
    let (first, rest) = records.split_at(records.len() / 2);

    // Two die in the middle, one goes on.
    for mut killed in ["killed", "killed too"].map(|name| hold(&dir, name, first)) {
        killed.child.kill().expect("it can be killed");
        killed.child.wait().expect("it ends");
    }
    assert_eq!(temporaries(&dir.path("out")).len(), 2);
    let mut living = hold(&dir, "living", first);
    assert_eq!(temporaries(&dir.path("out")).len(), 1, "it swept what the dead had left, and has a file of its own");

    // Others come and end while it works.
    condenser(dir.root(), &["restore", "--sidecar", "side.zst", "-o", "out/killed", "-"]).input(&*records).ok();
    condenser(dir.root(), &["compress", "-", "-o", "run", "--recency-window", "0", "--quiet"]).input(&*text).ok();
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    condenser(dir.root(), &["get", "run", "chat/3", "-o", "out/three"]).ok();
    assert_eq!(temporaries(&dir.path("out")).len(), 1);

    living.records.write_all(rest).expect("it reads on");
    drop(living.records);
    assert!(living.child.wait().expect("it ends").success());
    let restored = files(&dir.path("out"));
    assert_eq!(restored.len(), 4, "{:?}", restored.keys());
    for name in ["killed", "living"] {
        assert!(restored[name] == text.as_bytes(), "{name}");
    }
}

#[test]
fn a_restore_called_again_goes_on_and_overwrites_nothing() {
    let dir = TestDir::new();
    let (a, b) = (jsonl(30, 7), jsonl(20, 8) + "no JSON");
    dir.write("in/a.jsonl", &a);
    dir.write("in/b.jsonl", &b);
    let args = ["compress", "in", "-o", "run", "--split-size", "4k", "--recency-window", "0", "--quiet"];
    condenser(dir.root(), &args).exits(3);
    // The first call was killed after one file.
    dir.write("out/a.jsonl", &a);
    dir.write("out/.condenser-dead.tmp", b.as_bytes().get(..9).expect("more"));
    let told = condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    assert!(told.stderr.contains("1 of them was there already"), "{}", told.stderr);
    let restored = files(&dir.path("out"));
    assert_eq!(restored.keys().collect::<Vec<_>>(), ["a.jsonl", "b.jsonl"]);
    assert!(restored["a.jsonl"] == a.as_bytes() && restored["b.jsonl"] == b.as_bytes());
    for other in [a.clone() + "\n", a.replacen('e', "E", 1), a.trim_end().to_owned(), String::new()] {
        dir.write("out/a.jsonl", &other);
        let told = condenser(dir.root(), &["restore", "run", "-o", "out"]).exits(2);
        assert!(told.stderr.contains("is not overwritten"), "{}", told.stderr);
        assert_eq!(dir.read("out/a.jsonl"), other.as_bytes());
    }
}

#[test]
fn a_restore_that_cannot_begin_sweeps_nevertheless_and_touches_no_other_file() {
    let dir = TestDir::new();
    let text = jsonl(5, 6);
    let records = filtered(&dir, &text);
    dir.write("out/taken", "mine");
    dir.write("out/.condenser-dead.tmp", "left behind");
    dir.write("out/.condenser-notes.txt", "mine too");
    let told = condenser(dir.root(), &["restore", "--sidecar", "side.zst", "-o", "out/taken", "-"]);
    let told = told.input(&*records).exits(2);
    assert!(told.stderr.contains("is not overwritten"), "{}", told.stderr);
    let left: Vec<String> = files(&dir.path("out")).into_keys().collect();
    assert_eq!(left, [".condenser-notes.txt", "taken"]);
    assert_eq!(dir.read("out/taken"), b"mine");
}
