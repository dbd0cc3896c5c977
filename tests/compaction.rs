//! Reports and nightly compaction: figures without conversations, nights with new, grown, changed and deleted files,
//! stopped nights, and originals that are deleted only when they are proven.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::chats::jsonl;
use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::nights::{change_night, logs_of};

const JOB: &str = "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\ncompaction.rested_after = 0\n";
/// A part for each file.
const APART: &str = "split_size = \"8KiB\"\n";

fn night(dir: &TestDir) -> Told {
    condenser(dir.root(), &["run", "job.toml"]).ok()
}

/// A store with three logs, all of which were written long ago.
fn store() -> TestDir {
    let dir = TestDir::new();
    dir.write("job.toml", JOB.to_owned() + APART);
    for (name, seed) in [("a", 51), ("b", 52), ("c", 53)] {
        age(&dir.write(&format!("logs/{name}.jsonl"), jsonl(8, seed)));
    }
    let told = night(&dir).stderr;
    assert!(
        told.contains("3 new, 0 grown, 0 changed, 0 unchanged") && told.contains("runs/00001 is complete"),
        "{told}"
    );
    dir
}

fn age(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).expect("it is there");
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("it can be aged");
}

#[test]
fn a_report_writes_figures_only_and_says_so() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(30, 61) + "broken\n");
    let job = "kind = \"report\"\ninputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\nrecency_window = 0\n";
    dir.write("job.toml", job);
    let table = String::from_utf8(condenser(dir.root(), &["run", "job.toml"]).exits(3).stdout).expect("text");
    for says in ["Conversations", "token ratio", "p95", "By class", "Rejected records"] {
        assert!(table.contains(says), "{says}: {table}");
    }
    let names: Vec<String> = files(&dir.path("run")).into_keys().collect();
    let expected = [
        "commits/part-00000.json.zst",
        "manifest.json",
        "metrics/part-00000.parquet",
        "plan.json.zst",
        "rejects/part-00000.jsonl",
    ];
    assert_eq!(names, expected);
    for args in [&["restore", "run"][..], &["restore", "run", "--conversation", "chat/1"]] {
        let told = condenser(dir.root(), args).exits(2);
        assert!(told.stderr.contains("holds no originals"), "{}", told.stderr);
    }
    condenser(dir.root(), &["verify", "run"]).ok();
    // The same figures again, as JSON, and equal to those of the whole run.
    let json = |args: &[&str], code: i32| -> serde_json::Value {
        serde_json::from_slice(&condenser(dir.root(), args).exits(code).stdout).expect("JSON")
    };
    let again = json(&["report", "run", "--json"], 0);
    let without_run = |mut document: serde_json::Value| {
        document["runs"] = serde_json::Value::Null;
        document["totals"]["bytes_written"] = serde_json::Value::Null;
        document
    };
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "whole", "--recency-window", "0"]).exits(3);
    assert_eq!(without_run(again.clone()), without_run(json(&["report", "whole", "--json"], 0)));
    for args in [
        &["run", "job.toml", "--json", "--set", "output=other"][..],
        &["run", "job.toml", "--set", "report.json=true", "--set", "output=third"],
    ] {
        assert_eq!(without_run(again.clone()), without_run(json(args, 3)));
    }
    assert_eq!((&again["totals"]["conversations"], &again["totals"]["rejects"]), (&30.into(), &1.into()));
    let classes = again["breakdowns"][0]["rows"].as_array().expect("classes");
    let chars: u64 = classes.iter().filter_map(|class| class["chars_in"].as_u64()).sum();
    assert_eq!(again["totals"]["chars_in"], chars);
    let ratio = &again["distributions"][0];
    assert!(ratio["p10"].as_f64() <= ratio["p50"].as_f64() && ratio["p50"].as_f64() <= ratio["p90"].as_f64());
}

