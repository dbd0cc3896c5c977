//! Records from a short language, so that what is tried is a conversation more often than broken JSON.

use serde_json::{Value, json};

/// No record is longer than this, however often its lines are repeated.
const MAX_BYTES: usize = 48 << 10;

/// The record that `body` says. What begins with a bracket, or with a sign of Markdown, is one already. Else each line that
/// begins with `%` begins a message: its letter says whose it is (`%u` a user, `%a` an assistant, `%t` a result, `%c` a call, `%k`
/// what an assistant thinks, `%s` the system, `%i` an image of a user), and what follows is its text. A line `*20 text # text` stands
/// for 20 lines, with their numbers in the place of `#`. A first line `!shape` says how the record is written.
pub fn record_of(body: &str) -> String {
    if body.starts_with(['{', '[', '<', '#', ' ']) {
        return body.to_owned();
    }
    let (shape, body) = match body.strip_prefix('!').and_then(|rest| rest.split_once('\n')) {
        Some((shape, rest)) => (shape, rest),
        None => ("openai", body),
    };
    let mut said: Vec<(char, String)> = Vec::new();
    let mut left = MAX_BYTES;
    for line in body.lines() {
        let mut chars = line.chars();
        if let (Some('%'), Some(who)) = (chars.next(), chars.next()) {
            said.push((who, chars.as_str().trim_start().to_owned()));
            continue;
        }
        let text = repeated(line, &mut left);
        let Some((_, last)) = said.last_mut() else { continue };
        if !last.is_empty() {
            last.push('\n');
        }
        last.push_str(&text);
    }
    match shape {
        "anthropic" => anthropic(&said),
        "sharegpt" => sharegpt(&said),
        "claude-code" => claude_code(&said),
        "dialogue" => dialogue(&said),
        _ => openai(&said),
    }
}

fn repeated(line: &str, left: &mut usize) -> String {
    let many = line.strip_prefix('*').and_then(|rest| rest.split_once(' '));
    let many = many.and_then(|(times, text)| Some((times.parse::<u16>().ok()?, text)));
    let Some((times, text)) = many else { return line.to_owned() };
    let mut out = String::new();
    for n in 0..times {
        if *left < text.len() + 1 {
            break;
        }
        *left -= text.len() + 1;
        out.push_str(&text.replace('#', &n.to_string()));
        out.push('\n');
    }
    out
}

fn role(who: char) -> &'static str {
    match who {
        'a' | 'c' | 'k' => "assistant",
        't' => "tool",
        's' => "system",
        'd' => "developer",
        'o' => "other",
        _ => "user",
    }
}

fn openai(said: &[(char, String)]) -> String {
    let mut n_calls = 0;
    let message = |(who, text): &(char, String)| match who {
        'c' => {
            n_calls += 1;
            let function = json!({"name": "bash", "arguments": json!({"command": text}).to_string()});
            let call = json!({"id": format!("call_{n_calls}"), "type": "function", "function": function});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        }
        'k' => json!({"role": "assistant", "reasoning_content": text, "content": "Done."}),
        't' => json!({"role": "tool", "tool_call_id": format!("call_{n_calls}"), "content": text}),
        'i' => json!({"role": "user", "content": [
            {"type": "text", "text": text},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        ]}),
        _ => json!({"role": role(*who), "content": text}),
    };
    let messages: Vec<Value> = said.iter().map(message).collect();
    json!({"id": "talk", "messages": messages}).to_string()
}

fn anthropic(said: &[(char, String)]) -> String {
    let mut n_calls = 0;
    let message = |(who, text): &(char, String)| {
        let block = match who {
            'c' => {
                n_calls += 1;
                json!({"type": "tool_use", "id": format!("toolu_{n_calls}"), "name": "bash", "input": {"command": text}})
            }
            't' => json!({"type": "tool_result", "tool_use_id": format!("toolu_{n_calls}"), "content": text}),
            'k' => json!({"type": "thinking", "thinking": text, "signature": ""}),
            _ => json!({"type": "text", "text": text}),
        };
        let role = if matches!(who, 'a' | 'c' | 'k') { "assistant" } else { "user" };
        json!({"role": role, "content": [block]})
    };
    let messages: Vec<Value> = said.iter().map(message).collect();
    json!({"system": "Be brief.", "messages": messages}).to_string()
}

fn sharegpt(said: &[(char, String)]) -> String {
    let from = |who: char| match role(who) {
        "assistant" => "gpt",
        "user" => "human",
        other => other,
    };
    let turns: Vec<Value> = said.iter().map(|(who, text)| json!({"from": from(*who), "value": text})).collect();
    json!({"conversations": turns}).to_string()
}

fn dialogue(said: &[(char, String)]) -> String {
    let turn = |(who, text): &(char, String)| json!({"speaker": who.to_string(), "utterance": text});
    json!({"turns": said.iter().map(turn).collect::<Vec<_>>()}).to_string()
}

fn claude_code(said: &[(char, String)]) -> String {
    let mut n_calls = 0;
    let mut lines = Vec::new();
    for (at, (who, text)) in said.iter().enumerate() {
        let content = match who {
            'c' => {
                n_calls += 1;
                json!([{"type": "tool_use", "id": format!("toolu_{n_calls}"), "name": "Bash", "input": {"command": text}}])
            }
            't' => json!([{"type": "tool_result", "tool_use_id": format!("toolu_{n_calls}"), "content": text}]),
            'k' => json!([{"type": "thinking", "thinking": text, "signature": "c2ln"}]),
            'a' => json!([{"type": "text", "text": text}]),
            _ => json!(text),
        };
        let role = if matches!(who, 'a' | 'c' | 'k') { "assistant" } else { "user" };
        let event = json!({"type": role, "sessionId": "s1", "uuid": format!("u{at}"), "message": {"role": role, "content": content}});
        lines.push(event.to_string());
        if *who == 's' {
            lines.push(json!({"type": "summary", "summary": text, "leafUuid": "u0"}).to_string());
        }
    }
    lines.join("\n")
}
