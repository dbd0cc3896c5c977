//! The time of each step of a job: taken when asked, and without a trace in anything else.

use std::collections::BTreeMap;

use condenser::io::Run;
use condenser::pipeline::Timings;

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

fn without_timings(dir: &TestDir, run: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = files(&dir.path(run));
    found.retain(|name, _| !name.starts_with("timings/"));
    found
}

fn timings(dir: &TestDir, run: &str) -> Option<Timings> {
    Run::open(dir.path(run)).expect("a run").timings().expect("they can be read")
}

#[test]
fn times_stand_in_a_place_of_their_own_and_change_nothing_else() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(120, 5) + "broken\n");
    for format in ["parquet", "jsonl", "arrow"] {
        let (plain, timed) = (format!("plain-{format}"), format!("timed-{format}"));
        let flags = &["--format", format, "--trace", "--split-size", "20k", "--recency-window", "1"][..];
        condenser(dir.root(), &[&["compress", "in.jsonl", "-o", &plain], flags].concat()).exits(3);
        condenser(dir.root(), &[&["compress", "in.jsonl", "-o", &timed, "--timings"], flags].concat()).exits(3);
        assert!(without_timings(&dir, &plain) == without_timings(&dir, &timed), "{format}");
        assert_eq!(files(&dir.path(&plain)).keys().filter(|name| name.starts_with("timings/")).count(), 0);
        assert_eq!(timings(&dir, &plain), None);
        let times = timings(&dir, &timed).expect("times");
        let run = Run::open(dir.path(&timed)).expect("a run");
        assert_eq!(times.n_parts, run.commits.len() as u64);
        for step in [
            "read", "decode", "profile", "lex", "protect", "dedup", "group", "fill", "assemble", "metrics", "encode",
            "proof", "write",
        ] {
            assert!(times.stages.get(step).is_some_and(|seconds| *seconds >= 0.0), "{step}: {times:?}");
        }
        assert!(times.cpu_seconds > 0.0 && times.wall_seconds > 0.0);
        let told = condenser(dir.root(), &["verify", &timed, "--against", "in.jsonl"]).ok();
        assert!(told.stderr.contains("everything is as it was written"), "{}", told.stderr);
    }
    // Nobody promises what stands there: it may be lost or broken, and the run is whole.
    std::fs::write(dir.path("timed-jsonl/timings/from-part-00000.json"), "broken").expect("a file");
    condenser(dir.root(), &["verify", "timed-jsonl", "--against", "in.jsonl"]).ok();
    assert!(Run::open(dir.path("timed-jsonl")).expect("a run").timings().is_err());
}

#[test]
fn each_call_writes_its_own_and_they_are_added_up() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(200, 6));
    let flags = ["--split-size", "20k", "--timings"];
    for shard in ["0/2", "1/2"] {
        let shard = ["compress", "in.jsonl", "-o", "run", "--shard", shard];
        condenser(dir.root(), &[&shard[..], &flags[..]].concat()).ok();
    }
    condenser(dir.root(), &["finish", "run"]).ok();
    let all = files(&dir.path("run"));
    let names: Vec<&String> = all.keys().filter(|name| name.starts_with("timings/")).collect();
    assert_eq!(names, ["timings/from-part-00000.json", "timings/from-part-00001.json"]);
    let times = timings(&dir, "run").expect("times");
    assert_eq!(times.n_parts, Run::open(dir.path("run")).expect("a run").commits.len() as u64);
    let each: Vec<Timings> = names.iter().map(|name| serde_json::from_slice(&all[*name]).expect("times")).collect();
    assert!((times.cpu_seconds - each[0].cpu_seconds - each[1].cpu_seconds).abs() < 1e-9);
    // A call that finds everything done adds nothing.
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "whole", "--split-size", "20k"]).ok();
    assert_eq!(timings(&dir, "whole"), None);
}

#[test]
fn a_job_file_asks_for_times_and_tables_have_them_too() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(40, 7));
    dir.write("job.toml", "inputs = [\"in.jsonl\"]\noutput = \"run\"\ntimings = true\n[engine]\ntoken_budget = 500\n");
    condenser(dir.root(), &["run", "job.toml"]).ok();
    assert!(timings(&dir, "run").is_some_and(|times| times.stages.contains_key("budget")));
    std::fs::copy(dir.path("run/conversations/part-00000.parquet"), dir.path("in.parquet")).expect("a copy");
    condenser(dir.root(), &["compress", "in.parquet", "-o", "rows", "--timings", "--recency-window", "0"]).ok();
    let times = timings(&dir, "rows").expect("times");
    for step in ["read", "decode", "encode", "proof", "write"] {
        assert!(times.stages.contains_key(step), "{step}: {times:?}");
    }
    // As a filter there is no place for them.
    let told =
        condenser(dir.root(), &["compress", "-", "-o", "-", "--timings", "--sidecar", "s"]).input(jsonl(3, 8)).ok();
    assert!(!told.stdout.is_empty());
}

#[test]
fn damaged_times_are_left_out_of_a_report() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(20, 3));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--timings"]).ok();
    let report = |run: &str| condenser(dir.root(), &["report", run, "--json"]).ok();
    let is_told = |stdout: &[u8]| String::from_utf8_lossy(stdout).contains("wall_seconds");
    dir.write("run/timings/from-part-00000.json.bak", "not JSON");
    let told = report("run");
    assert!(is_told(&told.stdout) && told.stderr.is_empty(), "{}", told.stderr);
    dir.write("run/timings/from-part-00000.json", "not JSON");
    let told = report("run");
    assert!(!is_told(&told.stdout) && told.stderr.contains("what the jobs took is left out"), "{}", told.stderr);
    // A run that was not finished says what goes on with it.
    std::fs::remove_file(dir.path("run/manifest.json")).expect("it was there");
    let told = condenser(dir.root(), &["report", "run"]).exits(6);
    assert!(told.stderr.contains("not complete") && told.stderr.contains("condenser finish RUN"), "{}", told.stderr);
    assert!(!told.stderr.contains("originals"), "{}", told.stderr);
}
