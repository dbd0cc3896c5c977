//! Marks: what the sidecar says of a message of which something is hidden, and what `get --mark` and `show --mark` make of
//! it.

use std::path::Path;

use condenser::app::{decode, message_at, reasons};
use condenser::io::{FoundConversation, Run};
use condenser::model::{PartView, ViewOp};
use condenser::pipeline::bridge::Bridge;
use serde_json::{Value, json};

use crate::support::command::condenser;
use crate::support::dir::TestDir;

/// The conversations of a run with their ids.
fn conversations(dir: &TestDir, run: &str) -> Vec<(String, FoundConversation)> {
    let run = Run::open(dir.path(run)).expect("the run opens");
    let bridge = Bridge::new(1).expect("a thread");
    let mut all = Vec::new();
    for commit in &run.commits {
        for id in ids(&commit.source) {
            let found = run.find_sides(commit, &id, &bridge).expect("the tables agree");
            all.extend(found.into_iter().map(|sides| (id.clone(), sides)));
        }
    }
    all
}

/// The ids in a file of records.
fn ids(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("records");
    let id = |line: &str| serde_json::from_str::<Value>(line).ok()?.get("id")?.as_str().map(str::to_owned);
    text.lines().filter_map(id).collect()
}

fn mark(dir: &TestDir, run: &str, id: &str, number: u32) -> String {
    let told = condenser(dir.root(), &["get", run, id, "--mark", &number.to_string()]).ok();
    String::from_utf8(told.stdout).expect("it is text")
}

/// A text of its copies, in order, and of what is hidden between them; `hidden` gives what marks hide.
fn rebuilt(view: &PartView, original: &str, hidden: &dyn Fn(u32) -> String) -> String {
    let mut text = String::new();
    let (mut end, mut is_marked) = (0, false);
    for op in view.ops.iter().chain([&ViewOp::Copy(original.len(), original.len())]) {
        match op {
            ViewOp::Copy(from, to) => {
                let between = original.get(end..*from).expect("copies ascend, and lie at borders of characters");
                assert!(is_marked || between.trim().is_empty(), "{between:?} has no mark");
                if !is_marked {
                    text.push_str(between);
                }
                text.push_str(original.get(*from..*to).expect("borders of characters"));
                (end, is_marked) = (*to, false);
            }
            ViewOp::Mark(says, number) => {
                assert!(!is_marked, "two marks for one place: {:?}", view.ops);
                assert!(says.contains(&format!("#{number}")), "{says}");
                text.push_str(&hidden(*number));
                is_marked = true;
            }
            ViewOp::Insert(layout) => assert!(layout.trim().is_empty(), "{layout:?}"),
        }
    }
    text
}

/// Every text is what the marks of `run` hide and what is shown of it; gives how many marks there are. Every `step`-th one is
/// asked of the program.
fn check(dir: &TestDir, run: &str, step: u32) -> usize {
    let mut n_marks = 0;
    for (id, sides) in conversations(dir, run) {
        let original = decode(&sides.original, None, &id).expect("a record");
        let mut numbers: Vec<u32> = Vec::new();
        for (index, view) in
            sides.behind.views.iter().flat_map(|(index, views)| views.iter().map(move |view| (*index, view)))
        {
            let (_, message) = message_at(&original.conversation, index).expect("it is there");
            let text = message.text_at(view.part).expect("a text");
            let hidden = |number: u32| {
                let hidden = view.hidden(number, text).expect("it is there");
                if number.is_multiple_of(step) {
                    assert_eq!(mark(dir, run, &id, number), hidden.text, "{run} {id} #{number}");
                }
                hidden.text.to_owned()
            };
            assert_eq!(rebuilt(view, text, &hidden), text, "{run} {id}");
            numbers.extend(view.marks());
        }
        assert!(numbers.is_sorted_by(|a, b| a < b), "{id}: {numbers:?}");
        n_marks += numbers.len();
    }
    n_marks
}

#[test]
fn every_mark_of_the_sample_brings_its_text_back() {
    let dir = TestDir::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample").display().to_string();
    let mut found = Vec::new();
    for (format, step) in [("parquet", 1), ("jsonl", 4), ("arrow", 16)] {
        condenser(dir.root(), &["compress", &sample, "-o", format, "--format", format]).ok();
        condenser(dir.root(), &["verify", format]).ok();
        found.push(check(&dir, format, step));
    }
    assert!(found[0] > 50 && found.iter().all(|n| *n == found[0]), "{found:?}");
}

