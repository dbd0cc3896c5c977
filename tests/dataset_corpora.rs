//! Data sets of whole corpora: every answer of the source is in them, word for word, and every row is as strict templates want it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::dataset::rows;
use crate::support::command::condenser;
use crate::support::corpora;
use crate::support::dir::TestDir;
use crate::support::native;

/// What an assistant says in a conversation, without white space, and its calls in order.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    calls: Vec<(String, Value)>,
}

impl Said {
    fn say(&mut self, text: &str) {
        self.text.extend(text.chars().filter(|c| !c.is_whitespace()));
    }

    fn call(&mut self, name: &Value, arguments: &Value) {
        let given = arguments
            .as_str()
            .map_or_else(|| arguments.clone(), |text| serde_json::from_str(text).unwrap_or(Value::Null));
        let given = match given {
            Value::Object(_) => given,
            _ if arguments.as_str().is_some_and(|text| text.trim().is_empty()) => json!({}),
            _ => json!({ "input": arguments }),
        };
        self.calls.push((name.as_str().unwrap_or_default().to_owned(), given));
    }

    /// A message in the words of OpenAI.
    fn message(&mut self, message: &Value) {
        match &message["content"] {
            Value::String(text) => self.say(text),
            Value::Array(parts) => {
                parts.iter().filter_map(|part| part["text"].as_str()).for_each(|text| self.say(text));
            }
            _ => {}
        }
        // In the words of Anthropic calls stand among the parts.
        let parts = message["content"].as_array().into_iter().flatten();
        for call in parts.filter(|part| part["type"] == "tool_use") {
            self.call(&call["name"], &call["input"]);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            self.call(&call["function"]["name"], &call["function"]["arguments"]);
        }
    }
}

/// The job over `dir/in`, and its rows in order, both sides.
fn data_set(dir: &TestDir, lines: &str) -> Vec<Value> {
    let job =
        "kind = \"dataset\"\ninputs = [\"in\"]\noutput = \"run\"\n[dataset]\neval_share = 0.2\nmax_tokens = 32768\n";
    dir.write("job.toml", format!("{job}{lines}"));
    let told = condenser(dir.root(), &["run", "job.toml", "-q"]).ends();
    assert!(matches!(told.code, Some(0 | 3)), "{}", told.stderr);
    let mut all = Vec::new();
    for side in ["train", "eval"] {
        for path in corpora::files_in(&dir.path(&format!("run/dataset/{side}")), ".parquet") {
            all.extend(rows(&path));
        }
    }
    all
}

/// What rows of chats must be: the user first, then by turns; results behind their calls, one for each.
#[track_caller]
fn check_row(row: &Value) {
    let messages = row["messages"].as_array().expect("messages");
    let (mut last, mut open) = ("", Vec::new());
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().expect("a role");
        assert!(message.as_object().is_some_and(|keys| keys.values().all(|value| !value.is_null())), "{message}");
        match role {
            "system" => assert_eq!(at, 0, "{row}"),
            "tool" => {
                assert!(!open.is_empty() && open.remove(0) == message["tool_call_id"], "{row}");
                last = "tool";
                continue;
            }
            _ => {
                assert!(open.is_empty() && role != last && (role == "user" || !matches!(last, "")), "{at} {row}");
                last = role;
            }
        }
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        open = calls.iter().map(|call| call["id"].clone()).collect();
        let is_empty = message["content"].as_str().is_none_or(|text| text.trim().is_empty());
        assert!(role != "assistant" || !is_empty || !calls.is_empty(), "{message}");
    }
    assert!(open.is_empty() && !last.is_empty(), "{row}");
}

/// The turns of the assistant in all rows, each once: a window shows again, and does not train, what stands in those before it.
fn turns_once(rows: &[Value]) -> Vec<(String, Value)> {
    let (mut turns, mut known) = (Vec::new(), BTreeSet::new());
    for row in rows {
        let id = row["id"].as_str().expect("an id");
        let messages = row["messages"].as_array().expect("messages");
        for message in messages.iter().filter(|message| message["role"] == "assistant") {
            let mut turn = message.clone();
            let is_trained = turn.as_object_mut().and_then(|turn| turn.remove("train")) == Some(json!(true));
            let is_new = known.insert(format!("{id} {turn}"));
            if is_new || is_trained || row["window"] == 1 {
                turns.push((id.to_owned(), turn));
            }
        }
        assert!(messages.iter().any(|message| message["train"] == true || message["train"] == false), "{row}");
    }
    turns
}

