//! What a run holds, file by file: finished, in part, or as far as it has come.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use condenser::pipeline::{BatchOptions, ConversationFormat, PlannedInput, RunPlan, Slice, Tally};
use condenser::report::ListingDocument;
use condenser::report::numbers::bytes;
use serde_json::{Value, json};

use crate::packed::job_in_cuts;
use crate::support::chats::{Blunt, jsonl};
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};
use crate::support::growth::{Clock, Slow};
use crate::support::job;

/// The lines that are printed of a run.
fn lines(dir: &TestDir, args: &[&str], code: i32) -> Vec<String> {
    let told = condenser(dir.root(), &[&["ls"], args].concat()).exits(code);
    String::from_utf8(told.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// The words of each line but the last, which has the sums.
fn cells(lines: &[String]) -> Vec<Vec<&str>> {
    let (_, files) = lines.split_last().expect("sums");
    files.iter().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect()
}

fn listing(dir: &TestDir, run: &str, code: i32) -> Value {
    let told = condenser(dir.root(), &["ls", run, "--json"]).exits(code);
    serde_json::from_slice(&told.stdout).expect("one document")
}

/// Of each file a few of its keys.
fn of_each(listing: &Value, keys: &[&str]) -> Vec<Vec<Value>> {
    let files = listing["files"].as_array().expect("files");
    files.iter().map(|file| keys.iter().map(|key| file[key].clone()).collect()).collect()
}

fn bytes_of(dir: &TestDir, run: &str) -> u64 {
    files(&dir.path(run)).values().map(|bytes| bytes.len() as u64).sum()
}

#[test]
fn ids_are_printed_one_a_line_and_lead_to_their_conversations() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(40, 1));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    let ids = lines(&dir, &["run", "--ids"], 0);
    assert_eq!(ids.len(), 40);
    for id in [&ids[0], &ids[39]] {
        condenser(dir.root(), &["get", "run", id]).ok();
    }
    let told = condenser(dir.root(), &["get", "run", "nobody"]).exits(1);
    assert!(told.stderr.contains("`condenser ls RUN --ids` lists them"), "{}", told.stderr);
    condenser(dir.root(), &["ls", "run", "--ids", "--json"]).exits(2);
}

#[test]
fn a_plain_file_is_one_line_and_the_sums_count_every_file_of_the_run() {
    let dir = TestDir::new();
    let text = jsonl(40, 1);
    dir.write("in.jsonl", &text);
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    let told = lines(&dir, &["run"], 0);
    let size = bytes(text.len() as u64);
    assert_eq!(cells(&told), [vec!["conversations", "size", "part", "file"], vec!["40", &size, "0", "in.jsonl"]]);
    assert!(told[2].starts_with(&format!("complete: 1 file, 40 conversations, {size} read, ")), "{told:?}");
    let listing = listing(&dir, "run", 0);
    let totals = &listing["totals"];
    assert_eq!(totals["bytes_written"], bytes_of(&dir, "run"));
    assert_eq!(totals["bytes_stored"], text.len());
    let ratio = text.len() as f64 / bytes_of(&dir, "run") as f64;
    assert!((totals["bytes_ratio"].as_f64().expect("a ratio") - ratio).abs() < 1e-9);
    // The report counts the same.
    let report = condenser(dir.root(), &["report", "run", "--json"]).ok().stdout;
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    for name in ["bytes_written", "bytes_stored", "bytes_stream", "conversations", "rejects", "chars_in", "chars_out"] {
        assert_eq!(report["totals"][name], totals[name], "{name}");
    }
    assert_eq!(of_each(&listing, &["status", "parts", "parts_missing"]), [[json!("complete"), json!([0]), json!([])]]);
}

