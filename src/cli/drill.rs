//! A failure on purpose: so tests and those who watch over jobs can see from outside what a defect of the engine does.

use std::sync::Arc;

use condenser::engine::Scratch;
use condenser::model::{Condensed, Consult, Conversation, EngineOptions};
use condenser::pipeline::Condense;

/// The engine with a planted failure.
#[derive(Debug)]
pub(crate) struct Drill {
    pub(crate) engine: Arc<dyn Condense>,
    pub(crate) id: String,
}

impl Condense for Drill {
    fn options(&self) -> &EngineOptions {
        self.engine.options()
    }
    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        assert!(conversation.id != self.id, "a drill");
        self.engine.condense(conversation, scratch)
    }

    fn consult(&self, conversation: &Conversation<'_>, scratch: &mut Scratch, consult: &mut Consult<'_>) -> Condensed {
        assert!(conversation.id != self.id, "a drill");
        self.engine.consult(conversation, scratch, consult)
    }
}
