//! The `gemini-cli` shape: `{"sessionId", "messages": [{"type", "content", "thoughts", "toolCalls"}]}`. A message with
//! calls holds their results too and stays as it is.

use crate::model::ShapeName;

use super::member::Field;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::GeminiCli,
    lists: &["messages"],
    bare: false,
    keys: &[
        ("type", Field::Role),
        ("content", Field::Content),
        ("toolCalls", Field::ToolCalls),
        ("metadata", Field::Metadata),
        ("id", Field::Id),
    ],
    roles: &[("gemini", "assistant")],
    call_role: None,
    fits: |list| list.has("type") && list.has("content") && !list.has("role"),
    events: None,
};
