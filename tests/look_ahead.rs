//! Without look-ahead: what stays is guessed, and every original comes back; models are learned, named and held against the plan.

use arrow::array::Array;
use condenser::engine::{Engine, Scratch, TurnCut};
use condenser::model::{EngineOptions, Images, LookAhead, ShapeName};
use condenser::shape;
use condenser_core::{Compressor, restore};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::support::command::{Told, condenser};
use crate::support::dir::TestDir;

/// A session of an agent that reads files and goes back to a line of what it read four turns before.
fn session(id: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Please mend what is broken in the parser."})];
    for at in 0..14_usize {
        let line = |row: usize| format!("    let value_{id}_{at}_{row} = read_part_{row}(input, {});\n", row * 7 + at);
        let file: String = (0..60).map(line).collect();
        let arguments = json!({"path": format!("src/part_{at}.rs"), "note": format!("part {at}\n").repeat(80)});
        let call = json!({"id": format!("c{at}"), "type": "function",
            "function": {"name": "Read", "arguments": arguments.to_string()}});
        let back = at.checked_sub(4).map(|back| format!("I go back to value_{id}_{back}_17 once more."));
        let said = back.unwrap_or_else(|| "I read it.".to_owned());
        messages.push(json!({"role": "assistant", "content": said, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": file}));
    }
    json!({"id": format!("session-{id}"), "messages": messages})
}

pub(crate) fn sessions(n: usize) -> String {
    (0..n).map(|id| format!("{}\n", session(id))).collect()
}

#[track_caller]
fn says(told: &Told, all: &[&str]) {
    for said in all {
        assert!(told.stderr.contains(said), "{said:?} is not in {}", told.stderr);
    }
}

/// Visible characters of what the filter writes, which restores.
#[track_caller]
fn n_chars(dir: &TestDir, more: &[&str]) -> usize {
    let (run, back) = (format!("run{}", more.concat()), format!("back{}", more.concat()));
    let args = ["compress", "logs.jsonl", "--output", &run, "--format", "jsonl", "--look-ahead", "off"];
    condenser(dir.root(), &[&args[..], more].concat()).ok();
    condenser(dir.root(), &["verify", &run]).ok();
    condenser(dir.root(), &["restore", &run, "--output", &back]).ok();
    assert_eq!(dir.read(&format!("{back}/logs.jsonl")), dir.read("logs.jsonl"));
    let report = condenser(dir.root(), &["report", &run, "--json"]).ok();
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!(report["runs"][0]["look_ahead"], "off", "{report}");
    let written = condenser(dir.root(), &["get", &run, "session-0", "--compressed"]).ok();
    written.stdout.len()
}

/// Figures of the report, and of each conversation whether its next turns were looked at.
#[track_caller]
fn looked_at(dir: &TestDir, run: &str) -> (Value, Vec<bool>) {
    let report = condenser(dir.root(), &["report", run, "--json"]).ok();
    let file = std::fs::File::open(dir.path(&format!("{run}/metrics/part-00000.parquet"))).expect("metrics");
    let rows = ParquetRecordBatchReaderBuilder::try_new(file).and_then(ParquetRecordBatchReaderBuilder::build);
    let mut is_there = Vec::new();
    for batch in rows.expect("Parquet") {
        let batch = batch.expect("rows");
        let column = batch.column_by_name("next_turn_needed");
        is_there.extend((0..batch.num_rows()).map(|row| column.is_some_and(|column| column.is_valid(row))));
    }
    (serde_json::from_slice(&report.stdout).expect("JSON"), is_there)
}

#[test]
fn of_some_conversations_is_told_what_their_next_turns_needed() {
    let dir = TestDir::new();
    let short = |id: usize| {
        let mut session = session(id);
        let messages = session["messages"].as_array_mut().expect("messages");
        messages.truncate(17);
        for message in messages.iter_mut().filter(|message| message["role"] == "tool") {
            let lines: Vec<&str> = message["content"].as_str().expect("text").lines().skip(15).take(4).collect();
            message["content"] = json!(lines.join("\n"));
        }
        format!("{session}\n")
    };
    dir.write("logs.jsonl", (0..200).map(short).collect::<String>());
    let compress = |run: &str, more: &[&str]| {
        condenser(dir.root(), &[&["compress", "logs.jsonl", "--output", run][..], more].concat()).ok()
    };
    compress("off", &["--look-ahead", "off"]);
    let (report, is_there) = looked_at(&dir, "off");
    let n = is_there.iter().filter(|is_there| **is_there).count();
    assert!(is_there.len() == 200 && (1..20).contains(&n), "{n} of {}", is_there.len());
    let needed = report["totals"]["next_turn_needed"].as_u64().expect("a count");
    let in_place = report["totals"]["next_turn_in_place"].as_u64().expect("a count");
    assert!(needed > 0, "{report}");
    assert_eq!(report["totals"]["next_turn_recall"].as_f64(), Some(in_place as f64 / needed as f64));
    let shown = String::from_utf8(condenser(dir.root(), &["report", "off"]).ok().stdout).expect("text");
    let (recall, ratio) = (shown.find("Next-turn recall"), shown.find("Ratio of tokens"));
    assert!(recall.is_some() && recall < ratio, "{shown}");
    compress("all", &["--look-ahead", "off", "--all-figures"]);
    assert!(looked_at(&dir, "all").1.into_iter().all(|is_there| is_there));
    compress("turns", &[]);
    let (report, is_there) = looked_at(&dir, "turns");
    assert!(!is_there.contains(&true) && report["totals"]["next_turn_recall"].is_null(), "{report}");
}

#[test]
fn what_next_turns_needed_is_what_a_reader_counts() {
    let of = |at: usize| {
        json!({"id": format!("c{at}"), "type": "function",
        "function": {"name": "Read", "arguments": json!({"path": format!("src/part_{at}.rs")}).to_string()}})
    };
    let mut messages = vec![json!({"role": "user", "content": "Please mend what is broken in the parser."})];
    for at in 0..8 {
        let line = |row: usize| format!("    let value_{at}_{row} = read_part_{row}(input, {});\n", row * 7 + at);
        messages.push(json!({"role": "assistant", "content": "I read it.", "tool_calls": [of(at)]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"),
            "content": (0..60).map(line).collect::<String>()}));
    }
    let cut = messages.len();
    // Two lines that stood, one that did not; a name that stood, one that the last messages show, one that is new.
    let old =
        "let value_2_17 = read_part_17(input, 121);\n  let value_2_18 = read_part_18(input, 128);\nand more of it";
    let edit = json!({"id": "e", "type": "function",
        "function": {"name": "Edit", "arguments": json!({"old_string": old}).to_string()}});
    messages.push(json!({"role": "assistant", "content": "value_3_30, value_7_9, value_9_9", "tool_calls": [edit]}));
    messages.push(json!({"role": "tool", "tool_call_id": "e", "content": "done"}));
    let record = json!({"id": "a", "messages": messages}).to_string();
    let decoded = shape::decode(&record, ShapeName::Openai, "a").expect("a conversation");
    let judged = |threshold: u32| {
        let options =
            EngineOptions { look_ahead: LookAhead::Off, worth_threshold: Some(threshold), ..EngineOptions::default() };
        let engine = Engine::new(options).expect("options");
        TurnCut::new(&decoded.conversation, cut).compressed(&engine, &mut Scratch::default())
    };
    // value_2_17 and value_2_18 of the edit, and value_3_30; what is read stands in the last messages, too.
    let (all, few) = (judged(0), judged(60_000));
    assert_eq!((all.needed, all.in_place, all.lines, all.lines_shown), (3, 3, 2, 2), "{all:?}");
    assert_eq!((few.needed, few.lines), (3, 2), "{few:?}");
    assert!(few.in_place < 3 && few.lines_shown < 2 && few.ratio() > all.ratio(), "{few:?}");
}

#[test]
fn rows_to_evaluate_on_do_not_show_what_their_answers_need() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(1));
    // What the row of a side shows, in the words of a target that has lines.
    let row = |run: &str, share: &str, more: &str| {
        let job = format!(
            "inputs = [\"logs.jsonl\"]\noutput = \"{run}\"\nkind = \"dataset\"\n[engine]\nrecency_window = 0\ndistractors = 0.0\n{more}"
        );
        dir.write(
            "job.toml",
            job.replace("[dataset]", &format!("[dataset]\ntarget = \"openai\"\neval_share = {share}")),
        );
        condenser(dir.root(), &["run", "job.toml"]).ok();
        let side = if share == "1.0" { "eval" } else { "train" };
        String::from_utf8(dir.read(&format!("{run}/dataset/{side}/part-00000.jsonl"))).expect("text")
    };
    let train = row("train", "0.0", "[dataset]\n");
    let strict = row("strict", "1.0", "[dataset]\n");
    let off = row("off", "1.0", "[dataset]\neval_look_ahead = \"off\"\n");
    assert_eq!(strict, row("as-strict", "0.0", "look_ahead = \"strict\"\n[dataset]\n"));
    assert_eq!(off, row("as-off", "0.0", "look_ahead = \"off\"\n[dataset]\n"));
    assert!(train.contains('⋯') && train != strict && train != off);
}

#[test]
fn what_is_worth_less_is_hidden_and_comes_back() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(3));
    let all = n_chars(&dir, &["--worth-threshold", "0"]);
    let some = n_chars(&dir, &["--worth-threshold", "19000"]);
    let few = n_chars(&dir, &["--worth-threshold", "24000"]);
    let results = n_chars(&dir, &["--worth-threshold", "24000", "--arguments", "false", "--assistant", "keep"]);
    assert!(few < some && some < all && few < results && results < all, "{few} {some} {all} {results}");
}