#[test]
fn a_night_takes_what_is_new_or_has_changed_and_nothing_else() {
    let dir = store();
    // Nothing new: no run.
    let told = night(&dir).stderr;
    assert!(
        told.contains("0 new, 0 grown, 0 changed, 3 unchanged") && !dir.path("store/runs/00002").exists(),
        "{told}"
    );
    // Touched, but the same bytes: told by the hash.
    dir.write("logs/a.jsonl", dir.read("logs/a.jsonl"));
    assert!(night(&dir).stderr.contains("0 new, 0 grown, 0 changed, 3 unchanged"));
    // The second night: one has grown, one is deleted, one is new.
    let before = files(&dir.path("store/runs/00001"));
    let grown = [dir.read("logs/a.jsonl"), jsonl(3, 54).into_bytes()].concat();
    dir.write("logs/a.jsonl", &grown);
    std::fs::remove_file(dir.path("logs/b.jsonl")).expect("it was there");
    dir.write("logs/d.jsonl", jsonl(5, 55));
    assert!(night(&dir).stderr.contains("1 new, 1 grown, 0 changed, 1 unchanged"));
    // The third night, named: one has other bytes of the same length.
    let mut changed = dir.read("logs/c.jsonl");
    let at = changed.iter().position(|&byte| byte == b'h').expect("an h");
    changed[at] = b'q';
    dir.write("logs/c.jsonl", &changed);
    condenser(dir.root(), &["run", "job.toml", "--set", "compaction.run_name=2031-05-06"]).ok();
    let entries: Vec<(String, String, String)> = logs_of(&dir, "store")
        .iter()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            let kept = entry["keeps"]["run"].as_str().unwrap_or_default().to_owned();
            (text("source"), text("run"), kept)
        })
        .collect();
    let entry = |name: &str, run: &str, before: &str| (format!("logs/{name}.jsonl"), run.to_owned(), before.to_owned());
    let expected = [
        entry("a", "00001", ""),
        entry("b", "00001", ""),
        entry("c", "00001", ""),
        entry("a", "00002", "00001"),
        entry("d", "00002", ""),
        entry("c", "00003-2031-05-06", ""),
    ];
    assert_eq!(entries, expected);
    // Every run is one, the first is as it was, and each restores its versions.
    assert!(before == files(&dir.path("store/runs/00001")));
    let against = ["logs/a.jsonl", "logs/d.jsonl"];
    condenser(dir.root(), &[&["verify", "store/runs/00002", "--against"], &against[..]].concat()).ok();
    condenser(dir.root(), &["verify", "store/runs/00003-2031-05-06", "--against", "logs/c.jsonl"]).ok();
    // A dry run says what the next night would take.
    dir.write("logs/e.jsonl", jsonl(2, 56));
    let told = condenser(dir.root(), &["run", "job.toml", "--dry-run"]).ok().stdout;
    let told = String::from_utf8(told).expect("text");
    assert!(told.contains("# 1 new, 0 grown, 0 changed, 3 unchanged files") && told.contains("logs/e.jsonl"), "{told}");
    assert!(!told.contains("logs/a.jsonl"));
}

#[test]
fn a_night_that_was_stopped_is_continued_or_left_behind() {
    let complete = store();
    let (run, entries) = (files(&complete.path("store/runs/00001")), complete.read("store/nights/00001.json.zst"));
    let stop = |dir: &TestDir| {
        std::fs::remove_file(dir.path("store/nights/00001.json.zst")).expect("it was there");
        std::fs::remove_file(dir.path("store/runs/00001/manifest.json")).expect("it was there");
        std::fs::remove_file(dir.path("store/runs/00001/commits/part-00001.json.zst")).expect("it was there");
    };
    // Stopped in the middle: the same bytes as without the stop.
    stop(&complete);
    let told = night(&complete).stderr;
    assert!(told.contains("2 parts were committed before") && told.contains("3 unchanged"), "{told}");
    assert!(
        run == files(&complete.path("store/runs/00001")) && entries == complete.read("store/nights/00001.json.zst")
    );
    // Stopped before the night was written down.
    std::fs::remove_file(complete.path("store/nights/00001.json.zst")).expect("it was there");
    night(&complete);
    assert!(entries == complete.read("store/nights/00001.json.zst") && !complete.path("store/runs/00002").exists());
    // Its inputs have changed since: nothing of it is used.
    stop(&complete);
    complete.write("logs/a.jsonl", jsonl(9, 57));
    let told = night(&complete).stderr;
    assert!(told.contains("runs/00001 was not finished and cannot be: input logs/a.jsonl"), "{told}");
    assert!(logs_of(&complete, "store").iter().all(|entry| entry["run"] == "00002"));
    condenser(complete.root(), &["verify", "store/runs/00002", "--against", "logs"]).ok();
}

