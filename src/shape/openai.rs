//! The `openai` shape: `{"messages": [{"role", "content", "tool_calls", …}]}`.

use crate::model::ShapeName;

use super::spec::{Field, Spec};

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Openai,
    list: "messages",
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
    call_role: None,
    fits: |keys| keys.is_empty() || keys.contains(&"role") || keys.contains(&"content"),
    events: None,
};
