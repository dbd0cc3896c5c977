//! What stands beside the messages of a record and belongs to its conversation: tools, a system prompt, the reply of a logged
//! request. Tools that a log does not tell are inferred from its calls.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::model::{Message, Role, ToolCall};
use crate::shape::{Decoded, RawJson, items, member};

use super::pieces::Reply;

/// The tools that a record names, in the words of OpenAI; `None` when it names none.
#[must_use]
pub fn named_tools(decoded: &Decoded<'_>) -> Option<Vec<Value>> {
    let named = decoded.beside("tools").or_else(|| member(decoded.beside("kwargs")?, "tools").map(|tools| tools.text));
    told(serde_json::from_str::<Value>(named?).ok()?)
}

/// Tools as a record tells them: a list, or a text that holds one.
fn told(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::String(text) => told(serde_json::from_str(&text).ok()?),
        Value::Array(list) if !list.is_empty() => list.into_iter().map(function).collect(),
        _ => None,
    }
}

/// A tool in the words of OpenAI; Anthropic's have `input_schema`, and many write the function alone.
fn function(tool: Value) -> Option<Value> {
    let Value::Object(mut tool) = tool else { return None };
    if let Some(Value::Object(function)) = tool.get_mut("function") {
        // Templates ask for both.
        function.entry("description").or_insert_with(|| json!(""));
        function.entry("parameters").or_insert_with(no_parameters);
        tool.insert("type".to_owned(), json!("function"));
        return Some(Value::Object(tool));
    }
    let name = tool.remove("name")?;
    let mut function = Map::new();
    function.insert("name".to_owned(), name);
    function.insert("description".to_owned(), tool.remove("description").unwrap_or_else(|| json!("")));
    let schema = ["parameters", "input_schema", "inputSchema"].into_iter().find_map(|key| tool.remove(key));
    function.insert("parameters".to_owned(), schema.unwrap_or_else(no_parameters));
    Some(json!({"type": "function", "function": function}))
}

fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

/// The system prompt that stands beside the messages: a text, or the text parts of a list.
pub(super) fn system_beside<'a>(decoded: &'a Decoded<'_>) -> Option<Cow<'a, str>> {
    let is_told = |message: &Message<'_>| message.role == Role::System;
    if decoded.shape().is_event_log() || decoded.conversation.messages.iter().any(is_told) {
        return None;
    }
    let raw = decoded.beside("system")?;
    let text = texts(raw);
    (!text.trim().is_empty()).then_some(Cow::Owned(text))
}

/// The text of a JSON string, or those of a list of parts.
fn texts(raw: &str) -> String {
    match serde_json::from_str::<Value>(raw) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

/// The reply that a logged request got: `response.choices[0].message` beside the messages.
pub(super) fn final_reply<'a>(decoded: &'a Decoded<'_>) -> Option<Reply<'a>> {
    let choices = member(decoded.beside("response")?, "choices").filter(|choices| choices.is_list())?;
    let mut first = None;
    items(choices.text, |choice| first = first.or(member(choice.text, "message")));
    let message = first?.text;
    let text =
        |raw: &str, key: &str| member(raw, key).and_then(RawJson::string).map(|text| Cow::Owned(text.into_owned()));
    let said = member(message, "content").map(|content| texts(content.text)).filter(|text| !text.trim().is_empty());
    let mut calls = Vec::new();
    if let Some(list) = member(message, "tool_calls").filter(|list| list.is_list()) {
        items(list.text, |call| {
            let Some(function) = member(call.text, "function") else { return };
            calls.push(ToolCall {
                id: text(call.text, "id"),
                name: text(function.text, "name"),
                arguments: text(function.text, "arguments").unwrap_or_default(),
                place: None,
            });
        });
    }
    let thoughts = text(message, "reasoning_content").into_iter().collect();
    Some(Reply { texts: said.map(Cow::Owned).into_iter().collect(), thoughts, calls, ..Reply::default() })
}
