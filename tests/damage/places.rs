//! Files that are gone, closed, directories or changing; disks that are full; runs that are damaged or belong to
//! another job; limits.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Input, Inputs, Run, RunWriter};
use condenser::pipeline::{
    BatchOptions, ConversationFormat, Corpus, JobOutcome, PlannedInput, Restored, RunPlan, Slice, Source, TableOptions,
    compress, verify_part,
};

use super::{Case, Special, call, chats, rejects, special, tells};
use crate::support::chats::{Blunt, jsonl};
use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::job;

const OTHERS: &str = "the other inputs";
const NOTHING: &str = "nothing";
const BEFORE: &str = "what was there before";

const CASES: &[Special] = &[
    ("An input that does not exist", "refused", 2, NOTHING, missing),
    ("A folder without inputs", "refused", 2, NOTHING, empty_folder),
    ("A link to nothing among the inputs", "the other inputs go on", 1, OTHERS, dangling),
    (
        "An input that nobody may read",
        "the other inputs go on",
        1,
        "the other inputs; the same command goes on",
        forbidden,
    ),
    ("An input that vanishes after the job was planned", "the other inputs go on", 1, OTHERS, vanished),
    ("An input that is shorter than when the job was planned", "the other inputs go on", 1, OTHERS, shorter),
    ("An input that shrinks while it is read", "the other inputs go on", 1, OTHERS, shrinks),
    ("An input that is written again after the job was planned", "the other inputs go on", 1, OTHERS, written_again),
    (
        "An input that is overwritten with the same size while it is read",
        "the other inputs go on",
        1,
        OTHERS,
        overwritten,
    ),
    (
        "A table that is overwritten with the same size while it is read",
        "the other inputs go on",
        1,
        OTHERS,
        overwritten_table,
    ),
    ("An input that grows while it is read", "read as far as it went when the job began", 0, "these bytes", grows),
    ("An input that fails while it is read", "refused", 1, NOTHING, unreadable),
    ("A directory as stdin", "refused", 1, NOTHING, folder_on_stdin),
    ("A closed stdin", "0 conversations", 3, "every byte (none)", closed_stdin),
    ("A directory as job file", "refused", 2, NOTHING, folder_as_job),
    ("A directory as sidecar", "refused", 2, NOTHING, folder_as_sidecar),
    ("A file as output", "refused", 2, BEFORE, file_as_output),
    ("An input inside the output", "refused", 2, BEFORE, inside),
    ("An output where nothing can be made", "refused", 1, NOTHING, no_output),
    ("An output folder that nobody may write", "refused", 1, NOTHING, read_only),
    ("A disk that is full", "ends", 1, "what was committed; the same command goes on", full_disk),
    ("A full disk below the filter's output", "ends", 1, NOTHING, full_stdout),
    ("A reader of the filter that ends first", "ends in silence", 141, NOTHING, broken_pipe),
    ("A full disk while restoring", "ends, no half file is left", 1, "the run", full_restore),
    ("A run of another job in the output", "refused, with what changed", 2, BEFORE, other_job),
    ("An input that was changed since a job was stopped", "refused, with what changed", 2, BEFORE, changed_input),
    ("A damaged plan when a job goes on", "refused", 4, BEFORE, damaged_plan),
    ("A damaged commit when a job goes on", "refused", 4, BEFORE, damaged_commit),
    ("A missing file of a committed part", "refused", 4, BEFORE, missing_file),
    ("A damaged table of a run", "`verify` and `restore` name it", 4, "the originals: do not delete them", damaged_run),
    ("More rejects than `--max-rejects`", "ends", 1, NOTHING, too_many),
    ("A larger share of rejects than `--max-rejects`", "ends", 1, NOTHING, too_large_a_share),
    ("A defect of condenser on one record", "29 conversations, 1 rejected (`internal`)", 3, "every byte", defect),
];

pub(super) fn cases() -> Vec<Case> {
    special(CASES)
}

/// Runs `script` with the program as `$CONDENSER`.
#[track_caller]
fn shell(dir: &TestDir, script: &str, code: i32, says: &[&str]) -> Told {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("CONDENSER", env!("CARGO_BIN_EXE_condenser"));
    ends(command.current_dir(dir.root()), code, says)
}

#[track_caller]
fn ends(command: &mut Command, code: i32, says: &[&str]) -> Told {
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{stderr}");
    assert!(!stderr.contains("panicked at"), "{stderr}");
    tells(Told { code: output.status.code(), stdout: output.stdout, stderr }, says)
}

