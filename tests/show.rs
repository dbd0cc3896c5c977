//! What people see of a conversation: before and after, side by side, in the terminal and as JSON; harmless whatever the
//! transcript holds.

use std::path::Path;

use condenser::engine::{Engine, Scratch};
use condenser::model::Output;
use condenser::report::pair::{MessageVerdict, Pair, Sides, Utterance, VerdictsFrom};
use condenser::report::plain;
use condenser::shape;
use serde_json::{Value, json};

use crate::support::chats::records;
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::options::random_options;

/// What could drive a terminal or turn its text around.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}evil\u{200b}\u{7f}";

/// True when nothing in `bytes` drives a terminal.
fn is_harmless(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.chars().all(|c| c == '\n' || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}')))
}

fn hostile_chat() -> String {
    let talk = "The delivery to Hamburg was late again and nobody told the customer in time. ".repeat(20);
    let message =
        |role: &str, n: usize| json!({ "role": role, "name": HOSTILE, "content": format!("{n}: {HOSTILE} {talk}") });
    let call = json!({ "id": "c", "type": "function", "function": { "name": HOSTILE, "arguments": HOSTILE } });
    let mut messages = vec![message(HOSTILE, 0)];
    messages.extend((1..8).map(|n| message(["user", "assistant"][n % 2], n)));
    messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    messages.push(json!({ "role": "tool", "tool_call_id": "c", "content": HOSTILE }));
    json!({ "id": format!("chat{HOSTILE}"), "messages": messages }).to_string()
}

#[test]
fn a_hostile_transcript_drives_no_terminal() {
    let dir = TestDir::new();
    let name = "in\u{1b}[31m\u{202e}.jsonl";
    dir.write(name, hostile_chat() + "\n{\"broken\": \n");
    let id = format!("chat{HOSTILE}");
    for progress in ["plain", "json"] {
        let run = format!("run-{progress}");
        let told = condenser(dir.root(), &["compress", name, "-o", &run, "--progress", progress, "--trace"]).exits(3);
        assert!(is_harmless(told.stderr.as_bytes()), "{:?}", told.stderr);
        if progress == "json" {
            assert!(told.stderr.contains("u{1b}") || told.stderr.contains("u001b"), "{:?}", told.stderr);
            for line in told.stderr.lines().filter(|line| line.starts_with('{')) {
                serde_json::from_str::<Value>(line).expect(line);
            }
        }
    }
    let run = "run-plain";
    for args in
        [&["show", run, &id][..], &["explain", name], &["report", run], &["report", run, "--json"], &["verify", run]]
    {
        let told = condenser(dir.root(), args).exits(if args[0] == "explain" { 3 } else { 0 });
        assert!(is_harmless(&told.stdout), "{args:?}: {:?}", String::from_utf8_lossy(&told.stdout));
        assert!(is_harmless(told.stderr.as_bytes()), "{args:?}: {:?}", told.stderr);
    }
    let told = condenser(dir.root(), &["show", run, &format!("nobody{HOSTILE}")]).exits(1);
    assert!(is_harmless(told.stderr.as_bytes()), "{:?}", told.stderr);
    let told = condenser(dir.root(), &["-vv", "compress", name, "-o", "logged"]).exits(3);
    assert!(is_harmless(told.stderr.as_bytes()), "{:?}", told.stderr);
}

#[test]
fn every_original_stands_beside_what_became_of_it() {
    for seed in 0..300 {
        let record = &records(1, seed)[0];
        let Some(shape) = shape::detect(record) else { continue };
        let decoded = shape::decode(record, shape, "c").expect("it was detected");
        let options = random_options(seed);
        let provenance = options.provenance;
        let engine = Engine::new(options).expect("the options can be used");
        let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
        let mut behind: Vec<(u64, u64)> = decoded
            .originals(&condensed)
            .iter()
            .map(|original| (original.message_index as u64, original.position as u64))
            .collect();
        behind.sort_unstable();
        let shown_record = decoded.condensed_record(&condensed, provenance);
        let shown = shape::decode(&shown_record, shape, "c").expect("it is of the same shape");
        let shown: Vec<Utterance> = shown.conversation.messages.iter().map(Utterance::of).collect();
        let pair = Pair::new(Sides {
            source: "in",
            source_row: 0,
            original: &decoded.conversation,
            shown: shown.clone(),
            views: &[],
            behind: &behind,
            verdicts: condensed.decisions.iter().map(|decision| Some(MessageVerdict::from(decision))).collect(),
            verdicts_from: VerdictsFrom::Engine,
            metrics: serde_json::Map::new(),
        });
        assert_eq!(pair.steps.len(), condensed.messages.len());
        let mut seen: Vec<usize> = pair.steps.iter().flat_map(|step| &step.before).map(|before| before.index).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..decoded.conversation.messages.len()).collect::<Vec<_>>(), "{seed}: each once");
        for ((step, output), shown) in pair.steps.iter().zip(&condensed.messages).zip(&shown) {
            let indices: Vec<usize> = step.before.iter().map(|before| before.index).collect();
            match output {
                Output::Kept { index } => assert_eq!((step.is_unchanged, indices), (true, vec![*index]), "{seed}"),
                Output::Replaced(replaced) => assert_eq!((step.is_unchanged, &indices), (false, &replaced.sources)),
            }
            assert_eq!(step.after.text, shown.text, "{seed}");
            for before in &step.before {
                let action = &before.verdict.as_ref().expect("every message was decided about").action;
                assert_eq!(action == "preserved", step.is_unchanged, "{seed}: {action}");
            }
        }
    }
}