#[test]
fn damage_of_a_night_is_told_and_a_ledger_of_the_first_version_is_read() {
    let dir = store();
    let name = "store/nights/00001.json.zst";
    let text = dir.read(name);
    dir.write(name, &text[..text.len() - 30]);
    for args in [&["run", "job.toml"][..], &["restore", "store", "-o", "back"], &["verify", "store"]] {
        let told = condenser(dir.root(), args).exits(4);
        assert!(told.stderr.contains("nights/00001.json.zst"), "{}", told.stderr);
    }
    dir.write(name, &text);
    let lines: Vec<String> = logs_of(&dir, "store")
        .into_iter()
        .map(|mut log| {
            log["parts"] = log["parts"].as_array().expect("a list").iter().map(|held| held["part"].clone()).collect();
            log.to_string() + "\n"
        })
        .collect();
    std::fs::remove_file(dir.path(name)).expect("it was there");
    // A torn last line belongs to nobody.
    dir.write("store/ledger.jsonl", lines.concat() + "{\"path\": ");
    assert!(night(&dir).stderr.contains("0 new, 0 grown, 0 changed, 3 unchanged"));
    dir.write("logs/a.jsonl", [dir.read("logs/a.jsonl"), jsonl(2, 58).into_bytes()].concat());
    assert!(night(&dir).stderr.contains("0 new, 1 grown, 0 changed, 2 unchanged"));
    condenser(dir.root(), &["verify", "store"]).ok();
    condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
    assert!(files(&dir.path("back")) == files(&dir.path("logs")));
    dir.write("store/ledger.jsonl", "{\n".to_owned() + &lines.concat());
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(4);
    assert!(told.stderr.contains("ledger.jsonl: line 1"), "{}", told.stderr);
}

#[test]
fn compaction_refuses_what_it_could_not_come_back_to() {
    let dir = store();
    let cases: &[(&str, &str)] = &[
        ("inputs=[\"-\"]", "compaction takes files"),
        ("output=\"store/runs/00001\"", "this is a run"),
        ("inputs=[\"store/runs/00001\"]", "lies in the output directory"),
    ];
    for (set, says) in cases {
        let told = condenser(dir.root(), &["run", "job.toml", "--set", set]).exits(2);
        assert!(told.stderr.contains(says), "{set}: {}", told.stderr);
    }
}

#[test]
fn originals_are_deleted_only_with_yes_and_only_when_they_are_old_and_proven() {
    let dir = store();
    dir.write("logs/a.jsonl", [dir.read("logs/a.jsonl"), jsonl(1, 58).into_bytes()].concat());
    night(&dir);
    // Grown again after its last compaction, and aged: its latest version is not in the store.
    age(&dir.write("logs/a.jsonl", [dir.read("logs/a.jsonl"), jsonl(1, 59).into_bytes()].concat()));
    // As it was, but young.
    dir.write("logs/b.jsonl", dir.read("logs/b.jsonl"));
    // Never compacted.
    age(&dir.write("logs/other.jsonl", jsonl(1, 60)));
    let before = files(dir.root());
    let told = condenser(dir.root(), &["expire", "store", "--older-than", "30d"]).ok();
    let listed = String::from_utf8(told.stdout).expect("text");
    assert!(listed.starts_with("would delete ") && listed.contains("logs/c.jsonl"), "{listed}");
    assert_eq!(listed.lines().count(), 1, "{listed}");
    for says in ["a.jsonl: it has changed", "b.jsonl: it was written too recently", "1 file ("] {
        assert!(told.stderr.contains(says), "{says}: {}", told.stderr);
    }
    assert!(before == files(dir.root()));
    let told = condenser(dir.root(), &["expire", "store", "--older-than", "30d", "--yes"]).ok();
    assert!(String::from_utf8_lossy(&told.stdout).starts_with("deleted "));
    let mut after = before.clone();
    let gone = after.remove("logs/c.jsonl").expect("it was there");
    assert!(after == files(dir.root()));
    // It comes back from the store, and a night without it is a quiet one.
    condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
    assert!(dir.read("back/c.jsonl") == gone);
    condenser(dir.root(), &["expire", "store", "--older-than", "30", "--yes"]).ok();
    condenser(dir.root(), &["expire", "logs", "--older-than", "30d"]).exits(2);
    condenser(dir.root(), &["expire", "store", "--older-than", "soon"]).exits(2);
}

