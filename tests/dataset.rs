//! Training-ready data: its rows, its split, what is left out, and the packages that load it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, Output, Reason, ShapeName};
use condenser::pipeline::{ChatGuard, Condense, is_eval};
use condenser::shape;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support::chats::{Blunt, jsonl};
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};
use serde_json::{Value, json};

const LONG: &str = "a text that is long enough for the blunt engine to replace it by something else";

/// Runs a dataset job over `text` with further lines of the table `[dataset]`.
fn dataset(text: &str, lines: &str) -> (TestDir, String) {
    let dir = TestDir::new();
    dir.write("in.jsonl", text);
    let job =
        "kind = \"dataset\"\ninputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\nrecency_window = 0\n[dataset]\n";
    // What little texts have in common is for others to tell.
    let dedup = if lines.contains("dedup") { "" } else { "dedup = \"none\"\n" };
    dir.write("job.toml", format!("{job}{dedup}{lines}"));
    let told = condenser(dir.root(), &["run", "job.toml"]).ok().stderr;
    (dir, told)
}

/// The rows of a file of the data set as JSON, without what is null.
pub(crate) fn rows(path: &Path) -> Vec<Value> {
    if path.extension().is_some_and(|ending| ending == "jsonl") {
        let text = std::fs::read_to_string(path).expect("the file is there");
        return text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    }
    let file = std::fs::File::open(path).expect("the file is there");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .expect("Parquet");
    let mut lines = Vec::new();
    let mut writer = arrow::json::LineDelimitedWriter::new(&mut lines);
    for batch in reader {
        writer.write(&batch.expect("rows")).expect("they are JSON");
    }
    writer.finish().expect("it ends");
    let text = String::from_utf8(lines).expect("text");
    let mut rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // Columns of JSON hold texts.
    for value in rows.iter_mut().flat_map(|row| row.as_object_mut().expect("a row").values_mut()) {
        for item in value.as_array_mut().into_iter().flatten() {
            *item = serde_json::from_str(item.as_str().expect("a text")).expect("JSON");
        }
    }
    rows
}

