//! A ratio that a run is to reach: one threshold, settled on a sample, the same however a job is cut, stopped and gone on with.

use condenser::pipeline::open_sealed;
use serde_json::Value;

use crate::look_ahead::sessions;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

fn options_of(dir: &TestDir, run: &str) -> Value {
    let plan: Value = open_sealed(&dir.read(&format!("{run}/plan.json.zst")), "").expect("a plan");
    plan["options"].clone()
}

#[test]
fn one_threshold_holds_however_a_job_is_cut() {
    let dir = TestDir::new();
    dir.write("logs/a.jsonl", sessions(9));
    dir.write("logs/b.jsonl", sessions(4));
    for ahead in ["turns", "off"] {
        let call = |run: &str, more: &[&str]| {
            let base = ["compress", "logs", "-o", run, "--target-ratio", "2.5", "--look-ahead", ahead];
            condenser(dir.root(), &[&base[..], more].concat()).ok()
        };
        let [one, four, cut, half] = ["one", "four", "cut", "half"].map(|name| format!("{ahead}-{name}"));
        let told = call(&one, &["--threads", "1", "--split-size", "64KiB"]).stderr;
        assert!(told.contains("target ratio 2.50: threshold ") && told.contains(" over all inputs"), "{told}");
        call(&four, &["--threads", "4", "--split-size", "64KiB"]);
        for shard in ["1/3", "0/3", "2/3"] {
            call(&cut, &["--split-size", "64KiB", "--shard", shard]);
        }
        condenser(dir.root(), &["finish", &cut]).ok();
        // One that was stopped goes on, with what its plan says.
        call(&half, &["--split-size", "64KiB", "--shard", "0/2"]);
        let told = call(&half, &["--split-size", "64KiB"]).stderr;
        assert!(!told.contains("threshold"), "it is not settled again: {told}");
        let all = files(&dir.path(&one));
        for run in [&four, &cut, &half] {
            assert!(all == files(&dir.path(run)), "{run}");
        }
        let options = options_of(&dir, &one);
        let settled = options["settled"]["ratio"].as_f64().expect("a ratio");
        assert!((2.5..3.0).contains(&settled), "{options}");
        // Parts of another size change nothing, and a share is a ratio.
        let wide = format!("{ahead}-wide");
        condenser(dir.root(), &["compress", "logs", "-o", &wide, "--keep", "0.4", "--look-ahead", ahead]).ok();
        assert_eq!(options["engine"]["worth_threshold"], options_of(&dir, &wide)["engine"]["worth_threshold"]);
        condenser(dir.root(), &["verify", &wide, "--against", "logs"]).ok();
        // The filter settles on what comes through the pipe.
        let args = ["compress", "-", "--target-ratio", "2.5", "--look-ahead", ahead];
        let piped = condenser(dir.root(), &args).input(dir.read("logs/a.jsonl")).ok();
        let alone = format!("{ahead}-alone");
        let of_file = ["compress", "logs/a.jsonl", "-o", &alone, "--format", "jsonl", "--compression", "none"];
        condenser(dir.root(), &[&of_file[..], &args[2..]].concat()).ok();
        let threshold = options_of(&dir, &alone)["engine"]["worth_threshold"].to_string();
        assert!(piped.stderr.contains(&format!("threshold {threshold} gives")), "{}", piped.stderr);
        assert_eq!(piped.stdout.split(|&byte| byte == b'\n').count(), 10, "nothing of the pipe is lost");
    }
}

#[test]
fn a_lower_ratio_shows_all_that_a_higher_one_shows() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(5));
    let mut before: Option<Vec<String>> = None;
    for ratio in ["1.2", "1.7", "2.5", "4"] {
        let run = format!("run-{ratio}");
        condenser(dir.root(), &["compress", "logs.jsonl", "-o", &run, "--target-ratio", ratio]).ok();
        let shown = condenser(dir.root(), &["get", &run, "session-2", "--compressed"]).ok().stdout;
        let shown: Value = serde_json::from_slice(&shown).expect("JSON");
        let texts = shown["messages"].as_array().expect("messages").iter();
        let lines: Vec<String> = texts
            .flat_map(|message| message["content"].as_str().unwrap_or_default().lines().map(str::to_owned))
            .filter(|line| !line.contains('⋯'))
            .collect();
        if let Some(before) = &before {
            assert!(lines.len() < before.len(), "{ratio}");
            let new = lines.iter().find(|line| !before.contains(line));
            assert_eq!(new, None, "{ratio}");
        }
        before = Some(lines);
    }
}

#[test]
fn what_is_not_to_be_had_is_told() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(2));
    let args = ["compress", "logs.jsonl", "--target-ratio", "900", "-o"];
    let told = condenser(dir.root(), &[&args[..], &["run"]].concat()).ok().stderr;
    assert!(told.contains("a ratio of 900.00 cannot be reached"), "{told}");
    condenser(dir.root(), &[&args[..], &["strict", "--require-fit"]].concat()).exits(5);
    condenser(dir.root(), &["verify", "strict"]).ok();
    for (more, says) in [
        (&["--worth-threshold", "3"][..], "worth_threshold: a target_ratio settles it"),
        (&["--keep", "0.5"], "`keep` says the same as `target_ratio`"),
        (&["--hide-by", "look"], "target_ratio: it needs hide_by"),
        (&["--policy", "best-above-floor", "--floor", "quality=0.9"], "a policy chooses an option set"),
    ] {
        let told = condenser(dir.root(), &[&args[..], &["other"], more].concat()).exits(2).stderr;
        assert!(told.contains(says), "{says:?} is not in {told}");
    }
    for (flag, value) in [("--target-ratio", "0.5"), ("--keep", "0"), ("--keep", "2"), ("--target-ratio", "nan")] {
        condenser(dir.root(), &["compress", "logs.jsonl", "-o", "no", flag, value]).exits(2);
    }
}

#[test]
fn a_store_settles_once() {
    let dir = TestDir::new();
    let job = "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\ntarget_ratio = 2\n";
    dir.write("job.toml", job);
    dir.write("logs/a.jsonl", sessions(3));
    condenser(dir.root(), &["run", "job.toml"]).ok();
    dir.write("logs/b.jsonl", sessions(6));
    let told = condenser(dir.root(), &["run", "job.toml"]).ok().stderr;
    assert!(!told.contains("threshold"), "{told}");
    let [first, second] = ["00001", "00002"].map(|run| options_of(&dir, &format!("store/runs/{run}")));
    assert_eq!(first["engine"]["worth_threshold"], second["engine"]["worth_threshold"]);
    assert_eq!(first["settled"], second["settled"]);
    // Another ratio is settled anew.
    dir.write("job.toml", job.replace("= 2\n", "= 3\n"));
    dir.write("logs/c.jsonl", sessions(2));
    condenser(dir.root(), &["run", "job.toml"]).ok();
    assert_ne!(first["settled"], options_of(&dir, "store/runs/00003")["settled"]);
}
