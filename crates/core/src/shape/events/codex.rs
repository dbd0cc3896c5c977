//! The `codex` shape: rollout events `{"timestamp", "type", "payload"}`. A `response_item` is what the model read or wrote;
//! `event_msg` repeats much of it for the screen and passes through, as do contexts and hidden reasoning.

use std::borrow::Cow;

use crate::model::{Content, Message, ShapeName, ToolCall};
use crate::shape::json::{Kind, Raw, Scanner, member, members};
use crate::shape::member::{Field, Member};
use crate::shape::spec::Spec;

use super::event::{Event, EventSpec, Form, Keys, last, nothing};

pub(in crate::shape) const SPEC: Spec =
    Spec::of_events(ShapeName::Codex, &EventSpec { carriers: &["response_item"], body: "payload", form, id, fits });

const OUTER: &[(&str, Field)] = &[("metadata", Field::Metadata)];

static MESSAGE: Form = Form {
    role: None,
    outer: OUTER,
    body: Some(&[("role", Field::Role), ("content", Field::Content), ("id", Field::Id)]),
    finish: nothing,
};
static CALL: Form = Form { role: Some("assistant"), outer: OUTER, body: None, finish: call };
static OUTPUT: Form = Form {
    role: Some("tool"),
    outer: OUTER,
    body: Some(&[("call_id", Field::ToolCallId), ("output", Field::Content)]),
    finish: output,
};

fn form(event: &Event<'_, '_>) -> Option<&'static Form> {
    match event.body_string("type").as_deref() {
        Some("message") => Some(&MESSAGE),
        Some("function_call" | "custom_tool_call" | "local_shell_call") => Some(&CALL),
        Some("function_call_output" | "custom_tool_call_output") => Some(&OUTPUT),
        _ => None,
    }
}

fn id<'r>(event: &Event<'_, 'r>) -> Option<Raw<'r>> {
    if event.kind().as_deref() != Some("session_meta") {
        return None;
    }
    let payload = last(event.outer, "payload")?;
    member(payload.text, "id")
}

fn fits(keys: &Keys<'_>) -> bool {
    let known = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
    keys.has("payload", Kind::Object) && known.into_iter().any(|kind| keys.is(kind))
}

/// `{"call_id", "name", "arguments"}`; custom tools have `input`, the local shell has `action`.
fn call<'r>(message: &mut Message<'r>, found: &[Member<'r>]) {
    let Some(body) = found.iter().find(|member| member.field == Field::ToolCalls) else { return };
    let (mut id, mut call) = (None, ToolCall { id: None, name: None, arguments: Cow::Borrowed("") });
    members(body.value.text, |key, value| match key.name.as_ref() {
        "call_id" => call.id = value.id(),
        "id" => id = value.id(),
        "name" => call.name = value.string(),
        "arguments" | "input" | "action" => {
            call.arguments = value.string().unwrap_or(Cow::Borrowed(value.text));
        }
        _ => {}
    });
    call.id = call.id.or(id);
    message.tool_calls = vec![call];
}

/// JSON text that holds the output among other things stays as it is: programs read it.
fn output<'r>(message: &mut Message<'r>, _members: &[Member<'r>]) {
    if let Content::Text(text) = &message.content
        && is_wrapped(text)
    {
        message.content = Content::Other;
    }
}

fn is_wrapped(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    let mut wrapped = false;
    if !text.trim_start().starts_with('{') || scanner.peek().is_err() {
        return false;
    }
    let read = scanner.object(|scanner, key| {
        wrapped |= key.name == "output";
        scanner.value().map(|_| ())
    });
    wrapped && read.is_ok() && scanner.end().is_ok()
}
