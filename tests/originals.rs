//! What is stored of originals: what is not shown, once, or all of it; every original comes back from either.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::chats::jsonl;
use crate::support::command::{FORMS, condenser, in_every_format};
use crate::support::dir::{TestDir, files};
use crate::turns::small_talk;

/// A session of an agent that reads a file and uses one line of it.
fn session() -> Value {
    let line = |at: usize| format!("    let valve_{at} = open(\"gate {}\", {});  // «ä{at}»\n", at * 7 % 13, at * at);
    let file: String = (0..80).map(line).collect();
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{\"path\": \"a.rs\"}"}});
    let mut messages = vec![
        json!({"role": "user", "content": "Please find out which gate is open."}),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": file}),
    ];
    for at in 0..6 {
        messages
            .push(json!({"role": "assistant", "content": format!("It is valve_41, which I looked at {at} times.")}));
        messages.push(json!({"role": "user", "content": "Go on."}));
    }
    json!({"id": "s", "messages": messages})
}

/// Such sessions as lines. What is stored of their originals depends on the form: of [`jsonl`] nothing does, since the texts
/// there are short and stay.
pub(crate) fn sessions(n: usize, seed: u64) -> String {
    let session = session().to_string();
    let named = |at| format!("s{seed}-{at}");
    let one =
        |at| session.replace("\"s\"", &format!("\"{}\"", named(at))).replace("valve_", &format!("{}_", named(at)));
    (0..n).map(|at| one(at) + "\n").collect()
}

/// Conversations and sessions in turn, some 10 kB each time.
pub(crate) fn mixed(n: usize, seed: u64) -> String {
    let seeds = (0..n as u64).map(|at| seed * 1000 + at);
    seeds.map(|seed| jsonl(15, seed) + &sessions(1, seed)).collect()
}

/// Talk of which little stays.
fn talk() -> Value {
    let mut turns = small_talk(60);
    for at in [12, 26, 45] {
        turns[at]["content"] = json!(format!("We close gate KMS-77{at} before May 3, 2026, for ${at}00."));
    }
    json!({"id": "t", "messages": turns})
}

/// The texts of the table of originals of a run with plain lines.
fn stored(dir: &TestDir, run: &str) -> Vec<Value> {
    let lines = dir.read(&format!("{run}/verbatim/part-00000.jsonl"));
    let rows = String::from_utf8(lines).expect("text");
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    rows.filter(|row| row["kind"] == "message").collect()
}

const PLAIN: [&str; 6] = ["--format", "jsonl", "--compression", "none", "--recency-window", "2"];

#[test]
fn what_is_shown_is_not_stored_a_second_time() {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("{}\n{}\n", session(), talk()));
    let compress = |run: &str, more: &[&str]| {
        condenser(dir.root(), &[&["compress", "in.jsonl", "-o", run][..], &PLAIN, more].concat()).ok();
        condenser(dir.root(), &["verify", run]).ok();
        let back = condenser(dir.root(), &["restore", run, "-o", "-"]).ok();
        assert!(back.stdout == dir.read("in.jsonl"), "{run}");
        stored(&dir, run)
    };
    let (hidden, whole) = (compress("hidden", &[]), compress("whole", &["--originals", "whole"]));
    let holds =
        |rows: &[Value], text: &str| rows.iter().any(|row| row["message"].as_str().is_some_and(|at| at.contains(text)));
    for shown in ["let valve_41 = open", "We close gate KMS-7726 before"] {
        assert!(holds(&whole, shown) && !holds(&hidden, shown), "{shown}");
    }
    let not_shown = "let valve_30 = open";
    assert!(holds(&whole, not_shown) && holds(&hidden, not_shown), "{not_shown}");
    assert!(whole.iter().all(|row| row["pieces"].is_null()) && hidden.iter().any(|row| row["pieces"].is_array()));
    let n_bytes = |rows: &[Value]| rows.iter().map(|row| row["message"].to_string().len()).sum::<usize>();
    assert!(n_bytes(&hidden) < n_bytes(&whole));
}

#[test]
fn originals_come_back_from_every_format() {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("{}\n{}\n", session(), talk()));
    for flags in [&["--recency-window", "2"][..], &["--recency-window", "2", "--originals", "whole"]] {
        for (format, hidden) in in_every_format(&dir, flags) {
            assert!(hidden.contains("valve_1 = open"), "{format}: {hidden}");
            std::fs::remove_dir_all(dir.path(format)).expect("the run");
            std::fs::remove_dir_all(dir.path(&format!("{format}-back"))).expect("what came back");
        }
    }
}

