//! Without look-ahead: what stays is guessed, and every original comes back; models are learned, named and held against the plan.

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

#[test]
fn what_is_worth_less_is_hidden_and_comes_back() {
    let dir = TestDir::new();
    dir.write("logs.jsonl", sessions(3));
    let all = n_chars(&dir, &["--worth-threshold", "0"]);
    let some = n_chars(&dir, &["--worth-threshold", "15000"]);
    let few = n_chars(&dir, &["--worth-threshold", "19000"]);
    let results = n_chars(&dir, &["--worth-threshold", "19000", "--arguments", "false", "--assistant", "keep"]);
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