/// The pairs that `show --json` prints.
fn shown(dir: &TestDir, run: &str, id: &str) -> Vec<Value> {
    let told = condenser(dir.root(), &["show", run, id, "--json"]).ok();
    let lines = String::from_utf8(told.stdout).expect("it is text");
    lines.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

/// The same without what tells how the decisions came to be known.
fn without_origin(mut pairs: Vec<Value>) -> Vec<Value> {
    for pair in &mut pairs {
        pair["verdicts_from"].take();
    }
    pairs
}

fn sample() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a sample");
    ["agents", "coding", "parts", "rounds.cce", "sharegpt"].map(|name| read(&format!("{name}.jsonl"))).concat()
}

fn ids(lines: &str) -> Vec<String> {
    let id = |line: &str| serde_json::from_str::<Value>(line).ok()?.get("id")?.as_str().map(str::to_owned);
    lines.lines().filter_map(id).collect()
}

#[test]
fn runs_of_all_formats_show_the_same_with_and_without_a_trace() {
    let dir = TestDir::new();
    let mut text = sample();
    let twin = text.lines().next().expect("a line").to_owned();
    text.push_str(&twin);
    text.push('\n');
    dir.write("in.jsonl", &text);
    let window = ["--recency-window", "2", "--fuzzy-dedup"];
    for (run, more) in [
        ("traced", &["--trace"][..]),
        ("parquet", &[]),
        ("jsonl", &["--format", "jsonl"]),
        ("arrow", &["--format", "arrow", "--trace"]),
        ("inside", &["--provenance", "metadata", "--embed-summary-id"]),
    ] {
        condenser(dir.root(), &[&["compress", "in.jsonl", "-o", run], &window[..], more].concat()).ok();
    }
    let schema: Value =
        serde_json::from_slice(&condenser(dir.root(), &["schema", "pair"]).ok().stdout).expect("a schema");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let ids = ids(&text);
    let chosen: Vec<&String> = ids.iter().take(ids.len() - 1).step_by(3).collect();
    assert!(chosen.len() > 8, "{ids:?}");
    let mut n_changed = 0;
    for id in chosen {
        let traced = shown(&dir, "traced", id);
        assert_eq!(traced.len(), ids.iter().filter(|other| *other == id).count(), "{id}");
        for pair in &traced {
            assert!(
                schema.is_valid(pair),
                "{id}: {:?}",
                schema.iter_errors(pair).next().map(|error| error.to_string())
            );
            assert_eq!((&pair["verdicts_from"], &pair["id"]), (&json!("run"), &json!(id)));
            let steps = pair["steps"].as_array().expect("a list");
            for step in steps {
                let before = step["before"].as_array().expect("a list");
                assert!(!before.is_empty(), "{id}: {step}");
                n_changed += usize::from(step["is_unchanged"] == false);
            }
        }
        let traced = without_origin(traced);
        for run in ["parquet", "jsonl", "arrow"] {
            let other = shown(&dir, run, id);
            let origin = if run == "arrow" { "run" } else { "engine" };
            assert!(other.iter().all(|pair| pair["verdicts_from"] == origin), "{run} {id}");
            assert!(without_origin(other) == traced, "{run} {id}");
        }
        assert!(shown(&dir, "inside", id).iter().all(|pair| pair["verdicts_from"] == "engine"), "{id}");
    }
    assert!(n_changed > 20, "{n_changed}");
}

