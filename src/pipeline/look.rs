//! What holds a conversation is looked at the way that a job reads it. Refuses to know what is done with it.

use std::fmt;

use super::Condense;
use super::record::{Form, Recipe};
use super::task::Task;
use crate::engine::Scratch;
use crate::model::{Condensed, Conversation, EngineOptions, Metrics, Output, ReadAs};

/// Stands where an engine stands, looks and changes nothing.
pub(super) struct Look<F> {
    options: EngineOptions,
    look: F,
}

impl<F: Fn(&Conversation<'_>) + Send + Sync> Look<F> {
    /// Calls `look` with every conversation, from any worker.
    pub(super) fn new(look: F) -> Self {
        Self { options: EngineOptions::default(), look }
    }

    /// How the records of `source` are read, with this as the engine.
    pub(super) fn task<'t>(&'t self, source: &'t str, read_as: Option<ReadAs<'t>>) -> Task<'t> {
        let recipe = Recipe {
            engine: self,
            form: Form::Columns,
            read_as,
            forced: read_as.is_some(),
            earlier: None,
            whole: true,
            dated: None,
        };
        Task::alone(recipe, source)
    }
}

impl<F> fmt::Debug for Look<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Look").finish_non_exhaustive()
    }
}

impl<F: Fn(&Conversation<'_>) + Send + Sync> Condense for Look<F> {
    fn options(&self) -> &EngineOptions {
        &self.options
    }

    fn condense(&self, conversation: &Conversation<'_>, _scratch: &mut Scratch) -> Condensed {
        (self.look)(conversation);
        let messages = (0..conversation.messages.len()).map(|index| Output::Kept { index }).collect();
        Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() }
    }
}