#[test]
fn files_that_share_a_part_are_listed_one_by_one_in_their_order() {
    let dir = TestDir::new();
    for (name, n) in [("a", 3), ("b", 0), ("deep/c", 5)] {
        dir.write(&format!("in/{name}.jsonl"), jsonl(n, 2));
    }
    let packed = zstd::encode_all(jsonl(50, 3).as_bytes(), 1).expect("memory takes all");
    dir.write("in/z.jsonl.zst", &packed);
    condenser(dir.root(), &["compress", "in", "-o", "run"]).ok();
    let told = lines(&dir, &["run"], 0);
    let [size, text] = [packed.len(), jsonl(50, 3).len()].map(|n| bytes(n as u64));
    let named = |row: &Vec<&str>| (row[0].to_owned(), (*row.last().expect("a name")).to_owned());
    let rows: Vec<(String, String)> = cells(&told)[1..].iter().map(named).collect();
    let expected = [("3", "in/a.jsonl"), ("0", "in/b.jsonl"), ("5", "in/deep/c.jsonl"), ("50", "in/z.jsonl.zst")];
    assert_eq!(rows, expected.map(|(n, name)| (n.to_owned(), name.to_owned())));
    // What was packed says how long its text is, the others have a dash.
    assert_eq!(cells(&told)[4], ["50", &size, &text, "0", "in/z.jsonl.zst"]);
    assert_eq!(cells(&told)[1][2], "–");
    assert!(told[5].contains("of text), "), "{told:?}");
    // All columns begin where they begin in the head.
    let place = |line: &String, name: &str| line.split(name).next().map(|start| start.chars().count());
    assert_eq!(place(&told[0], "file"), place(&told[1], "in/a.jsonl"));
    assert_eq!(place(&told[0], "file"), place(&told[4], "in/z.jsonl.zst"));
}

#[test]
fn a_file_that_is_cut_is_one_line_with_its_parts_and_sums() {
    let dir = TestDir::new();
    let text = jsonl(400, 4);
    dir.write("in/a.jsonl", &text);
    dir.write("in/b.jsonl", jsonl(2, 5));
    condenser(dir.root(), &["compress", "in", "-o", "run", "--split-size", "20k"]).ok();
    let n_parts = text.len().div_ceil(20 << 10);
    let told = lines(&dir, &["run"], 0);
    let rows = cells(&told);
    assert_eq!((rows[1][0], rows[1][2]), ("400", &*format!("0–{}", n_parts - 1)));
    assert_eq!((rows[2][0], rows[2][2]), ("2", &*n_parts.to_string()));
    let listing = listing(&dir, "run", 0);
    let first = &listing["files"][0];
    assert_eq!(first["parts"].as_array().map(Vec::len), Some(n_parts));
    assert_eq!((&first["bytes_stored"], &first["bytes_stream"]), (&json!(text.len()), &json!(text.len())));
    assert_eq!(listing["totals"]["parts"], n_parts + 1);
}

#[test]
fn rejects_have_a_column_where_there_are_any() {
    let dir = TestDir::new();
    dir.write("in/a.jsonl", jsonl(3, 6));
    dir.write("in/b.jsonl", "broken\n".to_owned() + &jsonl(2, 7) + "{");
    condenser(dir.root(), &["compress", "in", "-o", "run"]).exits(3);
    let told = lines(&dir, &["run"], 0);
    let rows = cells(&told);
    assert_eq!(rows[0], ["conversations", "rejects", "size", "part", "file"]);
    assert_eq!((rows[1][1], rows[2][1]), ("0", "2"));
    assert!(told[3].contains(", 5 conversations, 2 rejects, "), "{told:?}");
}

/// A run over five small files and one that is cut, of which the second small one is gone when the part is done again.
fn with_a_failure(dir: &TestDir) {
    for at in 0..5 {
        dir.write(&format!("in/{at}.jsonl"), jsonl(2, 80 + at));
    }
    dir.write("in/9.jsonl", jsonl(200, 8));
    job_in_cuts(dir, 20 << 10, || {
        std::fs::remove_file(dir.path("in/1.jsonl")).expect("it was there");
    })
    .expect_err("a file is gone");
}