/// The exit code that an error ends with.
#[track_caller]
pub(super) fn ends_with(error: &Error, code: i32) {
    let found = match error.kind {
        ErrorKind::Io | ErrorKind::Input | ErrorKind::Internal => 1,
        ErrorKind::Usage => 2,
        ErrorKind::Empty => 3,
        ErrorKind::Verification => 4,
        ErrorKind::Unfinished => 6,
        ErrorKind::Interrupted => 130,
    };
    assert_eq!(found, code, "{error}");
}

/// The parts that are committed.
fn commits(dir: &TestDir, run: &str) -> Vec<String> {
    files(&dir.path(run)).into_keys().filter(|name| name.starts_with("commits/")).collect()
}

const FIRST_AND_LAST: [&str; 2] = ["commits/part-00000.json.zst", "commits/part-00002.json.zst"];

/// Three inputs, the second of which will be bad.
fn three() -> TestDir {
    let dir = TestDir::new();
    for name in ["in/a.jsonl", "in/b.jsonl", "in/c.jsonl"] {
        long_ago(&dir.write(name, chats(0..3)));
    }
    dir
}

// ---- inputs ----

fn missing(code: i32) {
    call(&TestDir::new(), &["compress", "no.jsonl", "-o", "run"], code, &["no.jsonl: there is no such file"]);
}

fn empty_folder(code: i32) {
    let dir = TestDir::new();
    dir.write("in/README.md", "nothing");
    call(&dir, &["compress", "in", "-o", "run"], code, &["in: the folder holds no inputs (*.jsonl"]);
}

fn dangling(code: i32) {
    let dir = three();
    std::fs::remove_file(dir.path("in/b.jsonl")).expect("it was there");
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", dir.path("in/b.jsonl")).expect("a link");
    call(
        &dir,
        &["compress", "in", "-o", "run"],
        code,
        &["in/b.jsonl", "everything else is committed", "hint: look at the path"],
    );
    assert_eq!(commits(&dir, "run"), FIRST_AND_LAST);
}

/// The program as a user without rights, who may read `dir`.
fn as_nobody(dir: &TestDir, args: &[&str]) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|told| told.stdout == b"0\n");
    if !is_root {
        let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
        command.args(args).current_dir(dir.root());
        return command;
    }
    // Nothing stops root. The program may lie where others cannot reach it.
    let program = dir.path("condenser");
    if !program.exists() && std::fs::hard_link(env!("CARGO_BIN_EXE_condenser"), &program).is_err() {
        std::fs::copy(env!("CARGO_BIN_EXE_condenser"), &program).expect("the program can be copied");
    }
    rights(dir.root(), 0o755);
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(args).current_dir(dir.root());
    command
}

#[cfg(unix)]
fn rights(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("the rights can be set");
}

fn forbidden(code: i32) {
    let dir = three();
    std::fs::create_dir(dir.path("out")).expect("a folder can be made");
    rights(&dir.path("out"), 0o777);
    rights(&dir.path("in/b.jsonl"), 0o000);
    let args = ["compress", "in", "-o", "out/run"];
    let says = ["in/b.jsonl", "the same command goes on from there", "Permission denied", "hint: look at the rights"];
    ends(&mut as_nobody(&dir, &args), code, &says);
    assert_eq!(commits(&dir, "out/run"), FIRST_AND_LAST);
    rights(&dir.path("in/b.jsonl"), 0o644);
    ends(&mut as_nobody(&dir, &args), 0, &["2 parts were committed before"]);
    call(&dir, &["verify", "out/run", "--against", "in"], 0, &[]);
}

/// Opens the inputs and then changes something.
struct Meanwhile {
    inputs: Inputs,
    change: Box<dyn Fn() + Send + Sync>,
}

