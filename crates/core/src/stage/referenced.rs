//! References of earlier rounds: the message that one points at stays, in this round too.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::dedup::MIN_CHARS;
use super::{Plan, Stage, View};
use crate::model::{Message, Reason, marker};

/// Without ids the message that an earlier reference means is known by its length only; a near duplicate's may
/// differ by this much.
const MIN_LENGTH_RATIO: f64 = 0.7;

/// Keeps what references of earlier rounds point at.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeepReferenced;

impl Stage for KeepReferenced {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let Some(meant) = Meant::by(view) else { return };
        for index in plan.free().collect::<Vec<_>>() {
            let id = view.conversation.messages[index].id.as_deref();
            if id.is_some_and(|id| meant.ids.contains(id)) || meant.has_length(view.chars(index)) {
                plan.keep(index, Reason::DuplicateTarget);
            }
        }
    }
}

/// What the references of a conversation point at.
#[derive(Default)]
struct Meant<'a> {
    ids: HashSet<&'a str, FixedState>,
    /// Lengths, sorted, where the name is none of the conversation's ids.
    exact: Vec<usize>,
    near: Vec<usize>,
}

impl<'a> Meant<'a> {
    fn by(view: &View<'a>) -> Option<Self> {
        let texts = || view.conversation.messages.iter().flat_map(Message::texts);
        // The length says nothing of a correction.
        let correction = |text: &'a str| Some((marker::superseded_by(text)?, 0));
        let mut references = texts()
            .filter(|text| text.starts_with("[cce:"))
            .filter_map(|text| Some((text, marker::referred(text).or_else(|| correction(text))?)))
            .peekable();
        references.peek()?;
        let known: HashSet<&str, FixedState> =
            view.conversation.messages.iter().filter_map(|message| message.id.as_deref()).collect();
        let mut meant = Self::default();
        for (text, (id, length)) in references {
            if known.contains(id) {
                meant.ids.insert(id);
            } else if text.starts_with(marker::SUPERSEDED) {
                // `Supersede` keeps every correction while such a reference is there.
            } else if text.starts_with("[cce:dup") {
                meant.exact.push(length);
            } else {
                meant.near.push(length);
            }
        }
        meant.exact.sort_unstable();
        meant.near.sort_unstable();
        Some(meant)
    }

    fn has_length(&self, n_chars: usize) -> bool {
        let shortest = (n_chars as f64 * MIN_LENGTH_RATIO) as usize;
        let longest = (n_chars as f64 / MIN_LENGTH_RATIO) as usize;
        let at = self.near.partition_point(|&length| length < shortest);
        let is_near = n_chars >= MIN_CHARS && self.near.get(at).is_some_and(|&length| length <= longest);
        is_near || self.exact.binary_search(&n_chars).is_ok()
    }
}
