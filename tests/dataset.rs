//! Training-ready data: its rows, its split, what is left out, and the packages that load it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow::array::{Array, AsArray};
use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, Output, Reason, ShapeName};
use condenser::pipeline::{ChatGuard, Condense, is_eval};
use condenser::shape;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support::chats::{Blunt, jsonl};
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

const LONG: &str = "a text that is long enough for the blunt engine to replace it by something else";

/// Runs a dataset job over `text` with further lines of the table `[dataset]`.
fn dataset(text: &str, lines: &str) -> (TestDir, String) {
    let dir = TestDir::new();
    dir.write("in.jsonl", text);
    let job =
        "kind = \"dataset\"\ninputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\nrecency_window = 0\n[dataset]\n";
    dir.write("job.toml", format!("{job}{lines}"));
    let told = condenser(dir.root(), &["run", "job.toml"]).ok().stderr;
    (dir, told)
}

/// The rows of a file of the data set as JSON, without what is null.
fn rows(path: &Path) -> Vec<serde_json::Value> {
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
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn messages_become_what_chat_templates_want() {
    let call = r#"{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}}"#;
    let text = [
        r#"{"id":"a","extra":1,"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{}},{"type":"text","text":"two"}],"metadata":{"x":1}},"#,
        &format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}},"#),
        r#"{"role":"tool","tool_call_id":"c1","content":"done"},{"role":"assistant","name":"bot","content":"ok"}]}"#,
    ]
    .concat();
    let (dir, told) = dataset(&text, "eval_share = 0.0\n");
    assert!(told.contains("1 conversation in train, 0 in eval, 0 left out"), "{told}");
    let expected = serde_json::json!({"id": "a", "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "one\ntwo"},
        {"role": "assistant", "tool_calls":
            [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}}]},
        {"role": "tool", "content": "done", "tool_call_id": "c1"},
        {"role": "assistant", "content": "ok", "name": "bot"},
    ]});
    assert_eq!(rows(&dir.path("run/dataset/train/part-00000.parquet")), [expected]);
    assert!(rows(&dir.path("run/dataset/eval/part-00000.parquet")).is_empty());
    // The same in the other shape; the run beside it stays a run.
    let (dir, _) = dataset(&text, "shape = \"sharegpt\"\neval_share = 1.0\n");
    let expected = serde_json::json!({"id": "a", "conversations": [
        {"from": "system", "value": "s"},
        {"from": "human", "value": "one\ntwo"},
        {"from": "function_call", "value": "{\"name\":\"look\",\"arguments\":{\"at\":1}}"},
        {"from": "observation", "value": "done"},
        {"from": "gpt", "value": "ok"},
    ]});
    assert_eq!(rows(&dir.path("run/dataset/eval/part-00000.parquet")), [expected]);
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
}

#[test]
fn the_split_is_by_id_and_stays_when_data_is_added() {
    let ids = |dir: &TestDir, split: &str| -> BTreeSet<String> {
        let rows = rows(&dir.path(&format!("run/dataset/{split}/part-00000.parquet")));
        rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
    };
    let record = |id: usize| format!("{{\"id\":\"k{id}\",\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}}]}}\n");
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
        "{{\"id\":\"long\",\"messages\":[{{\"role\":\"system\",\"content\":\"{long}\"}}]}}\n{}",
        "{\"id\":\"short\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n{\"id\":\"none\",\"messages\":[]}\n"
    );
    let (dir, told) = dataset(&text, "max_tokens = 50\ndrop_unfit = true\neval_share = 0.0\n");
    assert!(told.contains("1 conversation in train, 0 in eval, 2 left out"), "{told}");
    let rows = rows(&dir.path("run/dataset/train/part-00000.parquet"));
    assert_eq!(rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>(), ["short"]);
    let dropped = String::from_utf8(dir.read("run/dataset/dropped/part-00000.jsonl")).expect("text");
    assert_eq!(
        dropped,
        "{\"id\":\"long\",\"source\":\"in.jsonl\",\"source_row\":0,\"tokens\":143,\"reason\":\"over_max_tokens\"}\n\
         {\"id\":\"none\",\"source\":\"in.jsonl\",\"source_row\":2,\"tokens\":0,\"reason\":\"no_messages\"}\n"
    );
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    assert_eq!(condenser(dir.root(), &["restore", "run"]).ok().stdout, text.as_bytes());
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
    let check = |messages: serde_json::Value, is_kept: bool| {
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
    "calls": sum(len(m["tool_calls"] or []) for r in data["train"] for m in r["messages"]),
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
    let seen: serde_json::Value = serde_json::from_str(stdout.lines().last().unwrap_or_default()).expect(&stdout);
    let count = |name: &str| seen[name].as_u64().expect(name);
    assert_eq!(count("train") + count("eval"), 98, "{seen}");
    assert!(count("eval") > 0 && count("frame") == 98 && count("folder") == 98, "{seen}");
    assert_eq!(seen["columns"], serde_json::json!(["id", "messages"]));
    assert!(count("calls") > 20 && seen["roles"].as_array().is_some_and(|roles| roles.len() >= 4), "{seen}");
}

#[test]
fn every_row_of_the_sample_corpus_has_a_text_in_every_turn_that_templates_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = TestDir::new();
    let set = format!("output={:?}", dir.path("run").to_str().expect("text"));
    condenser(root, &["run", "jobs/finetune-dataset.toml", "--set", &set]).ok();
    let mut n_rows = 0;
    for name in files(&dir.path("run/dataset")).keys() {
        let file = std::fs::File::open(dir.path(&format!("run/dataset/{name}"))).expect("it is there");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(ParquetRecordBatchReaderBuilder::build);
        for batch in reader.expect("Parquet") {
            let batch = batch.expect("rows");
            n_rows += batch.num_rows();
            let messages = batch.column(1).as_list::<i32>().values().as_struct();
            let (content, calls) = (messages.column(1), messages.column(3));
            for at in 0..messages.len() {
                assert!(content.is_valid(at) || calls.is_valid(at), "{name}");
            }
            let texts = content.as_string::<i32>();
            assert!(!texts.iter().flatten().any(|text| text.contains("_cce_original")));
        }
    }
    assert_eq!(n_rows, 98);
}
