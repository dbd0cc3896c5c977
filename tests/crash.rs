//! Kills the program at random points of a job and calls it again, on local disk and with an S3 server on loopback:
//! the run that comes out is always the same, byte for byte, and nothing that was left half-done is ever read. The
//! points are drawn from a seed and cover the whole duration of a job; how many there are says `CONDENSER_KILLS`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::originals::mixed;
use crate::support::chats::jsonl;
use crate::support::command::{FORMS, condenser};
use crate::support::dir::{TestDir, files};

/// Few enough for every run of the tests.
const DEFAULT_KILLS: usize = 8;
/// At most so many kills follow each other before a job may end.
const MOST_IN_A_ROW: u64 = 4;
/// One record of the inputs is none.
const WITH_REJECTS: i32 = 3;
const SPLIT: &str = "12k";

/// Numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 += 1;
        let hash = blake3::hash(&self.0.to_le_bytes());
        u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("eight bytes")) % n
    }

    fn fraction(&mut self) -> f64 {
        self.below(1 << 32) as f64 / (1_u64 << 32) as f64
    }
}

/// Where runs are written, and how the program reaches them.
struct Stage {
    dir: TestDir,
    environment: BTreeMap<String, String>,
    /// How the program names the folder of the runs.
    prefix: String,
    /// Where the files of the runs lie.
    root: PathBuf,
    inputs: Vec<String>,
    /// What is stored of originals.
    form: &'static str,
}

impl Stage {
    fn args(&self, run: &str) -> Vec<String> {
        let run = format!("{}{run}", self.prefix);
        let args = ["compress", "-o", &run, "--split-size", SPLIT, "--trace", "--originals", self.form];
        args.into_iter().map(str::to_owned).chain(self.inputs.iter().cloned()).collect()
    }

    fn call(&self, args: &[&str], code: i32) {
        condenser(self.dir.root(), args).environment(self.environment.clone()).exits(code);
    }

    fn complete(&self, run: &str) -> Duration {
        let started = Instant::now();
        let args = self.args(run);
        self.call(&args.iter().map(String::as_str).collect::<Vec<_>>(), WITH_REJECTS);
        started.elapsed()
    }

    fn start(&self, run: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
        command.args(self.args(run)).envs(&self.environment).current_dir(self.dir.root());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    fn files(&self, run: &str) -> BTreeMap<String, String> {
        let root = self.root.join(run);
        if !root.exists() {
            return BTreeMap::new();
        }
        let hash = |bytes: Vec<u8>| blake3::hash(&bytes).to_hex().to_string();
        files(&root).into_iter().map(|(name, bytes)| (name, hash(bytes))).collect()
    }

    fn commits(&self, run: &str) -> Vec<String> {
        self.files(run).into_keys().filter(|name| name.starts_with("commits/part-")).collect()
    }

    /// What a kill leaves at its worst: files of parts that were never committed, with anything in them.
    fn litter(&self, run: &str, n_parts: usize) {
        let commits = self.commits(run);
        let is_open = |part: &usize| !commits.contains(&format!("commits/part-{part:05}.json.zst"));
        let Some(part) = (0..n_parts).find(is_open) else { return };
        for name in [
            format!("conversations/part-{part:05}.parquet"),
            format!("verbatim/part-{part:05}.parquet"),
            "metrics/.condenser-dead.tmp".to_owned(),
        ] {
            // A store knows no temporary files.
            if self.prefix.is_empty() || !name.contains("dead") {
                let path = self.root.join(run).join(name);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
                std::fs::write(path, b"left behind").expect("a file can be written");
            }
        }
    }
}

/// Ends the process after `delay`; false when it had ended by itself.
fn kill_after(mut child: Child, delay: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < delay {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            assert_eq!(status.code(), Some(WITH_REJECTS), "{status}");
            return false;
        }
        std::thread::yield_now();
        std::thread::sleep(Duration::from_micros(500).min(delay.saturating_sub(started.elapsed())));
    }
    child.kill().expect("it can be killed");
    let status = child.wait().expect("it ends");
    // It may have ended in the very moment.
    status.code().is_none()
}

