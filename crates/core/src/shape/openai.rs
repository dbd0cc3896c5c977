//! The `openai` shape: `{"messages": [{"role", "content", "tool_calls", …}]}`. Benchmarks write the same messages under
//! other names: `traj` (tau), `input` (data sets of Inspect).

use crate::model::ShapeName;

use super::member::Field;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Openai,
    lists: &["messages", "traj", "input"],
    bare: false,
    keys: &[
        ("role", Field::Role),
        ("content", Field::Content),
        ("name", Field::Name),
        ("tool_calls", Field::ToolCalls),
        ("tool_call_id", Field::ToolCallId),
        ("function_call", Field::FunctionCall),
        ("metadata", Field::Metadata),
        ("id", Field::Id),
    ],
    roles: &[],
    call_role: None,
    fits: |list| list.may_have("role") || list.has("content") && !list.has("type") && !list.has("speaker"),
    events: None,
};