/// The only row of a side, of it what stands under `keys`.
fn only(dir: &TestDir, file: &str, keys: &[&str]) -> Value {
    let rows = rows(&dir.path(&format!("run/dataset/{file}")));
    assert_eq!(rows.len(), 1, "{rows:?}");
    keys.iter().map(|key| ((*key).to_owned(), rows[0][key].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// A conversation with two calls at once and thoughts.
fn with_calls() -> String {
    let call = |id: u8| json!({"id": format!("c{id}"), "type": "function", "function": {"name": "look", "arguments": format!("{{\"at\":{id}}}")}});
    json!({"id": "a", "extra": 1, "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [call(1), call(2)]},
        {"role": "tool", "tool_call_id": "c2", "content": "second"},
        {"role": "tool", "tool_call_id": "c1", "content": "first"},
        {"role": "assistant", "name": "bot", "content": "ok"},
    ]})
    .to_string()
}

#[test]
fn messages_become_what_chat_templates_want() {
    let (dir, told) = dataset(&with_calls(), "eval_share = 0.0\n");
    assert!(told.contains("1 row in train, 0 in eval, 0 left out"), "{told}");
    let call = |id: u8| json!({"id": format!("c{id}"), "type": "function", "function": {"name": "look", "arguments": {"at": id}}});
    let expected = json!({"id": "a", "class": "tool-heavy", "window": 1, "n_windows": 1, "ratio": 1.0, "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "one\n[image]\ntwo"},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [call(1), call(2)], "train": true},
        {"role": "tool", "content": "first", "tool_call_id": "c1", "name": "look"},
        {"role": "tool", "content": "second", "tool_call_id": "c2", "name": "look"},
        {"role": "assistant", "content": "ok", "train": true},
    ]});
    let keys = ["id", "class", "window", "n_windows", "ratio", "messages"];
    assert_eq!(only(&dir, "train/part-00000.parquet", &keys), expected);
    assert!(rows(&dir.path("run/dataset/eval/part-00000.parquet")).is_empty());
    let tools = json!([{"type": "function", "function": {"name": "look", "description": "",
        "parameters": {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}}}]);
    assert_eq!(only(&dir, "train/part-00000.parquet", &["tools"])["tools"], tools);
    // The run beside it stays a run.
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    let card = String::from_utf8(dir.read("run/dataset/README.md")).expect("text");
    assert!(
        card.starts_with("---\n") && card.contains("path: train/*.parquet") && !card.contains("split: eval"),
        "{card}"
    );
}

#[test]
fn every_target_has_its_own_words() {
    let check = |lines: &str, file: &str, expected: Value| {
        let (dir, _) = dataset(&with_calls(), &format!("eval_share = 0.0\n{lines}"));
        let row = rows(&dir.path(&format!("run/dataset/{file}"))).remove(0);
        for (key, value) in expected.as_object().expect("an object") {
            assert_eq!(row[key], *value, "{lines}: {key}: {row}");
        }
        row
    };
    let text = |id: u8| json!({"id": format!("c{id}"), "type": "function", "function": {"name": "look", "arguments": format!("{{\"at\":{id}}}")}});
    let row = check(
        "target = \"openai\"\n",
        "train/part-00000.jsonl",
        json!({"messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "one\n[image]\ntwo"},
            {"role": "assistant", "content": null, "tool_calls": [text(1), text(2)]},
            {"role": "tool", "content": "first", "tool_call_id": "c1"},
            {"role": "tool", "content": "second", "tool_call_id": "c2"},
            {"role": "assistant", "content": "ok"},
        ]}),
    );
    assert_eq!(row.as_object().expect("a row").keys().collect::<Vec<_>>(), ["messages", "tools"]);
    let said = |from: &str, value: &str| json!({"from": from, "value": value});
    let call = |id: u8, text: &str| {
        json!({"from": if text.is_empty() { "function_call" } else { "gpt" }, "train": true,
        "value": format!("{text}{{\"name\":\"look\",\"arguments\":{{\"at\":{id}}}}}{}", if text.is_empty() { "" } else { "\n</tool_call>" })})
    };
    check(
        "target = \"sharegpt\"\n",
        "train/part-00000.jsonl",
        json!({"conversations": [
            said("system", "s"), said("human", "one\n[image]\ntwo"), call(1, "<think>\nhm\n</think>\n<tool_call>\n"), said("observation", "first"),
            call(2, ""), said("observation", "second"), {"from": "gpt", "value": "ok", "train": true},
        ]}),
    );
    check(
        "target = \"llama-factory\"\nthinking = \"drop\"\n",
        "train/part-00000.jsonl",
        json!({"system": "s", "conversations": [
            said("human", "one\n[image]\ntwo"), said("function_call", "{\"name\":\"look\",\"arguments\":{\"at\":1}}"), said("observation", "first"),
            said("function_call", "{\"name\":\"look\",\"arguments\":{\"at\":2}}"), said("observation", "second"), said("gpt", "ok"),
        ]}),
    );
    let one = |id: u8| json!([{"id": format!("c{id}"), "type": "function", "function": {"name": "look", "arguments": {"at": id}}}]);
    let result =
        |id: u8, text: &str| json!({"role": "tool", "content": text, "tool_call_id": format!("c{id}"), "name": "look"});
    let apart = json!([
        {"role": "system", "content": "s"}, {"role": "user", "content": "one\n[image]\ntwo"},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": one(1), "train": true}, result(1, "first"),
        {"role": "assistant", "content": "", "tool_calls": one(2), "train": true}, result(2, "second"),
        {"role": "assistant", "content": "ok", "train": true},
    ]);
    check("target = \"axolotl\"\ncalls = \"apart\"\n", "train/part-00000.jsonl", json!({"messages": apart}));
    check("target = \"unsloth\"\ncalls = \"apart\"\n", "train/part-00000.parquet", json!({"conversations": apart}));
    check(
        "form = \"prompt-completion\"\n",
        "train/part-00000.parquet",
        json!({
            "completion": [{"role": "assistant", "content": "ok", "train": true}],
        }),
    );
    let (dir, _) = dataset(&with_calls(), "eval_share = 0.0\ntarget = \"llama-factory\"\n");
    let info: Value = serde_json::from_slice(&dir.read("run/dataset/dataset_info.json")).expect("JSON");
    assert_eq!(info["condenser_train_00000"]["file_name"], "train/part-00000.jsonl");
}