#[test]
fn a_model_is_learned_and_used() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(20));
    let learned = condenser(dir.root(), &["learn", "logs.jsonl", "-o", "use.toml", "--json"]).ok();
    let outcome: Value = serde_json::from_slice(&learned.stdout).expect("JSON");
    let (recall, masked) = (outcome["recall"].as_f64(), outcome["masked_recall"].as_f64());
    assert!(recall > Some(0.9) && recall >= masked, "{outcome}");
    assert!(outcome["ratio"].as_f64() > Some(1.5), "{outcome}");
    let first = dir.read("use.toml");
    says(&condenser(dir.root(), &["learn", "logs.jsonl", "-o", "use.toml"]).exits(2), &["exists already"]);
    condenser(dir.root(), &["learn", "logs.jsonl", "-o", "use.toml", "--force"]).ok();
    assert_eq!(first, dir.read("use.toml"), "the same twice");
    let own = n_chars(&dir, &["--use-model", "use.toml"]);
    assert!(own < n_chars(&dir, &["--worth-threshold", "0"]), "{own}");
}

#[test]
fn what_is_no_model_and_what_cannot_be_learned_is_said() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(1));
    dir.write("chat.jsonl", "{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}\n");
    dir.write("bad.toml", "use_model = 1\n[value.own]\nbias = much\n");
    let compress = |more: &[&str]| {
        let args = ["compress", "logs.jsonl", "--output", "run", "--look-ahead", "off"];
        condenser(dir.root(), &[&args[..], more].concat())
    };
    says(&compress(&["--use-model", "bad.toml"]).exits(2), &["line 3: `much` is no whole number", "condenser learn"]);
    says(&compress(&["--use-model", "none.toml"]).exits(2), &["there is no such model of uses"]);
    says(&condenser(dir.root(), &["learn", "chat.jsonl"]).exits(3), &["no conversation in these inputs has tools"]);
    says(&condenser(dir.root(), &["learn", "-"]).exits(2), &["read twice"]);
}

