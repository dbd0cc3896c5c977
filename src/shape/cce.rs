//! The `cce` shape: messages with `id`, `index` and `metadata`, in a record or as the record itself.

use crate::model::ShapeName;

use super::openai;
use super::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Cce,
    list: "messages",
    bare: true,
    keys: openai::SPEC.keys,
    call_role: None,
    fits: |keys| keys.contains(&"id") && keys.contains(&"index"),
    events: None,
};
