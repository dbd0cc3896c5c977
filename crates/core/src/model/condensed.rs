//! What the engine makes of a conversation: the output messages in order, by reference to the input wherever
//! nothing changed. Restoring needs no more than the replaced messages and their positions.

use super::{Decision, Metrics, PartView, Provenance};

/// A compressed conversation.
#[derive(Debug, Clone)]
pub struct Condensed {
    /// The output in order.
    pub messages: Vec<Output>,
    /// One per input message, in input order.
    pub decisions: Vec<Decision>,
    /// What was gained and what was lost from view.
    pub metrics: Metrics,
}

impl Condensed {
    /// True when no message was replaced: the output is the input.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.messages.iter().all(|output| matches!(output, Output::Kept { .. }))
    }
}

/// One output message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// The input message at `index`, unchanged.
    Kept {
        /// Index in the input.
        index: usize,
    },
    /// A message that stands for one or more input messages.
    Replaced(Replacement),
}

impl Output {
    /// The input message that it begins with.
    #[must_use]
    pub fn first_source(&self) -> usize {
        match self {
            Self::Kept { index } => *index,
            Self::Replaced(replacement) => replacement.sources.first().copied().unwrap_or_default(),
        }
    }
}

/// A shallow copy of the first source message with a new body, standing for all its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// Indices of the input messages that it stands for, ascending, never empty; the first one is copied.
    pub sources: Vec<usize>,
    /// Several speakers say it: the name of the first one does not stand beside it.
    pub is_by_several: bool,
    /// The new content.
    pub body: NewBody,
    /// What else of the first source gives way, in its order.
    pub spots: Vec<(Spot, String)>,
    /// Goes to `metadata._cce_original` or to the sidecar.
    pub provenance: Provenance,
    /// What of which texts is shown, where the rest is hidden behind marks: one for each text of `body` and each spot, else none.
    pub views: Vec<PartView>,
}

impl Replacement {
    /// What stands in a place beside its texts, where it is something else.
    #[must_use]
    pub fn at(&self, spot: Spot) -> Option<&str> {
        self.spots.iter().find(|(at, _)| *at == spot).map(|(_, text)| text.as_str())
    }
}

/// The new content of a replaced message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewBody {
    /// Replaces a content string, or the only text part of a content list.
    Text(String),
    /// Replaces the text parts at these indices of `Content::Parts`; the other parts stay, and so does everything around
    /// the texts. Without any the content stays as it is, whatever it is.
    Parts(Vec<(usize, String)>),
}

/// A place of a message, beside its texts, that something else may stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// The part at this index of `Content::Parts`, an image, audio or a file: a text part stands there instead.
    Part(usize),
    /// The arguments of the call with this number: others stand there instead.
    Call(usize),
    /// The text with this number of its reasoning: another one stands there instead.
    Thought(usize),
}

/// An original message as the sidecar holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Original<'a> {
    /// Index in the output of the message that stands for it.
    pub position: usize,
    /// Index in the input.
    pub message_index: usize,
    /// The exact JSON text.
    pub message: &'a str,
}