#[test]
fn a_file_that_failed_among_others_says_why_before_and_after_the_run_is_closed() {
    let dir = TestDir::new();
    with_a_failure(&dir);
    let check = |status: &str, code: i32| {
        let told = lines(&dir, &["run"], code);
        let rows = cells(&told);
        assert_eq!(&rows[2][..2], ["–", &*bytes(jsonl(2, 81).len() as u64)], "{told:?}");
        assert_eq!(rows[2][3], "in/1.jsonl");
        assert_eq!(rows[2][4], "failed: cannot be opened", "{told:?}");
        assert!(told[7].starts_with(&format!("{status}: 6 files, 1 failed, 208 conversations, ")), "{told:?}");
        let listing = listing(&dir, "run", code);
        assert_eq!(listing["status"], status);
        assert_eq!(listing["totals"]["bytes_written"], bytes_of(&dir, "run"));
        let statuses = of_each(&listing, &["status"]).concat();
        assert_eq!(statuses, ["complete", "failed", "complete", "complete", "complete", "complete"]);
        assert!(listing["files"][1]["error"].as_str().is_some_and(|error| error.contains("1.jsonl")));
        assert!(listing["files"][0]["error"].is_null());
    };
    // Locks and what is written beside them are no files of the run.
    std::fs::remove_dir_all(dir.path("run/locks")).ok();
    check("unfinished", 6);
    condenser(dir.root(), &["finish", "run", "--partial"]).exits(3);
    std::fs::remove_dir_all(dir.path("run/locks")).ok();
    check("partial", 0);
}

#[test]
fn a_run_that_was_closed_without_a_file_names_it_as_missing() {
    let dir = TestDir::new();
    dir.write("in/a.jsonl", jsonl(2, 60));
    dir.write("in/b.jsonl", jsonl(2, 61));
    dir.write("in/c.jsonl", "PAR1 is how a table begins");
    dir.write("in/d.jsonl", jsonl(2, 62));
    condenser(dir.root(), &["compress", "in", "-o", "run"]).exits(1);
    let told = lines(&dir, &["run"], 6);
    assert_eq!(cells(&told)[3], ["–", "26 B", "1", "in/c.jsonl", "not committed yet"]);
    condenser(dir.root(), &["finish", "run", "--partial"]).exits(3);
    let told = lines(&dir, &["run"], 0);
    assert_eq!(cells(&told)[3], ["–", "26 B", "1", "in/c.jsonl", "missing: the run was finished without it"]);
    assert!(told[5].starts_with("partial: 4 files, 1 missing, 6 conversations, "), "{told:?}");
    let listing = listing(&dir, "run", 0);
    let keys = ["status", "parts", "parts_missing", "bytes_planned", "bytes_stored"];
    let whole =
        |part: u64, n_bytes: usize| vec![json!("complete"), json!([part]), json!([]), json!(n_bytes), json!(n_bytes)];
    let expected = [
        whole(0, jsonl(2, 60).len()),
        whole(0, jsonl(2, 61).len()),
        vec![json!("missing"), json!([1]), json!([1]), json!(26), json!(0)],
        whole(2, jsonl(2, 62).len()),
    ];
    assert_eq!(of_each(&listing, &keys), expected);
}

