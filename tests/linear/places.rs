//! Where a text stands in a conversation: in the content of every role, in parts, names, ids, calls and what nobody reads.

use serde_json::{Value, json};

/// Makes messages that hold a text.
pub type Place = (&'static str, fn(&str) -> Vec<Value>);

/// Characters of a piece where a text is cut into many messages or parts.
const PIECE: usize = 300;

/// The text as content.
pub const CONTENTS: [Place; 13] = [
    ("a user's message", |text| vec![said("user", text)]),
    ("an answer", |text| vec![said("assistant", text)]),
    ("a result", |text| vec![call(&["c1"], "Bash", "{\"command\": \"make\"}"), result("c1", text)]),
    ("a system message", |text| vec![said("system", text)]),
    ("a developer's message", |text| vec![said("developer", text)]),
    ("a function's message", |text| vec![said("function", text)]),
    ("another role", |text| vec![said("narrator", text)]),
    ("no role", |text| vec![json!({"content": text})]),
    ("one of three parts", |text| {
        let parts = json!([{"type": "image_url", "image_url": {"url": "data:,"}}, text_part(text), text_part("a")]);
        vec![json!({"role": "user", "content": parts})]
    }),
    ("many parts", |text| {
        let parts: Vec<Value> = pieces(text).iter().map(|piece| text_part(piece)).collect();
        vec![json!({"role": "assistant", "content": parts})]
    }),
    ("blocks of results", |text| {
        let block =
            |text: &String| json!({"type": "tool_result", "tool_use_id": "c1", "content": [text_part(text), "b"]});
        let blocks: Vec<Value> = pieces(text).iter().map(block).collect();
        vec![call(&["c1"], "Bash", "{}"), json!({"role": "user", "content": blocks})]
    }),
    ("many messages of two", |text| {
        let speaker = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
        pieces(text).iter().enumerate().map(|(at, piece)| said(speaker(at), piece)).collect()
    }),
    ("many messages of one", |text| pieces(text).iter().map(|piece| said("user", piece)).collect()),
];

/// The text beside a content.
pub const BESIDES: [Place; 13] = [
    ("a name", |text| vec![json!({"role": "user", "name": text, "content": WORDS})]),
    ("arguments that are no JSON", |text| vec![call(&["c2"], "Bash", text), result("c2", WORDS)]),
    ("a command", |text| vec![call(&["c2"], "Bash", &json!({"command": text}).to_string()), result("c2", WORDS)]),
    ("a file that is written", |text| {
        let arguments = json!({"file_path": "a.rs", "content": text}).to_string();
        vec![call(&["c2"], "Write", &arguments), result("c2", text)]
    }),
    ("arguments of many calls", |text| {
        let calls = |(at, piece): (usize, &String)| {
            let id = format!("c{at}");
            [call(&[&id], "Edit", &json!({"path": "a.rs", "new": piece}).to_string()), result(&id, piece)]
        };
        pieces(text).iter().enumerate().flat_map(calls).collect()
    }),
    ("an id", |text| vec![json!({"role": "user", "id": text, "content": WORDS})]),
    ("ids of calls", |text| vec![call(&[text], "Bash", "{}"), result(text, WORDS)]),
    ("the name of a call", |text| vec![call(&["c2"], text, "{}"), result("c2", WORDS)]),
    ("metadata", |text| vec![json!({"role": "user", "content": WORDS, "metadata": {"note": text}})]),
    ("provenance", |text| {
        let original = json!({"ids": [text], "summary_id": text, "version": 0});
        vec![json!({"role": "user", "content": "[summary: words]", "metadata": {"_cce_original": original}})]
    }),
    ("a key that nobody knows", |text| vec![json!({"role": "user", "content": WORDS, text: text})]),
    ("a role", |text| vec![json!({"role": text, "content": WORDS})]),
    ("a content that is no text", |text| vec![json!({"role": "user", "content": {"value": text}})]),
];

/// More than is kept for being short.
pub const WORDS: &str = "The garden behind the house was quiet in the morning and the birds came back one after the \
    other, while somebody asked how long the old bench had been standing there.";

pub fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

pub fn call(ids: &[&str], name: &str, arguments: &str) -> Value {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

pub fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

pub fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn pieces(text: &str) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}
