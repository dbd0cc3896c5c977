//! How many neighbours may become one message. Knows roles, names and places; refuses to know budgets and texts.

use crate::engine::unit::Unit;
use crate::model::Message;

/// How many neighbours may become one message, looked up for every unit.
pub(super) struct Runs<'c> {
    messages: &'c [Message<'c>],
    /// First member of each unit.
    firsts: Vec<usize>,
    /// Per unit one past the last that says plain words under its name.
    ends: Vec<usize>,
    /// Per unit the nearest one before it of another role.
    others: Vec<Option<usize>>,
    /// Per message the last one up to it that has the role of the one before.
    repeats: Vec<usize>,
}

impl<'c> Runs<'c> {
    /// `joins` says which units say plain words under one name, and may be merged.
    pub(super) fn of(messages: &'c [Message<'c>], units: &[Unit], joins: impl Fn(&Unit) -> bool) -> Self {
        let firsts: Vec<usize> = units.iter().map(Unit::first).collect();
        let mut ends: Vec<usize> = (0..firsts.len()).collect();
        for at in (0..firsts.len()).rev().filter(|&at| joins(&units[at])) {
            let goes_on = firsts.get(at + 1).is_some_and(|&next| messages[next].name == messages[firsts[at]].name);
            ends[at] = if goes_on { ends[at + 1] } else { at + 1 };
        }
        let mut others = vec![None; firsts.len()];
        for at in 1..firsts.len() {
            let is_same = messages[firsts[at]].role == messages[firsts[at - 1]].role;
            others[at] = if is_same { others[at - 1] } else { Some(at - 1) };
        }
        let mut repeats = vec![0; messages.len()];
        for index in 1..messages.len() {
            let is_same = messages[index].role == messages[index - 1].role;
            repeats[index] = if is_same { index } else { repeats[index - 1] };
        }
        Self { messages, firsts, ends, others, repeats }
    }

    /// How many units from `at` on may become one message without new neighbours of one role: all that go together, or
    /// as many as stand before one of another role.
    pub(super) fn len_at(&self, at: usize, max_units: usize) -> usize {
        let first = self.firsts[at];
        let next = self.ends[at].min(at.saturating_add(max_units));
        let is_new_neighbour =
            |behind: usize| self.messages[behind].role == self.messages[first].role && self.repeats[behind] <= first;
        match self.firsts.get(next) {
            Some(&behind) if next > at + 1 && is_new_neighbour(behind) => {
                self.others[next].filter(|&other| other > at).map_or(1, |other| other - at)
            }
            _ => next - at,
        }
    }
}