#[test]
fn pairs_of_answers_are_rows_of_their_own_kind() {
    // Answers of several kinds of records; one that has no second is left out.
    let user = json!({"role": "user", "content": "Name a fruit."});
    let answer = |text: &str| json!({"role": "assistant", "content": text});
    let records = [
        json!({"id": "lists", "prompt": [user], "chosen": [answer("Apple.")], "rejected": [answer("Brick.")]}),
        json!({"id": "whole", "chosen": [user, answer("Apple.")], "rejected": [user, answer("Brick.")]}),
        json!({"id": "texts", "messages": [user], "chosen": "Apple.", "rejected": "Brick."}),
        json!({"id": "one", "messages": [user, answer("Apple.")]}),
    ];
    let records: String = records.iter().map(|record| format!("{record}\n")).collect();
    let (dir, told) = dataset(&records, "eval_share = 0.0\nform = \"preference\"\n");
    assert!(told.contains("3 rows in train, 0 in eval, 1 left out (1 no_preference)"), "{told}");
    for row in rows(&dir.path("run/dataset/train/part-00000.parquet")) {
        let found = [&row["prompt"], &row["chosen"], &row["rejected"]];
        assert_eq!(found, [&json!([user]), &json!([answer("Apple.")]), &json!([answer("Brick.")])], "{row}");
    }
    // Answers that call, and records of which only the second answer differs.
    let calls = |path: &str| {
        let function = json!({"name": "read", "arguments": format!("{{\"path\":\"{path}\"}}")});
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": function}]})
    };
    let pairs =
        [(calls("a"), calls("b")), (calls("a"), answer("No.")), (answer("No."), calls("a")), (calls("a"), calls("a"))];
    let records: String = pairs
        .iter()
        .map(|(chosen, rejected)| {
            format!("{}\n", json!({"prompt": [user], "chosen": [chosen], "rejected": [rejected]}))
        })
        .chain([format!("{}\n", json!({"chosen": [user, calls("b")], "rejected": [user, calls("c")]}))])
        .collect();
    let exact = "eval_share = 0.0\nform = \"preference\"\ndedup = \"exact\"\n";
    let (dir, told) = dataset(&records, exact);
    assert!(told.contains("4 rows in train, 0 in eval, 1 left out (1 no_preference)"), "{told}");
    let rows_of_calls = rows(&dir.path("run/dataset/train/part-00000.parquet"));
    assert_eq!(rows_of_calls[0]["chosen"][0]["tool_calls"][0]["function"]["arguments"], json!({"path": "a"}));
    assert_eq!(rows_of_calls[3]["rejected"][0]["tool_calls"][0]["function"]["arguments"], json!({"path": "c"}));
    // Evaluation texts are looked for in both answers, and both need not fit at once.
    let question = "Which of the seven harbours of the old league was the last one to keep its own mint and coins?";
    let long = |word: &str| json!({"role": "assistant", "content": format!("{word} ").repeat(400)});
    let records = format!(
        "{}\n{}\n",
        json!({"prompt": [user], "chosen": [answer("Apple.")], "rejected": [answer(question)]}),
        json!({"prompt": [user], "chosen": [long("one")], "rejected": [long("two")]})
    );
    let evaluation = TestDir::new();
    evaluation.write("eval.txt", question);
    let of = format!("{exact}max_tokens = 600\ndecontaminate = [{:?}]\n", evaluation.path("eval.txt"));
    let (_, told) = dataset(&records, &of);
    assert!(told.contains("1 row in train, 0 in eval, 1 left out (1 contaminated)"), "{told}");
}

#[test]
fn the_split_is_by_id_and_stays_when_data_is_added() {
    let ids = |dir: &TestDir, split: &str| -> BTreeSet<String> {
        let rows = rows(&dir.path(&format!("run/dataset/{split}/part-00000.parquet")));
        rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
    };
    let record = |id: usize| {
        let messages = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]);
        format!("{}\n", json!({"id": format!("k{id}"), "messages": messages}))
    };
    let few: String = (0..100).map(record).collect();
    let many: String = (0..300).rev().map(record).collect();
    let by_id = "eval_share = 0.2\ngroup_by = \"id\"\ndedup = \"none\"\n";
    let (few, _) = dataset(&few, by_id);
    let (many, _) = dataset(&many, by_id);
    let eval = ids(&few, "eval");
    assert!((8..35).contains(&eval.len()), "{}", eval.len());
    assert!(eval.is_subset(&ids(&many, "eval")) && ids(&few, "train").is_subset(&ids(&many, "train")));
    assert!(eval.iter().all(|id| is_eval(id, 0.2)) && ids(&many, "train").iter().all(|id| !is_eval(id, 0.2)));
    assert_eq!(ids(&many, "eval").len() + ids(&many, "train").len(), 300);
}

#[test]
fn conversations_over_the_budget_are_left_out_of_the_data_only() {
    let long = "word ".repeat(100);
    let text = format!(
        "{{\"id\":\"long\",\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}},{{\"role\":\"assistant\",\"content\":\"{long}\"}}]}}\n{}",
        "{\"id\":\"short\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"y\"}]}\n{\"id\":\"none\",\"messages\":[]}\n\
         {\"id\":\"alone\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n"
    );
    let (dir, told) = dataset(&text, "max_tokens = 50\nunfit = \"leave-out\"\neval_share = 0.0\n");
    assert!(
        told.contains("1 row in train, 0 in eval, 3 left out (1 no_assistant, 1 no_messages, 1 over_max_tokens)"),
        "{told}"
    );
    let rows = rows(&dir.path("run/dataset/train/part-00000.parquet"));
    assert_eq!(rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>(), ["short"]);
    let dropped = String::from_utf8(dir.read("run/dataset/dropped/part-00000.jsonl")).expect("text");
    let lines: Vec<Value> = dropped.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let reasons: Vec<_> = lines.iter().map(|line| (line["id"].as_str(), line["reason"].as_str())).collect();
    let expected = [("long", "over_max_tokens"), ("none", "no_messages"), ("alone", "no_assistant")];
    assert_eq!(reasons, expected.map(|(id, reason)| (Some(id), Some(reason))));
    assert!(lines[0]["tokens"].as_u64().is_some_and(|tokens| tokens > 50), "{dropped}");
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    assert_eq!(condenser(dir.root(), &["restore", "run"]).ok().stdout, text.as_bytes());
}