#[test]
fn a_run_that_is_not_finished_is_listed_as_far_as_it_goes() {
    let dir = TestDir::new();
    dir.write("a.jsonl", jsonl(400, 9));
    dir.write("b.jsonl", jsonl(4, 10));
    let args = ["compress", "a.jsonl", "b.jsonl", "-o", "run", "--split-size", "30k", "--shard", "0/2"];
    condenser(dir.root(), &args).ok();
    std::fs::remove_dir_all(dir.path("run/locks")).ok();
    let told = condenser(dir.root(), &["ls", "run"]).exits(6);
    let says = "error: run: the run is not complete: it has no manifest.json\nhint: ";
    assert!(told.stderr.starts_with(says), "{}", told.stderr);
    let n_parts = jsonl(400, 9).len().div_ceil(30 << 10) + 1;
    let n_done = n_parts.div_ceil(2);
    let text = String::from_utf8(told.stdout).expect("text");
    let cut = n_parts - 1;
    assert!(text.contains(&format!("a.jsonl  {} of {cut} parts not committed yet\n", cut / 2)), "{text}");
    assert!(text.ends_with(&format!(", {n_done} of {n_parts} parts committed\n")), "{text}");
    let listing = listing(&dir, "run", 6);
    assert_eq!((&listing["status"], &listing["files"][0]["status"]), (&json!("unfinished"), &json!("pending")));
    let missing: Vec<usize> = (0..cut).filter(|part| part % 2 == 1).collect();
    assert_eq!(listing["files"][0]["parts_missing"], json!(missing));
    assert_eq!(listing["totals"]["bytes_written"], bytes_of(&dir, "run"));
    // A part that another call is doing again has no commit for a while, and its tables may be anything.
    dir.write("run/commits/part-00000.json.zst", "");
    dir.write("run/conversations/part-00002.parquet", "half");
    let told = lines(&dir, &["run"], 6);
    assert!(told[3].ends_with(&format!(", {} of {n_parts} parts committed", n_done - 1)), "{told:?}");
}

#[test]
fn what_is_no_run_or_damaged_is_told_as_by_other_commands() {
    let dir = TestDir::new();
    let told = condenser(dir.root(), &["ls", "nowhere"]).exits(2);
    assert!(told.stdout.is_empty() && told.stderr.contains("there is no run here"), "{}", told.stderr);
    dir.write("in/a.jsonl", jsonl(3, 11));
    dir.write("in/b.jsonl", jsonl(3, 12));
    condenser(dir.root(), &["compress", "in", "-o", "run"]).ok();
    for name in ["manifest.json", "plan.json.zst", "commits/part-00000.json.zst"] {
        let good = dir.read(&format!("run/{name}"));
        let mut bad = good.clone();
        let at = bad.len() / 2;
        bad[at] ^= 1;
        dir.write(&format!("run/{name}"), bad);
        let told = condenser(dir.root(), &["ls", "run"]).exits(4);
        assert!(told.stdout.is_empty() && told.stderr.contains(name), "{name}: {}", told.stderr);
        dir.write(&format!("run/{name}"), good);
    }
    // Tables are not looked at: whether these are as they were written tells `verify`.
    for name in files(&dir.path("run")).into_keys().filter(|name| name.ends_with(".parquet")) {
        std::fs::remove_file(dir.path(&format!("run/{name}"))).expect("it was there");
    }
    assert_eq!(lines(&dir, &["run"], 0).len(), 4);
}

#[test]
fn runs_of_the_first_format_have_no_plan_and_are_listed_too() {
    let compat = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/compat/1");
    for run in ["jsonl", "parquet"] {
        let told = condenser(&compat, &["ls", run]).ok().stdout;
        let text = String::from_utf8(told).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with("  0  input.jsonl"), "{text}");
        assert!(lines[2].starts_with("complete: 1 file, 9 conversations, 1 reject, 61.5 kB read, "), "{text}");
    }
}

#[test]
fn lines_are_cut_to_the_width_that_is_asked_for_and_nowhere_else() {
    let dir = TestDir::new();
    let long = format!("in/{}/the-name-of-the-session.jsonl", "deep".repeat(30));
    dir.write(&long, jsonl(2, 13));
    dir.write("in/b\u{1b}[31m.jsonl", jsonl(2, 14));
    condenser(dir.root(), &["compress", "in", "-o", "run"]).ok();
    let told = lines(&dir, &["run"], 0);
    assert!(told[1].ends_with("in/b\\u{1b}[31m.jsonl"), "what could drive a terminal is written out: {told:?}");
    assert!(told[2].ends_with(&long), "{told:?}");
    let told = lines(&dir, &["run", "--width", "70"], 0);
    assert!(told[2].ends_with("deep/the-name-of-the-session.jsonl") && told[2].contains("  …"), "{told:?}");
    assert_eq!(told[2].chars().count(), 70);
    // A reason loses its end.
    let dir = TestDir::new();
    with_a_failure(&dir);
    let told = lines(&dir, &["run", "--width", "60"], 6);
    assert!(told[2].contains("  in/1.jsonl  failed: ") && told[2].ends_with('…'), "{told:?}");
    assert_eq!(told[2].chars().count(), 60);
}

