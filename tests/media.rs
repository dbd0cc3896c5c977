//! Images, audio and files: marks for them in every way to write a content list, and the way back.

use serde_json::{Value, json};

use crate::support::command::condenser;
use crate::support::dir::TestDir;

/// Runs of text that nobody wants to read.
fn data() -> String {
    "iVBORw0KGgoAAAANSUhEUgAA".repeat(40)
}

/// A session whose messages have these contents: a task, a call and its result by turns, and an answer.
fn session(task: &Value, result: &Value, later: &Value) -> Value {
    let call = |id: &str| {
        let function = json!({ "name": "screenshot", "arguments": "{}" });
        let calls = json!([{ "id": id, "type": "function", "function": function }]);
        json!({ "role": "assistant", "content": null, "tool_calls": calls })
    };
    let messages = json!([
        { "role": "system", "content": [{ "type": "image_url", "image_url": { "url": "https://host/logo.png" } }] },
        { "role": "user", "content": task },
        call("one"),
        { "role": "tool", "tool_call_id": "one", "content": result },
        call("two"),
        { "role": "tool", "tool_call_id": "two", "content": "It is red." },
        { "role": "user", "content": later },
        { "role": "assistant", "content": "The button is red." },
        { "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "https://host/last.png" } }] },
    ]);
    json!({ "id": "s", "messages": messages })
}

fn openai() -> Value {
    let url = format!("data:image/png;base64,{}", data());
    session(
        &json!([{ "type": "text", "text": "Is it red?" }, { "type": "image_url", "image_url": { "url": "https://host/task.png" } }]),
        &json!([
            { "type": "text", "text": "Two screens:" },
            { "type": "image_url", "image_url": { "url": url } },
            { "type": "input_image", "image_url": "https://host/b.png" },
            { "type": "text", "text": "and a voice:" },
            { "type": "input_audio", "input_audio": { "data": data(), "format": "wav" } },
            { "type": "refusal", "refusal": "no" },
        ]),
        &json!([{ "type": "file", "file": { "filename": "report.pdf", "file_data": data() } }, { "type": "text", "text": "And this?" }]),
    )
}

fn compress(dir: &TestDir, flags: &[&str]) -> (Value, String) {
    let mut args = vec![
        "compress",
        "in.jsonl",
        "-o",
        "run",
        "--format",
        "jsonl",
        "--compression",
        "none",
        "--recency-window",
        "1",
    ];
    args.extend(flags);
    condenser(dir.root(), &args).ok();
    condenser(dir.root(), &["verify", "run"]).ok();
    condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
    let lines = String::from_utf8(dir.read("run/conversations/part-00000.jsonl")).expect("text");
    (serde_json::from_str(&lines).expect("JSON"), lines)
}

fn parts(record: &Value, message: usize) -> &Value {
    &record["messages"][message]["content"]
}

#[test]
fn images_audio_and_files_that_were_looked_at_give_way_to_marks_and_come_back() {
    let dir = TestDir::new();
    let original = openai();
    dir.write("in.jsonl", format!("{original}\n"));
    let (kept, _) = compress(&dir, &[]);
    assert_eq!(kept, original, "unless they are told to, they stay");
    std::fs::remove_dir_all(dir.path("run")).expect("it is there");
    std::fs::remove_dir_all(dir.path("back")).expect("it is there");
    let (record, _) = compress(&dir, &["--images", "mark"]);
    let text = |text: &str| json!({ "type": "text", "text": text });
    let expected = json!([
        text("Two screens:"),
        text("⋯ image #1"),
        json!({ "type": "input_text", "text": "⋯ image #2" }),
        text("and a voice:"),
        text("⋯ audio #3"),
        json!({ "type": "refusal", "refusal": "no" }),
    ]);
    assert_eq!(parts(&record, 3), &expected);
    assert_eq!(parts(&record, 6), &json!([text("⋯ file report.pdf #4"), text("And this?")]));
    // What the rules say, the task, and what no answer has followed yet.
    for message in [0, 1, 8] {
        assert_eq!(parts(&record, message), parts(&original, message));
    }
    let get = |number: &str| {
        let told = condenser(dir.root(), &["get", "run", "s", "--mark", number]).ok();
        serde_json::from_slice::<Value>(&told.stdout).expect("JSON")
    };
    assert_eq!(&get("1"), &parts(&original, 3)[1]);
    assert_eq!(&get("4"), &parts(&original, 6)[0]);
    let shown = condenser(dir.root(), &["show", "run", "s", "--mark", "3"]).ok();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("input_audio"));
    assert_eq!(dir.read("back/in.jsonl"), dir.read("in.jsonl"));
}

