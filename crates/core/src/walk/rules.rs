//! What a walk may take, and how far it looks. Knows options of a walk; refuses to know texts.

use super::order::Level;
use super::worth::UseModel;
use crate::model::LookAhead;

/// What goes on behind the last message is guessed; what is worth less than the level says is hidden.
#[derive(Debug, Clone, Copy)]
pub struct Prediction<'m> {
    /// By what.
    pub model: &'m UseModel,
    /// With [`LookAhead::Turns`] what messages use stays, too; otherwise nothing of a conversation decides about what stands before
    /// it, and with [`LookAhead::Strict`] not even how long it is.
    pub how_far: LookAhead,
    /// Long answers may be shortened.
    pub takes_answers: bool,
}

/// What the walk may take.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'m> {
    /// Last messages that stay as they are.
    pub recency_window: usize,
    /// The same when everything gives way that may.
    pub min_recency_window: usize,
    /// Characters that a message must save.
    pub min_saving: usize,
    /// Per cent of what is visible that may be there for the reader alone.
    pub fillers: usize,
    /// Results of tools use what stands before them, too.
    pub results_use: bool,
    /// Lines of long arguments of calls that earlier texts show give way to references.
    pub hides_arguments: bool,
    /// Images, audio and files that an answer follows give way to marks.
    pub marks_media: bool,
    /// Share of the stretches that nothing uses and that stay all the same.
    pub distractors: f64,
    /// What gives way to a budget.
    pub level: Level,
    /// What is likely to be used is guessed.
    pub predicts: Option<Prediction<'m>>,
    /// Every unit is told why it stays or goes.
    pub explains: bool,
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Self {
            recency_window: 4,
            min_recency_window: 0,
            min_saving: MIN_SAVING,
            fillers: FILLERS,
            results_use: false,
            hides_arguments: false,
            marks_media: false,
            distractors: 0.0,
            level: Level::NOTHING,
            predicts: None,
            explains: false,
        }
    }
}

impl Rules<'_> {
    /// True where nobody may look ahead.
    pub(super) fn guesses(&self) -> bool {
        self.predicts.is_some_and(|prediction| prediction.how_far != LookAhead::Turns)
    }

    /// True where not even how long a conversation is decides about what stands before.
    pub(super) fn decides_once(&self) -> bool {
        self.predicts.is_some_and(|prediction| prediction.how_far == LookAhead::Strict)
    }

    /// How many messages may decide about the one at `message`.
    pub(super) fn horizon(&self, message: usize, n_messages: usize) -> usize {
        if self.decides_once() { n_messages.min(message + self.recency_window + 1) } else { n_messages }
    }
}

/// Characters that hiding something of a message saves at least where so many are asked for, and nobody may look ahead and what
/// is worth less than `threshold` has given way.
#[must_use]
pub fn min_saving(asked: usize, threshold: u32) -> usize {
    if threshold < LITTLE_WORTH { asked } else { asked.min(LITTLE_SAVING) }
}

/// Per cent of fillers unless something else is asked for.
pub const FILLERS: usize = 8;

/// Characters that hiding something of a message saves at least.
pub const MIN_SAVING: usize = 200;
/// The same when a budget is not met otherwise, and where what is worth as much as this has given way.
pub(super) const LITTLE_SAVING: usize = 40;
const LITTLE_WORTH: u32 = 20_000;
