//! Everything that holds for a job: its engine, its options, what it may use and who watches. Knows no part.

use std::sync::Arc;

use super::bridge::Bridge;
use super::split::Verdicts;
use super::{Condense, JobOptions, MaxRejects, Model, Observer, Shard, Timer, Trainer};

/// What may be used while working; none of it changes a byte of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Bytes of memory for what is in flight.
    pub memory: usize,
    /// Parts that are worked on at once.
    pub parts: usize,
}

/// What a part holds beside its batches: row groups in the making, the window of an event log, read buffers.
const PART_BYTES: usize = 64 << 20;

impl ResourceLimits {
    /// `memory` bytes and as many parts at once as keep `threads` workers busy: one reader and one encoder feed about four
    /// workers, and while one part ends another is read. At most half of the memory goes to what parts hold
    /// beside their batches, but two parts always run.
    pub fn new(memory: usize, threads: usize) -> Self {
        Self { memory, parts: (1 + threads / 4).min(memory / 2 / PART_BYTES).max(2) }
    }

    /// Bytes that are left for batches while `n_parts` parts are open.
    pub(crate) fn for_batches(&self, n_parts: usize) -> usize {
        self.memory.saturating_sub(n_parts * PART_BYTES).max(self.memory / 2)
    }
}

/// Everything that holds for a job.
#[derive(Clone)]
pub struct Context {
    /// Compresses one conversation.
    pub engine: Arc<dyn Condense>,
    /// What makes training data of records; `None` where none is asked for.
    pub trainer: Option<Arc<Trainer>>,
    /// Who answers the engine's questions; `None` when it has none to ask.
    pub model: Option<Arc<dyn Model>>,
    /// What decides about the output.
    pub options: JobOptions,
    /// The workers.
    pub bridge: Bridge,
    /// What may be used.
    pub limits: ResourceLimits,
    /// When the job fails.
    pub max_rejects: Option<MaxRejects>,
    /// The parts for this machine; `None` for all.
    pub shard: Option<Shard>,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
    /// What was decided about the conversations of a data set; nothing where their ids decide.
    pub verdicts: Option<Arc<dyn Verdicts>>,
    /// Who takes the time; nobody unless asked.
    pub timer: Option<Arc<Timer>>,
}

shows!(Context { options, limits });
