//! Several calls of the program at once on one directory: each run that comes out is what one job wrote, nobody dies, and
//! who has to wait or to give up says why.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use condenser::error::ErrorKind;
use condenser::io::RunWriter;
use condenser::io::store::{Lock, Place, Sighting};
use condenser::pipeline::{BatchOptions, ConversationFormat, RunPlan, seal_packed};

use crate::support::chats::{Blunt, jsonl};
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};
use crate::support::job;

/// A call that has begun.
struct Begun(Child);

/// How it ended.
struct Ended {
    code: Option<i32>,
    stderr: String,
}

impl Begun {
    fn call(root: &Path, environment: &[(String, String)], args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
        command.args(args).envs(environment.iter().cloned()).current_dir(root);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Self(command.spawn().expect("the program starts"))
    }

    fn ends(mut self) -> Ended {
        let mut stderr = String::new();
        self.0.stderr.take().expect("it was piped").read_to_string(&mut stderr).expect("UTF-8");
        let status = self.0.wait().expect("the program ends");
        assert!(!stderr.contains("panicked at"), "{stderr}");
        Ended { code: status.code(), stderr }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // A test that failed leaves nobody behind.
        drop(self.0.kill());
    }
}

/// Calls that begin at once.
fn at_once(root: &Path, environment: &[(String, String)], calls: &[&[&str]]) -> Vec<Ended> {
    let begun: Vec<Begun> = calls.iter().map(|args| Begun::call(root, environment, args)).collect();
    begun.into_iter().map(Begun::ends).collect()
}

/// Two jobs that differ in an option, at once on a fresh directory, `n_pairs` times.
fn two_jobs(dir: &TestDir, environment: &[(String, String)], prefix: &str, n_pairs: usize) {
    for pair in 0..n_pairs {
        let run = format!("{prefix}two-{pair}");
        let args = ["compress", "in.jsonl", "--split-size", "8k", "-o", &run];
        let other = [&args[..], &["--recency-window", "7"]].concat();
        let ended = at_once(dir.root(), environment, &[&args, &other]);
        let codes: Vec<Option<i32>> = ended.iter().map(|ended| ended.code).collect();
        let told = || ended.iter().map(|ended| &*ended.stderr).collect::<String>();
        assert!(codes == [Some(0), Some(2)] || codes == [Some(2), Some(0)], "{codes:?}: {}", told());
        let refused = ended.iter().find(|ended| ended.code == Some(2)).expect("one of them");
        assert!(refused.stderr.contains("another job; changed: option engine.recency_window"), "{}", refused.stderr);
        let verify = ["verify", &run, "--against", "in.jsonl"];
        condenser(dir.root(), &verify).environment(environment.to_vec()).ok();
    }
}

/// One job, several times at once on a fresh directory.
fn one_job(dir: &TestDir, environment: &[(String, String)], prefix: &str, n_times: usize) {
    for time in 0..n_times {
        let run = format!("{prefix}one-{time}");
        let args = ["compress", "in.jsonl", "--split-size", "8k", "-o", &run];
        for ended in at_once(dir.root(), environment, &[&args, &args, &args]) {
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        }
        let verify = ["verify", &run, "--against", "in.jsonl"];
        condenser(dir.root(), &verify).environment(environment.to_vec()).ok();
    }
}

#[test]
fn of_two_different_jobs_at_once_one_writes_the_run_and_the_other_is_refused() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(120, 71));
    two_jobs(&dir, &[], "", 16);
}

#[test]
fn the_same_job_several_times_at_once_ends_in_the_same_run() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(120, 72));
    condenser(dir.root(), &["compress", "in.jsonl", "--split-size", "8k", "-o", "alone"]).ok();
    one_job(&dir, &[], "", 6);
    let alone = files(&dir.path("alone"));
    for time in 0..6 {
        assert!(files(&dir.path(&format!("one-{time}"))) == alone, "nothing more and nothing less than alone");
    }
}

#[test]
fn shards_and_whole_jobs_at_once_end_in_the_same_run() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(120, 73));
    let args = ["compress", "in.jsonl", "--split-size", "8k", "-o"];
    condenser(dir.root(), &[&args[..], &["alone"]].concat()).ok();
    let call = |more: &'static [&'static str]| [&args[..], &["run"], more].concat();
    let calls = [call(&["--shard", "0/2"]), call(&["--shard", "1/2"]), call(&[]), call(&["--shard", "2/3"]), call(&[])];
    let calls: Vec<&[&str]> = calls.iter().map(Vec::as_slice).collect();
    for ended in at_once(dir.root(), &[], &calls) {
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    assert!(files(&dir.path("run")) == files(&dir.path("alone")));
}

