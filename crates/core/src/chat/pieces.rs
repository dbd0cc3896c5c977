//! What one message of a record says to or for the API: words, a reply with its calls, results. Knows where the shapes put them;
//! refuses to know what stands before and behind.

use std::borrow::Cow;

use crate::model::{Content, Conversation, MediaKind, Message, Part, Role, ShapeName, ToolCall};
use crate::shape::{Decoded, RawJson, items, member};

/// Keys with which data sets say that a turn is not learned, and the values that say so.
const MASKS: [(&str, &[&str]); 4] =
    [("train", &["false"]), ("training", &["false"]), ("weight", &["0", "0.0"]), ("loss", &["false"])];

/// What Claude Code writes where it asks for no reply.
const NO_REPLY: &str = "No response requested.";

/// Names of messages that a program writes for its user and sends to no model.
const TOLD_TO_USER: [&str; 9] = [
    "api_error",
    "away_summary",
    "bridge_status",
    "compact_boundary",
    "informational",
    "local_command",
    "microcompact_boundary",
    "stop_hook_summary",
    "turn_duration",
];

/// The tags in which models think.
const THINK: [&str; 2] = ["<think>", "</think>"];

/// What is said at once.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    System(Cow<'a, str>),
    Human {
        name: Option<&'a str>,
        text: Cow<'a, str>,
    },
    Reply(Reply<'a>),
    Result {
        call: Option<Cow<'a, str>>,
        /// What was called, where the record says so.
        name: Option<&'a str>,
        text: Cow<'a, str>,
    },
    /// What a program wrote for its user, or in place of a reply that did not come.
    NotSaid,
}

/// What an assistant says at once.
#[derive(Debug, Default)]
pub(super) struct Reply<'a> {
    /// What the API calls it, where the log tells: its blocks may stand in several messages.
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) texts: Vec<Cow<'a, str>>,
    pub(super) thoughts: Vec<Cow<'a, str>>,
    pub(super) calls: Vec<ToolCall<'a>>,
    /// It broke off.
    pub(super) is_cut: bool,
    /// Who made the record says that nobody should learn it.
    pub(super) is_masked: bool,
}

/// The pieces of a message, in order.
pub(super) fn of<'a>(
    decoded: &'a Decoded<'_>,
    conversation: &'a Conversation<'_>,
    at: usize,
    out: &mut Vec<Piece<'a>>,
) {
    let Some(message) = conversation.messages.get(at) else { return };
    let raw = message.raw;
    match (&message.role, decoded.shape()) {
        (Role::Assistant, ShapeName::GeminiCli) => gemini(message, out),
        (Role::Assistant, ShapeName::ClaudeCode) if is_program(raw) => out.push(Piece::NotSaid),
        (Role::Assistant, _) => {
            let reply = reply(message, decoded.shape());
            let is_program = reply.calls.is_empty() && reply.texts == [NO_REPLY];
            out.push(if is_program { Piece::NotSaid } else { Piece::Reply(reply) });
        }
        // What Claude Code tells its user stands in the log alone.
        (Role::System, _) if message.name.as_deref().is_some_and(|name| TOLD_TO_USER.contains(&name)) => {
            out.push(Piece::NotSaid);
        }
        (Role::System | Role::Developer, _) => out.push(Piece::System(text(&message.content))),
        (Role::Tool | Role::Function, _) if message.results.is_empty() => {
            let text = match &message.content {
                // JSON with the output in it: what the API got.
                Content::Other => decoded.content_at(at).unwrap_or_default(),
                content => Some(text(content))
                    .filter(|text| !text.is_empty())
                    .or_else(|| decoded.content_at(at).filter(|_| matches!(content, Content::Parts(parts) if parts.iter().any(|part| matches!(part, Part::Opaque)))))
                    .unwrap_or_default(),
            };
            let call = message.tool_call_id.as_deref().map(Cow::Borrowed);
            out.push(Piece::Result { call, name: message.name.as_deref(), text });
        }
        (Role::Other(name), ShapeName::Pi) if name == "bashExecution" => {
            let command =
                member(raw, "message").and_then(|body| member(body.text, "command")).and_then(RawJson::string);
            let text = format!("$ {}\n{}", command.unwrap_or_default(), text(&message.content));
            out.push(Piece::Human { name: None, text: Cow::Owned(text) });
        }
        // News and errors that Gemini CLI shows its user.
        (Role::Other(_), ShapeName::GeminiCli) => out.push(Piece::NotSaid),
        (Role::Other(name), _) => out.push(human(Some(name), message)),
        _ => out.push(human(message.name.as_deref(), message)),
    }
}

