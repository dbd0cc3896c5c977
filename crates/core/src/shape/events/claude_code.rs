//! The `claude-code` shape: one event per line, grouped by `sessionId`. Events of the types `user` and `assistant` hold a
//! message of the Messages API in `message`; those of subagents (`isSidechain`) and of the program (`isMeta`) too.

use crate::model::ShapeName;
use crate::shape::json::{Kind, Raw};
use crate::shape::member::Field;
use crate::shape::spec::Spec;

use super::event::{Event, EventSpec, Form, Keys, nothing};

pub(in crate::shape) const SPEC: Spec = Spec::of_events(
    ShapeName::ClaudeCode,
    &EventSpec { carriers: &["user", "assistant"], body: "message", form, id, fits },
);

static MESSAGE: Form = Form {
    role: None,
    // The id inside the message names a reply, whose blocks stand in several events.
    outer: &[("uuid", Field::Id), ("metadata", Field::Metadata)],
    body: Some(&[("role", Field::Role), ("content", Field::Content)]),
    finish: nothing,
};

fn form(event: &Event<'_, '_>) -> Option<&'static Form> {
    event.body_string("role").map(|_| &MESSAGE)
}

fn id<'r>(event: &Event<'_, 'r>) -> Option<Raw<'r>> {
    event.outer_text("sessionId")
}

fn fits(keys: &Keys<'_>) -> bool {
    let has = |name: &str, kind: Kind| keys.has(name, kind);
    let chained = has("isSidechain", Kind::Bool) && (has("parentUuid", Kind::Text) || has("parentUuid", Kind::Null));
    chained
        || (has("type", Kind::Text) && has("sessionId", Kind::Text))
        || (keys.is("summary") && has("leafUuid", Kind::Text))
        || (keys.is("file-history-snapshot") && has("snapshot", Kind::Object))
}
