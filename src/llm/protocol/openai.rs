//! Chat completions in the words of OpenAI, which most servers understand. Knows no connection.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dialogue::{Role, dialogue};
use super::json::{parse, tokens, written};
use super::refusal::{ErrorBody, Refusal};
use crate::llm::{Completion, MaxTokensField, ModelSettings, Request, Usage};
use crate::pipeline::Parameters;

#[derive(Serialize)]
struct Body<'r> {
    model: &'r str,
    messages: Vec<Message<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    #[serde(flatten)]
    parameters: &'r Parameters,
}

#[derive(Serialize)]
struct Message<'r> {
    role: &'static str,
    /// `null` beside calls of tools only.
    content: Option<&'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'r str>,
}

#[derive(Serialize)]
struct ToolCall<'r> {
    id: &'r str,
    r#type: &'static str,
    function: Function<'r>,
}

#[derive(Serialize)]
struct Function<'r> {
    name: &'r str,
    arguments: &'r str,
}

pub(super) fn headers(key: Option<&str>) -> Vec<(&'static str, String)> {
    key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
}

pub(super) fn body(settings: &ModelSettings, request: &Request) -> String {
    let said = dialogue(&request.turns);
    let messages = said.iter().map(|said| Message {
        role: match said.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        },
        content: (!said.text.is_empty() || said.calls.is_empty()).then_some(&*said.text),
        tool_calls: said
            .calls
            .iter()
            .map(|call| ToolCall {
                id: &call.id,
                r#type: "function",
                function: Function { name: &call.name, arguments: &call.arguments },
            })
            .collect(),
        tool_call_id: said.answers.as_deref(),
    });
    let max_tokens = settings.max_tokens(request);
    let is_new = settings.max_tokens_field == MaxTokensField::MaxCompletionTokens;
    let body = Body {
        model: &settings.options.model,
        messages: messages.collect(),
        max_completion_tokens: is_new.then_some(max_tokens),
        max_tokens: (!is_new).then_some(max_tokens),
        temperature: settings.options.temperature,
        stream: false,
        parameters: &settings.options.parameters,
    };
    written(&body)
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
    error: Option<ErrorBody>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<Content>,
    tool_calls: Option<Vec<serde::de::IgnoredAny>>,
}

/// A text; some servers send the blocks that requests may have.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

pub(super) fn read(body: &[u8]) -> Result<Completion, Refusal> {
    let reply: Reply = parse(body)?;
    let Some(choice) = reply.choices.into_iter().next() else {
        return Err(reply.error.map_or_else(Refusal::no_reply, ErrorBody::refusal));
    };
    let text = match choice.message.content {
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().filter_map(|part| part.text).collect(),
        None => String::new(),
    };
    let cached = tokens(&reply.usage, "/prompt_tokens_details/cached_tokens");
    let usage = Usage {
        // The API counts cached tokens among the others.
        input: tokens(&reply.usage, "/prompt_tokens").saturating_sub(cached),
        cached,
        cache_written: 0,
        output: tokens(&reply.usage, "/completion_tokens"),
    };
    Ok(Completion {
        text,
        has_calls: choice.message.tool_calls.is_some_and(|calls| !calls.is_empty()),
        is_cut: choice.finish_reason.as_deref() == Some("length"),
        usage,
    })
}
