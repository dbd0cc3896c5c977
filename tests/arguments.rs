//! Arguments of calls that repeat what was shown: references in every way to write a call, and the way back.

use serde_json::{Value, json};

use crate::support::command::{condenser, in_every_format};
use crate::support::dir::TestDir;

/// A file in which every line is used by what comes later.
fn file() -> String {
    (0..24).map(|at| format!("    let value_{at} = compute_{at}(\"ä{at}\");\n")).collect()
}

/// Compresses `record`, which has this shape, in every format; gives it as it is written.
fn compress(shape: &str, record: &Value) -> (TestDir, Value) {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("{record}\n"));
    for (format, hidden) in in_every_format(&dir, &["--shape", shape, "--recency-window", "1", "--arguments"]) {
        assert!(hidden.contains("value_3 = compute_3") && hidden.contains("value_23"), "{shape} {format}: {hidden}");
    }
    let lines = condenser(dir.root(), &["get", "jsonl", "s", "--compressed"]).ok().stdout;
    (dir, serde_json::from_slice(&lines).expect("JSON"))
}

/// What is written where the file was.
fn written(label: &str, number: u32) -> String {
    format!("fn main() {{\n⋯ 24 lines as in {label} #{number}\n}}\n")
}

/// The lines of the file must be repeated, so that what is read stays visible.
fn arguments() -> Value {
    json!({ "path": "src/b.rs", "count": 1.5, "content": format!("fn main() {{\n{}}}\n", file()), "old_string": file() })
}

#[test]
fn calls_of_chat_completions_refer_to_what_was_read() {
    let call = |id: &str, name: &str, arguments: &Value| json!([{ "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } }]);
    let short = json!({ "path": "src/a.rs" });
    let record = json!({ "id": "s", "messages": [
        { "role": "user", "content": "Copy it." },
        { "role": "assistant", "content": "I look.", "tool_calls": call("a", "Read", &short) },
        { "role": "tool", "tool_call_id": "a", "content": file() },
        { "role": "assistant", "content": "I write.", "tool_calls": call("b", "Write", &arguments()) },
        { "role": "tool", "tool_call_id": "b", "content": "ok" },
        { "role": "assistant", "content": "Done." },
    ]});
    let (dir, shown) = compress("openai", &record);
    let message = &shown["messages"][3];
    assert_eq!((&message["content"], &message["tool_calls"][0]["id"]), (&json!("I write."), &json!("b")));
    let new = message["tool_calls"][0]["function"]["arguments"].as_str().expect("a string");
    let expected = json!({
        "path": "src/b.rs",
        "count": 1.5,
        "content": written("Read a.rs", 1),
        "old_string": "⋯ 24 lines as in Read a.rs #2\n",
    });
    assert_eq!(serde_json::from_str::<Value>(new).expect("JSON"), expected);
    // Where nobody asks for it, in the window, and in data to learn from, calls stay.
    for flags in [&["--recency-window", "1"][..], &["--recency-window", "3", "--arguments"]] {
        let told = condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "-"][..], flags].concat()).ok();
        assert!(!String::from_utf8_lossy(&told.stdout).contains("as in Read"), "{flags:?}");
    }
    let job = "kind = \"dataset\"\ninputs = [\"in.jsonl\"]\noutput = \"data\"\n[engine]\npreset = \"ratio\"\n";
    dir.write("job.toml", job);
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let manifest: Value = serde_json::from_slice(&dir.read("data/manifest.json")).expect("JSON");
    assert_eq!(manifest["options"]["engine"]["arguments"], json!(false));
}

#[test]
fn blocks_of_the_messages_api_and_turns_of_other_shapes_do_so_too() {
    let used = |id: &str, name: &str, input: &Value| {
        let call = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "Now." }, call] })
    };
    let result = |id: &str, text: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] });
    let record = json!({ "id": "s", "messages": [
        { "role": "user", "content": "Copy it." },
        used("a", "Read", &json!({ "path": "src/a.rs" })),
        result("a", &file()),
        used("b", "Write", &arguments()),
        result("b", "ok"),
        { "role": "assistant", "content": "Done." },
    ]});
    let (_, shown) = compress("anthropic", &record);
    let block = &shown["messages"][3]["content"][1];
    assert_eq!((&block["id"], &block["input"]["content"]), (&json!("b"), &json!(written("Read a.rs", 1))));
    assert_eq!(shown["messages"][3]["content"][0], record["messages"][3]["content"][0]);

    let call = |name: &str, arguments: &Value| json!({ "arguments": arguments, "name": name }).to_string();
    let record = json!({ "id": "s", "conversations": [
        { "from": "human", "value": "Copy it." },
        { "from": "function_call", "value": call("Read", &json!({ "path": "src/a.rs" })) },
        { "from": "observation", "value": file() },
        { "from": "function_call", "value": call("Write", &arguments()) },
        { "from": "observation", "value": "ok" },
        { "from": "gpt", "value": "Done." },
    ]});
    let (_, shown) = compress("sharegpt", &record);
    let call: Value = serde_json::from_str(shown["conversations"][3]["value"].as_str().expect("text")).expect("JSON");
    assert!(call["arguments"]["content"].as_str().is_some_and(|text| text.contains("⋯ 24 lines as in ")), "{call}");

    let record = json!({ "id": "s", "history": [
        { "source": "user", "message": "Copy it.", "action": "message", "args": {} },
        { "source": "agent", "message": "reading", "action": "read", "args": { "path": "src/a.rs" } },
        { "source": "environment", "observation": "read", "content": file() },
        { "source": "agent", "message": "writing", "action": "write", "args": arguments() },
        { "source": "environment", "observation": "write", "content": "ok" },
        { "source": "agent", "message": "Done.", "action": "finish", "args": {} },
    ]});
    let (_, shown) = compress("openhands", &record);
    let text = shown["history"][3]["args"]["content"].as_str().expect("text");
    assert!(text.contains("⋯ 24 lines as in "), "{text}");
}

#[test]
fn a_line_with_another_indentation_is_another_line_and_a_call_may_be_what_is_referred_to() {
    let call = |id: &str, arguments: &Value| {
        let function = json!({ "name": "Write", "arguments": arguments.to_string() });
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] })
    };
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "ok" });
    let indented: String = file().lines().map(|line| format!("  {line}\n")).collect();
    let record = json!({ "id": "s", "messages": [
        { "role": "user", "content": "Copy it." },
        call("a", &json!({ "path": "src/a.rs", "text": file() })), result("a"),
        call("b", &json!({ "path": "src/b.rs", "text": file() })), result("b"),
        call("c", &json!({ "path": "src/c.rs", "text": indented })), result("c"),
        { "role": "assistant", "content": "Done." },
    ]});
    let (_, shown) = compress("openai", &record);
    let text = |message: usize| {
        let arguments = shown["messages"][message]["tool_calls"][0]["function"]["arguments"].as_str();
        let arguments: Value = serde_json::from_str(arguments.expect("a string")).expect("JSON");
        arguments["text"].as_str().expect("a string").to_owned()
    };
    assert_eq!(text(1), file());
    assert_eq!(text(3), "⋯ 24 lines as in Write a.rs #1\n");
    assert_eq!(text(5), indented);
}
