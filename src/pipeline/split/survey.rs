//! The survey of a data set before its first part: all inputs are read as the job reads them, and what is noted of their
//! conversations is handed on in the order of the plan. Knows the road that a part takes; refuses to know where notes go.

use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use super::notes::{ChatNote, Surveyor};
use crate::error::{Error, Result};
use crate::model::Conversation;
use crate::pipeline::admission::Admission;
use crate::pipeline::bridge::Bridge;
use crate::pipeline::look::Look;
use crate::pipeline::part::{Failure, Shared, run_part};
use crate::pipeline::reading::{Reading, named, sources_of_part};
use crate::pipeline::{Commit, Context, Corpus, EncodedBatch, PartSink, Progress, RunPlan};

/// Takes notes in the order of the plan.
pub trait NoteSink: Send {
    /// Takes the notes of a batch; may block.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn take(&mut self, notes: Vec<ChatNote>) -> Result<()>;
}

/// Reads everything that `plan` names and hands the notes to `sink`.
///
/// # Errors
/// When an input cannot be read: a split is made of all of them.
pub async fn survey<N: NoteSink>(
    context: &Context,
    plan: &RunPlan,
    corpus: Arc<dyn Corpus>,
    surveyor: Arc<Surveyor>,
    sink: &mut N,
) -> Result<()> {
    let context = Context { engine: Arc::new(Look::new(|_: &Conversation<'_>| ())), ..context.clone() };
    let admission = Admission::new(context.limits.for_batches(1), context.options.batch_bytes, 1);
    let shared = Shared {
        admission: Arc::new(admission),
        turns: Semaphore::new(1),
        progress: Mutex::new(Progress::default()),
        total_bytes: plan.total_bytes(),
    };
    let mut notes = Noting(sink);
    for (part, planned) in plan.parts.iter().enumerate() {
        let inputs = plan.inputs_of(part);
        let reading = Reading {
            inputs: inputs
                .iter()
                .zip(planned.inputs())
                .map(|(input, index)| named(input, index, planned.slice))
                .collect(),
            sources: sources_of_part(*planned, inputs, &corpus),
            earlier: None,
            surveyor: Some(surveyor.clone()),
        };
        let done = run_part(&context, &shared, reading, &mut notes).await.map_err(|failure| match failure {
            Failure::Source(error) => unread(error),
            Failure::Job(error) => error,
        })?;
        done.read.into_iter().try_for_each(|read| read.map(drop).map_err(unread))?;
    }
    Ok(())
}

/// Why a split cannot be made.
fn unread(mut error: Error) -> Error {
    error.message.push_str("; the split of a data set is made of all inputs, before the first part");
    error
}

/// Stands where the tables of a part go.
struct Noting<'s, N>(&'s mut N);

impl<N: NoteSink> PartSink for Noting<'_, N> {
    async fn write(&mut self, batch: EncodedBatch, _: &Bridge) -> Result<()> {
        self.0.take(batch.notes)
    }

    async fn commit(self, commit: Commit, _: &Bridge) -> Result<Commit> {
        Ok(commit)
    }
}
