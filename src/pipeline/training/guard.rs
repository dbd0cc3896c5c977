//! Keeps conversations valid for chat templates: where the engine would break a rule that the input kept, the
//! conversation stays as it was.

use std::sync::Arc;

use super::turns::{turns_after, turns_before};
use super::validity::breaks;
use crate::engine::Scratch;
use crate::model::{Answers, Condensed, Consult, Conversation, EngineOptions, Reason};
use crate::pipeline::Condense;
use crate::pipeline::condense::Keeper;
use crate::text::tokens::TokenCounter;

/// An engine whose output is as valid for chat templates as its input.
#[derive(Debug)]
pub struct ChatGuard {
    engine: Arc<dyn Condense>,
    keeper: Keeper,
}

impl ChatGuard {
    /// Watches over `engine`, which counts tokens with `counter`.
    pub fn new(engine: Arc<dyn Condense>, counter: Option<&Arc<dyn TokenCounter>>) -> Self {
        let keeper = Keeper::new(engine.options(), counter);
        Self { engine, keeper }
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
        self.keeper.keep(conversation, scratch, Reason::ChatTemplate)
    }
}
