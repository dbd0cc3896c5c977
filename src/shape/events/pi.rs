//! The `pi` shape: session files of the pi coding agent. The first event is the header of the session; events of the type
//! `message` hold messages, whose calls are parts of their content.

use std::borrow::Cow;

use crate::model::{Message, Role, ShapeName, ToolCall};
use crate::shape::index::Member;
use crate::shape::json::{Kind, Raw, items, members};
use crate::shape::spec::{Field, Spec};

use super::{Event, EventSpec, Form, Keys, spec};

pub(in crate::shape) const SPEC: Spec =
    spec(ShapeName::Pi, &EventSpec { carriers: &["message"], body: "message", form, id, fits });

const OUTER: &[(&str, Field)] = &[("id", Field::Id), ("metadata", Field::Metadata)];

static MESSAGE: Form = Form {
    role: None,
    outer: OUTER,
    body: Some(&[
        ("role", Field::Role),
        ("content", Field::Content),
        ("toolCallId", Field::ToolCallId),
        ("toolName", Field::Name),
    ]),
    finish,
};
/// A command that the user ran.
static COMMAND: Form =
    Form { role: None, outer: OUTER, body: Some(&[("role", Field::Role), ("output", Field::Content)]), finish };

fn form(event: &Event<'_, '_>) -> Option<&'static Form> {
    match event.body_string("role").as_deref() {
        Some("bashExecution") => Some(&COMMAND),
        Some(_) => Some(&MESSAGE),
        None => None,
    }
}

fn id<'r>(event: &Event<'_, 'r>) -> Option<Raw<'r>> {
    event.outer_text("id").filter(|_| event.kind().as_deref() == Some("session"))
}

fn fits(keys: &Keys<'_>) -> bool {
    let header = keys.is("session") && keys.has("id", Kind::Text) && keys.has("cwd", Kind::Text);
    header || (keys.is("message") && keys.has("timestamp", Kind::Text) && keys.has("message", Kind::Object))
}

fn finish<'r>(message: &mut Message<'r>, found: &[Member<'r>]) {
    if message.role.as_str() == "toolResult" {
        message.role = Role::Tool;
    }
    let content = found.iter().find(|member| member.field == Field::Content && member.value.kind == Kind::List);
    items(content.map_or("", |content| content.value.text), |item| message.tool_calls.extend(call(item)));
}

/// `{"type": "toolCall", "id", "name", "arguments"}`.
fn call(part: Raw<'_>) -> Option<ToolCall<'_>> {
    let (mut is_call, mut call) = (false, ToolCall { id: None, name: None, arguments: Cow::Borrowed("") });
    members(part.text, |key, value| match key.name.as_ref() {
        "type" => is_call = value.string().as_deref() == Some("toolCall"),
        "id" => call.id = value.id(),
        "name" => call.name = value.string(),
        "arguments" => call.arguments = value.string().unwrap_or(Cow::Borrowed(value.text)),
        _ => {}
    });
    is_call.then_some(call)
}
