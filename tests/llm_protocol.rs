//! What is sent to models and how their words are read: every body fits the published schema, odd conversations too;
//! replies and errors as the APIs document them.

use std::collections::HashSet;

use condenser::llm::{Completion, LlmProvider, MaxTokensField, ModelSettings, Refusal, RefusalKind, Request, Usage};
use condenser::model::Turn;
use condenser::pipeline::{LlmOptions, Parameters};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::options::Dice;

fn validator(name: &str) -> Validator {
    let path = format!("{}/schemas/llm/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

fn model(provider: LlmProvider) -> ModelSettings {
    let options = LlmOptions {
        provider,
        model: "the-model".to_owned(),
        temperature: Some(0.0),
        thinking_tokens: 0,
        parameters: Parameters::new(),
    };
    ModelSettings { options, max_tokens_field: MaxTokensField::MaxTokens }
}

fn turn(role: &str, text: &str) -> Turn {
    Turn { role: role.to_owned(), text: text.to_owned(), ..Turn::default() }
}

fn call(text: &str, calls: &[(&str, &str, &str)]) -> Turn {
    let calls = calls.iter().map(|&(id, name, arguments)| (id.to_owned(), name.to_owned(), arguments.to_owned()));
    Turn { calls: calls.collect(), ..turn("assistant", text) }
}

fn result(id: &str, text: &str) -> Turn {
    Turn { call_id: Some(id.to_owned()), ..turn("tool", text) }
}

fn session() -> Request {
    let turns = vec![
        turn("system", "Be terse."),
        turn("user", "What is in a.txt?"),
        call("I look.", &[("call_a", "read_file", "{\"path\": \"a.txt\"}"), ("call_b", "list", "{}")]),
        result("call_a", "forty-two"),
        result("call_b", "a.txt"),
        turn("user", "Summarise all of this."),
    ];
    Request { turns, max_tokens: 300, cache_until: Some(4) }
}

#[test]
fn a_session_in_the_words_of_openai() {
    let body: Value = serde_json::from_str(&model(LlmProvider::Openai).body(&session())).expect("JSON");
    let expected = json!({
        "model": "the-model",
        "messages": [
            { "role": "system", "content": "Be terse." },
            { "role": "user", "content": "What is in a.txt?" },
            { "role": "assistant", "content": "I look.", "tool_calls": [
                { "id": "call_a", "type": "function",
                  "function": { "name": "read_file", "arguments": "{\"path\": \"a.txt\"}" } },
                { "id": "call_b", "type": "function", "function": { "name": "list", "arguments": "{}" } },
            ] },
            { "role": "tool", "content": "forty-two", "tool_call_id": "call_a" },
            { "role": "tool", "content": "a.txt", "tool_call_id": "call_b" },
            { "role": "user", "content": "Summarise all of this." },
        ],
        "max_tokens": 300,
        "temperature": 0.0,
        "stream": false,
    });
    assert_eq!(body, expected);
    let mut own = ModelSettings { max_tokens_field: MaxTokensField::MaxCompletionTokens, ..model(LlmProvider::Openai) };
    own.options.temperature = None;
    let body: Value = serde_json::from_str(&own.body(&session())).expect("JSON");
    assert_eq!(body["max_completion_tokens"], 300);
    let mut thinking = own.clone();
    thinking.options.thinking_tokens = 1_000;
    thinking.options.parameters = Parameters::from([("reasoning_effort".to_owned(), json!("low"))]);
    let thinks: Value = serde_json::from_str(&thinking.body(&session())).expect("JSON");
    assert_eq!((&thinks["max_completion_tokens"], &thinks["reasoning_effort"]), (&json!(1_300), &json!("low")));
    let mut claude = thinking;
    claude.options.provider = LlmProvider::Anthropic;
    let thinks: Value = serde_json::from_str(&claude.body(&session())).expect("JSON");
    assert_eq!((&thinks["max_tokens"], &thinks["reasoning_effort"]), (&json!(1_300), &json!("low")));
    assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none());
}

#[test]
fn a_session_in_the_words_of_anthropic() {
    let body: Value = serde_json::from_str(&model(LlmProvider::Anthropic).body(&session())).expect("JSON");
    let expected = json!({
        "model": "the-model",
        "max_tokens": 300,
        "temperature": 0.0,
        "tools": [
            { "name": "list", "input_schema": { "type": "object" } },
            { "name": "read_file", "input_schema": { "type": "object" } },
        ],
        "tool_choice": { "type": "none" },
        "system": [{ "type": "text", "text": "Be terse.", "cache_control": { "type": "ephemeral" } }],
        "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "What is in a.txt?" }] },
            { "role": "assistant", "content": [
                { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "call_a", "name": "read_file", "input": { "path": "a.txt" } },
                { "type": "tool_use", "id": "call_b", "name": "list", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "call_a", "content": "forty-two" },
                { "type": "tool_result", "tool_use_id": "call_b", "content": "a.txt",
                  "cache_control": { "type": "ephemeral" } },
                { "type": "text", "text": "Summarise all of this." },
            ] },
        ],
        "stream": false,
    });
    assert_eq!(body, expected);
}

