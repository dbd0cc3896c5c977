//! A unit is one or more messages that become one output message. Knows what stands for it; does not know how that
//! came to be written, nor what a budget wants.

use crate::model::{Action, NewBody, PartView, Provenance, Reason, Spot};
use crate::stage::View;
use crate::summary::Draft;
use crate::text::n_chars;

/// One output message.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Indices of the input messages, ascending, never empty; the first is where the output stands.
    pub(super) members: Vec<usize>,
    pub(super) state: State,
    /// Tokens of the output message.
    pub(super) n_tokens: usize,
}

/// What stands for a unit.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// The only member, as it is.
    Kept(Reason),
    /// A text.
    Replaced(Filled),
}

/// The text for a unit.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    pub(super) action: Action,
    pub(super) reason: Reason,
    pub(super) body: NewBody,
    pub(super) provenance: Provenance,
    /// Of what the walk shows: what it hides.
    pub(super) marked: Option<Box<Marked>>,
    /// The provenance as it is written into the message, if it is.
    pub(super) metadata: Option<String>,
    /// The texts as written, for the metrics; one per text that was replaced.
    pub(super) drafts: Vec<Draft>,
    /// Characters of the message's texts after the replacement, metadata included when it is written.
    pub(super) chars_out: usize,
}

/// What the walk hides of a message.
#[derive(Debug, Clone, Default)]
pub(super) struct Marked {
    /// Which stretches of its texts are shown, and what else is.
    pub(super) views: Vec<PartView>,
    /// What stands in the place of what is no text.
    pub(super) spots: Vec<(Spot, String)>,
    /// Characters of what is written beside its content.
    chars_beside: usize,
}

impl Marked {
    /// For message `index` with these views, where `spots` stand in it.
    pub(super) fn new(view: &View<'_>, index: usize, views: Vec<PartView>, spots: Vec<(Spot, String)>) -> Self {
        let chars_beside = beside(view, index, &spots, usize::MAX).map(n_chars).sum();
        Self { views, spots, chars_beside }
    }
}

/// What stands beside the content of message `index` with `spots` in their places: its reasoning where that gives way, and the
/// arguments of its first so many calls.
fn beside<'f>(
    view: &'f View<'_>,
    index: usize,
    spots: &'f [(Spot, String)],
    n_calls: usize,
) -> impl Iterator<Item = &'f str> {
    let at = move |spot: Spot| spots.iter().find(|(at, _)| *at == spot).map(|(_, new)| new.as_str());
    let thoughts = view.thoughts(index).enumerate();
    let calls = view.conversation.messages[index].tool_calls.iter().take(n_calls).enumerate();
    let thoughts = thoughts.map(move |(number, old)| at(Spot::Thought(number)).unwrap_or(&old.text));
    thoughts.chain(calls.map(move |(call, old)| at(Spot::Call(call)).unwrap_or(&old.arguments)))
}

impl Unit {
    /// A message that stays.
    pub(super) fn kept(index: usize, reason: Reason, n_tokens: usize) -> Self {
        Self { members: vec![index], state: State::Kept(reason), n_tokens }
    }

    /// Index of the first member.
    pub(super) fn first(&self) -> usize {
        self.members.first().copied().unwrap_or_default()
    }

    /// Index of the last member.
    pub(super) fn last(&self) -> usize {
        self.members.last().copied().unwrap_or_default()
    }

    /// The text, unless the message stays.
    pub(super) fn filled(&self) -> Option<&Filled> {
        match &self.state {
            State::Kept(_) => None,
            State::Replaced(filled) => Some(filled),
        }
    }
}

impl Filled {
    /// Characters of what is written beside the content of message `index`, for which it stands.
    pub(super) fn chars_beside(&self, view: &View<'_>, index: usize) -> usize {
        let of_thoughts = || view.thoughts(index).map(|thought| n_chars(&thought.text)).sum();
        self.marked.as_ref().map_or_else(of_thoughts, |marked| marked.chars_beside)
    }

    /// What is written there. A message with calls stays but for marks.
    pub(super) fn beside<'f>(&'f self, view: &'f View<'_>, index: usize) -> impl Iterator<Item = &'f str> {
        let n_calls = if self.marked.is_some() { usize::MAX } else { 0 };
        beside(view, index, self.marked.as_ref().map_or(&[], |marked| &marked.spots), n_calls)
    }

    /// Characters of the provenance that is written into the message.
    pub(super) fn n_metadata(&self) -> usize {
        metadata_chars(self.metadata.as_deref())
    }
}

/// Characters of what is written into a message beside its content.
pub(super) fn metadata_chars(metadata: Option<&str>) -> usize {
    metadata.map_or(0, |json| json.chars().count())
}
