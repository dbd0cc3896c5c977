//! Rule 7, exact: messages with the same text become references to one of them, which stays.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::{Claim, Plan, Stage, View};
use crate::model::{EngineOptions, Reason};

/// Shorter texts are not worth a reference.
pub(super) const MIN_CHARS: usize = 200;

/// Claims exact duplicates and pins the message that they refer to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dedup;

impl Stage for Dedup {
    fn name(&self) -> &'static str {
        "dedup"
    }

    fn is_on(&self, options: &EngineOptions) -> bool {
        options.dedup
    }

    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        if !self.is_on(view.options) {
            return;
        }
        let hasher = FixedState::default();
        let mut hashed: Vec<(u64, usize)> = (0..view.len())
            .filter(|&index| is_eligible(view, plan, index))
            .filter_map(|index| Some((hasher.hash_one(view.text(index)?.text), index)))
            .collect();
        hashed.sort_unstable();
        for run in hashed.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            let mut rest: Vec<usize> = run.iter().map(|&(_, index)| index).collect();
            while let Some(&first) = rest.first() {
                let text = view.text(first).map(|text| text.text);
                let (same, other): (Vec<usize>, Vec<usize>) =
                    rest.into_iter().partition(|&index| view.text(index).map(|text| text.text) == text);
                claim_all(view, plan, &same);
                rest = other;
            }
        }
    }
}

/// The first one in the recency window stays, else the last one.
fn claim_all(view: &View<'_>, plan: &mut Plan, same: &[usize]) {
    let recent = same.iter().copied().find(|&index| index >= view.recency_start);
    let Some(target) = recent.or_else(|| same.last().copied()).filter(|_| same.len() > 1) else { return };
    plan.keep(target, Reason::DuplicateTarget);
    for &index in same.iter().filter(|&&index| index != target) {
        if plan.is_free(index) {
            plan.set(index, Claim::DuplicateOf(target));
        }
    }
}

/// Free messages with one long text, and those that are kept for their place or a pattern: they can be referred to.
pub(super) fn is_eligible(view: &View<'_>, plan: &Plan, index: usize) -> bool {
    let open = match plan.claim_of(index) {
        None => true,
        Some(Claim::Keep(reason)) => {
            matches!(reason, Reason::RecencyWindow | Reason::DuplicateTarget | Reason::Pattern)
        }
        Some(_) => false,
    };
    open && view.conversation.messages[index].tool_calls.is_empty()
        && view.text(index).is_some_and(|text| text.counts.chars as usize >= MIN_CHARS)
}
