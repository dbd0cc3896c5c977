//! A unit is one or more messages that become one output message. Knows what stands for it; does not know how that
//! came to be written, nor what a budget wants.

use crate::model::{Action, Message, NewBody, PartView, Provenance, Reason, Spot};
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
    /// Characters of the arguments of its calls after the replacement.
    pub(super) arguments_out: usize,
}

impl Marked {
    /// For a message with these views, where `spots` stand in it.
    pub(super) fn new(message: &Message<'_>, views: Vec<PartView>, spots: Vec<(Spot, String)>) -> Self {
        let arguments_out = arguments(message, &spots).map(n_chars).sum();
        Self { views, spots, arguments_out }
    }
}

/// The arguments of the calls of a message with `spots` in their places.
fn arguments<'f>(message: &'f Message<'_>, spots: &'f [(Spot, String)]) -> impl Iterator<Item = &'f str> {
    message.tool_calls.iter().enumerate().map(move |(call, old)| {
        let new = spots.iter().find(|(spot, _)| *spot == Spot::Call(call));
        new.map_or(&*old.arguments, |(_, new)| new)
    })
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
    /// Characters of the arguments of its calls after the replacement.
    pub(super) fn arguments_out(&self) -> usize {
        self.marked.as_ref().map_or(0, |marked| marked.arguments_out)
    }

    /// The arguments of the calls of `message`, for which it stands, as they are written.
    pub(super) fn arguments<'f>(&'f self, message: &'f Message<'_>) -> impl Iterator<Item = &'f str> {
        arguments(message, self.marked.as_ref().map_or(&[], |marked| &marked.spots))
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
