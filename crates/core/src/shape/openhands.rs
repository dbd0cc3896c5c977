//! The `openhands` shape: events under `history`. Actions are calls and stay; observations are tool results. Events of
//! other kinds (a change of state, a recall) are messages of their source.

use crate::model::ShapeName;

use super::member::Field;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Openhands,
    lists: &["history"],
    bare: false,
    keys: &[
        ("source", Field::Role),
        ("content", Field::Content),
        ("message", Field::Content),
        ("action", Field::CallName),
        ("args", Field::CallArguments),
        ("observation", Field::Observation),
        ("cause", Field::ToolCallId),
        ("metadata", Field::Metadata),
        ("id", Field::Id),
    ],
    roles: &[("agent", "assistant"), ("environment", "tool")],
    call_role: None,
    fits: |list| list.has("source") && (list.has("action") || list.has("observation")),
    events: None,
};
