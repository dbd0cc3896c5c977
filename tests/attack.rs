//! Attacks that must never succeed: changed runs, kills, faults of the machine, crafted names, jumping clocks, wild tables.
//! Everything is drawn from a seed. Every run of the tests does a few of each; `scripts/attack.sh` does as many as
//! it takes to believe it (`CONDENSER_ATTACK=full`, `CONDENSER_ATTACK_SEED`), also on a program of another build
//! (`CONDENSER_ATTACKED`), and says at its head what is covered where.

mod changes;
#[cfg(target_os = "linux")]
mod clocks;
mod documents;
#[cfg(target_os = "linux")]
mod faults;
mod kills;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod shim;
mod tables;
mod types;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, UNIX_EPOCH};

use crate::originals::sessions;
use crate::support::chats::{Seeded, jsonl};
use crate::support::dir::{TestDir, files};

/// A call that takes longer does not end; on a busy machine in the profile for tests the longest take a second.
const PATIENCE: Duration = Duration::from_mins(2);
/// Address space of a call, in KiB: a damaged length may not become an allocation. A thread reserves up to 64 MiB of it,
/// so the number of threads is set too.
const MOST_MEMORY_KIB: u64 = 3 << 20;
/// Size of a file that a call may write, in KiB.
const LARGEST_FILE_KIB: u64 = 1 << 20;

/// How many attacks of a kind: `few` in every run of the tests, `full` when it is asked for.
fn count(few: usize, full: usize) -> usize {
    if std::env::var_os("CONDENSER_ATTACK").is_some_and(|wish| wish == "full") { full } else { few }
}

/// The numbers of one kind of attack.
fn draw(kind: u64) -> Seeded {
    let seed = std::env::var("CONDENSER_ATTACK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1_u64);
    Seeded::new(seed.wrapping_mul(1000).wrapping_add(kind))
}

/// The program that is attacked.
fn program() -> String {
    std::env::var("CONDENSER_ATTACKED").unwrap_or_else(|_| env!("CARGO_BIN_EXE_condenser").to_owned())
}

/// What a call gave.
#[derive(Debug)]
struct Ended {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

/// Calls the program in `root` within bounds of time, memory and file size, and wants that it ends by itself.
#[track_caller]
fn call(root: &Path, args: &[&str]) -> Ended {
    call_with(root, args, &BTreeMap::new(), "")
}

/// The same, with variables of the environment and a further limit (`ulimit -n 9; `).
#[track_caller]
fn call_with(root: &Path, args: &[&str], environment: &BTreeMap<String, String>, limit: &str) -> Ended {
    let script = format!("ulimit -v {MOST_MEMORY_KIB}; ulimit -f {LARGEST_FILE_KIB}; {limit}exec \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, "condenser", &program()]).args(args).current_dir(root);
    command.env("MALLOC_ARENA_MAX", "2").env("RAYON_NUM_THREADS", "2").envs(environment);
    let mut child = start(&mut command);
    let (sender, ended) = mpsc::channel();
    let (stdout, stderr) = (gather(child.stdout.take(), &sender), gather(child.stderr.take(), &sender));
    for _ in 0..2 {
        if ended.recv_timeout(PATIENCE).is_err() {
            child.kill().expect("it can be killed");
            panic!("{args:?} does not end");
        }
    }
    let status = child.wait().expect("it ends");
    let text = |bytes: std::thread::JoinHandle<Vec<u8>>| bytes.join().expect("reading does not panic");
    let (stdout, stderr) = (text(stdout), String::from_utf8_lossy(&text(stderr)).into_owned());
    let code = status.code().filter(|code| (0..=6).contains(code));
    let code = code.unwrap_or_else(|| panic!("{args:?} ended with {status}\n{stderr}"));
    assert!(!stderr.contains("panicked at"), "{args:?} panicked:\n{stderr}");
    Ended { code, stdout, stderr }
}

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

fn gather(pipe: Option<impl Read + Send + 'static>, ended: &mpsc::Sender<()>) -> std::thread::JoinHandle<Vec<u8>> {
    let (mut pipe, ended) = (pipe.expect("it was piped"), ended.clone());
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        // Nobody listens any more when the call took too long.
        ended.send(()).unwrap_or_default();
        bytes
    })
}

/// Calls the program and wants this exit code.
#[track_caller]
fn exits(root: &Path, args: &[&str], code: i32) -> Ended {
    let ended = call(root, args);
    assert_eq!(ended.code, code, "{args:?}\n{}", ended.stderr);
    ended
}

/// Makes a file look as if it was written long ago.
fn age(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).expect("it is there");
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("it can be aged");
}

