//! The `cce` shape: messages with `id`, `index` and `metadata`, in a record or as the record itself.

use crate::model::ShapeName;

use super::openai;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Cce,
    lists: &["messages"],
    bare: true,
    keys: openai::SPEC.keys,
    roles: &[],
    call_role: None,
    fits: |list| list.has("id") && list.has("index"),
    events: None,
};
