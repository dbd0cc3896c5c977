//! From slices to a conversation: roles, contents, calls and provenance. Borrows wherever nothing is escaped.

use std::borrow::Cow;

use crate::model::{Content, Conversation, Message, PROVENANCE_KEY, Part, Provenance, Role, ToolCall};

use super::index::Index;
use super::json::{Kind, Raw, items, member, members};
use super::spec::Field;

/// Content parts that hold plain text under `text`; the last two are names of the Responses API.
const TEXT_PARTS: [&str; 3] = ["text", "input_text", "output_text"];

/// The conversation of a record.
pub(super) fn conversation<'r>(index: &Index<'r>, fallback_id: &str) -> Conversation<'r> {
    let id = index.id.and_then(|at| index.head.get(at)?.value.id());
    Conversation {
        id: id.unwrap_or_else(|| Cow::Owned(fallback_id.to_owned())),
        messages: (0..index.messages.len()).map(|at| message(index, at)).collect(),
    }
}

fn message<'r>(index: &Index<'r>, at: usize) -> Message<'r> {
    let mut message = Message {
        raw: index.messages.get(at).copied().unwrap_or_default(),
        id: None,
        role: Role::Missing,
        name: None,
        content: Content::Absent,
        tool_calls: Vec::new(),
        tool_call_id: None,
        provenance: None,
    };
    for member in index.members(at) {
        let value = member.value;
        match member.field {
            Field::Id => message.id = value.id(),
            Field::Role => message.role = value.string().map_or(Role::Missing, role),
            Field::Content => message.content = content(value),
            Field::Name => message.name = value.string(),
            Field::ToolCalls => tool_calls(value, &mut message.tool_calls),
            Field::FunctionCall if value.kind == Kind::Object => message.tool_calls.push(function(value, None)),
            Field::ToolCallId => message.tool_call_id = value.id(),
            Field::Metadata => message.provenance = provenance(value),
            Field::FunctionCall | Field::Other | Field::Shadowed => {}
        }
    }
    if let Some(form) = index.form(at) {
        if let (Role::Missing, Some(implied)) = (&message.role, form.role) {
            message.role = role(Cow::Borrowed(implied));
        }
        (form.finish)(&mut message, index.members(at));
    }
    if index.spec.call_role.is_some_and(|call| message.role.as_str() == call) {
        message.role = Role::Assistant;
        if let Content::Text(arguments) = std::mem::replace(&mut message.content, Content::Null) {
            message.tool_calls.push(ToolCall { id: None, name: None, arguments });
        }
    }
    message
}

fn role(name: Cow<'_, str>) -> Role<'_> {
    match name.as_ref() {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" | "human" => Role::User,
        "assistant" | "gpt" | "model" => Role::Assistant,
        "tool" | "observation" => Role::Tool,
        "function" => Role::Function,
        _ => Role::Other(name),
    }
}

fn content(value: Raw<'_>) -> Content<'_> {
    match value.kind {
        Kind::Null => Content::Null,
        Kind::Text => value.string().map_or(Content::Other, Content::Text),
        Kind::List => {
            let mut parts = Vec::new();
            items(value.text, |item| {
                parts.push(part_text(item).and_then(Raw::string).map_or(Part::Opaque, Part::Text));
            });
            Content::Parts(parts)
        }
        Kind::Bool | Kind::Number | Kind::Object => Content::Other,
    }
}

/// The string that a text part of a content list holds; `None` for other parts.
pub(super) fn part_text(item: Raw<'_>) -> Option<Raw<'_>> {
    if item.kind == Kind::Text {
        return Some(item);
    }
    let (mut kind, mut text) = (None, None);
    members(item.text, |key, value| match key.name.as_ref() {
        "type" => kind = Some(value),
        "text" => text = Some(value),
        _ => {}
    });
    let is_text = kind.and_then(Raw::string).is_some_and(|kind| TEXT_PARTS.contains(&kind.as_ref()));
    text.filter(|text| is_text && text.kind == Kind::Text)
}

fn tool_calls<'r>(value: Raw<'r>, calls: &mut Vec<ToolCall<'r>>) {
    match value.kind {
        Kind::List => items(value.text, |item| calls.push(tool_call(item))),
        Kind::Object => calls.push(tool_call(value)),
        Kind::Null | Kind::Bool | Kind::Number | Kind::Text => {}
    }
}

/// `{"id", "function": {"name", "arguments"}}`, or the same without the inner object.
fn tool_call(item: Raw<'_>) -> ToolCall<'_> {
    let (mut id, mut inner) = (None, None);
    members(item.text, |key, value| match key.name.as_ref() {
        "id" => id = value.id(),
        "function" if value.kind == Kind::Object => inner = Some(value),
        _ => {}
    });
    function(inner.unwrap_or(item), id)
}

fn function<'r>(value: Raw<'r>, id: Option<Cow<'r, str>>) -> ToolCall<'r> {
    let mut call = ToolCall { id, name: None, arguments: Cow::Borrowed("") };
    members(value.text, |key, value| match key.name.as_ref() {
        "name" => call.name = value.string(),
        "arguments" => call.arguments = value.string().unwrap_or(Cow::Borrowed(value.text)),
        _ => {}
    });
    call
}

/// `_cce_original` of a metadata object; `None` when it names no message.
pub(super) fn provenance(metadata: Raw<'_>) -> Option<Provenance> {
    let original = member(metadata.text, PROVENANCE_KEY)?;
    let mut found = Provenance { ids: Vec::new(), summary_id: String::new(), parent_ids: Vec::new(), version: 0 };
    members(original.text, |key, value| match key.name.as_ref() {
        "ids" => found.ids = ids(value),
        "summary_id" => found.summary_id = value.id().unwrap_or_default().into_owned(),
        "parent_ids" => found.parent_ids = ids(value),
        "version" => found.version = value.text.parse().unwrap_or_default(),
        _ => {}
    });
    (!found.ids.is_empty()).then_some(found)
}

fn ids(value: Raw<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    // An id of a strange type is named by its JSON: left out, its message would be taken for restored.
    items(value.text, |item| ids.push(item.id().unwrap_or(Cow::Borrowed(item.text)).into_owned()));
    ids
}
