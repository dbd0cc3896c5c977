//! Messages in the words of Anthropic: `system` apart, content in blocks, roles in turn, tools declared when the
//! conversation has calls of them, and marks for the prompt cache. Knows no connection.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::dialogue::{Role, Said, dialogue};
use super::json::{parse, tokens, written};
use super::refusal::{ErrorBody, Refusal};
use crate::llm::{Completion, ModelSettings, Request, Usage};
use crate::pipeline::Parameters;

/// The version of the API.
const VERSION: &str = "2023-06-01";
/// Stands before a conversation that the assistant begins: the first message must be the user's.
const BEGINNING: &str = "[The conversation begins.]";

#[derive(Serialize)]
struct Body<'r> {
    model: &'r str,
    max_tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Typed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'r>>,
    messages: Vec<Message<'r>>,
    stream: bool,
    #[serde(flatten)]
    parameters: &'r Parameters,
}

#[derive(Serialize)]
struct Message<'r> {
    role: &'static str,
    content: Vec<Block<'r>>,
}

#[derive(Serialize)]
struct Block<'r> {
    #[serde(flatten)]
    content: Content<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Typed>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'r> {
    Text { text: &'r str },
    ToolUse { id: &'r str, name: &'r str, input: &'r RawValue },
    ToolResult { tool_use_id: &'r str, content: &'r str },
}

#[derive(Serialize)]
struct Tool<'r> {
    name: &'r str,
    input_schema: Typed,
}

/// An object that says only what it is.
#[derive(Serialize, Clone, Copy)]
struct Typed {
    r#type: &'static str,
}

const EPHEMERAL: Typed = Typed { r#type: "ephemeral" };

pub(super) fn headers(key: Option<&str>) -> Vec<(&'static str, String)> {
    let key = key.map(|key| ("x-api-key", key.to_owned()));
    key.into_iter().chain([("anthropic-version", VERSION.to_owned())]).collect()
}

pub(super) fn body(settings: &ModelSettings, request: &Request) -> String {
    let said = dialogue(&request.turns);
    let n_system = said.iter().take_while(|said| said.role == Role::System).count();
    let (instructions, said) = said.split_at(n_system);
    let mut system: Vec<Block<'_>> = instructions.iter().flat_map(blocks).collect();
    if let Some(last) = system.last_mut() {
        last.cache_control = Some(EPHEMERAL);
    }
    let tools: BTreeMap<&str, Tool<'_>> = said
        .iter()
        .flat_map(|said| &said.calls)
        .map(|call| (&*call.name, Tool { name: &call.name, input_schema: Typed { r#type: "object" } }))
        .collect();
    let body = Body {
        model: &settings.options.model,
        max_tokens: settings.max_tokens(request),
        temperature: settings.options.temperature,
        // They are declared because the API wants it; none may be called.
        tool_choice: (!tools.is_empty()).then_some(Typed { r#type: "none" }),
        tools: tools.into_values().collect(),
        system,
        messages: messages(said, request.cache_until),
        stream: false,
        parameters: &settings.options.parameters,
    };
    written(&body)
}

/// The turns with neighbours of one role in one message.
fn messages<'r>(said: &'r [Said<'r>], cache_until: Option<usize>) -> Vec<Message<'r>> {
    let mut messages: Vec<Message<'r>> = Vec::new();
    for said in said {
        let role = if said.role == Role::Assistant { "assistant" } else { "user" };
        for block in blocks(said) {
            if messages.is_empty() && role == "assistant" {
                messages.push(Message { role: "user", content: vec![text(BEGINNING)] });
            }
            match messages.last_mut() {
                Some(last) if last.role == role => last.content.push(block),
                _ => messages.push(Message { role, content: vec![block] }),
            }
        }
        if Some(said.turn) == cache_until
            && let Some(block) = messages.last_mut().and_then(|message| message.content.last_mut())
        {
            block.cache_control = Some(EPHEMERAL);
        }
    }
    if messages.is_empty() {
        messages.push(Message { role: "user", content: vec![text(BEGINNING)] });
    }
    messages
}

/// The blocks of a turn; the API refuses texts without a visible character.
fn blocks<'r>(said: &'r Said<'r>) -> Vec<Block<'r>> {
    let plain = |content| Block { content, cache_control: None };
    if let Some(id) = &said.answers {
        return vec![plain(Content::ToolResult { tool_use_id: id, content: &said.text })];
    }
    let calls = said.calls.iter().map(|call| {
        let input = serde_json::from_str(&call.arguments).expect("a dialogue has objects as arguments");
        plain(Content::ToolUse { id: &call.id, name: &call.name, input })
    });
    let words = (!said.text.trim().is_empty()).then(|| text(&said.text));
    words.into_iter().chain(calls).collect()
}

fn text(text: &str) -> Block<'_> {
    Block { content: Content::Text { text }, cache_control: None }
}

#[derive(Deserialize)]
struct Reply {
    content: Option<Vec<Part>>,
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Value,
    error: Option<ErrorBody>,
}

#[derive(Deserialize)]
struct Part {
    r#type: String,
    text: Option<String>,
}

pub(super) fn read(body: &[u8]) -> Result<Completion, Refusal> {
    let reply: Reply = parse(body)?;
    let Some(content) = reply.content else {
        return Err(reply.error.map_or_else(Refusal::no_reply, ErrorBody::refusal));
    };
    let has_calls = content.iter().any(|part| part.r#type == "tool_use");
    let texts = content.into_iter().filter(|part| part.r#type == "text").filter_map(|part| part.text);
    let usage = Usage {
        input: tokens(&reply.usage, "/input_tokens"),
        cached: tokens(&reply.usage, "/cache_read_input_tokens"),
        cache_written: tokens(&reply.usage, "/cache_creation_input_tokens"),
        output: tokens(&reply.usage, "/output_tokens"),
    };
    Ok(Completion {
        text: texts.collect(),
        has_calls,
        is_cut: matches!(reply.stop_reason.as_deref(), Some("max_tokens" | "model_context_window_exceeded")),
        usage,
    })
}
