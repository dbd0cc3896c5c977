//! The `sharegpt` shape: `{"conversations": [{"from", "value"}]}`; a turn from `function_call` is a call. Turns of `role`
//! and `content` are read too.

use crate::model::ShapeName;

use super::member::Field;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Sharegpt,
    lists: &["conversations"],
    bare: false,
    keys: &[
        ("from", Field::Role),
        ("value", Field::Content),
        // Many data sets keep the list's name and write the turns as everybody else does.
        ("role", Field::Role),
        ("content", Field::Content),
        ("name", Field::Name),
        ("tool_calls", Field::ToolCalls),
        ("tool_call_id", Field::ToolCallId),
        ("metadata", Field::Metadata),
        ("id", Field::Id),
    ],
    roles: &[],
    call_role: Some("function_call"),
    fits: |list| list.may_have("from") || list.has("role"),
    events: None,
};
