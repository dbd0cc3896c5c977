//! A message in the words of a trainer: which keys it has, and in which form. Knows targets; refuses to know rows and files.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::turns::Turn;
use crate::chat::Alternative;
use crate::model::{Role, ToolCall};
use crate::pipeline::{Arguments, CallOrder, DatasetOptions, Empty, TargetName, Thinking};

/// Every integer of so many digits has 64 bits.
const LONGEST_SAFE: usize = 18;

/// The messages of a chat as JSON objects with exactly the keys that they have.
pub(super) fn messages(turns: &[Turn<'_>], options: &DatasetOptions) -> Vec<Value> {
    if options.target.is_sharegpt() {
        return said(&apart(turns), options);
    }
    match options.calls {
        CallOrder::Together => turns.iter().map(|turn| message(turn, options)).collect(),
        CallOrder::Apart => apart(turns).iter().map(|turn| message(turn, options)).collect(),
    }
}

/// An answer by itself.
pub(super) fn answer(answer: &Alternative, options: &DatasetOptions) -> Value {
    let turn = Turn {
        role: &Role::Assistant,
        name: None,
        text: Cow::Borrowed(&answer.text),
        thinking: String::new(),
        calls: &answer.calls,
        call_id: None,
        is_target: true,
        is_compacted: false,
    };
    let mut message = message(&turn, options);
    // Of two answers nobody asks whether they are learned.
    if let Value::Object(message) = &mut message {
        message.remove("train");
    }
    message
}

fn message(turn: &Turn<'_>, options: &DatasetOptions) -> Value {
    let mut object = Map::new();
    object.insert("role".to_owned(), json!(turn.role.as_str()));
    let text = text_of(turn, options);
    let content = if text.is_empty() && !turn.calls.is_empty() && options.empty == Empty::Null {
        Value::Null
    } else {
        json!(text)
    };
    object.insert("content".to_owned(), content);
    if options.thinking == Thinking::Field && !turn.thinking.is_empty() {
        object.insert("reasoning_content".to_owned(), json!(turn.thinking));
    }
    if !turn.calls.is_empty() {
        object.insert("tool_calls".to_owned(), turn.calls.iter().map(|call| call_of(call, options)).collect());
    }
    if *turn.role == Role::Tool {
        object.insert("tool_call_id".to_owned(), json!(turn.call_id.unwrap_or_default()));
        if let Some(name) = turn.name.filter(|_| options.target != TargetName::Openai) {
            object.insert("name".to_owned(), json!(name));
        }
    }
    flags(turn, options.target, &mut object);
    Value::Object(object)
}

/// What a trainer may go by: whether a turn is to be learned, and whether something is hidden of it.
fn flags(turn: &Turn<'_>, target: TargetName, object: &mut Map<String, Value>) {
    let is_assistant = *turn.role == Role::Assistant;
    match target {
        // The API refuses keys that it does not know.
        TargetName::Openai if is_assistant && !turn.is_target => drop(object.insert("weight".to_owned(), json!(0))),
        TargetName::Openai | TargetName::LlamaFactory => {}
        _ => {
            if is_assistant {
                object.insert("train".to_owned(), json!(turn.is_target));
            }
            if turn.is_compacted {
                object.insert("compacted".to_owned(), json!(true));
            }
        }
    }
}

fn text_of(turn: &Turn<'_>, options: &DatasetOptions) -> String {
    match options.thinking {
        Thinking::Content if !turn.thinking.is_empty() => {
            format!("<think>\n{}\n</think>\n\n{}", turn.thinking, turn.text).trim_end().to_owned()
        }
        _ => turn.text.to_string(),
    }
}

fn call_of(call: &ToolCall<'_>, options: &DatasetOptions) -> Value {
    let arguments = match options.arguments {
        Arguments::Json => arguments_json(call),
        Arguments::Text => json!(call.arguments),
    };
    let function = json!({ "name": call.name.as_deref().unwrap_or_default(), "arguments": arguments });
    json!({ "id": call.id.as_deref().unwrap_or_default(), "type": "function", "function": function })
}

/// Arguments as an object, which is what templates write; a text that is none stands under a key of its own.
fn arguments_json(call: &ToolCall<'_>) -> Value {
    match serde_json::from_str(&exact(&call.arguments)) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ if call.arguments.trim().is_empty() => json!({}),
        // What a tool takes that has no JSON: a patch, a script.
        _ => json!({ "input": call.arguments }),
    }
}

