//! The engine with the answers that a model gave to the questions of a batch, and the questions that it still has. Knows
//! no model.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use super::Condense;
use crate::engine::Scratch;
use crate::model::{Answers, Ask, AskId, Condensed, Consult, Conversation, EngineOptions};

/// Stands where the engine stands, for one batch.
#[derive(Debug)]
pub(super) struct Consulted<'a> {
    engine: &'a dyn Condense,
    answers: &'a Answers,
    open: Mutex<Open>,
}

/// Each open question once, in the order in which they came up.
#[derive(Debug, Default)]
struct Open {
    asks: Vec<Ask>,
    ids: HashSet<AskId, FixedState>,
}

impl<'a> Consulted<'a> {
    pub(super) fn new(engine: &'a dyn Condense, answers: &'a Answers) -> Self {
        Self { engine, answers, open: Mutex::default() }
    }

    /// What is still to be asked.
    pub(super) fn open(self) -> Vec<Ask> {
        self.open.into_inner().unwrap_or_else(PoisonError::into_inner).asks
    }
}

impl Condense for Consulted<'_> {
    fn options(&self) -> &EngineOptions {
        self.engine.options()
    }

    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        let mut asks = Vec::new();
        let condensed = self.engine.consult(conversation, scratch, &mut Consult::new(self.answers, &mut asks));
        if !asks.is_empty() {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let Open { asks: all, ids } = &mut *open;
            all.extend(asks.into_iter().filter(|ask| ids.insert(ask.id())));
        }
        condensed
    }
}