#[test]
fn a_file_that_the_store_does_not_restore_stays() {
    for table in ["verbatim", "conversations", "metrics", "commits"] {
        let dir = store();
        let name =
            format!("store/runs/00001/{table}/part-00001.{}", if table == "commits" { "json.zst" } else { "parquet" });
        let mut bytes = dir.read(&name);
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        dir.write(&name, bytes);
        let told = condenser(dir.root(), &["expire", "store", "--older-than", "30d", "--yes"]).exits(4);
        assert!(told.stderr.contains("the store does not restore it"), "{}", told.stderr);
        assert!(dir.path("logs/b.jsonl").exists());
        // The other files are as good as before, unless the run as a whole is not.
        assert_eq!(dir.path("logs/a.jsonl").exists(), table == "commits");
    }
    // A night that names another part than the one that holds the file.
    let dir = store();
    change_night(&dir, "store/nights/00001.json.zst", |night| night["logs"][1]["parts"][0]["part"] = 0.into());
    condenser(dir.root(), &["expire", "store", "--older-than", "30d", "--yes"]).exits(4);
    assert!(dir.path("logs/b.jsonl").exists());
}

#[test]
fn files_in_parts_and_compressed_files_are_compacted_and_expire_too() {
    let dir = TestDir::new();
    dir.write("job.toml", format!("{JOB}split_size = 2000\n"));
    let text = jsonl(40, 71);
    age(&dir.write("logs/long.jsonl", &text));
    let stored = zstd::encode_all(text.as_bytes(), 1).expect("memory takes all");
    age(&dir.write("logs/stored.jsonl.zst", &stored));
    age(&dir.write("logs/torn.jsonl.zst", &stored[..stored.len() - 20]));
    condenser(dir.root(), &["run", "job.toml"]).exits(3);
    let entries = logs_of(&dir, "store");
    assert!(entries.iter().any(|entry| entry["parts"].as_array().is_some_and(|parts| parts.len() > 5)), "{entries:?}");
    assert!(night(&dir).stderr.contains("0 new, 0 grown, 0 changed, 3 unchanged"));
    let told = condenser(dir.root(), &["expire", "store", "--older-than", "30d", "--yes"]).ok();
    assert!(told.stderr.contains("torn.jsonl.zst: its compressed stream is damaged"), "{}", told.stderr);
    let left: Vec<String> = files(&dir.path("logs")).into_keys().collect();
    assert_eq!(left, ["torn.jsonl.zst"]);
}

#[test]
fn a_night_that_hid_what_nothing_uses_says_from_what_to_go_on_and_how_far_it_looked_ahead() {
    let calls = |at: usize| {
        let arguments = format!("{{\"command\": \"make part{at}\"}}");
        let call = serde_json::json!({"id": format!("c{at}"), "type": "function", "function": {"name": "bash", "arguments": arguments}});
        let log: String = (0..60).map(|line| format!("compiled unit {line} of part {at} without a word\n")).collect();
        [
            serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            serde_json::json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": log}),
        ]
    };
    let task = serde_json::json!({"role": "user", "content": "Build it."});
    let messages: Vec<serde_json::Value> = std::iter::once(task).chain((0..4).flat_map(calls)).collect();
    let dir = TestDir::new();
    dir.write("logs/a.jsonl", serde_json::json!({"id": "a", "messages": messages}).to_string() + "\n");
    dir.write("job.toml", JOB);
    let says = "to go on with a conversation take its original";
    assert!(night(&dir).stderr.contains(says));
    let manifest: serde_json::Value =
        serde_json::from_slice(&dir.read("store/runs/00001/manifest.json")).expect("a manifest");
    assert_eq!(manifest["options"]["engine"]["look_ahead"], "turns");
    let report = condenser(dir.root(), &["report", "store/runs/00001", "--json"]).ok();
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!(report["runs"][0]["look_ahead"], "turns");
    let table = dir.read("store/runs/00001/conversations/part-00000.parquet");
    assert!(table.windows(20).any(|bytes| bytes == b"condenser.look_ahead"), "the footer says so");
    // Who went by looks looked nowhere.
    dir.write(
        "job.toml",
        format!("{JOB}[engine]\nhide_by = \"look\"\nrecency_window = 0\n").replace("\"store\"", "\"other\""),
    );
    assert!(!night(&dir).stderr.contains(says));
    let table = dir.read("other/runs/00001/conversations/part-00000.parquet");
    assert!(!table.windows(20).any(|bytes| bytes == b"condenser.look_ahead"));
}