/// JSON with integers of more than 64 bits as texts: as numbers they would lose digits.
fn exact(json: &str) -> Cow<'_, str> {
    static TOKENS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*"#).expect("a pattern"));
    let is_long = |run: &[u8]| run.len() > LONGEST_SAFE;
    if !json.as_bytes().split(|byte| !byte.is_ascii_digit()).any(is_long) {
        return Cow::Borrowed(json);
    }
    TOKENS.replace_all(json, |token: &Captures<'_>| {
        let token = &token[0];
        let is_long_integer = token.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
            && token.parse::<i64>().is_err()
            && token.parse::<u64>().is_err();
        if is_long_integer { format!("\"{token}\"") } else { token.to_owned() }
    })
}

/// The same turns with one call each, and its result behind it: some trainers and templates know no others.
fn apart<'t>(turns: &[Turn<'t>]) -> Vec<Turn<'t>> {
    let mut all = Vec::with_capacity(turns.len());
    let mut turns = turns.iter().peekable();
    while let Some(turn) = turns.next() {
        if turn.calls.len() < 2 {
            all.push(turn.clone());
            continue;
        }
        let mut results = Vec::new();
        while let Some(result) = turns.next_if(|next| *next.role == Role::Tool) {
            results.push(result);
        }
        for (at, call) in turn.calls.chunks(1).enumerate() {
            let mut one = Turn { calls: call, ..turn.clone() };
            if at > 0 {
                (one.text, one.thinking) = (String::new().into(), String::new());
            }
            all.push(one);
            all.extend(results.get(at).map(|result| (*result).clone()));
        }
    }
    all
}

/// `{"from", "value"}`, people and tools by turns with the model. Calls alone are a turn of `function_call`; beside a text they follow it
/// in tags.
fn said(turns: &[Turn<'_>], options: &DatasetOptions) -> Vec<Value> {
    let mut all: Vec<Map<String, Value>> = Vec::new();
    // A turn that nobody answers makes LLaMA-Factory skip the row.
    let last = turns.iter().rposition(|turn| *turn.role == Role::Assistant).map_or(0, |last| last + 1);
    for turn in turns[..last].iter().filter(|turn| options.target == TargetName::Sharegpt || *turn.role != Role::System)
    {
        let calls: Vec<Value> = turn.calls.iter().map(call_json).collect();
        let text = text_of(turn, options);
        let from = match turn.role {
            Role::System => "system",
            Role::Assistant if text.is_empty() && !calls.is_empty() => "function_call",
            Role::Assistant => "gpt",
            Role::Tool => "observation",
            _ => "human",
        };
        let value = match &*calls {
            [] => text,
            [call] if text.is_empty() => call.to_string(),
            calls => calls.iter().fold(text, |text, call| format!("{text}\n<tool_call>\n{call}\n</tool_call>")),
        };
        // What people say behind a result, the model reads with it.
        if let Some(Value::String(before)) = all
            .last_mut()
            .filter(|last| last["from"] == "observation" && from == "human")
            .and_then(|last| last.get_mut("value"))
        {
            before.push_str("\n\n");
            before.push_str(&value);
            continue;
        }
        let mut object = Map::new();
        object.insert("from".to_owned(), json!(from));
        object.insert("value".to_owned(), json!(value));
        flags(turn, options.target, &mut object);
        all.push(object);
    }
    all.into_iter().map(Value::Object).collect()
}

/// `{"name", "arguments"}`.
fn call_json(call: &ToolCall<'_>) -> Value {
    json!({ "name": call.name.as_deref().unwrap_or_default(), "arguments": arguments_json(call) })
}

#[cfg(test)]
mod tests {
    use super::exact;

    #[test]
    fn integers_keep_their_digits() {
        let long = r#"{"id":123456789012345678901234,"n":-9223372036854775809,"u":18446744073709551615,"f":1234567890123456789012.5,"t":"\"12345678901234567890123"}"#;
        let expected = r#"{"id":"123456789012345678901234","n":"-9223372036854775809","u":18446744073709551615,"f":1234567890123456789012.5,"t":"\"12345678901234567890123"}"#;
        assert_eq!(exact(long), expected);
        assert_eq!(exact("{\"id\": 1234567890123456789, \"b\": []}"), "{\"id\": 1234567890123456789, \"b\": []}");
    }
}