#[test]
fn the_same_request_has_the_same_bytes() {
    for protocol in [LlmProvider::Openai, LlmProvider::Anthropic] {
        assert_eq!(model(protocol).body(&session()), model(protocol).body(&session()));
    }
    // The order of keys is part of the key of kept replies.
    let body = model(LlmProvider::Openai).body(&Request { turns: vec![turn("user", "x")], ..session() });
    let expected = r#"{"model":"the-model","messages":[{"role":"user","content":"x"}],"max_tokens":300,"temperature":0.0,"stream":false}"#;
    assert_eq!(body, expected);
}

#[test]
fn what_no_api_takes_becomes_text() {
    let long = "i".repeat(60);
    let turns = vec![
        turn("assistant", "I begin."),
        call("", &[("x", "a.b c", "no JSON"), ("lost", "gone", "{}")]),
        result("other", "of nobody"),
        result("x", "of x"),
        result("x", "of x again"),
        call("twice", &[("x", "f", "[1]"), (&long, "g", "{\n \"a\": 1\n}")]),
        result(&long, ""),
        result("x", "  "),
        turn("function", "an old role"),
        turn("user", "  "),
        turn("system", "late"),
        turn("assistant", ""),
    ];
    let request = Request { turns, max_tokens: 0, cache_until: Some(11) };
    let body = model(LlmProvider::Anthropic).body(&request);
    assert!(!body.contains('\n'), "{body}");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let mark = json!({ "type": "ephemeral" });
    let expected = json!([
        { "role": "user", "content": [{ "type": "text", "text": "[The conversation begins.]" }] },
        { "role": "assistant", "content": [
            { "type": "text", "text": "I begin." },
            { "type": "text", "text": "[call of the tool gone: {}]" },
            { "type": "tool_use", "id": "x", "name": "a_b_c", "input": { "arguments": "no JSON" } },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "x", "content": "of x" },
            { "type": "text", "text": "[result of a tool]\nof nobody" },
            { "type": "text", "text": "[result of a tool]\nof x again" },
        ] },
        { "role": "assistant", "content": [
            { "type": "text", "text": "twice" },
            { "type": "tool_use", "id": "call_2", "name": "f", "input": { "arguments": "[1]" } },
            { "type": "tool_use", "id": "call_3", "name": "g", "input": { "a": 1 } },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "call_3", "content": "" },
            { "type": "tool_result", "tool_use_id": "call_2", "content": "  " },
            { "type": "text", "text": "an old role" },
            { "type": "text", "text": "late", "cache_control": mark },
        ] },
    ]);
    assert_eq!(body["messages"], expected);
}

/// A conversation as bad as any in a corpus.
fn odd_request(seed: u64) -> Request {
    let dice = &mut Dice::new(seed);
    let ids =
        ["a", "b", "a b", "", "ünïcode", "toolu_01A09q90qw90lq917835lq9", "0123456789012345678901234567890123456789x"];
    let texts = ["", " \n", "hello", "line\nline", "\u{0}\u{1f600}", "[call of"];
    let arguments =
        ["{}", "", "{\"a\":1}", " {\"a\" :\r\n [1e400]}", "null", "{\"a\":", "text", "{\"a\":\"\\ud800\"}", "{}{}"];
    let turns = (0..dice.below(12)).map(|_| {
        let role =
            dice.pick(&["system", "developer", "user", "assistant", "assistant", "tool", "tool", "function", ""]);
        let calls = if role == "assistant" { dice.below(4) } else { 0 };
        Turn {
            role: role.to_owned(),
            text: dice.pick(&texts).to_owned(),
            calls: (0..calls)
                .map(|_| {
                    let name = dice.pick(&["read", "a.b", "", "very long name ".repeat(9).as_str()]).to_owned();
                    (dice.pick(&ids).to_owned(), name, dice.pick(&arguments).to_owned())
                })
                .collect(),
            call_id: (role == "tool" && !dice.rarely(5)).then(|| dice.pick(&ids).to_owned()),
        }
    });
    let turns: Vec<Turn> =
        turns.chain([Turn { role: "user".into(), text: "Summarise.".into(), ..Turn::default() }]).collect();
    let cache_until = dice.coin().then(|| dice.below(turns.len() + 2));
    Request { turns, max_tokens: dice.below(3) * 100, cache_until }
}

