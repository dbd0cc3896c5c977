//! The programs whose event logs are read: what their events look like, where these have their messages. A new program is
//! its `Spec` here and its name in `ShapeName`.

use crate::model::{Content, Message, ShapeName, ToolCall};
use crate::shape::json::{Kind, Raw, Scanner, items, member, members};
use crate::shape::member::{Field, Member, take_arguments};
use crate::shape::spec::Spec;

use super::event::{Event, EventSpec, Form, Inner, last};

/// In the order in which they are tried.
pub(in crate::shape) static SPECS: [Spec; 4] = [
    // Rollout events `{"timestamp", "type", "payload"}`. A `response_item` is what the model read or wrote; `event_msg`
    // repeats much of it for the screen and passes through, as do contexts and hidden reasoning.
    Spec::of_events(
        ShapeName::Codex,
        &EventSpec {
            carriers: &["response_item"],
            body: "payload",
            form: codex,
            id: |event| {
                let payload = last(event.outer, "payload").filter(|_| event.is("session_meta"))?;
                member(payload.text, "id")
            },
            fits: |keys| {
                let known = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
                keys.has("payload", Kind::Object) && known.into_iter().any(|kind| keys.is(kind))
            },
        },
    ),
    // Events of the types `user` and `assistant` hold a message of the Messages API in `message`; those of subagents
    // (`isSidechain`) and of the program (`isMeta`) too.
    Spec::of_events(
        ShapeName::ClaudeCode,
        &EventSpec {
            carriers: &["user", "assistant"],
            body: "message",
            form: |event| event.body_string("role").map(|_| &CLAUDE_CODE),
            id: |event| event.outer_text("sessionId"),
            fits: |keys| {
                let parent = || keys.has("parentUuid", Kind::Text) || keys.has("parentUuid", Kind::Null);
                (keys.has("isSidechain", Kind::Bool) && parent())
                    || (keys.has("type", Kind::Text) && keys.has("sessionId", Kind::Text))
                    || (keys.is("summary") && keys.has("leafUuid", Kind::Text))
                    || (keys.is("file-history-snapshot") && keys.has("snapshot", Kind::Object))
            },
        },
    ),
    // Events `{"type", "data", "id", "timestamp", "parentId"}`. What the user sees of a result stands beside what the model
    // reads, in `detailedContent`, and passes through, as do beginnings and ends of turns and of tools.
    Spec::of_events(
        ShapeName::CopilotCli,
        &EventSpec {
            carriers: &["system.message", "user.message", "assistant.message", "tool.execution_complete"],
            body: "data",
            form: copilot,
            id: |event| {
                let data = last(event.outer, "data").filter(|_| event.is("session.start"))?;
                member(data.text, "sessionId")
            },
            fits: |keys| {
                // Other programs have events of users and sessions, too.
                let known = [
                    "session.start",
                    "session.resume",
                    "session.info",
                    "session.model_change",
                    "system.message",
                    "user.message",
                    "assistant.turn_start",
                    "assistant.message",
                    "tool.execution_start",
                    "tool.execution_complete",
                ];
                known.into_iter().any(|kind| keys.is(kind)) && keys.has("data", Kind::Object)
            },
        },
    ),
    // The first event is the header of the session; events of the type `message` hold messages, whose calls are parts of
    // their content.
    Spec::of_events(
        ShapeName::Pi,
        &EventSpec {
            carriers: &["message"],
            body: "message",
            form: pi,
            id: |event| event.outer_text("id").filter(|_| event.is("session")),
            fits: |keys| {
                let header = keys.is("session") && keys.has("id", Kind::Text) && keys.has("cwd", Kind::Text);
                header || (keys.is("message") && keys.has("timestamp", Kind::Text) && keys.has("message", Kind::Object))
            },
        },
    ),
];

const USUAL: Form =
    Form { role: None, outer: &[("metadata", Field::Metadata)], body: None, inner: None, finish: |_, _| {} };

static CLAUDE_CODE: Form = Form {
    // The id inside the message names a reply, whose blocks stand in several events.
    outer: &[("uuid", Field::Id), ("metadata", Field::Metadata)],
    body: Some(&[("role", Field::Role), ("content", Field::Content)]),
    ..USUAL
};

static CODEX_MESSAGE: Form =
    Form { body: Some(&[("role", Field::Role), ("content", Field::Content), ("id", Field::Id)]), ..USUAL };