fn held(place: &Place) -> Lock {
    match place.try_lock(&mut Sighting::default()).expect("it can be locked") {
        Ok(lock) => lock,
        Err(owner) => panic!("{owner:?} holds it"),
    }
}

#[test]
fn who_waits_says_for_whom_and_goes_on_when_the_other_has_ended() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(5, 74));
    let lock = held(&Place::from(dir.path("run/locks/all-parts.json")));
    let mut begun = Begun::call(dir.root(), &[], &["compress", "in.jsonl", "-o", "run"]);
    let mut stderr = BufReader::new(begun.0.stderr.take().expect("it was piped"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("UTF-8");
    let me = format!("process {}", std::process::id());
    assert!(line.starts_with(&me) && line.contains("works on this run; waiting"), "{line}");
    drop(lock);
    assert_eq!(begun.0.wait().expect("it ends").code(), Some(0));
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    // A store tells who works, and leaves it to its caller to come again.
    let lock = held(&Place::from(dir.path("store/locks/store.json")));
    dir.write("night.toml", "kind = \"compaction\"\ninputs = [\"in.jsonl\"]\noutput = \"store\"\n");
    let told = condenser(dir.root(), &["run", "night.toml"]).exits(2);
    assert!(told.stderr.contains(&me) && told.stderr.contains("is working on this store"), "{}", told.stderr);
    drop(lock);
    condenser(dir.root(), &["run", "night.toml"]).ok();
    assert!(!dir.path("store/locks").exists() && !dir.path("run/locks").exists());
}

#[cfg(unix)]
#[test]
fn a_lock_is_never_what_a_link_leads_to() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(5, 77));
    dir.write("victim", "somebody's words");
    let lock = dir.write("run/locks/all-parts.json", "");
    let refused = || {
        let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).exits(1);
        assert!(told.stderr.contains("this is no lock of a job but a link"), "{}", told.stderr);
        assert_eq!(dir.read("victim"), b"somebody's words");
    };
    std::fs::remove_file(&lock).expect("it was there");
    std::os::unix::fs::symlink(dir.path("victim"), &lock).expect("a link");
    refused();
    std::fs::remove_file(&lock).expect("it was there");
    std::fs::hard_link(dir.path("victim"), &lock).expect("a link");
    refused();
    std::fs::remove_dir_all(dir.path("run/locks")).expect("it was there");
    std::fs::create_dir(dir.path("elsewhere")).expect("a folder");
    std::os::unix::fs::symlink(dir.path("elsewhere"), dir.path("run/locks")).expect("a link");
    refused();
    std::fs::remove_file(dir.path("run/locks")).expect("it was there");
    // What a killed process left is none of these.
    dir.write("run/locks/all-parts.json", "half a docu");
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    assert!(!dir.path("run/locks").exists());
}

#[test]
fn a_store_is_not_written_over_by_a_run() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(5, 78));
    dir.write("night.toml", "kind = \"compaction\"\ninputs = [\"in.jsonl\"]\noutput = \"store\"\n");
    condenser(dir.root(), &["run", "night.toml"]).ok();
    let before = files(&dir.path("store"));
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "store"]).exits(2);
    assert!(told.stderr.contains("this is a store of nights"), "{}", told.stderr);
    assert!(files(&dir.path("store")) == before);
    condenser(dir.root(), &["run", "night.toml"]).ok();
}

#[test]
fn two_restores_at_once_into_one_folder_both_end_well() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(400, 79));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    for time in 0..4 {
        let out = format!("out-{time}");
        let args = ["restore", "run", "-o", &out];
        for ended in at_once(dir.root(), &[], &[&args, &args, &args]) {
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        }
        assert!(files(&dir.path(&out)).into_iter().eq([("in.jsonl".to_owned(), dir.read("in.jsonl"))]));
    }
}

