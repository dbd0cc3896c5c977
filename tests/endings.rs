//! How a call ends: its exit code, what it says last, to people and to machines, and what came out.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use condenser::engine::Engine;
use condenser::io::store::{Location, Place, Stores};
use condenser::io::{Input, Inputs, RunWriter};
use condenser::model::EngineOptions;
use condenser::pipeline::{
    BatchOptions, ConversationFormat, Observer, Progress, RunPlan, TableOptions, compress as compress_all,
};
use serde_json::Value;

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};
use crate::support::job::{block_on, context};

/// The event with which machines are told of the end.
#[track_caller]
fn end_of(stderr: &str) -> Value {
    let events: Vec<Value> =
        stderr.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect();
    let end = events.last().expect("there are events").clone();
    assert_eq!(end["event"], "ends", "{stderr}");
    end
}

fn with_one() -> TestDir {
    let dir = TestDir::new();
    dir.write("one.jsonl", jsonl(1, 81));
    dir
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_enough_ends_the_program_in_silence() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(600, 80));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    for call in ["explain in.jsonl --all --json", "restore run -o -", "compress in.jsonl -o -"] {
        let script = format!("{{ \"$CONDENSER\" {call} 2> told; echo $? > code; }} | head -c 1 > first");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("CONDENSER", env!("CARGO_BIN_EXE_condenser")).current_dir(dir.root());
        assert!(shell.stdin(Stdio::null()).status().expect("it starts").success());
        assert_eq!(String::from_utf8_lossy(&dir.read("code")).trim(), "141", "{call}");
        let told = String::from_utf8_lossy(&dir.read("told")).into_owned();
        assert!(!told.contains("error") && !told.contains("hint"), "{call}: {told}");
    }
}

#[test]
fn a_missing_file_is_told_without_a_hint_that_does_not_help() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(1, 1));
    let told = condenser(dir.root(), &["run", "in.jsonl"]).exits(2).stderr;
    assert!(
        told.contains("no job file") && told.contains("\nhint: to compress transcripts: condenser compress"),
        "{told}"
    );
    for call in [&["compress", "no.jsonl", "-o", "run"][..], &["run", "no.toml"], &["explain", "no.jsonl"]] {
        let told = condenser(dir.root(), call).exits(2).stderr;
        assert!(told.contains("no.") && !told.contains("--help"), "{told}");
    }
}

#[test]
fn a_run_that_is_not_finished_has_an_exit_code_of_its_own() {
    let dir = TestDir::new();
    dir.write("a.jsonl", jsonl(2, 82));
    dir.write("b.jsonl", jsonl(2, 83));
    let told =
        condenser(dir.root(), &["compress", "a.jsonl", "b.jsonl", "-o", "run", "--split-size", "2k", "--shard", "0/2"])
            .ok()
            .stderr;
    assert!(told.contains("1 part is left to other shards\n"), "{told}");
    assert!(told.contains("next, when the other shards are done: condenser finish run\n"), "{told}");
    for call in [&["verify", "run"][..], &["restore", "run"], &["report", "run"], &["get", "run", "x"]] {
        let told = condenser(dir.root(), call).exits(6).stderr;
        assert!(told.contains("the run is not complete") && !told.contains("do not delete"), "{told}");
    }
    condenser(dir.root(), &["finish", "run"]).exits(6);
    condenser(dir.root(), &["compress", "a.jsonl", "b.jsonl", "-o", "run", "--split-size", "2k", "--shard", "1/2"])
        .ok();
    condenser(dir.root(), &["verify", "run"]).ok();
}

