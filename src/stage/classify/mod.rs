//! PLACEHOLDER being written.

use crate::model::Reason;
use crate::text::TextView;

/// The hard and soft reasons of a text, in reporting order. Any hard one keeps the message as it is.
#[must_use]
pub fn classify(view: &TextView<'_>) -> Vec<Reason> {
    let _ = view;
    Vec::new()
}
