//! What compresses one conversation: the engine, several of them, or what a test brings. Knows no record.

use crate::engine::{Engine, Scratch};
use crate::model::{Condensed, Consult, Conversation, EngineOptions};

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