impl Corpus for Meanwhile {
    fn open(&self, index: usize, input: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>> {
        let source = self.inputs.open(index, input, slice)?;
        if index == 1 {
            (self.change)();
        }
        Ok(source)
    }
}

/// A job over the three inputs of `dir`; `planned` comes between the plan and the work, `opened` when the second
/// input is open.
fn job_with(dir: &TestDir, planned: impl Fn(), opened: impl Fn() + Send + Sync + 'static) -> Result<JobOutcome> {
    let path = |name: &str| dir.path(&format!("in/{name}.jsonl"));
    let inputs = ["a", "b", "c"].map(|name| Input::new(name, Some(path(name).as_path().into())));
    let batches = BatchOptions::default();
    let (inputs, slices) = Inputs::plan(inputs.to_vec(), batches, TableOptions::default(), 1 << 30)?;
    let context = job::context(Arc::new(Blunt::default()), ConversationFormat::Parquet, batches);
    let plan = RunPlan::new(context.options.clone(), slices)?;
    planned();
    let corpus = Arc::new(Meanwhile { inputs, change: Box::new(opened) });
    let root = dir.path("run");
    job::block_on(async {
        let (sink, commits) = RunWriter::open(root.as_path(), &plan, None, &|_| ()).await?;
        compress(&context, &plan, commits, corpus, &sink).await
    })
}

#[track_caller]
fn only_the_second_fails(dir: &TestDir, outcome: Result<JobOutcome>, code: i32, says: &str) {
    let error = outcome.expect_err("the second input is bad");
    ends_with(&error, code);
    assert!(error.place.contains('b'), "{error}");
    assert!(error.message.contains(says) && error.message.contains("everything else is committed"), "{error}");
    assert_eq!(commits(dir, "run"), FIRST_AND_LAST);
}

fn vanished(code: i32) {
    let dir = three();
    let path = dir.path("in/b.jsonl");
    let outcome = job_with(&dir, || std::fs::remove_file(&path).expect("it was there"), || ());
    only_the_second_fails(&dir, outcome, code, "cannot be opened");
}

fn shorter(code: i32) {
    let dir = three();
    let outcome = job_with(&dir, || drop(dir.write("in/b.jsonl", chats(0..1))), || ());
    only_the_second_fails(&dir, outcome, code, "the file became shorter");
}

fn shrinks(code: i32) {
    let dir = three();
    dir.write("in/b.jsonl", jsonl(10_000, 8));
    let path = dir.path("in/b.jsonl");
    let cut = move || {
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("it is there");
        file.set_len(1 << 20).expect("it can be cut");
    };
    let outcome = job_with(&dir, || (), cut);
    only_the_second_fails(&dir, outcome, code, "the file became shorter");
}

fn written_again(code: i32) {
    let dir = three();
    let path = dir.path("in/b.jsonl");
    let outcome = job_with(&dir, || overwrite(&path), || ());
    only_the_second_fails(&dir, outcome, code, "the file was written again since the job began");
}

fn overwritten(code: i32) {
    let dir = three();
    // A small file is read when it is opened.
    dir.write("in/b.jsonl", jsonl(10_000, 8));
    long_ago(&dir.path("in/b.jsonl"));
    let path = dir.path("in/b.jsonl");
    let outcome = job_with(&dir, || (), move || overwrite(&path));
    only_the_second_fails(&dir, outcome, code, "the file changed while it was read");
}

fn overwritten_table(code: i32) {
    let dir = three();
    condenser(dir.root(), &["compress", "in/b.jsonl", "-o", "table"]).ok();
    std::fs::rename(dir.path("table/conversations/part-00000.parquet"), dir.path("in/b.jsonl")).expect("a table");
    long_ago(&dir.path("in/b.jsonl"));
    let path = dir.path("in/b.jsonl");
    let outcome = job_with(&dir, || (), move || overwrite(&path));
    only_the_second_fails(&dir, outcome, code, "the file changed while it was read");
}

/// Writes a file over itself: other bytes, the same size.
fn overwrite(path: &Path) {
    let mut bytes = std::fs::read(path).expect("it is there");
    let half = bytes.len() / 2;
    bytes[half..].rotate_left(1);
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("it is there");
    file.write_all(&bytes).expect("it can be written");
}

/// A file that was written now could be written again within the same tick of the clock of its file system.
fn long_ago(path: &Path) {
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("it is there");
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).expect("it has a time");
}

fn grows(code: i32) {
    assert_eq!(code, 0);
    let dir = three();
    let before = jsonl(10_000, 8);
    dir.write("in/b.jsonl", &before);
    let path = dir.path("in/b.jsonl");
    let grow = move || {
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("it is there");
        file.write_all(chats(0..3).as_bytes()).expect("it can grow");
    };
    job_with(&dir, || (), grow).expect("the job ends");
    let run = Run::open(dir.path("run").as_path()).expect("the run opens");
    let bridge = condenser::pipeline::bridge::Bridge::new(1).expect("a thread");
    let mut restored = Vec::new();
    let mut restorer = run.restorer(&run.commits[1], &bridge, true).expect("tables open");
    let mut keep = |slice: &Restored| {
        restored.extend_from_slice(slice.bytes());
        Ok(())
    };
    verify_part(&mut restorer, &run.commits[1], None, &mut keep).expect("it restores");
    assert!(restored == before.as_bytes());
}