#[test]
fn the_rows_of_a_table_and_the_sessions_of_a_log_are_shown() {
    let dir = TestDir::new();
    dir.write("in.jsonl", sample());
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--recency-window", "1000"]).ok();
    // The conversations of a run are a table of structs.
    std::fs::copy(dir.path("run/conversations/part-00000.parquet"), dir.path("in.parquet")).expect("a copy");
    condenser(dir.root(), &["compress", "in.parquet", "-o", "again", "--recency-window", "0", "--trace"]).ok();
    condenser(dir.root(), &["compress", "in.parquet", "-o", "untraced", "--recency-window", "0"]).ok();
    let mut n_changed = 0;
    for id in ids(&sample()).iter().step_by(5) {
        let pairs = shown(&dir, "again", id);
        assert_eq!(pairs.len(), 1, "{id}");
        for step in pairs[0]["steps"].as_array().expect("a list") {
            n_changed += usize::from(step["is_unchanged"] == false);
            let verdict = &step["before"][0]["verdict"];
            assert_eq!(verdict["action"] == "preserved", step["is_unchanged"] == true, "{id}: {step}");
        }
        let untraced = shown(&dir, "untraced", id);
        assert_eq!(untraced[0]["verdicts_from"], "engine", "{id}");
        assert!(without_origin(untraced) == without_origin(pairs), "{id}");
    }
    assert!(n_changed > 5, "{n_changed}");
    let talk = "The delivery to Hamburg was late again and nobody told the customer in time. ".repeat(20);
    let event = |n: usize| {
        let (kind, role) = [("user", "user"), ("assistant", "assistant")][n % 2];
        json!({ "type": kind, "sessionId": "s", "uuid": format!("u{n}"), "message": { "role": role, "content": [{ "type": "text", "text": format!("{n}: {talk}") }] } }).to_string() + "\n"
    };
    dir.write("log.jsonl", (0..9).map(event).collect::<String>());
    for format in ["parquet", "jsonl"] {
        condenser(dir.root(), &["compress", "log.jsonl", "-o", format, "--format", format]).ok();
        let pairs = shown(&dir, format, "s");
        assert_eq!((pairs.len(), &pairs[0]["n_before"]), (1, &json!(9)));
        let steps = pairs[0]["steps"].as_array().expect("a list");
        assert_eq!(pairs[0]["verdicts_from"], "engine");
        assert!(steps[1]["after"]["text"].as_str().is_some_and(|text| text.starts_with("[summary: ")), "{}", steps[1]);
    }
}

#[test]
fn the_two_sides_fit_the_terminal() {
    let dir = TestDir::new();
    dir.write("in.jsonl", sample());
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--recency-window", "2", "--trace"]).ok();
    let id = &ids(&sample())[0];
    let show = |more: &[&str]| {
        let told = condenser(dir.root(), &[&["show", "run", id][..], more].concat()).ok();
        String::from_utf8(told.stdout).expect("it is text")
    };
    condenser(dir.root(), &["show", "run", id, "--width", "99999999999"]).exits(2);
    condenser(dir.root(), &["report", "run", "--width", "99999999999"]).exits(2);
    for width in [40, 79, 80, 133] {
        let text = show(&["--width", &width.to_string()]);
        let widest = text.lines().map(plain::width).max().expect("lines");
        assert!(widest <= width, "{widest} > {width}:\n{text}");
        assert_eq!(text.contains(" │ "), width >= 80, "{width}");
        assert!(!text.contains('\u{1b}'), "no colours in a pipe");
        assert!(text.contains("preserved_role") && text.contains("grounding "), "{text}");
    }
    let (folded, full) = (show(&[]), show(&["--full"]));
    assert!(folded.contains(" more lines") && !full.contains(" more lines"), "{folded}");
    assert!(full.lines().count() > folded.lines().count());
    condenser(dir.root(), &["show", "run", id, "-o", "pair.txt"]).ok();
    assert_eq!(dir.read("pair.txt"), folded.into_bytes());
    condenser(dir.root(), &["show", "run", id, "--json", "--full"]).exits(2);
}

#[test]
fn a_run_whose_decisions_nobody_knows_says_so() {
    let dir = TestDir::new();
    dir.write("in.jsonl", sample());
    let policy = ["--policy", "best-above-floor", "--floor", "quality=0.5"];
    condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "run"], &policy[..]].concat()).ok();
    let id = &ids(&sample())[0];
    let pairs = shown(&dir, "run", id);
    assert_eq!(pairs[0]["verdicts_from"], "nowhere");
    assert!(pairs[0]["steps"].as_array().expect("a list").iter().all(|step| step["before"][0]["verdict"].is_null()));
    let told = condenser(dir.root(), &["show", "run", id]).ok();
    assert!(String::from_utf8_lossy(&told.stdout).contains("Decisions are not known"));
}