#[test]
fn a_run_of_one_form_is_compressed_again_into_the_other() {
    let dir = TestDir::new();
    dir.write("logs/a.jsonl", mixed(2, 21));
    dir.write("logs/b.jsonl", sessions(2, 22));
    for form in FORMS {
        condenser(dir.root(), &["compress", "logs", "-o", form, "--originals", form]).ok();
    }
    for [from, to] in [["hidden", "whole"], ["whole", "hidden"]] {
        let again = format!("again-{to}");
        condenser(dir.root(), &["compress", from, "-o", &again, "--originals", to]).ok();
        condenser(dir.root(), &["verify", &again, "--against", "logs"]).ok();
        let back = format!("back-{to}");
        condenser(dir.root(), &["restore", &again, "-o", &back]).ok();
        assert!(files(&dir.path(&back)) == files(&dir.path("logs")), "{from} to {to}");
        // The tables are those of the logs themselves.
        for table in ["conversations", "verbatim", "metrics"] {
            let [one, other] = [&*again, to].map(|run| files(&dir.path(&format!("{run}/{table}"))));
            assert!(one == other, "{table}, {from} to {to}");
        }
    }
}

/// What the documentation says of `pieces`: originals of a conversation of which these messages were written.
fn put_together(written: &[String], rows: &[Value]) -> Vec<String> {
    let text = written.concat();
    let (mut position, mut at) = (None, 0);
    let mut whole = |row: &Value| {
        let number = |value: &Value| value.as_u64().expect("a number") as usize;
        if position.replace(number(&row["position"])) != Some(number(&row["position"])) {
            at = written[..number(&row["position"])].iter().map(String::len).sum();
        }
        let mut rest = row["message"].as_str().expect("text");
        let mut original = String::new();
        let numbers: Vec<usize> = serde_json::from_value(row["pieces"].clone()).unwrap_or_default();
        for piece in numbers.chunks(3) {
            let (told, left) = rest.split_at(piece[0]);
            at = if piece[1] % 2 == 0 { at + piece[1] / 2 } else { at - piece[1].div_ceil(2) };
            let copied = text.get(at..at + piece[2]).expect("what is copied");
            original.extend([told, copied]);
            (rest, at) = (left, at + piece[2]);
        }
        original + rest
    };
    rows.iter().map(&mut whole).collect()
}

#[test]
fn pieces_are_what_the_documentation_says() {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("{}\n", talk()));
    condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "run"][..], &PLAIN].concat()).ok();
    let rows = stored(&dir, "run");
    assert!(rows.len() > 20 && rows.iter().any(|row| row["pieces"].is_array()));
    let record = String::from_utf8(dir.read("run/conversations/part-00000.jsonl")).expect("text");
    let messages: Value = serde_json::from_str(&record).expect("JSON");
    let messages: Vec<String> =
        messages["messages"].as_array().expect("a list").iter().map(ToString::to_string).collect();
    assert!(messages.iter().all(|message| record.contains(message)), "the members stand in their order");
    for (row, original) in rows.iter().zip(put_together(&messages, &rows)) {
        let index = row["message_index"].as_u64().expect("a number") as usize;
        let original: Value = serde_json::from_str(&original).expect("JSON");
        assert_eq!(original, talk()["messages"][index]);
    }
}

#[test]
fn a_map_of_originals_goes_with_whole_ones() {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("{}\n", session()));
    let args = [&["compress", "in.jsonl", "-o", "run", "--verbatim-map"][..], &PLAIN].concat();
    condenser(dir.root(), &args).ok();
    assert!(stored(&dir, "run").iter().all(|row| row["pieces"].is_null()));
    let told = condenser(dir.root(), &[&args[..], &["--originals", "hidden", "--fresh"]].concat()).exits(2);
    assert!(told.stderr.contains("--verbatim-map"), "{}", told.stderr);
}

/// Bytes of all files in a folder.
fn n_bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let of = |entry: std::fs::DirEntry| {
        let about = entry.metadata().expect("what it is");
        if about.is_dir() { n_bytes_in(&entry.path()) } else { about.len() }
    };
    entries.map(of).sum()
}

#[test]
fn every_file_of_a_run_counts_and_an_archive_that_is_larger_than_its_input_says_so() {
    let dir = TestDir::new();
    let many = (0..60).map(|n| session().to_string().replace("valve_", &format!("valve_{n}_")) + "\n");
    dir.write("many.jsonl", many.collect::<String>());
    dir.write("few.jsonl", r#"{"id": "s", "messages": [{"role": "user", "content": "Which gate is open?"}]}"#);
    for (input, is_larger) in [("many.jsonl", false), ("few.jsonl", true)] {
        let run = input.trim_end_matches(".jsonl");
        let told = condenser(dir.root(), &["compress", input, "-o", run]).ok();
        let report = condenser(dir.root(), &["report", run, "--json"]).ok();
        let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
        assert_eq!(report["totals"]["bytes_written"], json!(n_bytes_in(&dir.path(run))), "{report}");
        let says = "the archive is larger than its input";
        assert_eq!(told.stderr.contains(says), is_larger, "{}", told.stderr);
        let shown = condenser(dir.root(), &["report", run]).ok();
        assert_eq!(String::from_utf8_lossy(&shown.stdout).contains(says), is_larger);
    }
}