#[test]
fn a_run_in_which_another_plan_stands_at_the_end_is_not_completed() {
    let dir = TestDir::new();
    let context = job::context(Arc::new(Blunt::default()), ConversationFormat::Parquet, BatchOptions::default());
    let source = || vec![job::source(jsonl(20, 75).as_bytes(), BatchOptions::default())];
    let plan = job::plan(&source(), &context);
    let root = dir.path("run");
    let (sink, _) = job::block_on(RunWriter::open(&root, &plan, None, &|_| ())).expect("a new run");
    let mut other = plan.options.clone();
    other.trace = true;
    let inputs = vec![(plan.inputs[0].clone(), vec![plan.parts[0].slice])];
    dir.write("run/plan.json.zst", seal_packed(&RunPlan::new(other, inputs).expect("a plan")).expect("a document"));
    let error = job::run_sources(source(), &context, &sink).expect_err("the plan is another one");
    assert_eq!(error.kind, ErrorKind::Verification);
    assert!(error.place.ends_with("plan.json.zst") && error.message.contains("another process"), "{error}");
    assert!(!dir.path("run/manifest.json").exists());
}

#[cfg(feature = "remote")]
mod in_a_store {
    use std::time::{Duration, Instant};

    use condenser::io::store::{Location, StoreConfig, Stores};

    use super::{Place, Sighting, TestDir, held, job, jsonl, one_job, two_jobs};
    use crate::support::s3::S3;

    #[test]
    fn two_jobs_at_once_leave_one_run() {
        let dir = TestDir::new();
        dir.write("in.jsonl", jsonl(60, 76));
        let s3 = S3::start(&dir.path("store"));
        let environment: Vec<(String, String)> = s3.environment().into_iter().collect();
        two_jobs(&dir, &environment, "s3://bucket/", 4);
        one_job(&dir, &environment, "s3://bucket/", 2);
        assert!(!s3.path("two-0/locks").exists() || files_in(&s3.path("two-0/locks")) == 0);
    }

    fn files_in(folder: &std::path::Path) -> usize {
        std::fs::read_dir(folder).expect("a folder").count()
    }

    fn place(s3: &S3, lease: Duration) -> (Stores, Place) {
        let stores = Stores::new(StoreConfig { lease, ..s3.config() });
        let location = Location::parse("s3://bucket/run/locks/all-parts.json").expect("an address");
        (stores.clone(), Place::new(&stores, location))
    }

    const FOREIGN: &str = "{\"process\": 1, \"host\": \"elsewhere\", \"nonce\": \"x\", \"beat\": BEAT}";

    #[test]
    fn what_is_no_longer_heard_of_is_taken_over_and_what_lives_is_not() {
        let dir = TestDir::new();
        let s3 = S3::start(&dir.path("store"));
        let (stores, place) = place(&s3, Duration::from_millis(400));
        let write = |beat: u32| {
            let document = FOREIGN.replace("BEAT", &beat.to_string());
            job::block_on(place.write_atomic(document.as_bytes())).expect("it is written");
        };
        let mut watch = Sighting::default();
        // A holder that goes on writing keeps it, however long that takes.
        let began = Instant::now();
        let mut beat = 0;
        while began.elapsed() < Duration::from_millis(1200) {
            write(beat);
            beat += 1;
            match place.try_lock(&mut watch).expect("the store answers") {
                Err(owner) => assert_eq!(owner.expect("it says who").to_string(), "process 1 on elsewhere"),
                Ok(_) => panic!("taken from one who lives"),
            }
        }
        let began = Instant::now();
        let lock = loop {
            if let Ok(lock) = place.try_lock(&mut watch).expect("the store answers") {
                break lock;
            }
        };
        assert!(began.elapsed() >= Duration::from_millis(300), "not before it was silent for long");
        lock.check().expect("it is held");
        // Who is passed over learns of it, and gives nothing back that is not his.
        write(99);
        let late = Instant::now();
        while lock.check().is_ok() {
            assert!(late.elapsed() < Duration::from_secs(20), "the loss is noticed");
            std::thread::yield_now();
        }
        assert!(lock.check().expect_err("it is lost").message.contains("another process took this over"));
        drop(lock);
        stores.settle();
        assert!(s3.path("run/locks/all-parts.json").exists());
    }

    #[test]
    fn what_is_dropped_is_free_at_once() {
        let dir = TestDir::new();
        let s3 = S3::start(&dir.path("store"));
        let (stores, place) = place(&s3, Duration::from_mins(1));
        drop(held(&place));
        stores.settle();
        let lock = held(&place);
        assert!(matches!(place.try_lock(&mut Sighting::default()).expect("it answers"), Err(Some(_))));
        drop(lock);
    }
}