fn unreadable(code: i32) {
    // Nothing is mapped at the first address of a process: this file is open and cannot be read.
    let Ok(memory) = std::fs::File::open("/proc/self/mem") else { return };
    let dir = TestDir::new();
    let output = Command::new(env!("CARGO_BIN_EXE_condenser"))
        .args(["compress", "-", "-o", "run"])
        .current_dir(dir.root())
        .stdin(memory)
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    tells(
        Told { code: output.status.code(), stdout: output.stdout, stderr },
        &["-: cannot be read", "Input/output error"],
    );
}

fn folder_on_stdin(code: i32) {
    let says = ["-: cannot be read", "directory", "hint: name a file"];
    shell(&TestDir::new(), "exec \"$CONDENSER\" compress - -o run < .", code, &says);
}

fn closed_stdin(code: i32) {
    let dir = TestDir::new();
    shell(&dir, "exec \"$CONDENSER\" compress - -o run <&-", code, &["0 conversations"]);
    assert_eq!(call(&dir, &["restore", "run"], 0, &[]).stdout, b"");
}

fn folder_as_job(code: i32) {
    call(&TestDir::new(), &["run", "."], code, &[".: the job file cannot be read", "directory"]);
}

fn folder_as_sidecar(code: i32) {
    let dir = TestDir::new();
    dir.write("side/x", "");
    call(&dir, &["compress", "-", "--sidecar", "side"], code, &["side: the sidecar exists already", "hint: "]);
}

// ---- outputs ----

fn file_as_output(code: i32) {
    let dir = TestDir::new();
    dir.write("in.jsonl", chats(0..3));
    dir.write("out", "mine");
    call(&dir, &["compress", "in.jsonl", "-o", "out"], code, &["out: the output is a file, but a run is a directory"]);
    assert_eq!(dir.read("out"), b"mine");
}

fn inside(code: i32) {
    let dir = three();
    call(&dir, &["compress", "in/a.jsonl", "-o", "in"], code, &["in/a.jsonl: the input lies in the output directory"]);
}

fn no_output(code: i32) {
    let dir = three();
    let root = if Path::new("/proc/self").exists() { "/proc/nowhere/run" } else { "/dev/null/run" };
    call(&dir, &["compress", "in", "-o", root], code, &[root, "the directory cannot be made", "hint: "]);
}

fn read_only(code: i32) {
    let dir = three();
    std::fs::create_dir(dir.path("out")).expect("a folder can be made");
    rights(&dir.path("out"), 0o555);
    let says = ["out/run: the directory cannot be made", "Permission denied", "hint: look at the rights"];
    ends(&mut as_nobody(&dir, &["compress", "in", "-o", "out/run"]), code, &says);
}

/// A limit of sizes does to a writer what a full disk does.
const FULL: &str = "trap '' XFSZ; ulimit -f 8; exec \"$CONDENSER\"";

fn full_disk(code: i32) {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(600, 9));
    shell(&dir, &format!("{FULL} compress in.jsonl -o run"), code, &["run/", "cannot be written", "hint: make room"]);
    assert_eq!(commits(&dir, "run"), [""; 0]);
    call(&dir, &["compress", "in.jsonl", "-o", "run"], 0, &[]);
    call(&dir, &["compress", "in.jsonl", "-o", "whole"], 0, &[]);
    assert!(files(&dir.path("run")) == files(&dir.path("whole")));
}

fn full_stdout(code: i32) {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(600, 9));
    let script = "exec \"$CONDENSER\" compress in.jsonl -o - --sidecar side > /dev/full";
    if Path::new("/dev/full").exists() {
        shell(&dir, script, code, &["stdout: cannot be written", "No space left", "hint: make room"]);
        assert!(!dir.path("side").exists());
    }
}

fn broken_pipe(code: i32) {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(6000, 9));
    let script = "{ \"$CONDENSER\" compress in.jsonl -o - --sidecar side; echo $? > code; } | head -c 1 > first";
    assert!(!shell(&dir, script, 0, &[]).stderr.contains("error"));
    assert_eq!(String::from_utf8_lossy(&dir.read("code")).trim(), code.to_string());
    assert!(!dir.path("side").exists());
}

