//! Kills of what `tests/crash.rs` does not kill: restore, a night of a compaction, the deletion of originals. Whatever
//! the moment, the same call again ends as if nothing had happened, and nothing is left lying about.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{JOB, age, copy_folder, count, difference, draw, exits, files_of, program, store_files, write_inputs};
use crate::support::chats::{Seeded, jsonl};
use crate::support::dir::{TestDir, files};

/// What a kill came to.
#[derive(Default)]
struct Kills {
    killed: usize,
    /// Calls that ended before their kill.
    ended: usize,
    rounds: usize,
}

impl Kills {
    /// Starts the program and kills it somewhere in `duration`, at most four times; `check` looks at what is there then.
    /// True when the last call ended by itself.
    fn some(
        &mut self,
        root: &Path,
        args: &[&str],
        duration: Duration,
        seeded: &mut Seeded,
        check: &mut dyn FnMut(),
    ) -> bool {
        self.rounds += 1;
        for _ in 0..=seeded.below(4) {
            let is_killed = kill_after(root, args, duration.mul_f64(seeded.below(1200) as f64 / 1000.0));
            check();
            if !is_killed {
                self.ended += 1;
                return true;
            }
            self.killed += 1;
        }
        false
    }

    fn tell(&self, what: &str, duration: Duration) {
        println!(
            "attack: {} kills of {what} in {} rounds of {} ms ({} ended before): nothing lost, nothing left behind",
            self.killed,
            self.rounds,
            duration.as_millis(),
            self.ended
        );
    }
}

/// False when it had ended by itself.
fn kill_after(root: &Path, args: &[&str], delay: Duration) -> bool {
    let mut command = Command::new(program());
    command.args(args).current_dir(root);
    let started = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    while started.elapsed() < delay {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            assert!(status.success(), "{args:?}: {status}");
            return false;
        }
        std::thread::sleep(Duration::from_micros(300).min(delay.saturating_sub(started.elapsed())));
    }
    child.kill().expect("it can be killed");
    // It may have ended in the very moment.
    child.wait().expect("it ends").code().is_none()
}

fn duration_of(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn is_unfinished(name: &str) -> bool {
    name.contains(".condenser-")
}

#[test]
fn a_restore_that_was_killed_ends_with_the_same_files() {
    let dir = TestDir::new();
    write_inputs(&dir, "in", 400, 91);
    exits(dir.root(), &["compress", "in", "-o", "run", "--quiet", "--split-size", "60k"], 3);
    let args = ["restore", "run", "-o", "back", "--quiet"];
    let duration = duration_of(|| drop(exits(dir.root(), &args, 0)));
    let whole = files_of(&dir, "back");
    assert_eq!(whole["a.jsonl"], dir.read("in/a.jsonl"));
    let run = files_of(&dir, "run");
    let (mut seeded, mut kills) = (draw(30), Kills::default());
    while kills.killed < count(6, 60) {
        std::fs::remove_dir_all(dir.path("back")).expect("it is there");
        kills.some(dir.root(), &args, duration, &mut seeded, &mut || {
            // What stands under its name is whole.
            for (name, bytes) in files_of(&dir, "back") {
                assert!(is_unfinished(&name) || whole.get(&name) == Some(&bytes), "{name} is wrong");
            }
        });
        exits(dir.root(), &args, 0);
        assert_eq!(difference(&files_of(&dir, "back"), &whole), None, "round {}", kills.rounds);
        assert!(files_of(&dir, "run") == run, "the run was changed");
    }
    kills.tell("restore", duration);
}

#[test]
fn a_night_that_was_killed_ends_with_the_same_store() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB.to_owned() + "split_size = \"30k\"\n");
    for (name, seed) in [("a", 92), ("b", 93)] {
        age(&dir.write(&format!("logs/{name}.jsonl"), jsonl(40, seed)));
    }
    let night = |store: &str| exits(dir.root(), &["run", "job.toml", "--set", &store_is(store)], 0);
    night("first");
    let grown = [dir.read("logs/a.jsonl"), jsonl(200, 94).into_bytes()].concat();
    age(&dir.write("logs/a.jsonl", grown));
    age(&dir.write("logs/c.jsonl", jsonl(100, 95)));
    copy_folder(&dir.path("first"), &dir.path("whole"));
    let duration = duration_of(|| drop(night("whole")));
    let whole = store_files(&dir, "whole");
    let first = store_files(&dir, "first");
    let (mut seeded, mut kills) = (draw(31), Kills::default());
    while kills.killed < count(6, 60) {
        let store = format!("store-{}", kills.rounds);
        copy_folder(&dir.path("first"), &dir.path(&store));
        let set = store_is(&store);
        let args = ["run", "job.toml", "--set", &set];
        kills.some(dir.root(), &args, duration, &mut seeded, &mut || {
            let found = store_files(&dir, &store);
            // Tables of the index are joined to larger ones.
            for (name, bytes) in first.iter().filter(|(name, _)| !name.starts_with("index/")) {
                assert!(found.get(name) == Some(bytes), "{name} of the night before was changed");
            }
        });
        // A call that was killed while it wrote its night down.
        for folder in ["nights", "index", "open", "blobs"] {
            dir.write(&format!("{store}/{folder}/.condenser-dead.tmp"), "half of it");
        }
        night(&store);
        assert_eq!(difference(&store_files(&dir, &store), &whole), None, "round {}", kills.rounds);
        std::fs::remove_dir_all(dir.path(&store)).expect("it is there");
    }
    kills.tell("a night of a compaction", duration);
}