/// A call and its result.
fn asked(call: &str, content: &Value) -> [Value; 2] {
    let function = json!({ "name": "Read", "arguments": json!({ "path": format!("src/{call}.rs") }).to_string() });
    let calls = json!([{ "id": call, "type": "function", "function": function }]);
    [
        json!({ "role": "assistant", "content": null, "tool_calls": calls }),
        json!({ "role": "tool", "tool_call_id": call, "content": content }),
    ]
}

/// Lines that nothing speaks of, around `middle`; those of another `place` are others.
fn lines(place: &str, middle: &str) -> String {
    let line = |at: usize| format!("    plain wörds of row {} {place}\n", "x".repeat(1 + at % 7));
    let filling: String = (0..14).map(line).collect();
    format!("first of all\n{filling}{middle}\n{filling}last of all\n")
}

/// A session in which every kind of mark is hidden behind another kind of text.
fn session() -> String {
    let record = |at: usize| json!({ "id": at, "title": format!("entry {at}"), "body": "words that nobody reads ".repeat(4), "open": true });
    let records: Vec<Value> = (0..30).map(record).collect();
    let inner = json!({ "stdout": lines("here", "the needle_in_stdout is here"), "code": 0, "took": "a while or two, all in all" });
    let long = format!("{}needle_in_long{}", "wörds and words ".repeat(40), " words and wörds".repeat(40));
    let looks = lines("there", "needle_in_lines\n⋯ 3 lines #2\n⋯ 3 lines #77");
    let parts = json!([{ "type": "text", "text": lines("elsewhere", "needle_of_first") }, { "type": "text", "text": lines("nowhere", "needle_of_second") }]);
    let mut messages = vec![json!({ "role": "user", "content": "Find out why it fails." })];
    messages.extend(asked("records", &json!(json!({ "entries": records, "next": "needle_next_page" }).to_string())));
    messages.extend(asked("inner", &json!(inner.to_string())));
    messages.extend(asked("long", &json!(format!("{}{long}\n{}", lines("before", "x"), lines("behind", "y")))));
    messages.extend(asked("looks", &json!(looks)));
    messages.extend(asked("again", &json!(looks)));
    messages.extend(asked("parts", &parts));
    let used =
        "needle_in_stdout, needle_in_long, needle_in_lines, needle_of_first, needle_of_second and needle_next_page";
    messages.push(json!({ "role": "assistant", "content": format!("I have seen {used}, and entry 7.") }));
    messages.extend((0..4).map(|_| json!({ "role": "assistant", "content": "That is all." })));
    json!({ "id": "session", "messages": messages }).to_string()
}

#[test]
fn marks_of_json_of_parts_and_beside_each_other_bring_their_texts_back() {
    let dir = TestDir::new();
    let input = dir.write("in.jsonl", session() + "\n").display().to_string();
    for format in ["parquet", "jsonl"] {
        condenser(dir.root(), &["compress", &input, "-o", format, "--format", format]).ok();
        assert!(check(&dir, format, 1) > 12);
    }
    condenser(dir.root(), &["compress", &input, "-o", "whole", "--recency-window", "1000"]).ok();
    condenser(dir.root(), &["compress", "whole/conversations/part-00000.parquet", "-o", "table"]).ok();
    // The columns of a run hold a list of parts as one text.
    for number in 1..=11 {
        assert_eq!(mark(&dir, "table", "session", number), mark(&dir, "parquet", "session", number), "#{number}");
    }
    let (_, sides) = conversations(&dir, "parquet").remove(0);
    let views = || sides.behind.views.iter().flat_map(|(_, views)| views);
    let says = |what: &str| {
        views().flat_map(|view| &view.ops).any(|op| matches!(op, ViewOp::Mark(says, _) if says.contains(what)))
    };
    for what in ["item", "chars", " since Read looks.rs", "\\n", "lines"] {
        assert!(says(what), "{what}");
    }
    assert!(views().any(|view| view.part == 1));
    assert!(views().any(|view| view.ops.iter().any(|op| matches!(op, ViewOp::Copy(from, to) if from == to))));
}

