//! The stream: read → batches → workers → in order → write → commit. Bounds the bytes in flight, keeps the order
//! and counts. Knows neither where batches come from nor where tables go.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use futures::future::try_join3;
use futures::{TryStreamExt, stream};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::bridge::Bridge;
use super::record::Recipe;
use super::work::{Task, encode_batch};
use super::{
    Batch, Commit, Condense, EncodedBatch, FORMAT_VERSION, InputEntry, JobOptions, LineKind, Manifest, Observer,
    Progress, Proof, Sink, Source, SourceDigest, Table, Totals,
};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ShapeName;
use crate::shape;

/// A batch is charged this many times its size: the raw lines, the columns made of them, the originals in the
/// sidecar, and what the worker needs for a moment.
const CHARGE_PER_BYTE: usize = 4;
/// Memory is admitted in units of this many bytes.
const UNIT: usize = 1024;

/// What may be used while working; none of it changes a byte of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Bytes of memory for what is in flight.
    pub memory: usize,
}

/// How many rejects are too many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxRejects {
    /// More than this many.
    Count(u64),
    /// More than this share of the records of a source.
    Share(f64),
}

/// Everything that holds for a job.
#[derive(Clone)]
pub struct Context {
    /// Compresses one conversation.
    pub engine: Arc<dyn Condense>,
    /// What decides about the output.
    pub options: JobOptions,
    /// The workers.
    pub bridge: Bridge,
    /// What may be used.
    pub limits: ResourceLimits,
    /// When the job fails.
    pub max_rejects: Option<MaxRejects>,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("options", &self.options).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// What a job came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The manifest as written.
    pub manifest: Manifest,
    /// Sums over all parts.
    pub totals: Totals,
}

/// Runs a job: every source becomes one part of `sink`.
///
/// # Errors
/// When a source cannot be read, a table cannot be written, too much is rejected, or a restore differs.
pub async fn compress<S: Sink>(
    context: &Context,
    sources: impl IntoIterator<Item = Result<Box<dyn Source>>>,
    sink: &mut S,
) -> Result<Outcome> {
    let config_blake3 = config_hash(&context.options)?;
    let mut inputs = Vec::new();
    let mut progress = Progress::default();
    for (part, source) in sources.into_iter().enumerate() {
        let source = source?;
        let name = source.name().to_owned();
        context.observer.source(part, &name);
        sink.begin(part, &name).await?;
        let done = run_part(context, source, sink, &mut progress).await?;
        check_share(context.max_rejects, &done, &name)?;
        let commit = Commit {
            format_version: FORMAT_VERSION,
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            config_blake3: config_blake3.clone(),
            part,
            source: name.clone(),
            split: "whole".to_owned(),
            format: context.options.format,
            records: done.totals.conversations + done.totals.rejects,
            input: done.digest,
            totals: done.totals,
            proof: done.proof,
            files: Vec::new(),
        };
        if commit.proof.bytes != commit.input.stream_bytes {
            let message =
                format!("{} bytes were read, but {} were proven", commit.input.stream_bytes, commit.proof.bytes);
            return Err(Error::new(ErrorKind::Internal, name, message));
        }
        let commit = sink.commit(commit, &context.bridge).await?;
        let entry = InputEntry {
            source: name,
            digest: commit.input.clone(),
            part,
            commit: format!("commits/part-{part:05}.json"),
            commit_blake3: blake3::hash(super::seal(&commit)?.as_bytes()).to_hex().to_string(),
        };
        context.observer.committed(&entry);
        inputs.push(entry);
    }
    let tables = Table::ALL.iter().filter(|&&table| context.options.writes(table));
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        status: "complete".to_owned(),
        options: context.options.clone(),
        config_blake3,
        inputs,
        tables: tables.map(|table| table.as_str().to_owned()).collect(),
        totals: progress.totals,
        files: Vec::new(),
    };
    let manifest = sink.finish(manifest).await?;
    Ok(Outcome { totals: manifest.totals, manifest })
}

fn config_hash(options: &JobOptions) -> Result<String> {
    let text = serde_json::to_string(options)
        .map_err(|error| Error::new(ErrorKind::Internal, "", "the options cannot be written as JSON").because(error))?;
    Ok(blake3::hash(text.as_bytes()).to_hex().to_string())
}

fn check_share(max_rejects: Option<MaxRejects>, done: &Done, name: &str) -> Result<()> {
    let records = done.totals.conversations + done.totals.rejects;
    match max_rejects {
        Some(MaxRejects::Share(share)) if done.totals.rejects as f64 > share * records as f64 => {
            Err(too_many(name, done.totals.rejects, &format!("more than --max-rejects {share} of {records} records")))
        }
        _ => Ok(()),
    }
}

fn too_many(name: &str, rejects: u64, limit: &str) -> Error {
    Error::new(ErrorKind::Input, name, format!("{rejects} records were rejected, {limit}"))
}

struct Done {
    digest: SourceDigest,
    totals: Totals,
    proof: Proof,
}

/// A batch with the memory that it was admitted to.
struct Admitted {
    batch: Batch,
    permit: OwnedSemaphorePermit,
}

struct Worked {
    encoded: EncodedBatch,
    bytes: u64,
    permit: OwnedSemaphorePermit,
}

async fn run_part<S: Sink>(
    context: &Context,
    source: Box<dyn Source>,
    sink: &mut S,
    progress: &mut Progress,
) -> Result<Done> {
    let name: Arc<str> = source.name().into();
    let (read, batches) = channel(1);
    let (worked, results) = channel(2);
    let admission = Admission::new(context.limits.memory, context.options.batch_bytes);
    let handle = Handle::current();
    let reading = Bridge::run_blocking("reader", move || read_all(source, &admission, &handle, &read));
    let working = work_all(context, name.clone(), batches, worked);
    let writing = write_all(context, &name, results, sink, progress);
    let (digest, (), (totals, proof)) = try_join3(reading, working, writing).await?;
    Ok(Done { digest, totals, proof })
}