fn kills() -> usize {
    std::env::var("CONDENSER_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_KILLS)
}

/// Kills jobs of both forms of originals, which write other tables.
fn crash_both(mut stage: Stage, n_kills: usize, seed: u64) {
    let mut originals = Vec::new();
    for (form, n_kills) in FORMS.into_iter().zip([n_kills.div_ceil(2), n_kills / 2]) {
        stage.form = form;
        let whole = crash(&stage, n_kills, seed);
        originals.push(whole.into_iter().filter(|(name, _)| name.starts_with("verbatim/")).collect::<Vec<_>>());
    }
    assert!(originals[0] != originals[1], "both forms are the same");
}

/// Gives the files of a job that nobody stopped.
fn crash(stage: &Stage, n_kills: usize, seed: u64) -> BTreeMap<String, String> {
    let mut draw = Draw(seed << 32);
    stage.complete("warm");
    let duration = stage.complete("whole");
    let whole = stage.files("whole");
    assert!(whole == stage.files("warm"), "a job gives the same bytes twice");
    for run in ["warm", "whole"] {
        std::fs::remove_dir_all(stage.root.join(run)).expect("the run is there");
    }
    let n_parts = whole.keys().filter(|name| name.starts_with("commits/part-")).count();
    assert!(n_parts > 15, "{n_parts}");
    let (mut n_killed, mut n_rounds, mut n_ended, mut by_progress) = (0, 0, 0, [0_usize; 6]);
    while n_killed < n_kills {
        let run = format!("run-{n_rounds}");
        let in_a_row = 1 + draw.below(MOST_IN_A_ROW);
        for _ in 0..in_a_row.min((n_kills - n_killed) as u64) {
            let n_open = n_parts - stage.commits(&run).len();
            // What is left takes its share of the time, and a little to begin.
            let left = duration.mul_f64(0.1 + 0.95 * n_open as f64 / n_parts as f64);
            if !kill_after(stage.start(&run), left.mul_f64(draw.fraction())) {
                n_ended += 1;
                break;
            }
            n_killed += 1;
            let n_done = stage.commits(&run).len();
            let ended = stage.files(&run).contains_key("manifest.json");
            by_progress[if ended { 5 } else { (n_done * 4).div_ceil(n_parts) }] += 1;
            if !ended && n_done > 0 {
                // Nobody takes what is there for a run.
                let told = condenser(stage.dir.root(), &["verify", &format!("{}{run}", stage.prefix)]);
                let told = told.environment(stage.environment.clone()).exits(6);
                assert!(told.stderr.contains("the run is not complete"), "{}", told.stderr);
            }
            if draw.below(2) == 0 {
                stage.litter(&run, n_parts);
            }
        }
        stage.complete(&run);
        let found = stage.files(&run);
        for (name, hash) in &whole {
            assert_eq!(found.get(name), Some(hash), "{name} after round {n_rounds} of seed {seed}");
        }
        assert_eq!(found.len(), whole.len(), "{:?}", found.keys().filter(|name| !whole.contains_key(*name)));
        if n_rounds % 4 == 0 {
            let run = format!("{}{run}", stage.prefix);
            let against = stage.inputs.iter().map(String::as_str);
            stage.call(&["verify", &run, "--against"].into_iter().chain(against).collect::<Vec<_>>(), 0);
        }
        std::fs::remove_dir_all(stage.root.join(&run)).expect("the run is there");
        n_rounds += 1;
    }
    println!(
        "{n_killed} kills in {n_rounds} runs of {n_parts} parts and {} ms; {n_ended} ended before their kill; kills by \
         committed share (none, to 1/4, to 1/2, to 3/4, to all, with manifest): {by_progress:?}",
        duration.as_millis()
    );
    whole
}

fn inputs(dir: &TestDir) -> Vec<String> {
    dir.write("in/a.jsonl", mixed(10, 71));
    dir.write("in/b.jsonl", mixed(4, 72) + "no JSON\n" + &mixed(2, 73));
    dir.write("in/c.jsonl.zst", zstd::encode_all(jsonl(60, 74).as_bytes(), 1).expect("memory takes all"));
    ["in/a.jsonl", "in/b.jsonl", "in/c.jsonl.zst"].map(str::to_owned).to_vec()
}

#[test]
fn a_job_killed_on_local_disk_goes_on_to_the_same_bytes() {
    let dir = TestDir::new();
    let inputs = inputs(&dir);
    let root = dir.root().to_owned();
    let stage = Stage { dir, environment: BTreeMap::new(), prefix: String::new(), root, inputs, form: FORMS[0] };
    crash_both(stage, kills().div_ceil(2), 1);
}

#[cfg(feature = "remote")]
#[test]
fn a_job_killed_with_its_run_in_a_store_goes_on_to_the_same_bytes() {
    use crate::support::s3::{BUCKET, S3};
    let dir = TestDir::new();
    let store: PathBuf = dir.path("store");
    let s3 = S3::start(&store);
    let root = store.join(BUCKET);
    for name in inputs(&dir) {
        let target = root.join(&name);
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder can be made");
        std::fs::copy(dir.path(&name), target).expect("a file can be copied");
    }
    let inputs = inputs(&dir).iter().map(|name| format!("s3://{BUCKET}/{name}")).collect();
    let environment = s3.environment();
    let stage = Stage { dir, environment, prefix: format!("s3://{BUCKET}/"), root, inputs, form: FORMS[0] };
    crash_both(stage, kills() / 2, 2);
}
