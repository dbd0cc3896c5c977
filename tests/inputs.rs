//! What the arguments of a job stand for: folders that link to themselves, what is no file, and the names under which
//! sources come back.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use condenser::error::{ErrorKind, Result};
use condenser::io::{Input, Inputs};
use condenser::pipeline::{BatchOptions, Corpus, SourceDigest, TableOptions, open_sealed};

use crate::support::chats::jsonl;
use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};

/// Runs the program, which must end: a pipe that is opened by mistake would wait for ever.
#[track_caller]
fn ends(dir: &TestDir, args: &[&str]) -> Told {
    let mut command = Command::new("timeout");
    command.arg("60").arg(env!("CARGO_BIN_EXE_condenser")).args(args).current_dir(dir.root());
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {}\n{stderr}", output.status);
    Told { code: output.status.code(), stdout: output.stdout, stderr }
}

/// The sources of a run, in order.
fn sources(dir: &TestDir, run: &str) -> Vec<String> {
    let plan: serde_json::Value = open_sealed(&dir.read(&format!("{run}/plan.json.zst")), "").expect("a plan");
    let inputs = plan["inputs"].as_array().expect("inputs");
    inputs.iter().map(|input| input["source"].as_str().expect("a source").to_owned()).collect()
}

#[cfg(unix)]
fn link(dir: &TestDir, target: &str, name: &str) {
    std::os::unix::fs::symlink(target, dir.path(name)).expect("a link can be made");
}

/// Two links in one folder that lead to it: a walk along them has 2^40 ways before the system gives up.
#[cfg(unix)]
#[test]
fn folders_that_link_to_themselves_are_read_once_and_what_was_passed_over_is_told() {
    let dir = TestDir::new();
    for (seed, name) in (0..).zip(["logs/a.jsonl", "logs/sub/b.jsonl", "elsewhere/c.jsonl"]) {
        dir.write(name, jsonl(3, seed));
    }
    link(&dir, ".", "logs/again");
    link(&dir, ".", "logs/and-again");
    link(&dir, "..", "logs/sub/up");
    link(&dir, "sub", "logs/another");
    link(&dir, "sub/b.jsonl", "logs/also.jsonl");
    link(&dir, "../elsewhere", "logs/out");
    link(&dir, "../elsewhere/c.jsonl", "logs/z.jsonl");
    let expected = ["logs/a.jsonl", "logs/out/c.jsonl", "logs/sub/b.jsonl"];
    let passed_over = [
        ("logs/again", "logs"),
        ("logs/and-again", "logs"),
        ("logs/another", "logs/sub"),
        ("logs/sub/up", "logs"),
        ("logs/also.jsonl", "logs/sub/b.jsonl"),
        ("logs/z.jsonl", "logs/out/c.jsonl"),
    ];
    for (run, argument) in [("walked", "logs"), ("matched", "logs/**/*.jsonl")] {
        let told = ends(&dir, &["compress", argument, "-o", run]);
        assert_eq!(sources(&dir, run), expected, "{argument}");
        for (path, other) in passed_over {
            let says = format!("{path} is passed over: it links to what is read as {other}\n");
            assert!(told.stderr.contains(&says), "{argument}: {path}\n{}", told.stderr);
        }
        assert_eq!(told.stderr.matches("is passed over").count(), passed_over.len(), "{}", told.stderr);
    }
    // One level of links that a pattern names is the same: the file without a link stays.
    let told = ends(&dir, &["compress", "logs/*/b.jsonl", "-o", "level"]);
    assert_eq!(sources(&dir, "level"), ["logs/sub/b.jsonl"]);
    assert!(told.stderr.contains("logs/another/b.jsonl is passed over"), "{}", told.stderr);
    // What is named is read as often as it is named, and a job file tells before it runs.
    ends(&dir, &["compress", "logs/also.jsonl", "logs/sub/b.jsonl", "-o", "named"]);
    assert_eq!(sources(&dir, "named"), ["logs/also.jsonl", "logs/sub/b.jsonl"]);
    dir.write("job.toml", "inputs = [\"logs\"]\noutput = \"run\"\n");
    let told = ends(&dir, &["run", "job.toml", "--dry-run"]);
    let says = String::from_utf8(told.stdout).expect("text");
    assert!(says.contains("# logs/again is passed over"), "{says}");
    assert!(!ends(&dir, &["compress", "logs", "-o", "quiet", "--quiet"]).stderr.contains("passed over"));
}