#[test]
fn a_text_that_looks_like_a_mark_is_none() {
    let dir = TestDir::new();
    dir.write("in.jsonl", session() + "\n");
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    let shown = String::from_utf8(condenser(dir.root(), &["get", "run", "session", "--compressed"]).ok().stdout);
    assert!(shown.expect("it is text").contains("⋯ 3 lines #77"));
    for command in ["get", "show"] {
        let told = condenser(dir.root(), &[command, "run", "session", "--mark", "77"]).exits(1);
        assert!(told.stderr.contains("no mark #77; it has ") && told.stderr.contains(" marks, "), "{}", told.stderr);
        condenser(dir.root(), &[command, "run", "nobody", "--mark", "1"]).exits(1);
    }
    assert!(!mark(&dir, "run", "session", 2).contains("⋯ 3 lines #2"));
    let compat = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/compat/1");
    for run in ["parquet", "jsonl"] {
        let told = condenser(&compat, &["get", run, "agent-invoice-rounding", "--mark", "1"]).exits(1);
        assert!(told.stderr.contains("the conversation has no marks"), "{}", told.stderr);
    }
}

#[test]
fn of_several_conversations_with_one_id_is_told_where_they_are() {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("{}\n{}\n", session(), session()));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    let told = condenser(dir.root(), &["get", "run", "session", "--mark", "1"]).ok();
    let says = "2 conversations with this id and mark, one text behind the other: in.jsonl row 0, in.jsonl row 1";
    assert!(told.stderr.contains(says), "{}", told.stderr);
    assert_eq!(told.stdout.len() % 2, 0);
    let (first, second) = told.stdout.split_at(told.stdout.len() / 2);
    assert!(!first.is_empty() && first == second);
}