/// What a person says, and before it the results that stand in the same message.
fn human<'a>(name: Option<&'a str>, message: &'a Message<'_>) -> Piece<'a> {
    Piece::Human { name, text: text(&message.content) }
}

/// The results among the parts of a message, and what stands beside them.
pub(super) fn results<'a>(message: &'a Message<'_>, out: &mut Vec<Piece<'a>>) {
    let Content::Parts(parts) = &message.content else { return };
    for result in &message.results {
        let inner = parts.get(result.parts.clone()).unwrap_or_default();
        let call = result.call.as_deref().map(Cow::Borrowed);
        out.push(Piece::Result { call, name: None, text: text_of(inner.iter()) });
    }
    let beside = parts.iter().enumerate().filter(|&(at, _)| message.is_beside_results(at)).map(|(_, part)| part);
    let text = text_of(beside);
    if !text.trim().is_empty() {
        out.push(Piece::Human { name: message.name.as_deref(), text });
    }
}

fn reply<'a>(message: &'a Message<'_>, shape: ShapeName) -> Reply<'a> {
    let body = || member(message.raw, "message").map(|body| body.text).unwrap_or_default();
    let name = || member(body(), "id").and_then(RawJson::string);
    let stops = || member(body(), "stopReason").map(|value| value.text).unwrap_or_default();
    let (thought, said, is_broken_off) = thoughts_first(text(&message.content));
    Reply {
        name: if shape == ShapeName::ClaudeCode { name() } else { None },
        thoughts: thought.into_iter().chain(thoughts(message, &said)).collect(),
        texts: if said.trim().is_empty() { Vec::new() } else { vec![said] },
        calls: message.tool_calls.iter().map(borrowed).flat_map(unpacked).collect(),
        is_cut: is_broken_off || shape == ShapeName::Pi && matches!(stops(), "\"aborted\"" | "\"error\""),
        is_masked: MASKS
            .iter()
            .any(|(key, off)| member(message.raw, key).is_some_and(|value| off.contains(&value.text))),
    }
}

/// What stands in the tags of thoughts before what is said, and whether the last one was broken off: models write it so, and many logs
/// leave it in the text.
fn thoughts_first(text: Cow<'_, str>) -> (Vec<Cow<'_, str>>, Cow<'_, str>, bool) {
    let (mut thoughts, mut rest, mut is_open) = (Vec::new(), &*text, false);
    // Where they do not match once they are not looked at in pairs again.
    let mut are_pairs = true;
    while let Some(inside) = rest.trim_start().strip_prefix(THINK[0]) {
        let end = if are_pairs { end_of_pair(inside) } else { None };
        are_pairs = end.is_some();
        let end = end.or_else(|| inside.find(THINK[1]));
        is_open = end.is_none();
        let (thought, said) = end.and_then(|end| inside.split_at_checked(end)).unwrap_or((inside, ""));
        thoughts.push(thought.trim_matches('\n').to_owned());
        rest = said.strip_prefix(THINK[1]).unwrap_or(said);
    }
    if thoughts.is_empty() {
        return (Vec::new(), text, false);
    }
    let said = rest.trim_start_matches('\n').to_owned();
    let thoughts = thoughts.into_iter().filter(|thought| !thought.trim().is_empty()).map(Cow::Owned);
    (thoughts.collect(), Cow::Owned(said), is_open)
}