#[test]
fn the_end_of_a_run_says_where_it_is_what_it_took_and_what_comes_next() {
    let dir = with_one();
    let told = condenser(dir.root(), &["compress", "one.jsonl", "-o", "a run"]).ok().stderr;
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("1 file, ") && lines[0].ends_with(" B: restored and compared"), "{told}");
    assert!(lines[1].starts_with("1 conversation, "), "{told}");
    assert!(lines[2].starts_with("a run: ") && lines[2].contains(" read, ") && lines[2].contains(" written, "));
    assert!(lines[3].starts_with("the archive is larger than its input, "), "one conversation does not pay: {told}");
    assert!(lines[4].starts_with("ratio ") && lines[4].contains(" characters → "), "{told}");
    assert_eq!(lines[5..], ["next: condenser report 'a run' --html report.html"]);
    let again = condenser(dir.root(), &["compress", "one.jsonl", "-o", "a run"]).ok().stderr;
    assert!(again.starts_with("1 part was committed before and is kept\n1 conversation, "), "{again}");
    let verified = condenser(dir.root(), &["verify", "a run"]).ok().stderr;
    assert!(verified.starts_with("1 part, 1 record, "), "{verified}");
    let restored = condenser(dir.root(), &["restore", "a run", "-o", "back"]).ok().stderr;
    assert_eq!(restored, "1 file restored to back\n");
    let told = condenser(dir.root(), &["compress", "one.jsonl", "-o", "json", "--progress", "json"]).ok().stderr;
    let end = end_of(&told);
    let bytes: u64 = files(&dir.path("json")).values().map(|bytes| bytes.len() as u64).sum();
    assert_eq!((end["run"].as_str(), end["bytes_written"].as_u64()), (Some("json"), Some(bytes)));
    assert_eq!(end["stored_bytes"].as_u64(), Some(dir.read("one.jsonl").len() as u64));
    assert_eq!(
        (&end["next"], &end["totals"]["conversations"]),
        (&"condenser report json --html report.html".into(), &1.into())
    );
    for quiet in [&["-q"][..], &["-q", "--progress", "json"]] {
        let told = condenser(dir.root(), &[&["compress", "one.jsonl", "-o", "quiet"], quiet].concat()).ok().stderr;
        assert_eq!(told, "");
    }
}

#[test]
fn a_job_file_takes_output_threads_and_quiet_from_the_command_line() {
    let dir = with_one();
    dir.write("job.toml", "inputs = [\"one.jsonl\"]\noutput = \"written\"\n");
    let told = condenser(dir.root(), &["run", "job.toml", "-o", "true", "--threads", "1", "-q"]).ok();
    assert!(told.stderr.is_empty() && dir.path("true/manifest.json").exists() && !dir.path("written").exists());
    dir.write("open.toml", "inputs = [\"one.jsonl\"]\n");
    condenser(dir.root(), &["run", "open.toml", "--output", "named"]).ok();
    let shown = condenser(dir.root(), &["run", "open.toml", "-o", "a", "--threads", "3", "-q", "--dry-run"]).ok();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(["output = \"a\"", "threads = 3", "quiet = true"].iter().all(|key| shown.contains(key)), "{shown}");
}

#[test]
fn a_run_without_a_conversation_says_why_and_is_no_success() {
    let dir = with_one();
    dir.write("empty.jsonl", "");
    dir.write("blank.jsonl", "\n\n");
    dir.write("odd.jsonl", "{\"a\":1}\n{\n17\n");
    for (input, why) in [
        ("empty.jsonl", "nothing came out: the input is empty\n"),
        ("blank.jsonl", "nothing came out: the input holds no record\n"),
        ("odd.jsonl", "nothing came out: all 3 records were rejected ("),
    ] {
        let told = condenser(dir.root(), &["compress", input, "-o", input.split('.').next().unwrap_or("x")]).exits(3);
        assert!(told.stderr.contains(why), "{}", told.stderr);
        let told = condenser(dir.root(), &["compress", input, "-o", "quiet", "--fresh", "-q"]).exits(3);
        assert!(told.stderr.starts_with(why.trim_end()) && told.stderr.lines().count() == 1, "{}", told.stderr);
        let told = condenser(dir.root(), &["compress", input, "-o", "-"]).exits(3);
        assert!(told.stderr.contains(why) && told.stdout.is_empty(), "{}", told.stderr);
        condenser(dir.root(), &["explain", input]).exits(3);
    }
    // One input that is empty among others is none of anybody's business.
    condenser(dir.root(), &["compress", "empty.jsonl", "one.jsonl", "-o", "both"]).ok();
    let told = condenser(dir.root(), &["compress", "odd.jsonl", "-o", "json", "--progress", "json"]).exits(3).stderr;
    let warning = end_of(&told)["warnings"][0].as_str().expect("a warning").to_owned();
    assert!(warning.starts_with("nothing came out: all 3 records were rejected ("), "{warning}");
    // Nothing is lost all the same.
    condenser(dir.root(), &["verify", "odd", "--against", "odd.jsonl"]).ok();
    condenser(dir.root(), &["verify", "empty", "--against", "empty.jsonl"]).ok();
}