#[test]
fn what_does_not_fit_is_cut_where_turns_end_and_every_answer_is_in_one_window() {
    let mut messages = vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "Find the fault in the pump."}),
    ];
    for n in 0..40 {
        let call = json!([{"id": format!("c{n}"), "type": "function", "function": {"name": "read", "arguments": format!("{{\"page\": {n}}}")}}]);
        messages.push(json!({"role": "assistant", "content": format!("Page {n} may tell, said the manual of pump {}.", n * 7919), "tool_calls": call}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": format!("valve {n} closed at noon, gauge {}", n * 31)}));
    }
    messages.push(json!({"role": "user", "content": "And then?"}));
    messages.push(json!({"role": "assistant", "content": "It is the valve."}));
    let record = json!({"id": "pump", "messages": messages}).to_string();
    let (dir, told) = dataset(&record, "max_tokens = 900\neval_share = 0.0\n");
    assert!(told.contains("0 left out"), "{told}");
    let rows = rows(&dir.path("run/dataset/train/part-00000.parquet"));
    assert!(rows.len() > 2, "{}", rows.len());
    let mut answers = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        assert!(row["n_tokens"].as_u64().is_some_and(|tokens| tokens <= 900), "{row}");
        assert_eq!((row["window"].as_u64(), row["n_windows"].as_u64()), (Some(at as u64 + 1), Some(rows.len() as u64)));
        let messages = row["messages"].as_array().expect("messages");
        assert_eq!(messages[0]["content"], "Be brief.");
        let task = messages[1]["content"].as_str().expect("a task");
        assert!(task.starts_with("Find the fault in the pump."), "{task}");
        assert_eq!(usize::from(at > 0), task.matches("messages are left out here]").count(), "{task}");
        assert_eq!(messages[2]["role"], "assistant");
        // Before its own turns a window shows some that it does not train.
        let n_shown = messages.iter().filter(|message| message["train"] == false).count();
        assert_eq!(at > 0, n_shown > 0, "{row}");
        answers.extend(
            messages.iter().filter(|message| message["train"] == true).map(|message| message["content"].clone()),
        );
    }
    let expected: Vec<&Value> =
        messages.iter().filter(|message| message["role"] == "assistant").map(|message| &message["content"]).collect();
    assert_eq!(answers.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn tools_that_no_log_names_are_those_that_conversations_of_one_system_prompt_call() {
    let record = |id: &str, system: &str, tool: &str, given: &Value| {
        let call = json!([{"id": "c", "type": "function", "function": {"name": tool, "arguments": given.to_string()}}]);
        let begin = if system.is_empty() { Vec::new() } else { vec![json!({"role": "system", "content": system})] };
        let turns = [
            json!({"role": "user", "content": format!("Please {tool} {id}.")}),
            json!({"role": "assistant", "content": "", "tool_calls": call}),
            json!({"role": "tool", "tool_call_id": "c", "content": "done"}),
            json!({"role": "assistant", "content": "It is done."}),
        ];
        json!({"id": id, "messages": ([begin, turns.to_vec()].concat())}).to_string()
    };
    let records = [
        record("a", "You sell flights.", "find", &json!({"from": "LAX", "day": 3})),
        record("b", "You sell flights.", "cancel", &json!({"id": "X"})),
        record("c", "", "find", &json!({"from": "JFK", "day": 4, "note": "window"})),
        record("d", "", "find", &json!({"from": "SFO", "day": "3"})),
        record("e", "", "weigh", &json!({"bag": 1})),
    ];
    let (dir, _) = dataset(&records.join("\n"), "eval_share = 0.0\ndedup = \"exact\"\n");
    let mut told = BTreeMap::new();
    for row in rows(&dir.path("run/dataset/train/part-00000.parquet")) {
        let tools: Vec<String> = row["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .map(|tool| {
                let function = &tool["function"];
                format!("{} {}", function["name"].as_str().expect("a name"), function["parameters"])
            })
            .collect();
        told.insert(row["id"].as_str().expect("an id").to_owned(), tools);
    }
    let find = |day: &str, required: &str| {
        format!(
            "find {{\"type\":\"object\",\"properties\":{{\"day\":{day},\"from\":{{\"type\":\"string\"}}}},\"required\":[{required}]}}"
        )
    };
    assert_eq!(told["a"], told["b"]);
    assert!(told["a"].len() == 2 && told["a"][0].starts_with("cancel "), "{told:#?}");
    assert_eq!(told["a"][1], find("{\"type\":\"integer\"}", "\"day\",\"from\""));
    // Others share what is known of a tool.
    assert_eq!(
        told["c"],
        [find("{}", "\"day\",\"from\"").replace("}},\"required", "},\"note\":{\"type\":\"string\"}},\"required")]
    );
    assert_eq!(told["c"], told["d"]);
    assert!(told["e"].len() == 1 && told["e"][0].starts_with("weigh "), "{told:#?}");
}

/// A session in which a file that was read at its beginning is edited at its end, when the user asks for it.
fn late_edit(n_more: usize) -> String {
    let call = |id: &str, name: &str, given: &Value| {
        json!({"role": "assistant", "content": format!("I {name} {id}."), "tool_calls":
            [{"id": id, "type": "function", "function": {"name": name, "arguments": given.to_string()}}]})
    };
    let result = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let more = "// A line of the file that nobody edits.\n".repeat(n_more);
    let code = "fn wait(&self) {\n    let timeout = self.limits.timeout;\n    self.queue.drain(timeout);\n}\n";
    let mut messages = vec![json!({"role": "user", "content": "Look at the queue."})];
    for n in 0..40 {
        let (id, text) =
            (format!("c{n}"), if n == 1 { format!("{code}{more}") } else { format!("{} ", n * 7919).repeat(30) });
        messages.push(call(&id, "read", &json!({"page": n})));
        messages.push(result(&id, &text));
        if n == 30 {
            messages.push(json!({"role": "user", "content": "Now make the timeout shorter."}));
        }
    }
    let edit = json!({"old_string": "    let timeout = self.limits.timeout;\n    self.queue.drain(timeout);", "new_string": "    drop(self);"});
    messages.extend([
        call("e", "edit", &edit),
        result("e", "done"),
        json!({"role": "assistant", "content": "It is shorter."}),
    ]);
    json!({"id": "late", "messages": messages}).to_string()
}

#[test]
fn a_window_shows_what_its_edits_copy_and_what_was_asked_last() {
    let last = |n_more: usize| {
        let keys = "eval_share = 0.0\nmax_ratio = 1.0\nmax_tokens = 1500\n";
        let (dir, told) = dataset(&late_edit(n_more), keys);
        assert!(told.contains(" 0 left out"), "{told}");
        rows(&dir.path("run/dataset/train/part-00000.parquet")).pop().expect("a row")
    };
    let said = |row: &Value| -> Vec<String> {
        let messages = row["messages"].as_array().expect("messages").iter();
        let text = |message: &Value| {
            let text = message["content"].as_str().expect("a text").replace("\n\n", " / ");
            let text = text.chars().take(60).collect::<String>();
            format!(
                "{}{} {text}",
                message["role"].as_str().expect("a role"),
                if message["train"] == false { "-" } else { "" }
            )
        };
        messages.map(text).collect()
    };
    let row = last(0);
    let (told, all) = (said(&row), row.to_string());
    assert_eq!(told[0], "user Look at the queue. / [2 messages are left out here]", "{told:#?}");
    assert_eq!(told[1], "assistant- I read c1.");
    assert!(all.contains("let timeout = self.limits.timeout;\\n    self.queue.drain(timeout);\\n}"), "{all}");
    assert!(told[3].starts_with("user [58 messages are left out here] / Now make the timeout"), "{told:#?}");
    assert!(told[4].starts_with("assistant- I read c3"), "{told:#?}");
    let end = &told[told.len() - 3..];
    assert_eq!(end, ["assistant I edit e.", "tool done", "assistant It is shorter."]);
    // Where there is no room for it, who learns the edit learns to guess.
    let row = last(100);
    let told = said(&row);
    assert!(!row.to_string().contains("I read c1."), "{told:#?}");
    assert_eq!(told[told.len() - 3], "assistant- I edit e.", "{told:#?}");
}

#[test]
fn a_row_has_as_many_tokens_as_its_template_makes_of_it() {
    let template = "{% for message in messages %}<|{{ message.role }}|>\n{{ message['content'] }}{% if message.tool_calls %}{{ message.tool_calls | tojson }}{% endif %}\
        {%- generation -%}\n{%- endgeneration %}{% endfor %}{% if tools is not none %}{{ raise_exception('no tools here') }}{% endif %}";
    let dir = TestDir::new();
    dir.write("in.jsonl", "{\"id\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"ab\"},{\"role\":\"assistant\",\"content\":\"cd\"}]}\n");
    dir.write("tokenizer_config.json", json!({"bos_token": "<s>", "chat_template": template}).to_string());
    dir.write("job.toml", "kind = \"dataset\"\ninputs = [\"in.jsonl\"]\noutput = \"run\"\n[dataset]\neval_share = 0.0\nchat_template = \"tokenizer_config.json\"\n");
    condenser(dir.root(), &["run", "job.toml"]).ok();
    // `<|user|>\nab<|assistant|>\ncd`: 26 characters.
    assert_eq!(only(&dir, "train/part-00000.parquet", &["n_tokens"]), json!({"n_tokens": 8}));
    // Another template is another job.
    dir.write("tokenizer_config.json", json!({"chat_template": "{{ messages }}"}).to_string());
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(2);
    assert!(told.stderr.contains("dataset.chat_template names has changed"), "{}", told.stderr);
    dir.write("tokenizer_config.json", json!({"chat_template": "{% if %}"}).to_string());
    assert!(condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr.contains("chat template cannot be read"));
}

#[test]
fn files_of_the_data_are_part_of_what_is_verified() {
    let (dir, _) = dataset(&jsonl(20, 41), "");
    for (name, mut bytes) in files(&dir.path("run/dataset")) {
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        dir.write(&format!("run/dataset/{name}"), &bytes);
        let told = condenser(dir.root(), &["verify", "run"]).exits(4);
        assert!(told.stderr.contains("table dataset/"), "{}", told.stderr);
        bytes[at] ^= 1;
        dir.write(&format!("run/dataset/{name}"), &bytes);
    }
    condenser(dir.root(), &["verify", "run"]).ok();
    for path in ["run/dataset/train/part-00007.parquet", "run/dataset/train/more/part-00000.parquet"] {
        dir.write(path, b"of somebody else");
        let told = condenser(dir.root(), &["verify", "run"]).exits(4);
        assert!(told.stderr.contains(".parquet: the run did not write this file"), "{}", told.stderr);
        std::fs::remove_file(dir.path(path)).expect("a file");
    }
}

#[test]
fn a_completion_is_to_be_learned_and_what_has_no_room_beside_its_prompt_says_so() {
    let said = |text: &str, train: bool| json!({"role": "assistant", "content": text, "train": train});
    let user = |text: &str| json!({"role": "user", "content": text});
    let short =
        json!({"id": "short", "messages": [user("a"), said("learn me", true), user("b"), said("not me", false)]});
    let long = json!({"id": "long", "messages": [
        {"role": "system", "content": "Rule. ".repeat(300)}, user("a"), said(&"b ".repeat(400), true), user("c"), said(&"d ".repeat(400), true)]});
    let records = format!("{short}\n{long}");
    let (dir, told) = dataset(&records, "eval_share = 0.0\nform = \"prompt-completion\"\nmax_tokens = 600\n");
    assert!(told.contains("2 left out (2 prompt_over_max_tokens)") && told.contains("raise it"), "{told}");
    let rows = rows(&dir.path("run/dataset/train/part-00000.parquet"));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["completion"], json!([{"role": "assistant", "content": "learn me", "train": true}]));
    assert_eq!(rows[0]["prompt"], json!([{"role": "user", "content": "a"}]));
}

