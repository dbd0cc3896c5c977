//! Rule 16: everything that is left is prose. Neighbours of the same speaker are summarised together, and short
//! turns of several.

use super::{Claim, GroupKind, Plan, Stage, View, turns};
use crate::model::{Content, HideBy, Message, Reason, Role};

/// A longer run is cut: one summary of forty tickets names none of them.
const MAX_MEMBERS: usize = 12;
/// The same in characters.
const MAX_CHARS: usize = 8_000;

/// Claims every free message for a summary.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupProse;

impl Stage for GroupProse {
    fn takes_short(&self, view: &View<'_>) -> bool {
        turns::are_in(view)
    }

    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        if turns::are_in(view) {
            turns::claim(view, plan);
        }
        let mut members: Vec<usize> = Vec::new();
        let mut n_chars = 0;
        for index in plan.free().collect::<Vec<_>>() {
            let joins = members.last().is_some_and(|&last| {
                last + 1 == index
                    && members.len() < MAX_MEMBERS
                    && n_chars + view.chars(index) <= MAX_CHARS
                    && can_merge(&view.conversation.messages[last], &view.conversation.messages[index])
                    && is_prose(view, plan, last)
                    && is_prose(view, plan, index)
            });
            if !joins {
                plan.group(std::mem::take(&mut members), GroupKind::Summary);
                n_chars = 0;
            }
            n_chars += view.chars(index);
            members.push(index);
        }
        plan.group(members, GroupKind::Summary);
    }
}

/// Tool output pasted into a message and messages above the observation threshold get a digest of their own.
fn is_prose(view: &View<'_>, plan: &Plan, index: usize) -> bool {
    !view.is_large(index) && !plan.verdicts[index].is_output
}

/// True when a message that refers to another, or that others refer to, could be merged with its neighbours instead, or told by
/// sentences that are chosen together with those of others.
#[must_use]
pub fn may_merge_referring(view: &View<'_>, plan: &Plan) -> bool {
    let refers = |claim: &Claim| matches!(claim, Claim::DuplicateOf(_) | Claim::SimilarTo { .. });
    if !plan.claims().any(refers) {
        return false;
    }
    let concerns = |claim: &Claim| refers(claim) || *claim == Claim::Keep(Reason::DuplicateTarget);
    let is_concerned = |index: usize| plan.claim_of(index).is_some_and(concerns);
    let messages = &view.conversation.messages;
    view.options.hide_by == HideBy::Use
        || view.options.conversation_flow
        || view.options.semantic_clustering
        || (1..view.len()).any(|index| {
            (is_concerned(index - 1) || is_concerned(index)) && can_merge(&messages[index - 1], &messages[index])
        })
}

/// True when a neighbour of message `index` could be summarised together with it.
pub(super) fn has_like_neighbour(view: &View<'_>, index: usize) -> bool {
    let messages = &view.conversation.messages;
    let merges = |other: Option<&Message<'_>>| other.is_some_and(|other| can_merge(other, &messages[index]));
    merges(index.checked_sub(1).and_then(|before| messages.get(before))) || merges(messages.get(index + 1))
}

/// Same speaker, and nothing that an API or a reader tells apart: answers to calls, names, parts. Without a role nobody
/// knows whether the speaker is the same.
fn can_merge(a: &Message<'_>, b: &Message<'_>) -> bool {
    let plain = |message: &Message<'_>| {
        matches!(message.content, Content::Text(_))
            && message.tool_call_id.is_none()
            && !matches!(message.role, Role::Tool | Role::Function | Role::Missing)
    };
    plain(a) && plain(b) && a.role == b.role && a.name == b.name
}
