//! Who says the parts of a message, and what it thinks: what stands beside the results in it is a person's. Knows messages and their parts;
//! refuses to know roles.

use super::calls::Asked;
use super::uses::{SaidBy, Texts};
use crate::model::Message;

/// Who says a part of a message that `by` says: beside results stands what a person says.
pub(super) fn who_says(message: &Message<'_>, part: usize, by: SaidBy) -> SaidBy {
    if by == SaidBy::Result && message.is_beside_results(part) { SaidBy::Human } else { by }
}

/// True when a person says something in a message that `by` says.
pub(super) fn has_human(message: &Message<'_>, by: SaidBy) -> bool {
    let is_human = |part: usize| message.text_at(part).is_some() && message.is_beside_results(part);
    by == SaidBy::Human || by == SaidBy::Result && (0..message.n_parts()).any(is_human)
}

/// Takes the texts of a message that somebody says, as `says` tells for each part, and the arguments.
pub(super) fn push(
    texts: &mut Texts,
    asked: &mut Asked,
    index: usize,
    message: &Message<'_>,
    says: impl Fn(usize) -> Option<SaidBy>,
) {
    if says(0) == Some(SaidBy::Assistant) {
        for (number, thought) in message.reasoning.iter().enumerate() {
            texts.push(index, number, SaidBy::Thought, &thought.text);
        }
    }
    for part in 0..message.n_parts() {
        if let (Some(text), Some(by)) = (message.text_at(part), says(part)) {
            texts.push(index, part, by, text);
        }
    }
    asked.push(message, &mut |number, key, text| {
        let by = if is_copied(key) { SaidBy::Copied } else { SaidBy::Argument };
        texts.push(index, number, by, text);
    });
}

/// True for arguments that must repeat a text exactly.
fn is_copied(key: &str) -> bool {
    let starts = |head: &str| key.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head));
    ["old", "search", "find"].into_iter().any(starts)
}
