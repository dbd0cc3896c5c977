//! PLACEHOLDER being written.

use crate::model::Reason;
use crate::text::TextView;

/// The hard and soft reasons of a text, in reporting order. Any hard one keeps the message as it is.
#[must_use]
pub fn classify(view: &TextView<'_>) -> Vec<Reason> {
    let _ = view;
    Vec::new()
}

/// True for tool output of at least six lines of which more than half are structured.
#[must_use]
pub fn is_structured_output(view: &TextView<'_>) -> bool {
    let _ = view;
    false
}