#[test]
fn a_turn_that_fits_nowhere_takes_no_other_with_it_and_windows_that_a_template_refuses_say_so() {
    let say = |role: &str, text: String| json!({"role": role, "content": text});
    for giant in [0, 3, 9] {
        let length = |at: usize| if at == giant { 6_000 } else { 60 };
        let words = |at: usize| (0..length(at)).map(|n| format!("word{at}x{n} ")).collect::<String>();
        let messages: Vec<Value> =
            (0..10).flat_map(|at| [say("user", format!("question {at}")), say("assistant", words(at))]).collect();
        let record = json!({"id": "g", "messages": messages}).to_string();
        let (dir, told) = dataset(&record, "eval_share = 0.0\nmax_tokens = 2000\n");
        assert!(told.contains("1 left out (1 over_max_tokens)"), "{told}");
        let rows = rows(&dir.path("run/dataset/train/part-00000.parquet"));
        let learned = rows.iter().flat_map(|row| row["messages"].as_array().cloned().unwrap_or_default());
        let n_learned = learned.filter(|message| message["train"] == true).count();
        assert_eq!(n_learned, 9, "{rows:?}");
    }
    let template = "{% for m in messages %}{% if m.role == 'user' and loop.previtem is defined and loop.previtem.role == 'tool' %}\
                    {{ raise_exception('user after tool') }}{% endif %}{{ m.role }} {{ m.content }} {% endfor %}";
    let mut messages = vec![say("user", "look".to_owned())];
    let mut call = |at: usize, name: &str, arguments: Value, result: String| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let calls = json!([{"id": format!("c{at}"), "type": "function", "function": function}]);
        messages.push(json!({"role": "assistant", "content": "", "tool_calls": calls}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": result}));
    };
    // Read long before it is edited, so that it is brought along, with a gap behind it.
    let lines: Vec<String> = (0..12).map(|n| format!("    let value_{n} = compute_{n}(first, second);")).collect();
    call(0, "read", json!({"path": "a.rs"}), lines.join("\n"));
    for at in 1..12 {
        call(at, "read", json!({"path": format!("{at}.txt")}), format!("line {at} ").repeat(200));
    }
    let edit = json!({"path": "a.rs", "old_string": lines[2..8].join("\n"), "new_string": "gone"});
    call(12, "edit", edit, "ok".to_owned());
    messages.push(say("assistant", "done".to_owned()));
    let record = json!({"id": "t", "messages": messages}).to_string();
    let dir = TestDir::new();
    dir.write("t.jinja", template.as_bytes());
    let of =
        format!("eval_share = 0.0\nmax_tokens = 2000\nmax_ratio = 1.0\nchat_template = {:?}\n", dir.path("t.jinja"));
    let (run, told) = dataset(&record, &of);
    assert!(told.contains("template_refuses"), "{told}");
    for row in rows(&run.path("run/dataset/train/part-00000.parquet")) {
        let roles: Vec<&Value> =
            row["messages"].as_array().expect("messages").iter().map(|message| &message["role"]).collect();
        assert!(!roles.windows(2).any(|two| two == ["tool", "user"]), "{roles:?}");
    }
}

#[test]
fn a_chat_template_counts_what_targets_call_otherwise() {
    let template = "{% for m in messages %}{{ m['role'] + m['content'] }}{% endfor %}";
    let dir = TestDir::new();
    dir.write("t.jinja", template);
    for target in ["sharegpt", "llama-factory"] {
        let of = format!(
            "eval_share = 0.0\nmax_tokens = 2000\ntarget = {target:?}\nchat_template = {:?}\n",
            dir.path("t.jinja")
        );
        let messages: Vec<Value> = (0..40)
            .map(|at| {
                let role = ["user", "assistant"][at % 2];
                json!({"role": role, "content": format!("word{at} ").repeat(100)})
            })
            .collect();
        let (_, told) = dataset(&json!({"id": "a", "messages": messages}).to_string(), &of);
        assert!(told.contains("windows of a longer conversation") && !told.contains("template_refuses"), "{told}");
    }
}

#[test]
fn rows_of_a_data_set_that_are_given_as_input_say_what_helps() {
    let (dir, _) = dataset(&jsonl(5, 41), "eval_share = 0.0\n");
    let told = condenser(dir.root(), &["compress", "run/dataset/train/part-00000.parquet", "-o", "again"]).ends();
    assert!(
        told.stderr.contains("its messages are lists of JSON texts, as data sets of condenser have them"),
        "{}",
        told.stderr
    );
}

/// What the guard makes of a conversation that the blunt engine would merge or replace.
fn guarded(messages: &[(&str, &str)]) -> (bool, Vec<Reason>) {
    let messages: Vec<_> =
        messages.iter().map(|(role, content)| serde_json::json!({"role": role, "content": content})).collect();
    let record = serde_json::json!({"id": "g", "messages": messages}).to_string();
    let decoded = shape::decode(&record, ShapeName::Openai, "").expect("a record");
    let condensed =
        ChatGuard::new(Arc::new(Blunt::default()), None).condense(&decoded.conversation, &mut Scratch::default());
    let reasons = condensed.decisions.iter().map(|decision| decision.reason).collect();
    (condensed.messages.iter().all(|output| matches!(output, Output::Kept { .. })), reasons)
}

#[test]
fn conversations_that_would_become_invalid_are_kept_as_they_were() {
    /// Leaves out every second message of a conversation.
    #[derive(Debug)]
    struct Skips(Engine);
    impl Condense for Skips {
        fn options(&self) -> &EngineOptions {
            self.0.options()
        }
        fn condense(
            &self,
            conversation: &condenser::model::Conversation<'_>,
            scratch: &mut Scratch,
        ) -> condenser::model::Condensed {
            let mut condensed = self.0.condense(conversation, scratch);
            let replaced = Output::Replaced(condenser::model::Replacement {
                sources: vec![0, 1],
                is_by_several: true,
                body: condenser::model::NewBody::Text("both".to_owned()),
                spots: Vec::new(),
                provenance: condenser::model::Provenance::default(),
                views: Vec::new(),
            });
            condensed.messages.splice(0..2, [replaced]);
            condensed
        }
    }
    let check = |messages: Value, is_kept: bool| {
        let record = serde_json::json!({"id": "g", "messages": messages}).to_string();
        let decoded = shape::decode(&record, ShapeName::Openai, "").expect("a record");
        let engine = Skips(Engine::with_stages(EngineOptions::default(), Vec::new()));
        let condensed = ChatGuard::new(Arc::new(engine), None).condense(&decoded.conversation, &mut Scratch::default());
        assert_eq!(condensed.is_unchanged(), is_kept, "{record}");
        let all = condensed.decisions.iter().all(|decision| decision.reason == Reason::ChatTemplate);
        assert_eq!(all, is_kept, "{record}");
        if is_kept {
            assert_eq!(condensed.metrics.chars_in, condensed.metrics.chars_out);
            assert_eq!(condensed.messages.len(), decoded.conversation.messages.len());
        }
    };
    let say = |role: &str| serde_json::json!({"role": role, "content": "x"});
    let call = serde_json::json!({"role": "assistant", "content": "x", "tool_calls":
        [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]});
    let result = serde_json::json!({"role": "tool", "tool_call_id": "c", "content": "x"});
    // The first two become one of the first one's role: user, user.
    check(serde_json::json!([say("user"), say("assistant"), say("user"), say("assistant")]), true);
    // Two of one role were there before: nothing new is broken.
    check(serde_json::json!([say("user"), say("user"), say("user"), say("assistant")]), false);
    // The system prompt swallows the user: the assistant would speak first.
    check(serde_json::json!([say("system"), say("user"), say("assistant")]), true);
    // The call is swallowed and its result is left alone.
    check(serde_json::json!([say("user"), call, result, say("assistant")]), true);
    check(serde_json::json!([say("user"), say("assistant")]), false);
    // A real engine: long neighbours of one role stay as valid or invalid as they were.
    assert!(!guarded(&[("user", LONG), ("assistant", LONG)]).0);
    assert!(!guarded(&[("user", LONG), ("user", LONG), ("assistant", "y")]).0);
}

/// Loads data sets with the real packages and prints what they see.
const LOAD: &str = r#"
import json, sys
import datasets, pandas
root = sys.argv[1]
datasets.disable_progress_bars()
cache = sys.argv[2]
files = {"train": root + "/train/*.parquet", "eval": root + "/eval/*.parquet"}
data = datasets.load_dataset("parquet", data_files=files, cache_dir=cache)
frame = pandas.concat([pandas.read_parquet(root + "/" + split) for split in ("train", "eval")])
folder = datasets.load_dataset(root, cache_dir=cache)
row = data["train"][0]
print(json.dumps({
    "train": data["train"].num_rows, "eval": data["eval"].num_rows, "columns": data["train"].column_names,
    "frame": len(frame), "folder": sum(part.num_rows for part in folder.values()),
    "first": row["messages"][0]["content"], "roles": sorted({m["role"] for r in data["train"] for m in r["messages"]}),
    "calls": sum(len(m.get("tool_calls", [])) for r in data["train"] for m in r["messages"]),
    "none": sum(value is None for r in data["train"] for m in r["messages"] for value in m.values()),
    "ids": sorted(frame["id"])[:3],
}))
"#;

#[test]
#[expect(clippy::print_stderr, reason = "a check that did not run must be seen")]
fn hugging_face_datasets_and_pandas_load_the_data() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = Command::new("sh").arg("scripts/python-packages.sh").current_dir(root).output();
    let python = root.join("target/python/bin/python");
    if !made.as_ref().is_ok_and(|made| made.status.success()) {
        let why =
            made.map_or_else(|error| error.to_string(), |made| String::from_utf8_lossy(&made.stderr).into_owned());
        assert!(std::env::var_os("CONDENSER_REQUIRE_PYTHON").is_none(), "no Python packages: {why}");
        eprintln!("NOT CHECKED: training data was not loaded with datasets and pandas: {why}");
        return;
    }
    let dir = TestDir::new();
    let out = dir.path("run");
    let set = format!("output={:?}", out.to_str().expect("text"));
    let told =
        condenser(root, &["run", "jobs/finetune-dataset.toml", "--set", &set, "--set", "dataset.eval_share=0.1"]);
    assert!(told.ok().stderr.contains("0 left out"));
    let loaded = Command::new(python)
        .args(["-c", LOAD])
        .args([out.join("dataset"), dir.path("cache")])
        .env("HF_HUB_OFFLINE", "1")
        .env("HF_HOME", dir.path("home"))
        .output()
        .expect("Python starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&loaded.stdout), String::from_utf8_lossy(&loaded.stderr));
    assert!(loaded.status.success(), "{stderr}");
    let seen: Value = serde_json::from_str(stdout.lines().last().unwrap_or_default()).expect(&stdout);
    let count = |name: &str| seen[name].as_u64().expect(name);
    assert_eq!(count("train") + count("eval"), 98, "{seen}");
    assert!(count("eval") > 0 && count("frame") == 98 && count("folder") == 98, "{seen}");
    assert_eq!(
        seen["columns"].as_array().map(|columns| columns[..3].to_vec()),
        Some(vec![json!("id"), json!("messages"), json!("tools")])
    );
    assert_eq!(count("none"), 0, "{seen}");
    assert!(count("calls") > 20 && seen["roles"].as_array().is_some_and(|roles| roles.len() >= 4), "{seen}");
}