#[cfg(unix)]
#[test]
fn pipes_sockets_and_devices_inside_folders_are_passed_over_and_named() {
    let dir = TestDir::new();
    dir.write("logs/a.jsonl", jsonl(3, 1));
    let pipe = dir.path("logs/pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let _socket = std::os::unix::net::UnixListener::bind(dir.path("logs/socket.jsonl")).expect("a socket");
    link(&dir, "/dev/zero", "logs/device.jsonl");
    for (run, argument) in [("walked", "logs"), ("matched", "logs/*.jsonl"), ("deep", "logs/**/*.jsonl")] {
        let told = ends(&dir, &["compress", argument, "-o", run]);
        assert_eq!(sources(&dir, run), ["logs/a.jsonl"]);
        for (name, kind) in [("pipe", "pipe"), ("socket", "socket"), ("device", "device")] {
            let says = format!("logs/{name}.jsonl is passed over: it is a {kind}; to read it, name it\n");
            assert!(told.stderr.contains(&says), "{argument}: {name}\n{}", told.stderr);
        }
    }
    // A pipe that is named is read to its end.
    let text = jsonl(3, 2);
    let writer = {
        let (pipe, text) = (pipe.clone(), text.clone());
        std::thread::spawn(move || std::fs::write(pipe, text).expect("somebody reads"))
    };
    ends(&dir, &["compress", "logs/pipe.jsonl", "-o", "named"]);
    writer.join().expect("it was read");
    assert_eq!(ends(&dir, &["restore", "named", "-o", "-"]).stdout, text.as_bytes());
}

/// Reads `before` while it becomes what `change` makes of it.
fn read_while(before: &str, change: impl FnOnce(&Path)) -> Result<SourceDigest> {
    let dir = TestDir::new();
    let path = dir.write("in.jsonl", before);
    let input = Input::new("in.jsonl", Some(path.as_path().into()));
    let batches = BatchOptions { batch_bytes: 4 << 10, ..BatchOptions::default() };
    let (inputs, planned) = Inputs::plan(vec![input], batches, TableOptions::default(), 1 << 30)?;
    let mut source = inputs.open(0, &planned[0].0, &planned[0].1[0])?;
    source.next_batch()?.expect("there is more than one batch");
    change(&path);
    while source.next_batch()?.is_some() {}
    source.digest()
}

#[test]
fn a_file_that_becomes_another_while_it_is_read_is_no_input_and_one_that_grows_is() {
    let (before, after) = (jsonl(6000, 1), jsonl(6100, 2));
    assert!(before.len() > 2 << 20 && after.len() > before.len());
    let write = |path: &Path, text: &[u8]| std::fs::write(path, text).expect("it can be written");
    let is_refused = |result: Result<SourceDigest>| {
        let error = result.expect_err("it is a mix of two files");
        assert!(error.kind == ErrorKind::Input && error.message.contains("changed while it was read"), "{error}");
    };
    is_refused(read_while(&before, |path| write(path, after.as_bytes())));
    // Other bytes of the same number, and the times put back.
    is_refused(read_while(&before, |path| {
        let time = std::fs::metadata(path).and_then(|found| found.modified()).expect("it has a time");
        write(path, &after.as_bytes()[..before.len()]);
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("it is there");
        file.set_modified(time).expect("it can be set");
    }));
    let digest =
        read_while(&before, |path| write(path, (before.clone() + &after).as_bytes())).expect("it has only grown");
    assert_eq!(digest.bytes, before.len() as u64);
    read_while(&before, |path| std::fs::rename(path, path.with_extension("1")).expect("it moves")).expect("a new name");
}

#[test]
fn sources_whose_names_collide_all_come_back_under_names_of_their_own() {
    let dir = TestDir::new();
    let names = [
        "in/a.jsonl",
        "in/a.jsonl.zst",
        "in/part-00001-a.jsonl",
        "in/x.jsonl.zst",
        "in/x.jsonl/y.jsonl",
        "in/.condenser-abc.tmp",
        "in/A.jsonl",
    ];
    let mut texts = BTreeMap::new();
    for (seed, name) in (0..).zip(names) {
        let text = jsonl(3, seed);
        let packed = name.contains(".zst").then(|| zstd::encode_all(text.as_bytes(), 1).expect("it packs"));
        dir.write(name, packed.unwrap_or_else(|| text.clone().into_bytes()));
        texts.insert(name, text.into_bytes());
    }
    let args: Vec<&str> = ["compress"].into_iter().chain(names).chain(["-o", "run"]).collect();
    condenser(dir.root(), &args).ok();
    let told = condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    let expected: BTreeMap<String, Vec<u8>> = [
        ("a.jsonl", "in/a.jsonl"),
        ("part-00001-part-00001-a.jsonl", "in/a.jsonl.zst"),
        ("part-00001-a.jsonl", "in/part-00001-a.jsonl"),
        ("part-00003-x.jsonl", "in/x.jsonl.zst"),
        ("x.jsonl/y.jsonl", "in/x.jsonl/y.jsonl"),
        ("part-00005-.condenser-abc.tmp", "in/.condenser-abc.tmp"),
        ("A.jsonl", "in/A.jsonl"),
    ]
    .into_iter()
    .map(|(name, source)| (name.to_owned(), texts[source].clone()))
    .collect();
    let found = files(&dir.path("out"));
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(found == expected);
    for says in
        ["in/a.jsonl.zst is restored as part-00001-part-00001-a.jsonl", "in/x.jsonl.zst is restored as part-00003-"]
    {
        assert!(told.stderr.contains(says), "{says}\n{}", told.stderr);
    }
    // What is there already is never written over, and what is the same need not be.
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    assert!(files(&dir.path("out")) == expected);
    dir.write("out/part-00003-x.jsonl", "something else");
    let told = condenser(dir.root(), &["restore", "run", "-o", "out"]).exits(2);
    assert!(told.stderr.contains("exists already and is not overwritten"), "{}", told.stderr);
    assert_eq!(dir.read("out/part-00003-x.jsonl"), b"something else");
}
