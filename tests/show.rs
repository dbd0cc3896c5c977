//! What people see of a conversation: before and after, side by side, in the terminal and as JSON; harmless whatever the
//! transcript holds.

use serde_json::{Value, json};

use crate::support::command::condenser;
use crate::support::dir::TestDir;

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
        assert!(told.stderr.contains("u{1b}") || told.stderr.contains("u001b"), "{:?}", told.stderr);
        if progress == "json" {
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