#[test]
fn answers_of_all_corpora_are_in_the_data_word_for_word_and_every_row_is_valid() {
    for (name, lines) in corpora::lines() {
        let dir = TestDir::new();
        dir.write("in/corpus.jsonl", lines.join("\n"));
        let mut expected: BTreeMap<String, Said> = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            let Some(messages) = record["messages"].as_array() else { continue };
            let id = record["id"].as_str().map_or_else(|| format!("in/corpus.jsonl#{at}"), str::to_owned);
            let said = expected.entry(id).or_default();
            // Where it asks for no reply Claude Code writes one.
            let is_said =
                |message: &&Value| message["role"] == "assistant" && message["content"] != "No response requested.";
            messages.iter().filter(is_said).for_each(|message| said.message(message));
        }
        let mut found: BTreeMap<String, Said> = BTreeMap::new();
        let rows = data_set(&dir, "");
        rows.iter().for_each(check_row);
        for (id, turn) in turns_once(&rows) {
            found.entry(id).or_default().message(&turn);
        }
        // Where nothing of a window is to be learned it is not there.
        let mut n_rows: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &rows {
            *n_rows.entry(row["id"].as_str().expect("an id")).or_default() += 1;
        }
        let is_whole =
            |row: &&Value| row["n_windows"].as_u64() == n_rows.get(row["id"].as_str().expect("an id")).copied();
        let whole: BTreeSet<&str> = rows.iter().filter(is_whole).filter_map(|row| row["id"].as_str()).collect();
        found.retain(|id, _| whole.contains(id.as_str()));
        // Two people who talk have roles in no record.
        expected.retain(|_, source| *source != Said::default());
        let n_compared = expected.keys().filter(|id| found.contains_key(*id)).count();
        for (id, said) in &found {
            if let Some(source) = expected.get(id) {
                assert_eq!(said, source, "{name}: {id}");
            }
        }
        // The others are like one of these.
        assert!(n_compared * 2 >= expected.len(), "{name}: {n_compared} of {}", expected.len());
    }
}

/// Everything that assistants say and call in a native log, in whatever order, by what its program writes.
fn native_said(events: &[Value], said: &mut Vec<String>) {
    let mut add = |text: &str| said.push(text.chars().filter(|c| !c.is_whitespace()).collect());
    for event in events {
        let message = &event["message"];
        let parts = |list: &Value| list.as_array().cloned().unwrap_or_default();
        if event["type"] == "assistant" || event["type"] == "message" && message["role"] == "assistant" {
            if event["isApiErrorMessage"] == true || message["model"] == "<synthetic>" {
                continue;
            }
            message["content"].as_str().into_iter().for_each(&mut add);
            for part in parts(&message["content"]) {
                part["text"].as_str().into_iter().for_each(&mut add);
                ["input", "arguments"]
                    .iter()
                    .filter(|key| part[**key].is_object())
                    .for_each(|key| add(&part[*key].to_string()));
            }
        }
        let payload = &event["payload"];
        if event["type"] == "response_item" {
            if payload["role"] == "assistant" {
                parts(&payload["content"]).iter().filter_map(|part| part["text"].as_str()).for_each(&mut add);
            }
            if payload["type"] == "function_call" {
                let given: Value =
                    serde_json::from_str(payload["arguments"].as_str().unwrap_or_default()).unwrap_or_default();
                add(&given.to_string());
            }
        }
    }
}

#[test]
fn native_logs_of_the_corpora_become_valid_rows_with_all_that_was_said() {
    for (name, bytes) in native::files() {
        let is_log = ["/claude/", "/codex/", "/pi/"].iter().any(|folder| name.contains(folder));
        if !is_log && !name.contains("gemini_cli") {
            continue;
        }
        let dir = TestDir::new();
        dir.write(&format!("in/{}", name.rsplit('/').next().expect("a name")), &bytes);
        let rows = data_set(&dir, "");
        rows.iter().for_each(check_row);
        let text = String::from_utf8_lossy(&bytes);
        let events: Vec<Value> = serde_json::Deserializer::from_str(&text).into_iter().filter_map(Result::ok).collect();
        let mut expected = Vec::new();
        native_said(&events, &mut expected);
        let mut all = String::new();
        for message in rows.iter().filter_map(|row| row["messages"].as_array()).flatten() {
            if message["role"] == "assistant" {
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                let calls = calls.map(|call| call["function"]["arguments"].to_string());
                let texts = message["content"].as_str().map(str::to_owned).into_iter().chain(calls);
                texts.for_each(|text| all.extend(text.chars().filter(|c| !c.is_whitespace())));
            }
        }
        let missing: Vec<&String> = expected.iter().filter(|said| !all.contains(said.as_str())).collect();
        // A reply that broke off and was tried again is the only one that may be gone.
        assert!(missing.len() <= expected.len() / 100, "{name}: {} of {}: {missing:?}", missing.len(), expected.len());
        assert!(!rows.is_empty() || expected.is_empty(), "{name}");
    }
}
