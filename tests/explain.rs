//! Why a message is kept or compressed, outside of a run: the same as a run decides, and everything that led to it.

use std::path::{Path, PathBuf};

use condenser::engine::{Engine, Scratch, Tier, What};
use condenser::model::{EngineOptions, Reason};
use condenser::shape;
use serde_json::{Value, json};

use crate::support::chats::{jsonl, records};
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::options::random_options;

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample");
    let files = std::fs::read_dir(folder).expect("the sample").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect();
    files.sort();
    files
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(bytes).lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

/// Explains a record in every way that must agree with compressing it.
fn check(record: &str, options: EngineOptions) {
    let Some(shape) = shape::detect(record) else { return };
    let Ok(decoded) = shape::decode(record, shape, "c") else { return };
    let conversation = &decoded.conversation;
    let engine = Engine::new(options).expect("the options can be used").explaining(true);
    let mut scratch = Scratch::default();
    let condensed = engine.condense(conversation, &mut scratch);
    let explained = engine.explain(conversation, &mut scratch);
    assert_eq!(explained.condensed.decisions, condensed.decisions);
    assert_eq!(explained.condensed.messages, condensed.messages);
    assert_eq!(explained.messages.len(), conversation.messages.len());
    for (message, decision) in explained.messages.iter().zip(&condensed.decisions) {
        assert_eq!(
            (message.index, message.action, message.reason),
            (decision.index, decision.action.as_str(), decision.reason.as_str())
        );
        let hard = Reason::ALL.iter().any(|reason| reason.is_hard() && message.reasons.contains(&reason.as_str()));
        assert_eq!(message.tier == Tier::Hard, hard && message.figures.chars > 0);
        let parts = message.importance.used + message.importance.content + message.importance.place;
        assert!((message.importance.score - parts.min(1.0)).abs() < 1e-9);
        assert!(message.alone.iter().all(|stage| stage.is_on || stage.what.is_none()), "{message:?}");
        // A claim that keeps a message is the decision, unless a budget or the text of the others decides.
        if let Some(What::Keep { reason }) = message.claim.as_ref().and_then(|claim| claim.what.as_ref())
            && engine.options().token_budget.is_none()
        {
            assert_eq!((message.action, *reason), ("preserved", message.reason), "{message:?}");
        }
    }
    assert_eq!(engine.condense(conversation, &mut scratch).decisions, condensed.decisions, "nothing is left behind");
}

#[test]
fn what_is_explained_is_what_is_done() {
    for seed in 0..300 {
        check(&records(1, seed)[0], random_options(seed));
    }
    for (at, path) in samples().iter().enumerate() {
        let text = std::fs::read_to_string(path).expect("a sample");
        for (line, record) in text.lines().enumerate() {
            check(record, EngineOptions::default());
            check(record, random_options((at * 100 + line) as u64));
        }
    }
}

#[test]
fn explain_agrees_with_the_trace_of_a_run() {
    let dir = TestDir::new();
    let text: String = samples().iter().map(|path| std::fs::read_to_string(path).expect("a sample")).collect();
    dir.write("in.jsonl", &text);
    let flags = ["--preset", "balanced", "--recency-window", "2"];
    condenser(
        dir.root(),
        &[&["compress", "in.jsonl", "-o", "run", "--trace", "--format", "jsonl"], &flags[..]].concat(),
    )
    .ok();
    let traced = zstd::decode_all(&*dir.read("run/decisions/part-00000.jsonl.zst")).expect("whole");
    let told = condenser(dir.root(), &[&["explain", "in.jsonl", "--json"], &flags[..]].concat()).ok();
    let explained = lines(&told.stdout);
    let schema: Value =
        serde_json::from_slice(&condenser(dir.root(), &["schema", "explanation"]).ok().stdout).expect("a schema");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let mut found = Vec::new();
    for conversation in &explained {
        assert!(
            schema.is_valid(conversation),
            "{:?}",
            schema.iter_errors(conversation).next().map(|error| error.to_string())
        );
        for message in conversation["messages"].as_array().expect("a list") {
            found.push(json!([
                conversation["source_row"],
                message["index"],
                message["action"],
                message["reason"],
                message["details"],
                message["position"],
                message["chars_in"],
                message["chars_out"]
            ]));
        }
    }
    let decided: Vec<Value> = lines(&traced)
        .iter()
        .map(|row| {
            json!([
                row["source_row"],
                row["message_index"],
                row["action"],
                row["reason"],
                row["details"],
                row["position"],
                row["chars_in"],
                row["chars_out"]
            ])
        })
        .collect();
    assert!(decided.len() > 100, "{}", decided.len());
    assert_eq!(found, decided);
    // The rows of a table are explained as well.
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "kept", "--recency-window", "1000"]).ok();
    std::fs::copy(dir.path("kept/conversations/part-00000.parquet"), dir.path("in.parquet")).expect("a copy");
    condenser(
        dir.root(),
        &[&["compress", "in.parquet", "-o", "rows", "--trace", "--format", "parquet"], &flags[..]].concat(),
    )
    .ok();
    let rows = lines(&condenser(dir.root(), &[&["explain", "in.parquet", "--json"], &flags[..]].concat()).ok().stdout);
    assert_eq!(rows.len(), explained.len());
    for row in rows.iter().step_by(7) {
        let id = row["id"].as_str().expect("an id");
        let shown = lines(&condenser(dir.root(), &["show", "rows", id, "--json"]).ok().stdout);
        let verdicts: Vec<Value> = row["messages"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|message| json!([message["index"], message["action"], message["reason"]]))
            .collect();
        let mut decided: Vec<(u64, Value)> = Vec::new();
        for before in shown[0]["steps"]
            .as_array()
            .expect("a list")
            .iter()
            .flat_map(|step| step["before"].as_array().expect("a list"))
        {
            let verdict = &before["verdict"];
            decided.push((
                before["index"].as_u64().expect("an index"),
                json!([before["index"], verdict["action"], verdict["reason"]]),
            ));
        }
        decided.sort_by_key(|(index, _)| *index);
        assert_eq!(verdicts, decided.into_iter().map(|(_, verdict)| verdict).collect::<Vec<_>>(), "{id}");
    }
}