static CODEX_CALL: Form = Form { role: Some("assistant"), finish: call, ..USUAL };
static CODEX_OUTPUT: Form = Form {
    role: Some("tool"),
    body: Some(&[("call_id", Field::ToolCallId), ("output", Field::Content)]),
    finish: output,
    ..USUAL
};

const PI: Form = Form { outer: &[("id", Field::Id), ("metadata", Field::Metadata)], ..USUAL };
static PI_MESSAGE: Form = Form {
    body: Some(&[
        ("role", Field::Role),
        ("content", Field::Content),
        ("toolCallId", Field::ToolCallId),
        ("toolName", Field::Name),
    ]),
    ..PI
};
/// A command that the user ran.
static PI_COMMAND: Form = Form { body: Some(&[("role", Field::Role), ("output", Field::Content)]), ..PI };

fn codex(event: &Event<'_, '_>) -> Option<&'static Form> {
    match event.body_string("type").as_deref() {
        Some("message") => Some(&CODEX_MESSAGE),
        Some("function_call" | "custom_tool_call" | "local_shell_call") => Some(&CODEX_CALL),
        Some("function_call_output" | "custom_tool_call_output") => Some(&CODEX_OUTPUT),
        _ => None,
    }
}

const COPILOT: Form = Form { outer: &[("id", Field::Id), ("metadata", Field::Metadata)], ..USUAL };
const COPILOT_TEXT: &[(&str, Field)] = &[("role", Field::Role), ("content", Field::Content)];
static COPILOT_SYSTEM: Form = Form { role: Some("system"), body: Some(COPILOT_TEXT), ..COPILOT };
static COPILOT_USER: Form = Form { role: Some("user"), body: Some(COPILOT_TEXT), ..COPILOT };
static COPILOT_ASSISTANT: Form = Form {
    role: Some("assistant"),
    body: Some(&[("content", Field::Content), ("toolRequests", Field::ToolCalls)]),
    finish: requests,
    ..COPILOT
};
/// A result is a text, or an object that has one.
static COPILOT_RESULT: Form = Form {
    role: Some("tool"),
    body: Some(&[("toolCallId", Field::ToolCallId), ("result", Field::Content)]),
    inner: Some(Inner { key: "result", parent: "data.result", keys: &[("content", Field::Content)] }),
    ..COPILOT
};
/// A tool that failed says why.
static COPILOT_ERROR: Form = Form {
    role: Some("tool"),
    body: Some(&[("toolCallId", Field::ToolCallId)]),
    inner: Some(Inner { key: "error", parent: "data.error", keys: &[("message", Field::Content)] }),
    ..COPILOT
};

fn copilot(event: &Event<'_, '_>) -> Option<&'static Form> {
    match event.kind()?.as_ref() {
        "system.message" => Some(&COPILOT_SYSTEM),
        "user.message" => Some(&COPILOT_USER),
        "assistant.message" => Some(&COPILOT_ASSISTANT),
        "tool.execution_complete" if last(event.body, "result").is_none() && last(event.body, "error").is_some() => {
            Some(&COPILOT_ERROR)
        }
        "tool.execution_complete" => Some(&COPILOT_RESULT),
        _ => None,
    }
}

/// Calls have their ids under a name of their own.
fn requests<'r>(message: &mut Message<'r>, found: &[Member<'r>]) {
    let Some(list) = found.iter().find(|member| member.field == Field::ToolCalls) else { return };
    let mut calls = message.tool_calls.iter_mut();
    items(list.value.text, |request| {
        if let Some(call) = calls.next() {
            call.id = member(request.text, "toolCallId").and_then(Raw::id).or(call.id.take());
        }
    });
}

fn pi(event: &Event<'_, '_>) -> Option<&'static Form> {
    let role = event.body_string("role")?;
    Some(if role == "bashExecution" { &PI_COMMAND } else { &PI_MESSAGE })
}

/// `{"call_id", "name", "arguments"}`; custom tools have `input`, the local shell has `action`.
fn call<'r>(message: &mut Message<'r>, found: &[Member<'r>]) {
    let Some(body) = found.iter().find(|member| member.field == Field::ToolCalls) else { return };
    let (mut id, mut call) = (None, ToolCall::default());
    members(body.value.text, |key, value| match key.name.as_ref() {
        "call_id" => call.id = value.id(),
        "id" => id = value.id(),
        "name" => call.name = value.string(),
        "arguments" | "input" | "action" => {
            take_arguments(&mut call, value);
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
