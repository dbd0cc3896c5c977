//! The `anthropic` shape: `{"system", "messages": [{"role", "content": string | [blocks]}]}`. Blocks of every shape are
//! read alike (`blocks.rs`); this one is told by having them. `system` is no message and stays where it is.

use crate::model::ShapeName;

use super::openai;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Anthropic,
    lists: &["messages"],
    bare: false,
    keys: openai::SPEC.keys,
    roles: &[],
    call_role: None,
    fits: |list| list.has_blocks && list.has("role"),
    events: None,
};
