//! Puts the output together in the order of the input: kept messages by reference, replacements where their
//! first source stood, and a decision for every message. Every input message is in exactly one output message.

use crate::model::{Action, Decision, HideBy, NewBody, Output, Reason, Replacement, Role};
use crate::stage::{Plan, View};

use super::unit::{Filled, State, Unit};
use crate::walk::Level;

/// The output in order.
#[derive(Debug, Default)]
pub(super) struct Assembled {
    pub(super) messages: Vec<Output>,
    pub(super) decisions: Vec<Decision>,
    /// The filled texts, in the order of the replaced messages.
    pub(super) filled: Vec<Filled>,
    /// Tokens of the output.
    pub(super) n_tokens: usize,
    /// Where use decides, how much has given way to a budget.
    pub(super) level: Level,
}

/// The output of `units`, which hold every message once.
pub(super) fn assemble(view: &View<'_>, plan: &Plan, mut units: Vec<Unit>) -> Assembled {
    units.sort_by_key(Unit::first);
    let mut out = Assembled::default();
    out.messages.reserve(units.len());
    out.decisions.reserve(view.len());
    for Unit { members, state, n_tokens } in units {
        out.n_tokens += n_tokens;
        match state {
            State::Kept(reason) => {
                let n_chars = view.chars(members[0]);
                out.decide(view, plan, members[0], Action::Preserved, reason, n_chars);
                out.messages.push(Output::Kept { index: members[0] });
            }
            State::Replaced(filled) => {
                let share = (filled.chars_out + members.len() / 2) / members.len();
                for &index in &members {
                    out.decide(view, plan, index, filled.action, filled.reason, share);
                }
                let is_by_several = view.options.hide_by == HideBy::Use && is_by_several(view, &members);
                out.replace(members, is_by_several, filled);
            }
        }
    }
    out.decisions.sort_by_key(|decision| decision.index);
    out
}

/// True for what speakers of several names say.
fn is_by_several(view: &View<'_>, members: &[usize]) -> bool {
    let message = |index: usize| &view.conversation.messages[index];
    let first = message(members[0]);
    let is_named_by_calls = matches!(first.role, Role::Tool | Role::Function);
    !is_named_by_calls && first.name.is_some() && members.iter().any(|&index| message(index).name != first.name)
}

impl Assembled {
    fn decide(&mut self, view: &View<'_>, plan: &Plan, index: usize, action: Action, reason: Reason, chars_out: usize) {
        self.decisions.push(Decision {
            index,
            action,
            reason,
            details: plan.verdicts[index].reasons.clone(),
            position: self.messages.len(),
            chars_in: view.chars(index),
            chars_out,
            units: None,
        });
    }

    fn replace(&mut self, sources: Vec<usize>, is_by_several: bool, mut filled: Filled) {
        // The metrics read the drafts, and of parts where they stand.
        let body = match &mut filled.body {
            NewBody::Text(text) => NewBody::Text(std::mem::take(text)),
            parts @ NewBody::Parts(_) => parts.clone(),
        };
        let provenance = std::mem::take(&mut filled.provenance);
        let (views, spots) = match &mut filled.marked {
            Some(marked) => (std::mem::take(&mut marked.views), std::mem::take(&mut marked.spots)),
            None => (Vec::new(), Vec::new()),
        };
        self.messages.push(Output::Replaced(Replacement { sources, is_by_several, body, spots, provenance, views }));
        self.filled.push(filled);
    }
}