#[test]
fn a_data_set_without_rows_is_no_success() {
    let dir = with_one();
    dir.write(
        "job.toml",
        "kind = \"dataset\"\ninputs = [\"one.jsonl\"]\noutput = \"set\"\n[dataset]\nmax_tokens = 1\nunfit = \"leave-out\"\n",
    );
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(3).stderr;
    assert!(told.contains("set/dataset: 0 rows in train, 0 in eval, 1 left out (1 over_max_tokens)\n"), "{told}");
    let why = "the data set has no rows: the only conversation was left out (1 over_max_tokens); set/dataset/dropped says why\n";
    assert!(told.contains(why), "{told}");
}

#[test]
fn a_plan_of_another_job_is_refused_in_one_sentence() {
    let dir = TestDir::new();
    for n in 0..30 {
        dir.write(&format!("old/{n}.jsonl"), jsonl(1, n));
        dir.write(&format!("new/{n}.jsonl"), jsonl(1, n));
    }
    condenser(dir.root(), &["compress", "old", "-o", "run", "--preset", "classic", "--token-budget", "900"]).ok();
    let told = condenser(dir.root(), &["compress", "new", "old/7.jsonl", "-o", "run"]).exits(2).stderr;
    let (sentence, hint) = told.split_once('\n').expect("a sentence and a hint");
    assert!(sentence.contains("; 29 inputs are gone, such as old/0.jsonl; 30 inputs are new, such as new/0.jsonl"));
    assert!(sentence.contains(" more options; ") && sentence.len() < 400, "{sentence}");
    assert!(hint.starts_with("hint: choose another directory") && hint.lines().count() == 1, "{hint}");
}

/// A conversation that no budget of 10 tokens holds, and one that it does.
fn tight(dir: &TestDir) {
    let talk = |id: &str, words: usize| {
        let text = "These words say nothing that anybody needs later. ".repeat(words);
        let message = |role: &str| serde_json::json!({ "role": role, "content": text });
        serde_json::json!({ "id": id, "messages": [message("user"), message("assistant")] }).to_string() + "\n"
    };
    dir.write("in.jsonl", talk("long", 40) + &talk("longer", 80) + &talk("short", 0));
}