#[test]
fn blocks_of_the_messages_api_are_marked_inside_results_too() {
    let dir = TestDir::new();
    let source = json!({ "type": "base64", "media_type": "image/png", "data": data() });
    let used = |id: &str| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "look", "input": {} }] });
    let result = |id: &str, content: Value| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": content }] });
    let own = json!({ "type": "text", "media_type": "text/plain", "data": "its own text" });
    let record = json!({ "id": "s", "system": "Look.", "messages": [
        { "role": "user", "content": "What do you see?" },
        used("a"),
        result("a", json!([{ "type": "image", "source": source }, { "type": "text", "text": "a screen" }])),
        used("b"),
        result("b", json!([
            { "type": "document", "title": "plan.pdf", "source": { "type": "url", "url": "https://host/plan.pdf" } },
            { "type": "document", "source": own },
        ])),
        { "role": "assistant", "content": "A house." },
        { "role": "user", "content": "Thanks." },
    ]});
    dir.write("in.jsonl", format!("{record}\n"));
    let (marked, _) = compress(&dir, &["--images", "mark"]);
    let inner = |message: usize| &parts(&marked, message)[0]["content"];
    assert_eq!(inner(2), &json!([{ "type": "text", "text": "⋯ image #1" }, { "type": "text", "text": "a screen" }]));
    assert_eq!(inner(4)[0], json!({ "type": "text", "text": "⋯ file plan.pdf #2" }));
    assert_eq!(inner(4)[1], parts(&record, 4)[0]["content"][1], "what holds its text stays");
    assert_eq!(dir.read("back/in.jsonl"), dir.read("in.jsonl"));
}

#[test]
fn texts_and_images_of_one_message_are_numbered_as_they_are_read() {
    let dir = TestDir::new();
    let mut record = openai();
    let log: String = (0..60).map(|at| format!("row {at} of a table without a name\n")).collect();
    let image = json!({ "type": "image_url", "image_url": { "url": "https://host/a.png" } });
    let text = json!({ "type": "text", "text": log });
    record["messages"][3]["content"] = json!([image, text, image]);
    dir.write("in.jsonl", format!("{record}\n"));
    let (marked, line) = compress(&dir, &["--images", "mark"]);
    let content = parts(&marked, 3);
    assert_eq!(content[0]["text"], "⋯ image #1");
    assert!(content[1]["text"].as_str().is_some_and(|text| text.contains(" lines #2")), "{line}");
    assert_eq!(content[2]["text"], "⋯ image #3");
    assert_eq!(dir.read("back/in.jsonl"), dir.read("in.jsonl"));
    // A budget leaves images where they are, and the other formats hold the same.
    for format in ["parquet", "arrow"] {
        condenser(
            dir.root(),
            &["compress", "in.jsonl", "-o", format, "--format", format, "--recency-window", "1", "--images", "mark"],
        )
        .ok();
        condenser(dir.root(), &["verify", format]).ok();
        let told = condenser(dir.root(), &["get", format, "s", "--mark", "3"]).ok();
        assert!(String::from_utf8_lossy(&told.stdout).contains("https://host/a.png"), "{format}");
    }
}
