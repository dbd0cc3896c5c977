//! The `swe-agent` shape: trajectories with the conversation in `history`; `trajectory` tells the same steps again and
//! stays as it is.

use crate::model::ShapeName;

use super::member::Field;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::SweAgent,
    lists: &["history"],
    bare: false,
    keys: &[
        ("role", Field::Role),
        ("content", Field::Content),
        ("tool_calls", Field::ToolCalls),
        // A list; the first of them is the call that is answered.
        ("tool_call_ids", Field::ToolCallId),
        ("tool_call_id", Field::ToolCallId),
        ("name", Field::Name),
        ("metadata", Field::Metadata),
        ("id", Field::Id),
    ],
    roles: &[],
    call_role: None,
    fits: |list| list.has("role") && list.has("content"),
    events: None,
};