#[test]
fn a_run_goes_on_with_the_model_with_which_it_began() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(20));
    condenser(dir.root(), &["learn", "logs.jsonl"]).ok();
    let args = ["compress", "logs.jsonl", "--output", "run", "--look-ahead", "off", "--use-model", "use.toml"];
    condenser(dir.root(), &args).ok();
    condenser(dir.root(), &args).ok();
    let model = String::from_utf8(dir.read("use.toml")).expect("text");
    dir.write("use.toml", format!("# another one\n{model}"));
    says(&condenser(dir.root(), &args).exits(2), &["the file that the option engine.use_model names has changed"]);
}

/// A message that looks like chance, of a session of an agent that calls tools by name or writes commands.
fn message(seed: &mut u64, at: usize, calls_by_name: bool) -> Value {
    let mut next = |n: usize| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize % n
    };
    let name = |n: usize| format!("value_of_{}", n % 30);
    let lines: String = (0..10 + next(60))
        .map(|row| match next(12) {
            0 => format!("error: {} is \u{22ef} in src/a_{row}.rs\n", name(next(30))),
            1 => format!("{row}\tlet {} = {};\n", name(next(30)), next(900)),
            _ => format!("{row}\tcall_{}({}, {});\n", next(20), name(next(30)), next(5)),
        })
        .collect();
    let said = format!("I look at {} and at src/a_{}.rs. Shall I go on?", name(next(30)), next(60));
    match next(8) {
        0 => json!({"role": "user", "content": format!("Look at this, please.\n{lines}{lines}{lines}")}),
        1 if next(4) == 0 => json!({"role": "user", "content": "\u{22ef}".repeat(1 + next(12))}),
        1 => json!({"role": "user", "content": (["Yes, go on.", "No.", "And then?"][next(3)])}),
        2 => json!({"role": "assistant", "content": said.repeat(next(30)), "reasoning": [lines.repeat(next(2)), said]}),
        3 | 4 if calls_by_name => {
            let arguments = json!({"path": format!("src/a_{}.rs", next(60)), "old": lines}).to_string();
            let call = json!({"id": format!("c{at}"), "type": "function", "function": {"name": "Edit", "arguments": arguments}});
            let content = said.repeat(1 + next(12));
            match next(3) {
                0 => json!({"role": "assistant", "content": content, "reasoning_content": lines, "tool_calls": [call]}),
                1 => json!({"role": "assistant", "content": [
                    {"type": "thinking", "thinking": lines, "signature": (["", "c2VhbGVk"][next(2)])},
                    {"type": "text", "text": content}], "tool_calls": [call]}),
                _ => json!({"role": "assistant", "content": content, "tool_calls": [call]}),
            }
        }
        3 | 4 => json!({"role": "assistant", "content": format!("{said}\n```\ncat src/a_{}.rs\n```", next(60))}),
        _ if calls_by_name => {
            json!({"role": "tool", "tool_call_id": format!("c{}", at.saturating_sub(1)), "content": lines})
        }
        _ => json!({"role": "user", "content": format!("{lines}$")}),
    }
}

