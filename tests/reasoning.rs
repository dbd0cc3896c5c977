//! Old reasoning of an assistant, without look-ahead: marks in every way to write it, what is sealed, and the way back.

use condenser::model::{AssistantText, EngineOptions, LookAhead};
use condenser_core::{Compressor, restore};
use serde_json::{Value, json};

use crate::support::command::{condenser, in_every_format};
use crate::support::dir::TestDir;

/// What is thought at length, and nobody goes by.
fn thought() -> String {
    (0..40).map(|at| format!("Perhaps part {at} is \"ä\", or the weather of the day is.\n")).collect()
}

/// Compresses `records`, which have this shape, in every format, and looks up what the first mark hides; gives what is written.
fn compress(shape: &str, records: &str) -> String {
    let dir = TestDir::new();
    dir.write("in.jsonl", records);
    let flags = ["--shape", shape, "--recency-window", "1", "--look-ahead", "off", "--worth-threshold", "60000"];
    for (format, hidden) in in_every_format(&dir, &flags) {
        assert!(hidden.contains("Perhaps part 20 is \"ä\""), "{shape} {format}: {hidden}");
        condenser(dir.root(), &["show", format, "s", "--mark", "1"]).ok();
        condenser(dir.root(), &["show", format, "s"]).ok();
    }
    String::from_utf8(condenser(dir.root(), &["get", "jsonl", "s", "--compressed"]).ok().stdout).expect("text")
}

/// A session in which message 1 thinks; `said` is that message.
fn session(said: &Value) -> Value {
    json!({ "id": "s", "messages": [
        { "role": "user", "content": "Mend it." },
        said,
        { "role": "tool", "tool_call_id": "a", "content": "ok" },
        { "role": "assistant", "content": "Done." },
    ]})
}

/// The same with a call beside what it thinks.
fn calling(more: &Value) -> Value {
    let call = json!({ "id": "a", "type": "function", "function": { "name": "Read", "arguments": "{}" } });
    let mut said = json!({ "role": "assistant", "content": "I look.", "tool_calls": [call] });
    said.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    session(&said)
}

#[track_caller]
fn is_marked(text: &Value) {
    let text = text.as_str().expect("text");
    assert!(text.contains(" lines") && text.contains("#1") && !text.contains("Perhaps part 20"), "{text}");
}

#[test]
fn keys_of_a_message_hide_old_reasoning() {
    // The same under two names is hidden under both.
    let record = calling(&json!({ "reasoning_content": thought(), "reasoning": thought() }));
    let shown: Value = serde_json::from_str(&compress("openai", &format!("{record}\n"))).expect("JSON");
    let message = &shown["messages"][1];
    is_marked(&message["reasoning"]);
    assert_eq!(message["reasoning"], message["reasoning_content"]);
    assert_eq!(
        (&message["content"], &message["tool_calls"]),
        (&json!("I look."), &record["messages"][1]["tool_calls"])
    );
    let summary = json!([{ "type": "summary_text", "text": thought() }]);
    let record = calling(&json!({ "reasoning": { "encrypted_content": null, "summary": summary } }));
    let shown: Value = serde_json::from_str(&compress("openai", &format!("{record}\n"))).expect("JSON");
    is_marked(&shown["messages"][1]["reasoning"]["summary"][0]["text"]);
}

#[test]
fn blocks_of_a_message_hide_old_reasoning_beside_long_texts_and_calls() {
    let long = thought().replace("Perhaps", "Then");
    let input = json!({ "path": "src/a.rs", "content": long });
    let blocks = json!([
        { "type": "thinking", "thinking": thought() },
        { "type": "text", "text": long },
        { "type": "tool_use", "id": "a", "name": "Write", "input": input },
    ]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "a", "content": "ok" }]);
    let record = json!({ "id": "s", "messages": [
        { "role": "user", "content": "Mend it." },
        { "role": "assistant", "content": blocks },
        { "role": "user", "content": result },
        { "role": "assistant", "content": "Done." },
    ]});
    let shown: Value = serde_json::from_str(&compress("anthropic", &format!("{record}\n"))).expect("JSON");
    let blocks = &shown["messages"][1]["content"];
    is_marked(&blocks[0]["thinking"]);
    for (text, number) in [(&blocks[1]["text"], 2), (&blocks[2]["input"]["content"], 3)] {
        let text = text.as_str().expect("text");
        assert!(text.contains(&format!("#{number}")) && !text.contains("Then part 20"), "{text}");
    }
    assert_eq!(blocks[2]["id"], "a");
}

