//! A text with who says it and what was found out about it beforehand, for the summary of it: the scores of its units, the
//! tokens that can go, whether clauses may be left out. Knows where a unit stands; refuses to know who found it out.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::plugins::TokenDecision;
use crate::model::EntropyMode;
use crate::text::{TextView, Unit};

/// Who speaks: what a reader needs of a text differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Voice {
    /// A user who opens the conversation: what is said here is the task.
    Task,
    /// A user.
    User,
    /// The one that answers the user.
    Assistant,
    /// Anybody else: one of several speakers, a summary of several messages.
    #[default]
    Other,
    /// A program.
    Program,
}

/// A text and who says it.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'a> {
    /// The text.
    pub view: TextView<'a>,
    /// Who says it.
    pub voice: Voice,
    /// What else is known of it.
    pub hints: Hints<'a>,
}

impl Voice {
    /// True when what an agent program adds by itself may stand in the text.
    pub(super) fn may_be_injected(self) -> bool {
        matches!(self, Self::Task | Self::User | Self::Program)
    }
}

/// Keys of facts and of whole units.
pub type Keys = HashSet<u64, FixedState>;

/// What is known of a text. Whichever comes first here decides how units are chosen: tokens, clauses, entropy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'a> {
    /// Decisions over its tokens, spans of the whole text.
    pub tokens: Option<&'a [TokenDecision]>,
    /// Clauses that add nothing may be left out, and sentences bring along what they depend on.
    pub by_clauses: bool,
    /// How much its units tell, and how that is used.
    pub entropy: Option<(&'a UnitScores, EntropyMode)>,
    /// What the conversation shows before it.
    pub earlier: Option<&'a Keys>,
    /// Who says it, where several speakers are told together.
    pub speaker: Option<&'a str>,
    /// Where the units begin that were chosen among those of all texts; `None` when the text chooses for itself.
    pub chosen: Option<&'a [u32]>,
}

impl Hints<'_> {
    /// True where somebody else than the scorer of facts decides what is shown.
    #[must_use]
    pub fn is_by_others(&self) -> bool {
        self.tokens.is_some() || self.by_clauses || self.entropy.is_some()
    }
}

/// Scores of the units of one text, found by where a unit stands, so that passages of the text have them too.
#[derive(Debug, Clone, Default)]
pub struct UnitScores {
    starts: Vec<u32>,
    scores: Vec<f64>,
}

impl UnitScores {
    /// The scores of all units of `view`, in their order.
    #[must_use]
    pub fn new(view: &TextView<'_>, scores: impl Iterator<Item = f64>) -> Self {
        let (starts, scores) = view.units.iter().map(|unit| unit.span.start).zip(scores).unzip();
        Self { starts, scores }
    }

    /// The score of a unit; 0 for one that is not of this text.
    #[must_use]
    pub fn of(&self, unit: &Unit) -> f64 {
        let at = self.starts.binary_search(&unit.span.start).ok();
        at.and_then(|at| self.scores.get(at)).copied().unwrap_or_default()
    }
}