/// The files below a folder that may not be there.
fn files_of(dir: &TestDir, name: &str) -> BTreeMap<String, Vec<u8>> {
    let root = dir.path(name);
    if root.exists() { files(&root) } else { BTreeMap::new() }
}

/// The files of a store, but for its lock.
fn store_files(dir: &TestDir, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = files_of(dir, name);
    found.retain(|name, _| name != ".lock" && !name.starts_with("locks/"));
    found
}

/// Copies a folder with the times of its files.
fn copy_folder(from: &Path, to: &Path) {
    for (name, bytes) in files(from) {
        let target = to.join(&name);
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(&target, bytes).expect("a file can be written");
        let time = std::fs::metadata(from.join(&name)).and_then(|found| found.modified()).expect("it has a time");
        let copy = std::fs::File::options().write(true).open(&target).expect("it is there");
        copy.set_modified(time).expect("it can be set");
    }
}

/// The first difference between two folders.
fn difference(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let names = found.keys().chain(expected.keys());
    names.into_iter().find(|name| found.get(*name) != expected.get(*name)).map(|name| {
        let size = |folder: &BTreeMap<String, Vec<u8>>| folder.get(name).map(Vec::len);
        format!("{name}: {:?} bytes instead of {:?}", size(found), size(expected))
    })
}

/// Sessions of an event log.
fn event_log(n_sessions: usize, seed: u64) -> String {
    let mut seeded = Seeded::new(seed);
    let mut text = String::new();
    for event in 0..n_sessions * 9 {
        let (session, role) = (event % n_sessions, ["user", "assistant"][event / n_sessions % 2]);
        let words = (0..60).map(|_| seeded.pick(&["the", "deploy", "failed", "größer", "429", "because", "cache."]));
        let words = words.collect::<Vec<_>>().join(" ");
        writeln!(
            text,
            r#"{{"type":"{role}","uuid":"u{event}","sessionId":"s-{session}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":"{event} {words}"}}}}"#
        )
        .expect("writing to a string cannot fail");
    }
    text
}

/// Three inputs: plain with lines that are no records, small, and compressed.
fn write_inputs(dir: &TestDir, folder: &str, n: usize, seed: u64) {
    dir.write(&format!("{folder}/a.jsonl"), jsonl(n, seed) + "broken\n\n" + &jsonl(2, seed + 1) + &sessions(2, seed));
    dir.write(&format!("{folder}/b.jsonl"), jsonl(n / 4, seed + 2));
    let stored = zstd::encode_all(jsonl(n / 3, seed + 3).as_bytes(), 1).expect("memory takes all");
    dir.write(&format!("{folder}/deep/c.jsonl.zst"), stored);
}

const JOB: &str =
    "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\ncompaction.as_of = \"2031-05-06T00:00:00Z\"\n";

/// A store after two nights: logs that were written long ago, of which one grew and one was new in the second night.
fn write_store(dir: &TestDir) {
    dir.write("job.toml", JOB);
    for (name, seed) in [("a", 51), ("b", 52), ("c", 53)] {
        age(&dir.write(&format!("logs/{name}.jsonl"), jsonl(12, seed)));
    }
    exits(dir.root(), &["run", "job.toml"], 0);
    let grown = [dir.read("logs/a.jsonl"), jsonl(5, 54).into_bytes()].concat();
    age(&dir.write("logs/a.jsonl", grown));
    age(&dir.write("logs/d.jsonl", jsonl(9, 55)));
    exits(dir.root(), &["run", "job.toml"], 0);
}