#[test]
fn events_of_programs_hide_old_reasoning() {
    let event = |at: usize, message: Value| {
        let parent = (at > 0).then(|| format!("u{}", at - 1));
        let kind = message["role"].clone();
        json!({ "parentUuid": parent, "isSidechain": false, "sessionId": "s", "type": kind, "uuid": format!("u{at}"), "message": message })
    };
    let blocks = json!([{ "type": "thinking", "thinking": thought() }]);
    let call = json!([{ "type": "tool_use", "id": "a", "name": "Read", "input": {} }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "a", "content": "ok" }]);
    let events = [
        json!({ "role": "user", "content": "Mend it." }),
        json!({ "role": "assistant", "content": blocks }),
        json!({ "role": "assistant", "content": call }),
        json!({ "role": "user", "content": result }),
        json!({ "role": "assistant", "content": "Done." }),
    ];
    let log: String = events.into_iter().enumerate().map(|(at, said)| format!("{}\n", event(at, said))).collect();
    let shown = compress("claude-code", &log);
    assert!(shown.contains("#1") && !shown.contains("Perhaps part 20"), "{shown}");
    let say = |at: usize, role: &str, content: Value| json!({ "type": "message", "id": format!("e{at}"), "timestamp": "t", "message": { "role": role, "content": content } });
    let call = json!([
        { "type": "thinking", "thinking": thought(), "thinkingSignature": "" },
        { "type": "toolCall", "id": "a", "name": "read", "arguments": {} },
    ]);
    let mut result = say(3, "toolResult", json!([{ "type": "text", "text": "ok" }]));
    result["message"]["toolCallId"] = json!("a");
    let events = [
        json!({ "type": "session", "id": "s", "timestamp": "t", "cwd": "/src" }),
        say(1, "user", json!([{ "type": "text", "text": "Mend it." }])),
        say(2, "assistant", call),
        result,
        say(4, "assistant", json!([{ "type": "text", "text": "Done." }])),
    ];
    let shown = compress("pi", &events.iter().map(|event| format!("{event}\n")).collect::<String>());
    assert!(shown.contains("#1") && !shown.contains("Perhaps part 20"), "{shown}");
}

/// The record as the options write it, which comes back.
#[track_caller]
fn written(record: &Value, options: EngineOptions) -> Value {
    let record = record.to_string();
    let out = Compressor::new(options).expect("options").compress(&record).expect("a record");
    assert_eq!(restore(&out.record, &out.sidecar).expect("it comes back"), record);
    serde_json::from_str(&out.record).expect("JSON")
}

fn options(look_ahead: LookAhead) -> EngineOptions {
    EngineOptions { look_ahead, worth_threshold: Some(60_000), recency_window: 1, ..EngineOptions::default() }
}

#[test]
fn what_is_signed_or_sealed_stays() {
    let block = |more: Value| {
        let mut block = json!({ "type": "thinking", "thinking": thought() });
        block.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!([block, { "type": "text", "text": "I look." }])
    };
    let sealed = [
        json!({ "content": block(json!({ "signature": "c2VhbGVk" })) }),
        json!({ "content": block(json!({ "thinkingSignature": "c2VhbGVk" })) }),
        json!({ "content": [{ "type": "thinking", "thinking": thought() }, { "type": "redacted_thinking", "data": "c2VhbGVk" }] }),
        json!({ "content": [{ "type": "thinking", "thinking": thought() }, { "type": "thinking", "thinking": "Hm.", "signature": "s" }] }),
        json!({ "reasoning": { "encrypted_content": "c2VhbGVk", "summary": [{ "text": thought() }] } }),
        json!({ "reasoning_content": thought(), "thinking_blocks": [{ "thinking": "Hm.", "signature": "c2VhbGVk" }] }),
        json!({ "reasoning_content": thought(), "reasoning_signature": "c2VhbGVk" }),
    ];
    for said in sealed {
        let record = calling(&said);
        assert_eq!(written(&record, options(LookAhead::Off)), record, "{said}");
    }
    let open = [
        json!({ "content": block(json!({ "signature": "" })) }),
        json!({ "content": block(json!({ "signature": null })) }),
    ];
    for said in open {
        is_marked(&written(&calling(&said), options(LookAhead::Off))["messages"][1]["content"][0]["thinking"]);
    }
}

#[test]
fn reasoning_stays_where_answers_do() {
    let record = calling(&json!({ "reasoning_content": thought() }));
    for look_ahead in [LookAhead::Off, LookAhead::Strict] {
        let shown = written(&record, options(look_ahead));
        is_marked(&shown["messages"][1]["reasoning_content"]);
        let window = EngineOptions { recency_window: 3, ..options(look_ahead) };
        assert_eq!(written(&record, window), record);
        let keep = EngineOptions { assistant: AssistantText::Keep, ..options(look_ahead) };
        assert_eq!(written(&record, keep), record);
    }
    for assistant in [AssistantText::Auto, AssistantText::Old] {
        let ahead = EngineOptions { assistant, ..options(LookAhead::Turns) };
        assert_eq!(written(&record, ahead), record);
    }
    // Short reasoning is no burden, whatever stands beside it.
    let record = calling(&json!({ "reasoning_content": thought().chars().take(700).collect::<String>() }));
    assert_eq!(written(&record, options(LookAhead::Off)), record);
    // What says nothing and calls nothing may think at length.
    let record = session(&json!({ "role": "assistant", "content": "", "reasoning_content": thought() }));
    is_marked(&written(&record, options(LookAhead::Off))["messages"][1]["reasoning_content"]);
}

#[test]
fn figures_count_reasoning_where_it_gives_way() {
    let record = calling(&json!({ "reasoning_content": thought() })).to_string();
    let figures = |look_ahead: LookAhead| {
        let out = Compressor::new(options(look_ahead)).expect("options").compress(&record).expect("a record");
        (out.metrics.chars_in, out.metrics.chars_out, out.metrics.ratio)
    };
    let (chars_in, chars_out, ratio) = figures(LookAhead::Off);
    let n_thought = thought().chars().count();
    assert!(chars_in > n_thought && chars_out < n_thought / 2 && ratio > 2.0, "{chars_in} {chars_out} {ratio}");
    let (ahead_in, ahead_out, _) = figures(LookAhead::Turns);
    assert_eq!((ahead_in, ahead_out), (chars_in - n_thought, chars_in - n_thought));
}
