//! Keeps conversations valid for chat templates: where the engine would break a rule that the input kept, the
//! conversation stays as it was.

use std::sync::Arc;

use super::template::breaks;
use super::turns::{turns_after, turns_before};
use crate::engine::{Engine, Scratch};
use crate::model::{Answers, Condensed, Consult, Conversation, EngineOptions, Reason};
use crate::pipeline::Condense;
use crate::text::tokens::TokenCounter;

/// An engine whose output is as valid for chat templates as its input.
#[derive(Debug)]
pub struct ChatGuard {
    engine: Arc<dyn Condense>,
    /// Keeps everything and measures it.
    keep: Engine,
}

impl ChatGuard {
    /// Watches over `engine`.
    #[must_use]
    pub fn new(engine: Arc<dyn Condense>) -> Self {
        // No budget: to truncate a message is to change it.
        let options = EngineOptions { token_budget: None, ..engine.options().clone() };
        Self { engine, keep: Engine::with_stages(options, Vec::new()) }
    }

    /// The same guard, counting tokens as its engine does.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.keep = self.keep.with_counter(counter);
        self
    }
}

impl Condense for ChatGuard {
    fn options(&self) -> &EngineOptions {
        self.engine.options()
    }

    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        self.consult(conversation, scratch, &mut Consult::new(&Answers::default(), &mut Vec::new()))
    }

    fn consult(&self, conversation: &Conversation<'_>, scratch: &mut Scratch, consult: &mut Consult<'_>) -> Condensed {
        let condensed = self.engine.consult(conversation, scratch, consult);
        if condensed.is_unchanged() {
            return condensed;
        }
        let (before, after) = (turns_before(conversation), turns_after(conversation, &condensed));
        if !breaks(&after).beyond(breaks(&before)) {
            return condensed;
        }
        let mut kept = self.keep.condense(conversation, scratch);
        for decision in &mut kept.decisions {
            decision.reason = Reason::ChatTemplate;
        }
        kept
    }
}