#[test]
fn every_body_fits_its_schema() {
    let (openai, anthropic) = (validator("openai-chat-request"), validator("anthropic-messages-request"));
    for seed in 0..3_000 {
        let request = odd_request(seed);
        for (protocol, validator) in [(LlmProvider::Openai, &openai), (LlmProvider::Anthropic, &anthropic)] {
            let text = model(protocol).body(&request);
            assert!(!text.contains('\n') && !text.contains('\r'), "{text}");
            let body: Value = serde_json::from_str(&text).expect("JSON");
            if let Err(error) = validator.validate(&body) {
                panic!("seed {seed}: {error} at {}\n{text}", error.instance_path());
            }
            match protocol {
                LlmProvider::Openai => results_follow_calls(&body, seed),
                LlmProvider::Anthropic => roles_alternate(&body, seed),
            }
            // Nothing that was said is lost.
            for turn in request.turns.iter().filter(|turn| !turn.text.trim().is_empty()) {
                let quoted = serde_json::to_string(&turn.text).expect("JSON");
                assert!(text.contains(quoted.trim_matches('"')), "seed {seed}: {quoted}");
            }
        }
    }
    // The schemas can refuse.
    for (validator, wrong) in [
        (&openai, json!({ "model": "m", "messages": [], "max_tokens": 1, "stream": false })),
        (
            &openai,
            json!({ "model": "m", "messages": [{ "role": "tool", "content": "" }], "max_tokens": 1, "stream": false }),
        ),
        (
            &anthropic,
            json!({ "model": "m", "messages": [{ "role": "assistant", "content": [{ "type": "text", "text": "x" }] }], "max_tokens": 1, "stream": false }),
        ),
        (
            &anthropic,
            json!({ "model": "m", "messages": [{ "role": "user", "content": [{ "type": "text", "text": " " }] }], "max_tokens": 1, "stream": false }),
        ),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

/// Each call is answered by exactly one of the tool messages right behind it, and ids are never used twice.
fn results_follow_calls(body: &Value, seed: u64) {
    let messages = body["messages"].as_array().expect("a list");
    let (mut open, mut used) = (HashSet::new(), HashSet::new());
    for message in messages {
        if message["role"] == "tool" {
            assert!(open.remove(message["tool_call_id"].as_str().expect("an id")), "seed {seed}: {body}");
            continue;
        }
        assert!(open.is_empty(), "seed {seed}: {body}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().expect("an id");
            assert!(used.insert(id) && open.insert(id), "seed {seed}: {body}");
        }
    }
    assert!(open.is_empty(), "seed {seed}: {body}");
}

/// Roles alternate, results stand first in the message behind their calls, and at most four marks are set.
fn roles_alternate(body: &Value, seed: u64) {
    let messages = body["messages"].as_array().expect("a list");
    assert!(messages.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"]), "seed {seed}: {body}");
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let blocks = message["content"].as_array().expect("a list");
        let results: Vec<&str> = blocks.iter().map_while(|block| block["tool_use_id"].as_str()).collect();
        let n_results = blocks.iter().filter(|block| block["type"] == "tool_result").count();
        let (mut expected, mut found) = (open.clone(), results.clone());
        expected.sort_unstable();
        found.sort_unstable();
        assert!(expected == found && results.len() == n_results, "seed {seed}: {body}");
        open = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .filter_map(|block| block["id"].as_str())
            .collect();
    }
    assert!(open.is_empty(), "seed {seed}: {body}");
    let marks = body.to_string().matches("cache_control").count();
    assert!(marks <= 4, "seed {seed}: {body}");
}

#[test]
fn replies_are_read_with_what_they_cost() {
    let openai = json!({
        "id": "x", "object": "chat.completion",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "short" }, "finish_reason": "length" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": 64 } },
    });
    let usage = Usage { input: 36, cached: 64, cache_written: 0, output: 7 };
    let expected = Completion { text: "short".into(), has_calls: false, is_cut: true, usage };
    assert_eq!(LlmProvider::Openai.read(openai.to_string().as_bytes()), Ok(expected));
    let anthropic = json!({
        "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "a" }, { "type": "text", "text": "b" }],
        "usage": { "input_tokens": 5, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 9, "output_tokens": 7 },
    });
    let usage = Usage { input: 5, cached: 64, cache_written: 9, output: 7 };
    let expected = Completion { text: "ab".into(), has_calls: false, is_cut: false, usage };
    assert_eq!(LlmProvider::Anthropic.read(anthropic.to_string().as_bytes()), Ok(expected));
    let parts =
        json!({ "choices": [{ "message": { "content": [{ "type": "text", "text": "x" }, { "type": "image" }] } }] });
    assert_eq!(LlmProvider::Openai.read(parts.to_string().as_bytes()).expect("a reply").text, "x");
    let refusal = json!({ "choices": [{ "message": { "content": null, "refusal": "no" }, "finish_reason": "stop" }] });
    assert_eq!(LlmProvider::Openai.read(refusal.to_string().as_bytes()).expect("a reply").text, "");
}

#[test]
fn what_is_no_reply_is_unreadable_and_asked_again() {
    let whole = json!({ "choices": [{ "message": { "content": "abc" }, "finish_reason": "stop" }] }).to_string();
    let message = json!({ "content": [{ "type": "text", "text": "abc" }], "stop_reason": "end_turn" }).to_string();
    for (protocol, whole) in [(LlmProvider::Openai, whole), (LlmProvider::Anthropic, message)] {
        for end in 0..whole.len() {
            let refusal = protocol.read(&whole.as_bytes()[..end]).expect_err("it is cut");
            assert_eq!(refusal.kind, RefusalKind::Unreadable, "{refusal:?}");
            assert!(refusal.is_passing() && !refusal.message.contains("abc"), "{refusal:?}");
        }
        for odd in
            ["[]", "null", "{}", "7", "<html>", "{\"choices\":[]}", "{\"content\":7}", "{\"choices\":{}}", "\u{0}"]
        {
            let refusal = protocol.read(odd.as_bytes()).expect_err("no reply");
            assert_eq!(refusal.kind, RefusalKind::Unreadable, "{odd}: {refusal:?}");
        }
        assert!(protocol.read(b"\xff\xfe").is_err());
        // Gateways tell errors with a status of success.
        let told = protocol.read(br#"{"error":{"message":"slow down","code":429}}"#).expect_err("an error");
        assert_eq!(told.kind, RefusalKind::RateLimited { retry_after: None });
    }
}

#[test]
fn errors_are_told_apart() {
    use RefusalKind::{Auth, BadRequest, Moved, NotFound, Overloaded, RateLimited, Server, TooLong, Unsupported};
    let limited = RateLimited { retry_after: None };
    let overloaded = Overloaded { retry_after: None };
    let cases: &[(u16, &str, &str, RefusalKind)] = &[
        (401, "invalid_api_key", "Incorrect API key provided: sk-abc", Auth),
        (401, "authentication_error", "invalid x-api-key", Auth),
        (402, "billing_error", "", Auth),
        (403, "permission_error", "not allowed", Auth),
        (403, "", "the input was flagged by moderation", BadRequest),
        (404, "model_not_found", "The model `x` does not exist", NotFound),
        (404, "not_found_error", "model: x", NotFound),
        (301, "", "", Moved),
        (400, "model_not_found", "", NotFound),
        (400, "context_length_exceeded", "", TooLong),
        (400, "invalid_request_error", "This model's maximum context length is 8192 tokens. However, …", TooLong),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", TooLong),
        (400, "invalid_request_error", "input length: 9 tokens > 8", TooLong),
        (400, "", "the request exceeds the available context size", TooLong),
        (413, "request_too_large", "Request exceeds the maximum size", TooLong),
        (400, "unsupported_value", "'temperature' does not support 0 with this model", Unsupported),
        (400, "invalid_request_error", "Your credit balance is too low to access the API", Auth),
        (400, "invalid_request_error", "messages: at least one message is required", BadRequest),
        (400, "", "", BadRequest),
        (422, "", "a > b", BadRequest),
        (429, "rate_limit_error", "slow down", limited),
        (429, "insufficient_quota", "You exceeded your current quota", Auth),
        (500, "api_error", "", Server),
        (502, "", "", Server),
        (408, "", "", Server),
        (504, "timeout_error", "", Server),
        (503, "", "", overloaded),
        (529, "overloaded_error", "Overloaded", overloaded),
    ];
    for &(status, kind, message, expected) in cases {
        let body = json!({ "type": "error", "error": { "type": kind, "message": message, "param": null } }).to_string();
        for protocol in [LlmProvider::Openai, LlmProvider::Anthropic] {
            let refusal = protocol.refusal(status, body.as_bytes());
            assert_eq!(refusal.kind, expected, "{status} {kind} {message}");
            assert!(refusal.message.contains(&status.to_string()), "{refusal:?}");
            assert!(!refusal.message.contains("sk-abc"), "{refusal:?}");
        }
    }
    // Bodies that are no errors of an API.
    for body in ["", "<html>nginx</html>", "{\"error\":\"a text\"}", "{\"detail\":\"x\"}", "[1]"] {
        assert_eq!(LlmProvider::Openai.refusal(503, body.as_bytes()).kind, overloaded);
    }
    let long = format!("{{\"error\":{{\"message\":\"a\\n\\u0007b {}\"}}}}", "x".repeat(5_000));
    let Refusal { message, .. } = LlmProvider::Openai.refusal(400, long.as_bytes());
    assert!(message.starts_with("status 400: a b xxx") && message.len() < 400, "{message}");
}