#[test]
fn a_mark_is_shown_with_its_message_and_two_lines_on_either_side() {
    let dir = TestDir::new();
    let input = dir.write("in.jsonl", session() + "\n").display().to_string();
    condenser(dir.root(), &["compress", &input, "-o", "run"]).ok();
    let show = |number: &str| {
        let told = condenser(dir.root(), &["show", "run", "session", "--mark", number, "--width", "60"]).ok();
        String::from_utf8(told.stdout).expect("it is text")
    };
    let (_, sides) = conversations(&dir, "run").remove(0);
    let (_, views) = sides.behind.views.iter().find(|(index, _)| *index == 8).expect("something of it is hidden");
    let [first, second] = views[0].marks().collect::<Vec<_>>()[..] else { panic!("{views:?}") };
    let of = |number: u32| format!("in.jsonl row 0\nmark {number} · message 8 · tool · Read looks.rs\n");
    let text = show(&first.to_string());
    assert!(text.contains(&format!("{}│ first of all\n│     plain wörds of row x there\n", of(first))), "{text}");
    assert!(text.ends_with("\n  needle_in_lines\n  ⋯ 3 lines #2\n\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("│ ")).count(), 15, "{text}");
    let text = show(&second.to_string());
    assert!(text.contains(&format!("{}  ⋯ 3 lines #2\n  ⋯ 3 lines #77\n│     plain wörds", of(second))), "{text}");
    condenser(dir.root(), &["show", "run", "session", "--mark", "1", "--json"]).exits(2);
    condenser(dir.root(), &["get", "run", "session", "--mark", "1", "--compressed"]).exits(2);
}

#[test]
fn a_view_that_was_changed_is_damage() {
    let dir = TestDir::new();
    dir.write("in.jsonl", session() + "\n");
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--format", "jsonl", "--compression", "none"]).ok();
    let file = "run/verbatim/part-00000.jsonl";
    let whole = String::from_utf8(dir.read(file)).expect("it is text");
    let of_another_part = whole.replace("\"views\":[0,", "\"views\":[9,");
    // More operations than there are.
    let torn =
        (1..9).fold(whole.clone(), |text, digit| text.replace(&format!("\"views\":[0,{digit}"), "\"views\":[0,9"));
    for changed in [of_another_part, torn] {
        assert!(changed != whole && changed.len() == whole.len());
        dir.write(file, changed);
        condenser(dir.root(), &["get", "run", "session", "--mark", "1"]).exits(4);
        condenser(dir.root(), &["show", "run", "session", "--mark", "1"]).exits(4);
        condenser(dir.root(), &["verify", "run"]).exits(4);
        let told = condenser(dir.root(), &["get", "run", "session"]).ok();
        assert_eq!(String::from_utf8_lossy(&told.stdout), session() + "\n");
    }
}

#[test]
fn show_tells_why_each_unit_stays_or_goes() {
    let dir = TestDir::new();
    let sessions = concat!(env!("CARGO_MANIFEST_DIR"), "/jobs/sample/sessions/anthropic.jsonl");
    condenser(dir.root(), &["compress", sessions, "-o", "run", "--trace", "--format", "jsonl"]).ok();
    let told = condenser(dir.root(), &["show", "run", "blocks-kettle-stock", "--why"]).ok();
    let told = String::from_utf8(told.stdout).expect("it is text");
    assert!(told.starts_with("m2  tool  726 → "), "{told}");
    assert!(told.contains("pin: used by m11 as \"/home/tilda/kettle\"\n") && told.contains("  unused\n"), "{told}");
    // The table holds how many there are of each.
    let table = zstd::decode_all(&*dir.read("run/decisions/part-00000.jsonl.zst")).expect("whole");
    let rows = || String::from_utf8_lossy(&table).lines().map(|row| serde_json::from_str(row).expect("JSON")).collect();
    let rows: Vec<Value> = rows();
    let of = |index: usize| rows.iter().find(|row| row["message_index"] == json!(index)).expect("a row");
    assert!(of(2)["units_pin"].as_u64().expect("a count") > 3 && of(2)["units_unused"].as_u64() > Some(3), "{}", of(2));
    assert!(of(0).get("units_pin").is_none_or(Value::is_null), "{}", of(0));
    // A plan that is not the one of the run says so.
    let mut run = Run::open(dir.path("run")).expect("the run opens");
    run.manifest.options.engine.recency_window = 20;
    let told = reasons(&run, "blocks-kettle-stock", &|| Ok(())).expect("reasons").concat();
    assert!(told.starts_with("condenser plans this conversation otherwise today than the run did:\n"), "{told}");
}

#[test]
fn a_run_as_an_input_stands_for_its_originals() {
    let dir = TestDir::new();
    let sessions = concat!(env!("CARGO_MANIFEST_DIR"), "/jobs/sample/sessions");
    for file in ["openai.jsonl", "anthropic.jsonl"] {
        std::fs::create_dir_all(dir.path("logs")).expect("a folder");
        std::fs::copy(Path::new(sessions).join(file), dir.path(&format!("logs/{file}"))).expect("a copy");
    }
    // A part for each.
    let alone = ["--format", "jsonl", "--split-size", "700k"];
    let wide = [&["compress", "logs", "-o", "first", "--recency-window", "40"], &alone[..]].concat();
    condenser(dir.root(), &wide).ok();
    condenser(dir.root(), &[&["compress", "logs", "-o", "direct"], &alone[..]].concat()).ok();
    std::fs::rename(dir.path("logs"), dir.path("gone")).expect("renamed");
    for how in ["as it is", "again, when it is done"] {
        let told = condenser(dir.root(), &[&["compress", "first", "-o", "again"], &alone[..]].concat()).ok();
        assert!(told.stderr.contains("first is a run: its originals are read"), "{how}: {}", told.stderr);
    }
    for part in ["part-00000", "part-00001"] {
        let [again, direct] = ["again", "direct"].map(|run| dir.read(&format!("{run}/conversations/{part}.jsonl.zst")));
        assert_eq!(zstd::decode_all(&*again).expect("whole"), zstd::decode_all(&*direct).expect("whole"));
    }
    condenser(dir.root(), &["verify", "again", "--against", "gone"]).ok();
    condenser(dir.root(), &["verify", "again", "--against", "first"]).ok();
    // What it shows is a folder like others: marks are opaque there.
    condenser(dir.root(), &["compress", "direct/conversations", "-o", "shown", "--format", "jsonl"]).ok();
    for part in ["part-00000", "part-00001"] {
        let [shown, direct] = ["shown", "direct"].map(|run| dir.read(&format!("{run}/conversations/{part}.jsonl.zst")));
        assert!(zstd::decode_all(&*shown).expect("whole") == zstd::decode_all(&*direct).expect("whole"), "{part}");
    }
    let report = condenser(dir.root(), &["report", "shown", "--json"]).ok().stdout;
    let report: Value = serde_json::from_slice(&report).expect("it is JSON");
    assert!(report["totals"]["grounding"].is_null(), "{report}");
    let told = condenser(dir.root(), &["explain", "first", "--conversation", "blocks-kettle-stock"]).ok();
    let told = String::from_utf8(told.stdout).expect("it is text");
    assert!(told.starts_with("blocks-kettle-stock: 44 messages → 44, 67,402 characters → "), "{told}");
}
