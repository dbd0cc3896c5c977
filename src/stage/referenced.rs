//! References of earlier rounds: the message that one points at stays, in this round too.

use super::dedup::MIN_CHARS;
use super::{Plan, Stage, View};
use crate::model::{Reason, marker};

/// Without ids the message that an earlier reference means is known by its length only; a near duplicate's may
/// differ by this much.
const MIN_LENGTH_RATIO: f64 = 0.7;

/// Keeps what references of earlier rounds point at.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeepReferenced;

impl Stage for KeepReferenced {
    fn name(&self) -> &'static str {
        "keep-referenced"
    }

    fn needs_text(&self) -> bool {
        false
    }

    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let references: Vec<(&str, usize, bool)> = view
            .conversation
            .messages
            .iter()
            .flat_map(|message| message.texts())
            .filter(|text| text.starts_with("[cce:"))
            .filter_map(|text| marker::referred(text).map(|(id, n_chars)| (id, n_chars, text.starts_with("[cce:dup"))))
            .collect();
        if references.is_empty() {
            return;
        }
        for index in plan.free().collect::<Vec<_>>() {
            let id = view.conversation.messages[index].id.as_deref();
            let n_chars = view.chars(index);
            let is_meant = |&(named, length, exact): &(&str, usize, bool)| match id {
                Some(id) => id == named,
                None if exact => n_chars == length,
                None => n_chars >= MIN_CHARS && ratio(n_chars, length) >= MIN_LENGTH_RATIO,
            };
            if references.iter().any(is_meant) {
                plan.keep(index, Reason::DuplicateTarget);
            }
        }
    }
}

fn ratio(a: usize, b: usize) -> f64 {
    a.min(b) as f64 / a.max(b).max(1) as f64
}
