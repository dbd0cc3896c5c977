//! Rule 7, exact: messages with the same text become references to one of them, which stays, where that is shorter than
//! compressing each by itself.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::{Claim, Plan, Stage, View};
use crate::model::{KeepCopy, Reason};

/// Shorter texts are not worth a reference.
pub(super) const MIN_CHARS: usize = 200;
/// About what a reference takes.
pub(super) const REFERENCE_CHARS: usize = 100;

type Chars = dyn Fn(&View<'_>, usize) -> usize + Send + Sync;

/// Says how many characters would stand for a message by itself, if no other had its text; the engine brings it.
#[derive(Clone)]
pub struct Alone(Arc<Chars>);

impl Alone {
    /// What `chars` says of a message, by its index.
    #[must_use]
    pub fn new(chars: impl Fn(&View<'_>, usize) -> usize + Send + Sync + 'static) -> Self {
        Self(Arc::new(chars))
    }

    pub(super) fn chars(&self, view: &View<'_>, index: usize) -> usize {
        (self.0)(view, index)
    }
}

impl fmt::Debug for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alone").finish_non_exhaustive()
    }
}

/// Claims exact duplicates and pins the message that they refer to.
#[derive(Debug)]
pub struct Dedup(pub Alone);

impl Stage for Dedup {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let hasher = FixedState::default();
        let mut hashed: Vec<(u64, usize)> = (0..view.len())
            .filter(|&index| is_eligible(view, plan, index))
            .filter_map(|index| Some((hasher.hash_one(only_text(view, index)?), index)))
            .collect();
        hashed.sort_unstable();
        for run in hashed.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            let mut rest: Vec<usize> = run.iter().map(|&(_, index)| index).collect();
            while let Some(&first) = rest.first() {
                let text = only_text(view, first);
                let (same, other): (Vec<usize>, Vec<usize>) =
                    rest.into_iter().partition(|&index| only_text(view, index) == text);
                self.claim_all(view, plan, &same);
                rest = other;
            }
        }
    }
}

impl Dedup {
    /// Of equal texts, ascending, one stays and the others refer to it, or none does: what takes fewer characters.
    fn claim_all(&self, view: &View<'_>, plan: &mut Plan, same: &[usize]) {
        let n_free = same.iter().filter(|&&index| plan.is_free(index)).count();
        if same.len() < 2 || n_free == 0 {
            return;
        }
        let n_chars = view.chars(same[0]);
        let alone = self.0.chars(view, same[0]);
        let referring = if n_chars < REFERENCE_CHARS + view.options.min_saving { n_chars } else { REFERENCE_CHARS };
        let cost = |target: usize| {
            let of = |&index: &usize| match view.options.keep_copy {
                _ if !plan.is_free(index) => 0,
                _ if index == target => n_chars,
                KeepCopy::First if index < target => alone,
                _ => referring,
            };
            same.iter().map(of).sum::<usize>()
        };
        let kept = same.iter().copied().find(|&index| !plan.is_free(index));
        let recent = same.iter().copied().find(|&index| index >= view.recency_start);
        let targets = match view.options.keep_copy {
            KeepCopy::First => [Some(same[0]), kept],
            KeepCopy::Last => [recent.or(same.last().copied()), None],
        };
        let Some(target) = targets.into_iter().flatten().min_by_key(|&target| cost(target)) else { return };
        if cost(target) >= alone * n_free {
            return;
        }
        plan.keep(target, Reason::DuplicateTarget);
        for &index in same.iter().filter(|&&index| index != target) {
            if plan.is_free(index) && (index > target || view.options.keep_copy == KeepCopy::Last) {
                plan.set(index, Claim::DuplicateOf(target));
            }
        }
    }
}

/// Free messages with one long text, and those that stay for their place, their speaker or a pattern: they can be
/// referred to.
pub(super) fn is_eligible(view: &View<'_>, plan: &Plan, index: usize) -> bool {
    let open = match plan.claim_of(index) {
        None => true,
        Some(Claim::Keep(reason)) => matches!(
            reason,
            Reason::RecencyWindow | Reason::DuplicateTarget | Reason::Pattern | Reason::FirstUser | Reason::UserWords
        ),
        Some(_) => false,
    };
    open && view.conversation.messages[index].tool_calls.is_empty()
        && view.chars(index) >= MIN_CHARS
        && only_text(view, index).is_some()
}

fn only_text<'a>(view: &View<'a>, index: usize) -> Option<&'a str> {
    let mut texts = view.conversation.messages[index].texts();
    texts.next().filter(|_| texts.next().is_none())
}
