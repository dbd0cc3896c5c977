//! What was decided about a conversation of a data set: its side, and why it is on none. Knows the port through which workers
//! ask; refuses to know how it was decided.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::keys::{GroupKey, KeyKind};
use crate::error::Result;

/// Where the rows of a conversation go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What is trained on.
    Train,
    /// What is evaluated on.
    Eval,
}

/// Why a conversation is on no side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excluded {
    /// The conversation with this id says the same, case, spacing and punctuation aside.
    DuplicateOf(String),
    /// The conversation with this id says nearly the same, or goes on where this one ends.
    NearDuplicateOf(String),
    /// It holds what stands here in an evaluation file.
    ContaminatedBy(String),
}

impl Excluded {
    /// The reason as data sets name it.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::DuplicateOf(_) => "duplicate",
            Self::NearDuplicateOf(_) => "near_duplicate",
            Self::ContaminatedBy(_) => "contaminated",
        }
    }

    /// The id of the conversation that stays, or the place in the evaluation file.
    pub fn of(&self) -> &str {
        match self {
            Self::DuplicateOf(of) | Self::NearDuplicateOf(of) | Self::ContaminatedBy(of) => of,
        }
    }
}

/// What was decided about a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitVerdict {
    /// The side of its group.
    pub side: Side,
    /// Why it is not there all the same.
    pub excluded: Option<Excluded>,
}

/// Which conversation is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatPlace<'p> {
    /// The place of its input in the plan.
    pub input: usize,
    /// The number of its record there.
    pub row: u64,
    /// Its number among the conversations of the record.
    pub chat: usize,
    /// Its id.
    pub id: &'p str,
}

/// Knows what was decided.
pub trait Verdicts: fmt::Debug + Send + Sync {
    /// What was decided about this conversation.
    ///
    /// # Errors
    /// When it cannot be read, or the conversation was not there when it was decided.
    fn of(&self, place: ChatPlace<'_>) -> Result<SplitVerdict>;
    /// The tools that conversations share, by their group.
    fn tools(&self) -> Option<&BTreeMap<String, Vec<Value>>> {
        None
    }
}

/// Sides by nothing but ids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ById {
    /// Another seed, another split.
    pub seed: u64,
    /// Share of the conversations that are evaluated on.
    pub eval_share: f64,
}

impl Verdicts for ById {
    fn of(&self, place: ChatPlace<'_>) -> Result<SplitVerdict> {
        let is_eval = GroupKey::of(KeyKind::Id, place.id.as_bytes()).place(self.seed) < self.eval_share;
        Ok(SplitVerdict { side: if is_eval { Side::Eval } else { Side::Train }, excluded: None })
    }
}
