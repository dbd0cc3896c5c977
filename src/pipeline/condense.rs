//! What compresses one conversation: the engine, several of them, or what a test brings. Knows no record.

use std::sync::Arc;

use crate::engine::{Engine, Scratch};
use crate::model::{Condensed, Consult, Conversation, EngineOptions, Reason};
use crate::text::tokens::TokenCounter;

/// Compresses one conversation. The engine is the one that counts; tests bring others.
pub trait Condense: std::fmt::Debug + Send + Sync {
    /// The options that hold.
    fn options(&self) -> &EngineOptions;
    /// Compresses `conversation`; must not depend on what `scratch` was used for before.
    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed;
    /// The same with the answers of a model. What it still wants to know is open in `consult`; with the answers to that
    /// it is called again, until nothing is open.
    fn consult(&self, conversation: &Conversation<'_>, scratch: &mut Scratch, consult: &mut Consult<'_>) -> Condensed {
        let _ = consult;
        self.condense(conversation, scratch)
    }
}

impl Condense for Engine {
    fn options(&self) -> &EngineOptions {
        Self::options(self)
    }
    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        Self::condense(self, conversation, scratch)
    }
    fn consult(&self, conversation: &Conversation<'_>, scratch: &mut Scratch, consult: &mut Consult<'_>) -> Condensed {
        Self::consult(self, conversation, scratch, consult)
    }
}

/// Keeps everything and measures it, where what an engine made of a conversation is refused.
#[derive(Debug)]
pub(super) struct Keeper(Engine);

impl Keeper {
    /// Counts tokens as an engine with these options and this counter.
    pub(super) fn new(options: &EngineOptions, counter: Option<&Arc<dyn TokenCounter>>) -> Self {
        // No budget: to truncate a message is to change it.
        let engine = Engine::with_stages(EngineOptions { token_budget: None, ..options.clone() }, Vec::new());
        Self(match counter {
            Some(counter) => engine.with_counter(counter.clone()),
            None => engine,
        })
    }

    pub(super) fn options(&self) -> &EngineOptions {
        self.0.options()
    }

    /// The conversation as it was, for this reason.
    pub(super) fn keep(&self, conversation: &Conversation<'_>, scratch: &mut Scratch, reason: Reason) -> Condensed {
        let mut kept = self.0.condense(conversation, scratch);
        for decision in &mut kept.decisions {
            decision.reason = reason;
        }
        kept
    }
}
