//! The table of bad inputs: every kind of damage with its outcome, its exit code and what is saved. The table
//! `docs/results/bad-input.csv` is written from it and held against it.

mod places;
#[cfg(feature = "remote")]
mod stores;
mod streams;
mod tables;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};

/// One kind of damage.
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "the table of all kinds is checked with stores only"))]
pub(crate) struct Case {
    /// A short sentence; the name of the case.
    damage: &'static str,
    outcome: String,
    code: i32,
    saved: &'static str,
    /// Does it, and checks outcome and what is saved; gets the exit code.
    check: Box<dyn Fn(i32)>,
}

/// A case that is checked by a function of its own.
type Special = (&'static str, &'static str, i32, &'static str, fn(i32));

fn special(cases: &[Special]) -> Vec<Case> {
    let case = |&(damage, outcome, code, saved, check): &Special| {
        let outcome = outcome.to_owned();
        Case { damage, outcome, code, saved, check: Box::new(check) }
    };
    cases.iter().map(case).collect()
}

/// Runs all cases and names those that fail.
fn check_all(cases: &[Case]) {
    let fails = |case: &&Case| {
        println!("case: {}", case.damage);
        catch_unwind(AssertUnwindSafe(|| (case.check)(case.code))).is_err()
    };
    let failed: Vec<&str> = cases.iter().filter(fails).map(|case| case.damage).collect();
    assert!(failed.is_empty(), "these cases fail:\n{}", failed.join("\n"));
}

#[test]
fn damaged_streams() {
    check_all(&streams::cases());
}

#[test]
fn damaged_tables() {
    check_all(&tables::cases());
}

#[test]
fn bad_places() {
    check_all(&places::cases());
}

#[cfg(feature = "remote")]
#[test]
fn bad_stores() {
    check_all(&stores::cases());
}

#[test]
fn every_file_of_bad_data_has_a_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bad");
    let names: Vec<String> = files(&folder).into_keys().collect();
    assert_eq!(names, streams::files_with_a_case());
}

#[cfg(feature = "remote")]
#[test]
fn the_table_of_bad_input_is_what_is_tested() {
    let sections = [
        ("Streams, lines and documents", streams::cases()),
        ("Tables", tables::cases()),
        ("Files, disks and runs", places::cases()),
        ("Object stores", stores::cases()),
    ];
    let n_cases: usize = sections.iter().map(|(_, cases)| cases.len()).sum();
    assert!(n_cases >= 120, "{n_cases}");
    let mut expected = String::from("area,damage,outcome,exit_code,saved\n");
    for (title, cases) in &sections {
        for case in cases {
            let code = case.code.to_string();
            let row = [*title, case.damage, case.outcome.as_str(), code.as_str(), case.saved].map(field);
            expected += &format!("{}\n", row.join(","));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results/bad-input.csv");
    if std::env::var_os("CONDENSER_WRITE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("the table can be written");
        return;
    }
    let table = std::fs::read_to_string(&path).expect("the table is there");
    assert!(table == expected, "the table differs; write it with CONDENSER_WRITE_DOCS=1 cargo test the_table_of_bad");
}

/// A field of CSV, quoted where it has to be.
#[cfg(feature = "remote")]
fn field(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// A record of the openai shape on a line.
fn chat(number: usize) -> String {
    format!(
        "{{\"id\":\"c{number}\",\"messages\":[{{\"role\":\"user\",\"content\":\"Question {number}?\"}},\
         {{\"role\":\"assistant\",\"content\":\"The answer to question {number} is that it works.\"}}]}}\n"
    )
}

fn chats(numbers: std::ops::Range<usize>) -> String {
    numbers.map(chat).collect()
}

/// Calls the program in `dir` and wants its exit code and these words on stderr.
#[track_caller]
fn call(dir: &TestDir, args: &[&str], code: i32, says: &[&str]) -> Told {
    tells(condenser(dir.root(), args).exits(code), says)
}

#[track_caller]
fn tells(told: Told, says: &[&str]) -> Told {
    for words in says {
        assert!(told.stderr.contains(words), "`{words}` is not said:\n{}", told.stderr);
    }
    told
}

/// The reasons of the rejects of a run, and what the first one says.
fn rejects(dir: &TestDir, run: &str) -> (Vec<String>, String) {
    let (mut reasons, mut first) = (Vec::new(), String::new());
    for (name, bytes) in files(&dir.path(run)) {
        if !name.starts_with("rejects/") {
            continue;
        }
        for line in String::from_utf8(bytes).expect("rejects are text").lines() {
            let reject: serde_json::Value = serde_json::from_str(line).expect("a reject is JSON");
            for key in ["source_row", "line", "offset"] {
                assert!(reject[key].is_u64(), "{key}: {line}");
            }
            if reject["reason"] == "" {
                // A further piece of a record that is too long.
                continue;
            }
            for key in ["source", "detail"] {
                assert!(reject[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {line}");
            }
            if first.is_empty() {
                reject["detail"].as_str().unwrap_or_default().clone_into(&mut first);
            }
            reasons.push(reject["reason"].as_str().unwrap_or_default().to_owned());
        }
    }
    (reasons, first)
}

/// How many conversations a finished run has.
fn n_conversations(dir: &TestDir, run: &str) -> u64 {
    let manifest: serde_json::Value =
        serde_json::from_slice(&dir.read(&format!("{run}/manifest.json"))).expect("it is JSON");
    manifest["totals"]["conversations"].as_u64().expect("a count")
}