#[test]
fn what_comes_behind_now_changes_nothing_before_it() {
    let options = EngineOptions { look_ahead: LookAhead::Strict, distractors: 0.05, ..EngineOptions::default() };
    let options = EngineOptions { images: Images::Mark, worth_threshold: Some(21_000), ..options };
    let mut seed = 11;
    let mut n_hidden = 0;
    for case in 0..150 {
        let window = case % 5;
        let options = EngineOptions { recency_window: window, ..options.clone() };
        let mut compressor = Compressor::new(options).expect("options").with_shape(ShapeName::Openai);
        let calls_by_name = case % 3 > 0;
        let n = 4 + case % 25;
        let before: Vec<Value> = (0..n).map(|at| message(&mut seed, at, calls_by_name)).collect();
        let mut shown = Vec::new();
        for tail in 0..3 {
            // Nothing, a few messages, and many of another kind.
            let more = (n..n + [0, 3, 40][tail]).map(|at| message(&mut seed, at, calls_by_name == (tail == 1)));
            let messages: Vec<Value> = before.iter().cloned().chain(more.collect::<Vec<_>>()).collect();
            let record = json!({"id": "a", "messages": messages}).to_string();
            let out = compressor.compress(&record).expect("a record");
            assert_eq!(restore(&out.record, &out.sidecar).expect("it comes back"), record);
            let out: Value = serde_json::from_str(&out.record).expect("JSON");
            let decided = n.saturating_sub(window);
            shown.push(out["messages"].as_array().expect("messages")[..decided].to_vec());
        }
        n_hidden += shown[0].iter().zip(&before).filter(|(shown, said)| shown != said).count();
        assert_eq!(shown[0], shown[1], "case {case}");
        assert_eq!(shown[0], shown[2], "case {case}");
    }
    assert!(n_hidden > 100, "{n_hidden}");
}

#[test]
fn strict_refuses_what_looks_at_the_whole() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(2));
    let compress = |more: &[&str]| {
        let args = ["compress", "logs.jsonl", "--output", "run", "--look-ahead", "strict"];
        condenser(dir.root(), &[&args[..], more].concat())
    };
    for (name, value) in [("token-budget", "500"), ("compression-threshold", "9"), ("observation-threshold", "9")] {
        let told = compress(&[&format!("--{name}"), value]).exits(2);
        says(&told, &[&name.replace('-', "_"), "it takes a look at the whole conversation"]);
    }
    compress(&[]).ok();
    condenser(dir.root(), &["verify", "run"]).ok();
}

#[test]
fn a_long_command_keeps_its_first_line() {
    let body: String = (0..60).map(|at| format!("and so on for row {at} of what was done to it\n")).collect();
    let command = json!({"command": format!("git commit -m \"of note\" <<'EOF'\n{body}EOF")}).to_string();
    let call = json!({"id": "c", "type": "function", "function": {"name": "Bash", "arguments": command}});
    let mut messages = vec![
        json!({"role": "user", "content": "Please commit it."}),
        json!({"role": "assistant", "content": "I do.", "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "c", "content": "done"}),
    ];
    for _ in 0..40 {
        let call = json!({"id": "d", "type": "function", "function": {"name": "Bash", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": "I look.", "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": "d", "content": "done"}));
    }
    let options =
        EngineOptions { look_ahead: LookAhead::Off, worth_threshold: Some(20_000), ..EngineOptions::default() };
    let record = json!({"id": "a", "messages": messages}).to_string();
    let out = Compressor::new(options).expect("options").compress(&record).expect("a record");
    assert_eq!(restore(&out.record, &out.sidecar).expect("it comes back"), record);
    let shown: Value = serde_json::from_str(&out.record).expect("JSON");
    let shown = shown["messages"][1]["tool_calls"][0]["function"]["arguments"].as_str().expect("arguments");
    assert!(shown.contains("git commit -m") && shown.contains(" lines #"), "{shown}");
}