#[test]
fn a_token_budget_that_was_not_met_is_said() {
    let dir = TestDir::new();
    tight(&dir);
    let call = |run: &str, more: &[&str]| {
        condenser(dir.root(), &[&["compress", "in.jsonl", "-o", run, "--token-budget", "20"], more].concat())
    };
    let told = call("run", &[]).ok().stderr;
    let says =
        "2 of 3 conversations are over the token budget of 20 tokens (`fits` in the metrics): --force-converge cuts";
    assert!(told.contains(says), "{told}");
    // The data is whole, and asking for a fit changes neither plan nor bytes.
    let told = call("run", &["--require-fit", "-q"]).exits(5).stderr;
    assert!(told.starts_with("2 of 3 conversations are over") && told.lines().count() == 1, "{told}");
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    let told = call("json", &["--progress", "json", "--require-fit"]).exits(5).stderr;
    let end = end_of(&told);
    assert_eq!(end["totals"]["over_budget"], 2);
    assert!(end["warnings"][0].as_str().is_some_and(|warning| warning.starts_with("2 of 3 ")), "{told}");
    dir.write(
        "job.toml",
        "inputs = [\"in.jsonl\"]\noutput = \"job\"\nrequire_fit = true\n[engine]\ntoken_budget = 20\n",
    );
    condenser(dir.root(), &["run", "job.toml"]).exits(5);
    condenser(dir.root(), &["run", "job.toml", "--set", "require_fit=false"]).ok();
    // Where there is no budget, or all meet theirs, nobody hears of it.
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "x", "--require-fit"]).exits(2).stderr;
    assert!(told.contains("require_fit: no token budget is set"), "{told}");
    let wide = ["compress", "in.jsonl", "-o", "wide", "--token-budget", "100000", "--require-fit"];
    assert!(!condenser(dir.root(), &wide).ok().stderr.contains("budget"));
    // In shards too.
    let shard = |at: &str| call("parts", &["--split-size", "1k", "--shard", at]).ok();
    shard("0/2");
    shard("1/2");
    condenser(dir.root(), &["finish", "parts", "--require-fit"]).exits(5);
    let told = condenser(dir.root(), &["finish", "parts"]).ok().stderr;
    assert!(told.contains("2 of 3 conversations are over the token budget of 20 tokens"), "{told}");
}

#[test]
fn a_missed_token_budget_stands_in_every_form_of_the_report() {
    let dir = TestDir::new();
    tight(&dir);
    let call = |run: &str, budget: &str| {
        condenser(dir.root(), &["compress", "in.jsonl", "-o", run, "--token-budget", budget]).ok();
    };
    call("run", "20");
    call("wide", "100000");
    let report = |args: &[&str]| {
        let told = condenser(dir.root(), &[&["report"], args].concat()).ok();
        String::from_utf8_lossy(&told.stdout).into_owned()
    };
    assert!(report(&["run"]).contains("Over the token budget"));
    assert!(!report(&["wide"]).contains("token budget"));
    assert_eq!(serde_json::from_str::<Value>(&report(&["run", "--json"])).expect("JSON")["totals"]["over_budget"], 2);
    report(&["run", "--html", "page.html"]);
    let page = String::from_utf8_lossy(&dir.read("page.html")).into_owned();
    assert!(page.contains("Over the token budget") && page.contains("of 3 conversations"));
    let drift = report(&["wide", "run"]);
    assert!(
        drift.lines().any(|line| line.contains("Over the token budget") && line.contains('0') && line.contains('2'))
    );
    report(&["wide", "run", "--html", "drift.html"]);
    assert!(String::from_utf8_lossy(&dir.read("drift.html")).contains("Over the token budget"));
}

#[test]
fn grounding_is_told_where_it_was_measured_and_many_files_take_few_lines() {
    let dir = TestDir::new();
    let small = crate::originals::sessions(1, 7);
    for n in 0..250 {
        dir.write(&format!("in/{n:03}.jsonl"), &small);
    }
    // Some thirty files are a part.
    let split = (small.len() * 30).to_string();
    let plain = ["compress", "in", "-o", "run", "--progress", "plain", "--split-size", &split];
    let told = condenser(dir.root(), &plain).ok().stderr;
    let files: Vec<&str> = told.lines().filter(|line| line.ends_with("restored and compared")).collect();
    assert_eq!(files.len(), 3, "{told}");
    assert!(files[2].starts_with("250 files, "), "{told}");
    let place = told.lines().find(|line| line.starts_with("run: ")).expect("where it is");
    assert!(place.contains(" kB written (") && place.contains(" %), "), "{told}");
    let ratio = told.lines().find(|line| line.starts_with("ratio ")).expect("a ratio");
    let (_, grounding) = ratio.split_once(", grounding ").expect("it was measured");
    assert!(grounding.parse::<f64>().is_ok_and(|share| (0.0..=1.0).contains(&share)), "{ratio}");
    let told = condenser(dir.root(), &["compress", "in", "-o", "json", "--progress", "json"]).ok().stderr;
    assert_eq!(format!("{:.3}", end_of(&told)["grounding"].as_f64().expect("a number")), grounding);
    // Who looks only measures none.
    let look = ["compress", "in", "-o", "look", "--hide-by", "look"];
    let told = condenser(dir.root(), &look).ok().stderr;
    assert!(told.contains("\nratio ") && !told.contains("grounding"), "{told}");
}