#[test]
fn many_files_are_listed_in_linear_time() {
    let options =
        job::context(Arc::new(Blunt::default()), ConversationFormat::Parquet, BatchOptions::default()).options;
    // One in a thousand is cut into a thousand parts, the others share theirs.
    let is_large = |at: usize| at.is_multiple_of(1000);
    let input = |at: usize| {
        let bytes = if is_large(at) { 1 << 40 } else { 500 };
        let planned = PlannedInput::new(format!("logs/{at:06}.jsonl"), Some(bytes), None);
        (planned, if is_large(at) { Slice::ranges(bytes, 1 << 30) } else { vec![Slice::Whole] })
    };
    let plan = |n: usize| {
        let plan = RunPlan::new(options.clone(), (0..n).map(input).collect()).expect("options are JSON");
        (n, plan.sharing(|at| !is_large(at)))
    };
    let time = |(n, plan): &(usize, RunPlan)| {
        let started = Clock::start();
        let listing = ListingDocument::new("run".to_owned(), Some(plan), &[], None, &Tally::default());
        assert_eq!(listing.text(Some(100)).lines().count(), n + 2);
        started.passed()
    };
    let mut slow = Slow::default();
    slow.check("a listing", plan, time, [5_000, 40_000]);
    slow.report();
}

#[cfg(feature = "remote")]
#[test]
fn a_run_in_a_store_is_listed_without_its_tables() {
    use crate::support::s3::S3;
    let dir = TestDir::new();
    let s3 = S3::start(&dir.path("store"));
    let all: BTreeMap<String, String> = (0..6).map(|at| (format!("{at}.jsonl"), jsonl(3, 90 + at))).collect();
    for (name, text) in &all {
        dir.write(&format!("store/bucket/in/{name}"), text);
    }
    let call = |args: &[&str]| condenser(dir.root(), args).environment(s3.environment());
    let args = ["compress", "s3://bucket/in", "-o", "s3://bucket/run", "--split-size", "3k"];
    call(&[&args[..], &["--shard", "0/2"]].concat()).ok();
    let told = call(&["ls", "s3://bucket/run"]).exits(6);
    assert!(told.stderr.contains("s3://bucket/run: the run is not complete"), "{}", told.stderr);
    assert!(String::from_utf8_lossy(&told.stdout).contains(".jsonl  not committed yet\n"));
    call(&args).ok();
    s3.server.work();
    let told = call(&["ls", "s3://bucket/run"]).ok();
    let text = String::from_utf8(told.stdout).expect("text");
    for name in all.keys() {
        assert!(text.contains(&format!("  s3://bucket/in/{name}\n")), "{text}");
    }
    assert!(text.contains("\ncomplete: 6 files, 18 conversations, "), "{text}");
    let seen = s3.server.seen();
    let is_document = |request: &String| ["manifest", "plan", "commits"].iter().any(|name| request.contains(name));
    assert!(seen.iter().all(is_document), "{seen:?}");
}

#[test]
fn a_run_that_only_measures_says_so() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(3, 1));
    dir.write("job.toml", "kind = \"report\"\nquiet = true\ninputs = [\"in.jsonl\"]\noutput = \"run\"\n");
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let told = lines(&dir, &["run"], 0);
    assert!(told.last().is_some_and(|line| line.ends_with(", no originals: it only measures")), "{told:?}");
}
