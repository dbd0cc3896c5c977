//! A store of nights in an object store: growing, merging, expiring, and several calls at once, against a server that fails now and then.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::nights::store_of_nights;
use crate::support::command::{TestCommand, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::s3::{Fault, S3};

const JOB: &str = "kind = \"compaction\"\ninputs = [\"s3://bucket/logs\"]\noutput = \"s3://bucket/store\"\n\
                   compaction.rested_after = 0\nstore_timeout = 2\n";

/// True for a log of which the uncompressed stream comes back.
fn is_packed(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|ending| ending == "gz")
}

struct World {
    dir: TestDir,
    s3: S3,
}

impl World {
    fn new() -> Self {
        let dir = TestDir::new();
        let s3 = S3::start(&dir.path("s3"));
        dir.write("job.toml", JOB);
        Self { dir, s3 }
    }

    fn call(&self, args: &[&str]) -> TestCommand {
        condenser(self.dir.root(), args).environment(self.s3.environment())
    }

    fn states(&self) -> Vec<BTreeMap<String, Vec<u8>>> {
        store_of_nights(&self.dir, "s3/bucket/logs", &|| drop(self.call(&["run", "job.toml", "-q"]).ends()))
    }

    /// The plain logs of each of these nights come back.
    fn check(&self, states: &[BTreeMap<String, Vec<u8>>]) {
        self.call(&["verify", "s3://bucket/store"]).ok();
        for (at, state) in states.iter().enumerate().skip(1).step_by(4) {
            let night = (at + 1).to_string();
            self.call(&["restore", "s3://bucket/store", "--night", &night, "-o", "back"]).ok();
            let back = files(&self.dir.path("back"));
            for (name, bytes) in state.iter().filter(|(name, _)| !is_packed(name)) {
                let found = back.iter().find(|(found, _)| found.ends_with(name.as_str()));
                assert!(found.is_some_and(|(_, found)| found == bytes), "night {night}: {name}");
            }
            std::fs::remove_dir_all(self.dir.path("back")).expect("it is there");
        }
    }
}

#[test]
fn a_store_of_nights_lives_in_an_object_store() {
    let world = World::new();
    world.s3.server.fail(40, &[Fault::Broken, Fault::SlowDown, Fault::Reset]);
    let states = world.states();
    world.s3.server.work();
    world.check(&states);
    let shown = |command: &[&str]| world.call(command).ok().stdout;
    let before = shown(&["get", "s3://bucket/store", "e", "--compressed"]);
    for command in
        [&["ls", "s3://bucket/store"][..], &["report", "s3://bucket/store"], &["show", "s3://bucket/store", "e"]]
    {
        assert!(!shown(command).is_empty());
    }
    world.s3.server.fail(45, &[Fault::Broken, Fault::Reset, Fault::Truncate]);
    world.call(&["merge", "s3://bucket/store", "--every-state"]).ok();
    world.s3.server.work();
    world.check(&states);
    world.call(&["merge", "s3://bucket/store", "--yes"]).ok();
    let runs = files(&world.dir.path("s3/bucket/store/runs"));
    assert!(runs.keys().all(|name| name.starts_with("00007-merged/")), "{:?}", runs.keys());
    world.check(&states);
    assert!(before == shown(&["get", "s3://bucket/store", "e", "--compressed"]));
    // Originals there go like others, and what the store holds stays.
    let store = files(&world.dir.path("s3/bucket/store"));
    let told = world.call(&["expire", "s3://bucket/store", "--older-than", "0d"]).ok();
    assert_eq!(String::from_utf8_lossy(&told.stdout).lines().count(), 3, "{}", told.stderr);
    world.call(&["expire", "s3://bucket/store", "--older-than", "9d", "--yes"]).ok();
    assert_eq!(files(&world.dir.path("s3/bucket/logs")).len(), 3);
    world.call(&["expire", "s3://bucket/store", "--older-than", "0d", "--yes"]).ok();
    assert!(files(&world.dir.path("s3/bucket/logs")).is_empty());
    let names = |files: BTreeMap<String, Vec<u8>>| -> Vec<String> {
        files.into_keys().filter(|name| !name.starts_with("locks/")).collect()
    };
    assert_eq!(names(store), names(files(&world.dir.path("s3/bucket/store"))));
    world.check(&states);
}

#[test]
fn two_nights_at_once_and_nights_that_were_killed_mix_nothing() {
    let world = World::new();
    let states = world.states();
    let program = env!("CARGO_BIN_EXE_condenser");
    let start = |args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(world.dir.root()).envs(world.s3.environment());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let grown = [states[5]["chats.jsonl"].clone(), crate::support::chats::jsonl(400, 5).into_bytes()].concat();
    world.dir.write("s3/bucket/logs/chats.jsonl", &grown);
    let calls: Vec<_> = (0..3).map(|_| start(&["run", "job.toml"])).collect();
    let ended: Vec<_> = calls.into_iter().map(|call| call.wait_with_output().expect("it ends")).collect();
    let n_refused = ended.iter().filter(|ended| ended.status.code() == Some(2)).count();
    for ended in &ended {
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(matches!(ended.status.code(), Some(0 | 3)) || told.contains("is working on this store"), "{told}");
    }
    assert!(n_refused < 3);
    // Killed at any moment, a call is gone on with by the next one.
    for (round, wait) in [20, 120].into_iter().enumerate() {
        world.dir.write(&format!("s3/bucket/logs/more-{round}.jsonl"), crate::support::chats::jsonl(150, round as u64));
        let mut call = start(&["run", "job.toml"]);
        std::thread::sleep(Duration::from_millis(wait));
        call.kill().expect("it can be killed");
        call.wait().expect("it ends");
        world.call(&["run", "job.toml", "-q"]).ends();
    }
    for wait in [80, 300] {
        let mut call = start(&["merge", "s3://bucket/store", "--every-state", "--yes"]);
        std::thread::sleep(Duration::from_millis(wait));
        call.kill().expect("it can be killed");
        call.wait().expect("it ends");
        world.check(&states[..2]);
    }
    world.call(&["merge", "s3://bucket/store", "--every-state", "--yes"]).ok();
    world.check(&states);
    let now = files(&world.dir.path("s3/bucket/logs"));
    world.call(&["restore", "s3://bucket/store", "-o", "last"]).ok();
    let back = files(&world.dir.path("last"));
    for (name, bytes) in now.iter().filter(|(name, _)| !is_packed(name)) {
        assert!(back.iter().any(|(found, back)| found.ends_with(name.as_str()) && back == bytes), "{name}");
    }
}

#[test]
fn corpora_in_a_store_of_nights_come_back_from_an_object_store() {
    let world = World::new();
    let mut states = Vec::new();
    let corpora = crate::support::corpora::lines();
    for share in [2, 3] {
        for (name, lines) in &corpora {
            // A part of each, whole lines.
            let n_lines = (lines.len() * share / 12).max(1);
            let text: String = lines.iter().take(n_lines).flat_map(|line| [line.as_str(), "\n"]).collect();
            world.dir.write(&format!("s3/bucket/logs/{}.jsonl", name.split('.').next().unwrap_or_default()), text);
        }
        world.call(&["run", "job.toml", "-q"]).ends();
        states.push(files(&world.dir.path("s3/bucket/logs")));
    }
    world.check(&[&states[1..], &states[1..]].concat());
    world.call(&["merge", "s3://bucket/store", "--yes", "-q"]).ok();
    world.check(&[&states[1..], &states[1..]].concat());
}