fn store_is(name: &str) -> String {
    format!("output=\"{name}\"")
}

#[test]
fn an_expiry_that_was_killed_loses_nothing() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    for number in 0..10_u64 {
        age(&dir.write(&format!("logs/{number}.jsonl"), jsonl(30, 100 + number)));
    }
    exits(dir.root(), &["run", "job.toml"], 0);
    let (logs, store) = (files(&dir.path("logs")), store_files(&dir, "store"));
    exits(dir.root(), &["restore", "store/runs/00001", "-o", "back", "--quiet"], 0);
    assert!(files(&dir.path("back")) == logs);
    let args = ["expire", "store", "--older-than", "30d", "--yes", "--quiet"];
    let duration = duration_of(|| drop(exits(dir.root(), &args, 0)));
    assert!(files_of(&dir, "logs").is_empty());
    let (mut seeded, mut kills) = (draw(32), Kills::default());
    while kills.killed < count(6, 50) {
        put_back(&dir, &logs);
        kills.some(dir.root(), &args, duration, &mut seeded, &mut || {
            for (name, bytes) in files_of(&dir, "logs") {
                assert!(logs.get(&name) == Some(&bytes), "{name} is neither whole nor gone");
            }
            assert_eq!(difference(&store_files(&dir, "store"), &store), None);
        });
        exits(dir.root(), &args, 0);
        assert!(files_of(&dir, "logs").is_empty(), "something stayed");
        assert_eq!(difference(&store_files(&dir, "store"), &store), None);
    }
    exits(dir.root(), &["verify", "store/runs/00001", "--quiet"], 0);
    kills.tell("an expiry", duration);
}

fn put_back(dir: &TestDir, logs: &BTreeMap<String, Vec<u8>>) {
    for (name, bytes) in logs {
        age(&dir.write(&format!("logs/{name}"), bytes));
    }
}

#[test]
fn a_merge_that_was_killed_loses_nothing() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    let mut states = Vec::new();
    for night in 0..4_u64 {
        age(&dir.write("logs/a.jsonl", (0..=night).map(|part| jsonl(40, 200 + part)).collect::<String>()));
        age(&dir.write(&format!("logs/{night}.jsonl"), jsonl(30, 300 + night)));
        exits(dir.root(), &["run", "job.toml"], 0);
        states.push(files(&dir.path("logs")));
    }
    std::fs::rename(dir.path("store"), dir.path("first")).expect("it can be moved");
    let merge = |store: &str| exits(dir.root(), &["merge", store, "--every-state", "--yes"], 0);
    let check = |store: &str| {
        for (at, state) in states.iter().enumerate() {
            exits(dir.root(), &["restore", store, "--night", &(at + 1).to_string(), "-o", "back", "-q"], 0);
            assert!(files(&dir.path("back")) == *state, "{store}: night {}", at + 1);
            std::fs::remove_dir_all(dir.path("back")).expect("it is there");
        }
        exits(dir.root(), &["verify", store], 0);
    };
    copy_folder(&dir.path("first"), &dir.path("whole"));
    let duration = duration_of(|| drop(merge("whole")));
    let (mut seeded, mut kills) = (draw(33), Kills::default());
    while kills.killed < count(4, 60) {
        let store = format!("store-{}", kills.rounds);
        copy_folder(&dir.path("first"), &dir.path(&store));
        let args = ["merge", &store, "--every-state", "--yes"];
        kills.some(dir.root(), &args, duration, &mut seeded, &mut || check(&store));
        merge(&store);
        check(&store);
        let (found, whole) = (store_files(&dir, &store), store_files(&dir, "whole"));
        let runs = |files: &BTreeMap<String, Vec<u8>>| files.keys().filter(|name| name.starts_with("runs/")).count();
        assert!(runs(&found) >= runs(&whole));
        std::fs::remove_dir_all(dir.path(&store)).expect("it is there");
    }
    kills.tell("a merge of nights", duration);
}
