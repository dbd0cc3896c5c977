//! What a worker is told to do, and what it keeps between two records. Knows no batch.

use std::cell::RefCell;

use super::record::Recipe;
use super::split::{Surveyor, Verdicts};
use super::{EarlierNights, Trainer};
use crate::engine::{Laps, Scratch};

thread_local! {
    pub(crate) static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

/// What a worker is told to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) recipe: Recipe<'a>,
    pub(crate) source: &'a str,
    pub(crate) trace: bool,
    pub(crate) verbatim_map: bool,
    /// What makes training data of records; nothing where none is asked for.
    pub(crate) trainer: Option<&'a Trainer>,
    /// The place of the input in the plan.
    pub(crate) input: usize,
    /// What was decided about the conversations of a data set.
    pub(crate) verdicts: Option<&'a dyn Verdicts>,
    /// Who takes notes of the conversations, where nothing else is done with them.
    pub(crate) surveyor: Option<&'a Surveyor>,
    /// What earlier nights of a store hold of the conversations.
    pub(crate) nights: Option<&'a dyn EarlierNights>,
}

impl<'a> Task<'a> {
    /// Works on the records of `source` as `recipe` says, and does nothing beside it.
    pub(crate) fn alone(recipe: Recipe<'a>, source: &'a str) -> Self {
        Self {
            recipe,
            source,
            trace: false,
            verbatim_map: false,
            trainer: None,
            input: 0,
            verdicts: None,
            surveyor: None,
            nights: None,
        }
    }
}

/// Tells who takes the time on this worker that a step has ended.
pub(crate) fn ended(step: &'static str) {
    SCRATCH.with(|scratch| scratch.borrow_mut().ended(step));
}

/// Runs `work` on this worker with a watch, when there is one.
pub(crate) fn watched<T>(laps: Option<Box<dyn Laps>>, work: impl FnOnce() -> T) -> T {
    let is_watched = laps.is_some();
    if is_watched {
        SCRATCH.with(|scratch| scratch.borrow_mut().tell(laps));
    }
    let result = work();
    if is_watched {
        SCRATCH.with(|scratch| scratch.borrow_mut().tell(None));
    }
    result
}
