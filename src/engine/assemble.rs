//! Puts the output together in the order of the input: kept messages by reference, replacements where their
//! first source stood, and a decision for every message. Every input message is in exactly one output message.

use crate::model::{Action, Decision, NewBody, Output, Reason, Replacement};
use crate::stage::{Claim, GroupKind, Plan, View};

use super::fill::{Filled, reason_of};
use super::plan::claim_of;

/// What became of each claim after filling.
pub(super) struct Outcome {
    /// Per group: its text, or why its members stay.
    pub(super) groups: Vec<Result<Filled, Reason>>,
    /// Per duplicate, in message order: its reference, or why it stays.
    pub(super) references: Vec<(usize, Result<Filled, Reason>)>,
}

/// The output in order.
#[derive(Debug, Default)]
pub(super) struct Assembled {
    pub(super) messages: Vec<Output>,
    pub(super) decisions: Vec<Decision>,
    /// The filled texts, by output position.
    pub(super) filled: Vec<(usize, Filled)>,
}

/// Consumes the outcome.
pub(super) fn assemble(view: &View<'_>, plan: &mut Plan, outcome: Outcome) -> Assembled {
    let mut out = Assembled::default();
    let mut groups: Vec<Option<Result<Filled, Reason>>> = outcome.groups.into_iter().map(Some).collect();
    let mut positions: Vec<Option<usize>> = vec![None; groups.len()];
    let mut references = outcome.references.into_iter().peekable();
    for index in 0..view.len() {
        let claim = claim_of(plan, index).clone();
        let reason = reason_of(plan, &claim);
        match claim {
            Claim::Keep(reason) => out.keep(view, plan, index, reason),
            Claim::DuplicateOf(_) | Claim::SimilarTo { .. } => {
                let action = if reason == Reason::ExactDuplicate { Action::Deduped } else { Action::FuzzyDeduped };
                match references.next_if(|(at, _)| *at == index) {
                    Some((_, Ok(filled))) => out.replace(view, plan, vec![index], filled, action, reason),
                    Some((_, Err(reverted))) => out.keep(view, plan, index, reverted),
                    None => out.keep(view, plan, index, Reason::DuplicateReverted),
                }
            }
            Claim::SupersededBy { .. } => out.keep(view, plan, index, Reason::ContradictionReverted),
            Claim::Group(group) => match (groups[group].take(), positions[group]) {
                (Some(Ok(filled)), _) => {
                    positions[group] = Some(out.messages.len());
                    let split = plan.groups[group].kind == GroupKind::CodeSplit;
                    let action = if split { Action::CodeSplit } else { Action::Compressed };
                    let members = plan.groups[group].members.clone();
                    out.replace(view, plan, members, filled, action, reason);
                }
                (Some(Err(reverted)), _) => {
                    groups[group] = Some(Err(reverted));
                    out.keep(view, plan, index, reverted);
                }
                // A later member: its decision was written with the first one's.
                (None, _) => {}
            },
        }
    }
    out.decisions.sort_by_key(|decision| decision.index);
    out
}

impl Assembled {
    fn keep(&mut self, view: &View<'_>, plan: &mut Plan, index: usize, reason: Reason) {
        let n_chars = view.chars(index);
        self.decisions.push(Decision {
            index,
            action: Action::Preserved,
            reason,
            details: std::mem::take(&mut plan.verdicts[index].reasons),
            position: self.messages.len(),
            chars_in: n_chars,
            chars_out: n_chars,
        });
        self.messages.push(Output::Kept { index });
    }

    fn replace(
        &mut self,
        view: &View<'_>,
        plan: &mut Plan,
        sources: Vec<usize>,
        mut filled: Filled,
        action: Action,
        reason: Reason,
    ) {
        let position = self.messages.len();
        let share = (filled.chars_out + sources.len() / 2) / sources.len();
        for &index in &sources {
            self.decisions.push(Decision {
                index,
                action,
                reason,
                details: std::mem::take(&mut plan.verdicts[index].reasons),
                position,
                chars_in: view.chars(index),
                chars_out: share,
            });
        }
        // The metrics read the drafts, and of parts where they stand.
        let body = match &mut filled.body {
            NewBody::Text(text) => NewBody::Text(std::mem::take(text)),
            parts @ NewBody::Parts(_) => parts.clone(),
        };
        let provenance = std::mem::take(&mut filled.provenance);
        self.messages.push(Output::Replaced(Replacement { sources, body, provenance }));
        self.filled.push((position, filled));
    }
}
