//! What the pipeline needs from outside: where batches come from, where tables go, who answers questions and who wants
//! to watch. `io`, `llm` and the progress bar implement these; tests use plain vectors.

use std::collections::BTreeSet;
use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

use futures::future::BoxFuture;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::bridge::Bridge;
use super::sketch::Sketch;
use super::split::ChatNote;
use super::{
    Batch, Commit, EarlierNights, Manifest, PlannedInput, Proof, RejectRow, RunPlan, Slice, SourceDigest, TableInput,
    TableName, Timings, Totals, TrainingRows,
};
use crate::error::{Error, Result};
use crate::model::{Answer, Ask};

/// Answers the questions of the engine: a model behind an API, or replies that were kept.
pub trait Model: std::fmt::Debug + Send + Sync {
    /// One answer per question, in their order. A question that cannot be answered has an answer that says so.
    ///
    /// # Errors
    /// When the job cannot go on: the keys are wrong, or replies cannot be kept.
    fn answer(&self, asks: Vec<Ask>) -> BoxFuture<'_, Result<Vec<Answer>>>;
}

/// The inputs of a job.
pub trait Corpus: Send + Sync {
    /// Opens a slice of the input at `index` of the plan; called from a thread that may block.
    fn open(&self, index: usize, input: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>>;
    /// What earlier nights of a store hold of the conversations of the inputs at these places; `None` where nothing comes again.
    /// Called once for a part, from a thread that may block.
    ///
    /// # Errors
    /// When it cannot be read.
    fn earlier(&self, inputs: Range<usize>) -> Result<Option<Arc<dyn EarlierNights>>> {
        let _ = inputs;
        Ok(None)
    }
}

/// One slice of an input, read on a thread of its own, so that it may block.
pub trait Source: Send {
    /// The name as the user gave it; stands in every table.
    fn name(&self) -> &str;
    /// The schema of the rows that it gives; `None` when it gives lines.
    fn schema(&self) -> Option<SchemaRef> {
        None
    }
    /// How its rows hold conversations; `None` when it gives lines.
    fn table(&self) -> Option<TableInput> {
        None
    }
    /// The next batch, `None` at the end. Damage of the stream is a line, not an error.
    fn next_batch(&mut self) -> Result<Option<Batch>>;
    /// Bytes as stored that were read so far, for those who watch.
    fn stored_bytes(&self) -> u64;
    /// Sizes and hashes of what was read; called once, after the end.
    fn digest(&mut self) -> Result<SourceDigest>;
}

/// What a worker made of a batch.
#[derive(Debug, Default)]
pub struct EncodedBatch {
    /// Rows per table, in the order of [`TableName::ALL`]; `None` for a table that is not written.
    pub tables: [Option<RecordBatch>; TableName::ALL.len()],
    /// The schema of the conversations when they are the rows of a table that was read; texts among the rows may be
    /// views of what the schema says.
    pub schema: Option<SchemaRef>,
    /// Rejected records in order.
    pub rejects: Vec<RejectRow>,
    /// Lines of the reference-compatible map from message id to original, when asked for.
    pub verbatim_map: Vec<String>,
    /// Training-ready rows for train and eval, when asked for.
    pub training: Option<[TrainingRows; 2]>,
    /// What was noted of conversations, where nothing else is done with them.
    pub notes: Vec<ChatNote>,
    /// Lines about conversations that are not among them.
    pub dropped: Vec<String>,
    /// The runs of the store that hold the rest of conversations that come again.
    pub rests_on: BTreeSet<String>,
    /// What to add to the totals.
    pub totals: Totals,
    /// What was proven.
    pub proof: Proof,
    /// What a report reads instead of the tables.
    pub sketch: Sketch,
}

/// Where the tables go. Several parts are written at once.
pub trait Sink: Sync {
    /// A part in the making.
    type Part: PartSink;
    /// Starts the part with this number, of a source as given; with the schema of its rows when it holds a table.
    fn begin(
        &self,
        part: usize,
        source: &str,
        schema: Option<SchemaRef>,
    ) -> impl Future<Output = Result<Self::Part>> + Send;
    /// Takes what a call of the job took, which began with the part `first`; no reader needs it.
    fn timings(&self, first: usize, timings: &Timings) -> impl Future<Output = Result<()>> + Send {
        let _ = (first, timings);
        std::future::ready(Ok(()))
    }
    /// Ends the run.
    fn finish(&self, manifest: Manifest) -> impl Future<Output = Result<Manifest>> + Send;
}

/// Where the tables of a part go; dropped before its commit it leaves nothing that a reader would take for a part.
pub trait PartSink: Send {
    /// Takes the rows of a batch; batches come in the order of the input. CPU work goes over the bridge.
    fn write(&mut self, batch: EncodedBatch, bridge: &Bridge) -> impl Future<Output = Result<()>> + Send;
    /// Ends the part: completes its files, puts them into `commit`, and writes the commit last.
    fn commit(self, commit: Commit, bridge: &Bridge) -> impl Future<Output = Result<Commit>> + Send;
}

/// How far the work is; sums since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of uncompressed input done.
    pub bytes: u64,
    /// Bytes of input as stored done; nearly, since readers read ahead.
    pub stored_bytes: u64,
    /// What was counted so far.
    pub totals: Totals,
}

/// What happens beside the work, in a sentence.
#[derive(Debug, Clone, Copy)]
pub enum News<'n> {
    /// For those who want to know.
    Note(&'n str),
    /// For everybody: something is not as it should be, and the work goes on.
    Warning(&'n str),
    /// The same, as an error with its causes.
    Failure(&'n Error),
}

/// Who wants to watch.
pub trait Observer: Send + Sync {
    /// Something happens beside the work.
    fn news(&self, news: News<'_>) {
        let _ = news;
    }
    /// The job waits until `who` has ended its work on the same run.
    fn waits(&self, who: &str) {
        self.news(News::Note(&format!("{who} works on this run; waiting until it has ended")));
    }
    /// The job begins; `before` was done by earlier calls.
    fn begins(&self, plan: &RunPlan, before: &Progress) {
        let _ = (plan, before);
    }
    /// A part begins.
    fn source(&self, part: usize, name: &str) {
        let _ = (part, name);
    }
    /// Something was done.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }
    /// A part was committed.
    fn committed(&self, commit: &Commit) {
        let _ = commit;
    }
    /// The job has ended, well or not.
    fn ends(&self) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Reads the rows of a table in order; called from a thread that may block.
pub trait TableReader: Send {
    /// The next rows, `None` at the end.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>>;
}