#[test]
fn every_message_is_told_with_what_each_stage_would_do() {
    let dir = TestDir::new();
    let talk = "The delivery to Hamburg was late again and nobody told the customer in time. ".repeat(6);
    let orders: Vec<Value> = (4_711..4_722).map(|id| json!({ "id": id, "city": "Hamburg", "late": true })).collect();
    let orders = json!({ "orders": orders }).to_string();
    let messages = json!([
        { "role": "system", "content": "You help." },
        { "role": "user", "content": talk },
        { "role": "assistant", "content": orders },
        { "role": "assistant", "content": orders },
        { "role": "assistant", "content": "Noted." },
    ]);
    dir.write("in.jsonl", json!({ "id": "c", "messages": messages }).to_string() + "\n");
    let told =
        condenser(dir.root(), &["explain", "in.jsonl", "--recency-window", "1", "--hide-by", "look", "--json"]).ok();
    let messages = lines(&told.stdout)[0]["messages"].as_array().expect("a list").clone();
    let claim = |index: usize| {
        (
            messages[index]["claim"]["stage"].as_str().unwrap_or(""),
            messages[index]["claim"]["claim"].as_str().unwrap_or(""),
        )
    };
    assert_eq!((claim(0), claim(4)), (("protect", "keep"), ("protect", "keep")));
    assert_eq!((claim(1), &messages[1]["reason"]), (("protect", "keep"), &json!("first_user")));
    assert_eq!((claim(3), &messages[3]["claim"]["index"]), (("dedup", "duplicate-of"), &json!(2)));
    assert_eq!((claim(2), &messages[2]["reason"]), (("dedup", "keep"), &json!("duplicate_target")));
    assert_eq!(messages[2]["tier"], "hard");
    assert_eq!((&messages[1]["tier"], &messages[1]["figures"]["sentences"]), (&json!("prose"), &json!(6)));
    let alone = |index: usize, stage: &str| {
        let all = messages[index]["alone"].as_array().expect("a list");
        all.iter().find(|says| says["stage"] == stage).cloned().unwrap_or_default()
    };
    // Alone, the stage for prose takes what an earlier stage had claimed; a stage that is off says so.
    assert_eq!(alone(1, "group")["claim"], "group");
    assert_eq!(alone(2, "detect")["reason"], "hard_t0");
    assert_eq!((&alone(1, "chain")["is_on"], &alone(1, "chain")["claim"]), (&json!(false), &Value::Null));
    let text = String::from_utf8(
        condenser(dir.root(), &["explain", "in.jsonl", "--recency-window", "1", "--hide-by", "look"]).ok().stdout,
    )
    .expect("text");
    assert_eq!(text.trim_end().lines().count(), 6, "a line per message:\n{text}");
    assert!(
        text.lines()
            .nth(4)
            .is_some_and(|line| line.contains("deduped") && line.contains("hard") && line.contains(" dedup ")),
        "{text}"
    );
    let text = String::from_utf8(
        condenser(dir.root(), &["explain", "in.jsonl", "--recency-window", "1", "--hide-by", "look", "--all"])
            .ok()
            .stdout,
    )
    .expect("text");
    for words in [
        "claimed by  dedup: identical to 2",
        "off         ",
        "importance",
        "tier        hard: json_structure",
        "alone       ",
    ] {
        assert!(text.contains(words), "{words:?} is missing:\n{text}");
    }
}

#[test]
fn everything_goes_together_with_json() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(3, 7));
    let json = condenser(dir.root(), &["explain", "in.jsonl", "--json"]).ok().stdout;
    assert!(condenser(dir.root(), &["explain", "in.jsonl", "--json", "--all"]).ok().stdout == json);
    assert!(json.windows(7).any(|bytes| bytes == b"\"alone\""), "JSON holds everything");
}