/// Sees how far a job says that it is.
#[derive(Default)]
struct Seen(Mutex<Vec<u64>>);

impl Observer for Seen {
    fn source(&self, _part: usize, _name: &str) {}
    fn progress(&self, progress: &Progress) {
        self.0.lock().expect("no panic").push(progress.stored_bytes);
    }
}

#[test]
fn progress_ends_at_the_bytes_that_there_are_and_never_goes_beyond() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(900, 84));
    dir.write("in.jsonl.zst", zstd::encode_all(jsonl(900, 85).as_bytes(), 3).expect("memory takes all"));
    for format in ["parquet", "arrow"] {
        condenser(dir.root(), &["compress", "in.jsonl", "-o", format, "--format", format]).ok();
    }
    let (parquet, arrow) = ("parquet/conversations/part-00000.parquet", "arrow/conversations/part-00000.arrow");
    for (number, name) in ["in.jsonl", "in.jsonl.zst", parquet, arrow].into_iter().enumerate() {
        let engine = Arc::new(Engine::new(EngineOptions::default()).expect("the defaults hold"));
        let batches = BatchOptions { batch_bytes: 8 << 10, ..BatchOptions::default() };
        let seen = Arc::new(Seen::default());
        let mut context = context(engine, ConversationFormat::Parquet, batches);
        context.observer = seen.clone();
        let location = Location::from(&*dir.path(name));
        let input = Input::new(name, Some(Place::new(&Stores::default(), location)));
        let (corpus, inputs) =
            Inputs::plan(vec![input], batches, TableOptions::default(), 40 << 10).expect("it is there");
        let plan = RunPlan::new(context.options.clone(), inputs).expect("options are JSON");
        let total = plan.total_bytes().expect("a file has a size");
        let run = dir.path(&format!("run-{number}"));
        block_on(async {
            let (sink, commits) = RunWriter::open(&*run, &plan, None, &|_| ()).await.expect("a new run");
            compress_all(&context, &plan, commits, Arc::new(corpus), &sink).await.expect("the job ends");
        });
        let seen = seen.0.lock().expect("no panic");
        assert!(seen.len() > 5 && seen.iter().all(|&bytes| bytes <= total), "{name}: {total}, {seen:?}");
        // Small compressed files are read at once.
        let is_seen_between = seen.iter().any(|&bytes| bytes > 0 && bytes < total);
        assert!(is_seen_between || !["in.jsonl", parquet].contains(&name), "{name}: {total}, {seen:?}");
        // The footer of a file that is read by row groups is in none of them.
        let least = if name == parquet { total * 9 / 10 } else { total };
        assert!(seen.last().is_some_and(|&last| (least..=total).contains(&last)), "{name}: {seen:?}");
    }
}

/// As the administrator a file of that name would take the place of the device.
#[cfg(unix)]
#[test]
fn no_device_and_no_pipe_gives_way_to_a_file() {
    use std::os::unix::fs::FileTypeExt;
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(9, 5));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    let pipe = dir.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for args in [&["report", "run", "--html", "pipe"] as &[&str], &["show", "run", "x", "-o", "pipe"]] {
        condenser(dir.root(), args).exits(2);
        assert!(pipe.metadata().expect("it is there").file_type().is_fifo(), "{args:?}");
    }
    let told = condenser(dir.root(), &["report", "run", "--html", "pipe"]).exits(2);
    assert!(told.stderr.contains("pipe: this is a device, a pipe or a socket, not a file"), "{}", told.stderr);
}
