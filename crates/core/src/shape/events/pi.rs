//! The `pi` shape: session files of the pi coding agent. The first event is the header of the session; events of the type
//! `message` hold messages, whose calls are parts of their content.

use crate::model::ShapeName;
use crate::shape::json::{Kind, Raw};
use crate::shape::member::Field;
use crate::shape::spec::Spec;

use super::event::{Event, EventSpec, Form, Keys, nothing};

pub(in crate::shape) const SPEC: Spec =
    Spec::of_events(ShapeName::Pi, &EventSpec { carriers: &["message"], body: "message", form, id, fits });

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
    finish: nothing,
};
/// A command that the user ran.
static COMMAND: Form = Form {
    role: None,
    outer: OUTER,
    body: Some(&[("role", Field::Role), ("output", Field::Content)]),
    finish: nothing,
};

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