fn full_restore(code: i32) {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(600, 9));
    call(&dir, &["compress", "in.jsonl", "-o", "run"], 0, &[]);
    shell(&dir, &format!("{FULL} restore run -o back"), code, &["cannot be written", "hint: make room"]);
    assert!(!dir.path("back/in.jsonl").exists());
    call(&dir, &["restore", "run", "-o", "back"], 0, &[]);
    assert!(dir.read("back/in.jsonl") == dir.read("in.jsonl"));
}

// ---- runs ----

fn other_job(code: i32) {
    let dir = three();
    call(&dir, &["compress", "in/a.jsonl", "-o", "run"], 0, &[]);
    let before = files(&dir.path("run"));
    call(&dir, &["compress", "in/b.jsonl", "-o", "run"], code, &["input in/a.jsonl is gone", "hint: choose another"]);
    assert!(files(&dir.path("run")) == before);
}

fn changed_input(code: i32) {
    let dir = three();
    call(&dir, &["compress", "in", "-o", "run", "--shard", "0/3"], 0, &[]);
    let before = files(&dir.path("run"));
    dir.write("in/b.jsonl", chats(0..4));
    call(&dir, &["compress", "in", "-o", "run"], code, &["input in/b.jsonl: ", " bytes → ", "--fresh"]);
    assert!(files(&dir.path("run")) == before);
}

/// A job that was stopped, with one bit of a file changed.
fn goes_on_after_damage(code: i32, file: &str) {
    let dir = three();
    call(&dir, &["compress", "in", "-o", "run", "--shard", "0/3"], 0, &[]);
    let mut bytes = dir.read(file);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    dir.write(file, bytes);
    let before = files(&dir.path("run"));
    call(&dir, &["compress", "in", "-o", "run"], code, &[file, "hint: "]);
    assert!(files(&dir.path("run")) == before);
}

fn damaged_plan(code: i32) {
    goes_on_after_damage(code, "run/plan.json.zst");
}

fn damaged_commit(code: i32) {
    goes_on_after_damage(code, "run/commits/part-00000.json.zst");
}

fn missing_file(code: i32) {
    let dir = three();
    call(&dir, &["compress", "in", "-o", "run", "--shard", "0/3"], 0, &[]);
    std::fs::remove_file(dir.path("run/verbatim/part-00000.parquet")).expect("it was there");
    call(&dir, &["compress", "in", "-o", "run"], code, &["verbatim/part-00000.parquet", "hint: "]);
}

fn damaged_run(code: i32) {
    let dir = three();
    call(&dir, &["compress", "in/a.jsonl", "-o", "run"], 0, &[]);
    let mut bytes = dir.read("run/verbatim/part-00000.parquet");
    bytes[60] ^= 1;
    dir.write("run/verbatim/part-00000.parquet", bytes);
    for command in [&["verify", "run"][..], &["restore", "run", "-o", "back"]] {
        call(&dir, command, code, &["table verbatim, part 0", "hint: do not delete the originals"]);
    }
    assert!(!dir.path("back/a.jsonl").exists());
}

// ---- limits ----

fn half_broken() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.jsonl", chats(0..4) + &"broken\n".repeat(4));
    dir
}

fn too_many(code: i32) {
    let dir = half_broken();
    let says = ["in.jsonl: 4 records were rejected, more than --max-rejects 3", "hint: look at the reasons"];
    call(&dir, &["compress", "in.jsonl", "-o", "run", "--max-rejects", "3"], code, &says);
    assert_eq!(commits(&dir, "run"), [""; 0]);
    call(&dir, &["compress", "in.jsonl", "-o", "run", "--max-rejects", "4"], 3, &[]);
}

fn too_large_a_share(code: i32) {
    let dir = half_broken();
    let says = ["in.jsonl: 4 records were rejected", "of 8 records", "hint: look at the reasons"];
    call(&dir, &["compress", "in.jsonl", "-o", "run", "--max-rejects", "40%"], code, &says);
    assert_eq!(commits(&dir, "run"), [""; 0]);
}

fn defect(code: i32) {
    let dir = TestDir::new();
    dir.write("in.jsonl", chats(0..30));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--drill-panic", "c3"]).exits(code);
    let (reasons, says) = rejects(&dir, "run");
    assert_eq!(reasons, ["internal"]);
    assert!(says.contains("please report it"), "{says}");
    call(&dir, &["verify", "run", "--against", "in.jsonl"], 0, &[]);
}