/// Where the tag stands that ends a thought, in which others may be.
fn end_of_pair(inside: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, _) in inside.match_indices('<') {
        let tag = inside.split_at(at).1;
        if tag.starts_with(THINK[0]) {
            depth += 1;
        } else if tag.starts_with(THINK[1]) {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}

/// What is thought and not said as well: some programs write the same text twice.
fn thoughts<'a>(message: &'a Message<'_>, said: &str) -> Vec<Cow<'a, str>> {
    let texts = message.reasoning.iter().map(|thought| thought.text.as_ref());
    let said = said.trim();
    let is_said = |text: &str| said.starts_with(text) || said.ends_with(text);
    let texts = texts.filter(|text| !text.trim().is_empty() && !is_said(text.trim()));
    texts.map(Cow::Borrowed).collect()
}

fn borrowed<'a>(call: &'a ToolCall<'_>) -> ToolCall<'a> {
    let text = |text: &'a Option<Cow<'_, str>>| text.as_deref().map(Cow::Borrowed);
    let arguments = Cow::Borrowed(call.arguments.as_ref());
    ToolCall { id: text(&call.id), name: text(&call.name), arguments, place: None }
}

/// Calls that stand as JSON in the text of a turn: `{"name", "arguments"}`, or a list of them.
fn unpacked(call: ToolCall<'_>) -> Vec<ToolCall<'_>> {
    let one = |text: &str| {
        let name = member(text, "name").and_then(RawJson::string)?.into_owned();
        let arguments = member(text, "arguments").or_else(|| member(text, "parameters"))?;
        let arguments = arguments.string().map_or_else(|| arguments.text.to_owned(), Cow::into_owned);
        Some(ToolCall { id: None, name: Some(Cow::Owned(name)), arguments: Cow::Owned(arguments), place: None })
    };
    if call.name.is_some() {
        return vec![call];
    }
    let mut calls = Vec::new();
    match call.arguments.trim_start().as_bytes().first() {
        Some(b'[') => items(&call.arguments, |item| calls.extend(one(item.text))),
        _ => calls.extend(one(&call.arguments)),
    }
    if calls.is_empty() { vec![call] } else { calls }
}

/// A message of the program in the place of a reply: an error of the API.
fn is_program(raw: &str) -> bool {
    member(raw, "isApiErrorMessage").is_some_and(|value| value.text == "true")
        || member(raw, "message")
            .and_then(|body| member(body.text, "model"))
            .is_some_and(|model| model.text == "\"<synthetic>\"")
}

/// A reply of the Gemini CLI holds the results of its calls.
fn gemini<'a>(message: &'a Message<'_>, out: &mut Vec<Piece<'a>>) {
    out.push(Piece::Reply(reply(message, ShapeName::GeminiCli)));
    let Some(calls) = member(message.raw, "toolCalls") else { return };
    items(calls.text, |call| {
        let id = member(call.text, "id").and_then(RawJson::id).map(|id| Cow::Owned(id.into_owned()));
        let mut texts = Vec::new();
        if let Some(result) = member(call.text, "result").filter(|result| result.is_list()) {
            items(result.text, |item| {
                let response = member(item.text, "functionResponse").and_then(|part| member(part.text, "response"));
                let said = response.and_then(|response| {
                    ["output", "error"].into_iter().find_map(|key| member(response.text, key)?.string())
                });
                let raw = || response.map_or_else(|| item.text.to_owned(), |response| response.text.to_owned());
                texts.push(said.map_or_else(raw, Cow::into_owned));
            });
        }
        if !texts.is_empty() {
            out.push(Piece::Result { call: id, name: None, text: Cow::Owned(texts.join("\n")) });
        }
    });
}

/// The texts of a content in order, each on a line of its own; what is no text is named.
pub(super) fn text<'a>(content: &'a Content<'_>) -> Cow<'a, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text.as_ref()),
        Content::Parts(parts) => text_of(parts.iter()),
        Content::Absent | Content::Null | Content::Other => Cow::Borrowed(""),
    }
}

fn text_of<'a>(parts: impl Iterator<Item = &'a Part<'a>>) -> Cow<'a, str> {
    let mut texts: Vec<Cow<'a, str>> = parts.filter_map(part).collect();
    if texts.len() == 1 { texts.remove(0) } else { Cow::Owned(texts.join("\n")) }
}

fn part<'a>(part: &'a Part<'_>) -> Option<Cow<'a, str>> {
    match part {
        Part::Text(text) => Some(Cow::Borrowed(text.as_ref())),
        Part::Media(media) => Some(Cow::Owned(match (&media.name, media.kind) {
            (Some(name), kind) => format!("[{}: {name}]", kind.as_str()),
            (None, MediaKind::File) => "[a file]".to_owned(),
            (None, kind) => format!("[{}]", kind.as_str()),
        })),
        Part::Opaque => None,
    }
}