/// Bytes in flight, counted in [`UNIT`]s.
struct Admission {
    semaphore: Arc<Semaphore>,
    total: u32,
    usual: u32,
}

impl Admission {
    fn new(memory: usize, batch_bytes: usize) -> Self {
        let total = units(memory).clamp(1, u32::MAX >> 3);
        let usual = units(batch_bytes.saturating_mul(CHARGE_PER_BYTE)).min(total);
        Self { semaphore: Arc::new(Semaphore::new(total as usize)), total, usual }
    }

    /// Waits until a usual batch fits.
    async fn admit(&self) -> Result<OwnedSemaphorePermit> {
        self.semaphore.clone().acquire_many_owned(self.usual).await.map_err(|_| stopped())
    }

    /// Makes `permit` fit a batch of `bytes`: a giant one waits for all the memory, a small one gives some back.
    async fn adjust(&self, mut permit: OwnedSemaphorePermit, bytes: usize) -> Result<OwnedSemaphorePermit> {
        let needed = units(bytes.saturating_mul(CHARGE_PER_BYTE)).clamp(1, self.total);
        if needed > self.usual {
            let more = self.semaphore.clone().acquire_many_owned(needed - self.usual).await.map_err(|_| stopped())?;
            permit.merge(more);
        } else {
            drop(permit.split((self.usual - needed) as usize));
        }
        Ok(permit)
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

fn stopped() -> Error {
    Error::new(ErrorKind::Interrupted, "", "the job was stopped")
}

/// The reader's thread: takes memory first, reads, hands on.
fn read_all(
    mut source: Box<dyn Source>,
    admission: &Admission,
    handle: &Handle,
    batches: &Sender<Admitted>,
) -> Result<SourceDigest> {
    loop {
        let permit = handle.block_on(admission.admit())?;
        let Some(batch) = source.next_batch()? else { break };
        let permit = handle.block_on(admission.adjust(permit, batch.n_bytes()))?;
        batches.blocking_send(Admitted { batch, permit }).map_err(|_| stopped())?;
    }
    source.digest()
}

async fn work_all(
    context: &Context,
    source: Arc<str>,
    batches: Receiver<Admitted>,
    results: Sender<Worked>,
) -> Result<()> {
    // Twice the workers, so that nobody waits for the slowest batch; memory bounds it from above.
    let n_in_flight = context.bridge.threads() * 2 + 1;
    let forced = context.options.shape;
    stream::try_unfold((batches, forced), |(mut batches, shape)| async move {
        let Some(admitted) = batches.recv().await else { return Ok(None) };
        let (admitted, shape) = match shape {
            Some(shape) => (admitted, Some(shape)),
            None => context.bridge.run(String::new(), move || Ok(detect(admitted))).await?,
        };
        Ok(Some(((admitted, shape), (batches, shape))))
    })
    .map_ok(|(admitted, shape)| {
        let (engine, source, options) = (context.engine.clone(), source.clone(), &context.options);
        let (format, trace, verbatim_map) = (options.format, options.trace, options.verbatim_map);
        let place = match &admitted.batch {
            Batch::Lines(lines) => format!("{source}: byte {}", lines.offset),
            Batch::Rows(rows) => format!("{source}: row {}", rows.first_row),
        };
        context.bridge.run(place, move || {
            let recipe = Recipe { engine: &*engine, format, shape, forced: forced.is_some() };
            let encoded = encode_batch(&Task { recipe, source: &source, trace, verbatim_map }, &admitted.batch)?;
            Ok(Worked { encoded, bytes: admitted.batch.n_bytes() as u64, permit: admitted.permit })
        })
    })
    .try_buffered(n_in_flight)
    .try_for_each(|worked| async { results.send(worked).await.map_err(|_| stopped()) })
    .await
}

/// The shape of the first line that has one.
fn detect(admitted: Admitted) -> (Admitted, Option<ShapeName>) {
    let Batch::Lines(batch) = &admitted.batch else { return (admitted, None) };
    let lines = batch.lines.iter().filter(|line| line.kind == LineKind::Record);
    let mut records = lines.filter_map(|line| std::str::from_utf8(&batch.bytes[line.record.clone()]).ok());
    let shape = records.find_map(|record| super::bridge::guard(|| shape::detect(record)).ok().flatten());
    (admitted, shape)
}

async fn write_all<S: Sink>(
    context: &Context,
    name: &str,
    mut results: Receiver<Worked>,
    sink: &mut S,
    progress: &mut Progress,
) -> Result<(Totals, Proof)> {
    let (mut totals, mut proof) = (Totals::default(), Proof::default());
    while let Some(worked) = results.recv().await {
        totals.add(&worked.encoded.totals);
        proof.add(&worked.encoded.proof);
        progress.totals.add(&worked.encoded.totals);
        if let Some(MaxRejects::Count(limit)) = context.max_rejects
            && progress.totals.rejects > limit
        {
            return Err(too_many(name, progress.totals.rejects, &format!("more than --max-rejects {limit}")));
        }
        sink.write(worked.encoded, &context.bridge).await?;
        progress.bytes += worked.bytes;
        context.observer.progress(progress);
        drop(worked.permit);
    }
    Ok((totals, proof))
}

/// Bytes of the rows of `batch`, for bounds that depend on the data only.
#[must_use]
pub fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}
