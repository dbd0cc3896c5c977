//! The stream of one part: read → batches → workers → in order → write. Bounds the bytes in flight, keeps the order
//! and counts. Knows neither where batches come from nor where tables go.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::try_join3;
use futures::{TryStreamExt, stream};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::admission::{Admission, stopped};
use super::bridge::{Bridge, guard};
use super::choices::Originals;
use super::consulted::Consulted;
use super::earlier::{Earlier, PromptLines};
use super::look::Look;
use super::record::Recipe;
use super::sketch::Sketch;
use super::task::{Task, watched};
use super::timings::Timer;
use super::work::encode_batch;
use super::{Batch, Context, EncodedBatch, MaxRejects, Merge, PartSink, Progress, Proof, Source, SourceDigest, Totals};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Answers, Ask, AskId, Conversation, ShapeName};
use crate::shape;

/// Why a part was not done.
#[derive(Debug)]
pub(super) enum Failure {
    /// Its source cannot be read; other parts can be done.
    Source(Error),
    /// The job cannot go on.
    Job(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Job(error)
    }
}

/// What all parts of a job share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) admission: Arc<Admission>,
    pub(super) progress: Mutex<Progress>,
    /// Bytes of all inputs as stored.
    pub(super) total_bytes: Option<u64>,
}

impl Shared {
    /// Changes how far the job is, and gives it as it may be told: slices that are told in whole while they are read may
    /// have a little less, so that the sum is bounded too.
    fn advance(&self, change: impl FnOnce(&mut Progress)) -> Progress {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut progress);
        Progress { stored_bytes: progress.stored_bytes.min(self.total_bytes.unwrap_or(u64::MAX)), ..*progress }
    }
}

/// What a part came to.
pub(super) struct Done {
    pub(super) digest: SourceDigest,
    pub(super) totals: Totals,
    pub(super) proof: Proof,
    pub(super) sketch: Sketch,
}

/// A batch with the memory that it was admitted to.
struct Admitted {
    batch: Batch,
    stored_bytes: u64,
    permit: OwnedSemaphorePermit,
}

struct Worked {
    encoded: EncodedBatch,
    bytes: u64,
    stored_bytes: u64,
    permit: OwnedSemaphorePermit,
}

/// Brings everything that `source` gives into `sink`. `most` are the bytes that it has as stored; readers read ahead.
pub(super) async fn run_part<P: PartSink>(
    context: &Context,
    shared: &Shared,
    source: Box<dyn Source>,
    most: Option<u64>,
    sink: &mut P,
) -> std::result::Result<Done, Failure> {
    let name: Arc<str> = source.name().into();
    let (read, batches) = channel(1);
    let (worked, results) = channel(2);
    let (admission, handle) = (shared.admission.clone(), Handle::current());
    let timer = context.timer.clone();
    let reading = move || read_all(source, most, &admission, &handle, &read, timer.as_deref());
    let reading = Bridge::run_blocking("reader", reading);
    let reading = async { reading.await.map_err(failure_of_source) };
    let working = async { work_all(context, name.clone(), batches, worked).await.map_err(Failure::Job) };
    let writing = async { write_all(context, shared, &name, results, sink).await.map_err(Failure::Job) };
    let (digest, (), written) = try_join3(reading, working, writing).await?;
    let (totals, proof, mut sketch, told) = written;
    sketch.trim();
    // What was told on the way is an estimate.
    context.observer.progress(&shared.advance(|progress| {
        progress.stored_bytes = (progress.stored_bytes + digest.bytes).saturating_sub(told);
    }));
    Ok(Done { digest, totals, proof, sketch })
}

/// A reader that was told to stop is not at fault: what stopped it is told elsewhere.
pub(super) fn failure_of_source(error: Error) -> Failure {
    match error.kind {
        ErrorKind::Io | ErrorKind::Input | ErrorKind::Empty | ErrorKind::Usage => Failure::Source(error),
        ErrorKind::Verification | ErrorKind::Unfinished | ErrorKind::Interrupted | ErrorKind::Internal => {
            Failure::Job(error)
        }
    }
}

/// The reader's thread: takes memory first, reads, hands on.
fn read_all(
    mut source: Box<dyn Source>,
    most: Option<u64>,
    admission: &Admission,
    handle: &Handle,
    batches: &Sender<Admitted>,
    timer: Option<&Timer>,
) -> Result<SourceDigest> {
    let mut stored_before = 0;
    loop {
        let permit = handle.block_on(admission.admit())?;
        let Some(batch) = Timer::time(timer, "read", || source.next_batch())? else { break };
        let permit = handle.block_on(admission.adjust(permit, batch.charged_bytes()))?;
        let stored = source.stored_bytes().min(most.unwrap_or(u64::MAX));
        let stored_bytes = stored.saturating_sub(std::mem::replace(&mut stored_before, stored));
        batches.blocking_send(Admitted { batch, stored_bytes, permit }).map_err(|_| stopped())?;
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
    let earlier = Earlier::asked(context.engine.options()).map(Arc::new);
    stream::try_unfold((batches, forced), |(mut batches, shape)| async move {
        let Some(admitted) = batches.recv().await else { return Ok(None) };
        let (admitted, shape) = match shape {
            Some(shape) => (admitted, Some(shape)),
            None => context.bridge.run(String::new(), move || Ok(detect(admitted))).await?,
        };
        Ok(Some(((admitted, shape), (batches, shape))))
    })
    .map_ok(|(Admitted { batch, stored_bytes, permit }, shape)| {
        let (batch, earlier, source) = (Arc::new(batch), earlier.clone(), source.clone());
        async move {
            let prompts = match earlier {
                Some(earlier) => prompts(context, source, shape, batch.clone(), earlier).await?,
                None => Vec::new(),
            };
            Ok((batch, stored_bytes, permit, shape, prompts))
        }
    })
    .try_buffered(n_in_flight)
    .map_ok(|(batch, stored_bytes, permit, shape, prompts)| {
        // Batches come here in their order.
        if let Some(earlier) = &earlier {
            earlier.take(prompts);
        }
        let work = Work { context, source: source.clone(), shape, forced: forced.is_some(), earlier: earlier.clone() };
        async move {
            let bytes = batch.n_bytes() as u64;
            let encoded = work.batch(batch).await?;
            Ok(Worked { encoded, bytes, stored_bytes, permit })
        }
    })
    .try_buffered(n_in_flight)
    .try_for_each(|worked| async { results.send(worked).await.map_err(|_| stopped()) })
    .await
}

/// How the batches of a part are worked on.
struct Work<'c> {
    context: &'c Context,
    source: Arc<str>,
    shape: Option<ShapeName>,
    forced: bool,
    earlier: Option<Arc<Earlier>>,
}

/// The system prompts of a batch.
async fn prompts(
    context: &Context,
    source: Arc<str>,
    shape: Option<ShapeName>,
    batch: Arc<Batch>,
    earlier: Arc<Earlier>,
) -> Result<Vec<PromptLines>> {
    let name = source.to_string();
    let read = move || {
        let found = Mutex::new(Vec::new());
        let look = Look::new(|conversation: &Conversation<'_>| {
            found.lock().unwrap_or_else(PoisonError::into_inner).push(earlier.read(conversation));
        });
        encode_batch(&look.task(&source, shape), &batch)?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    };
    context.bridge.run(name, read).await
}

impl Work<'_> {
    /// What a batch becomes. Where a model is asked, the batch goes over the bridge again with each round of answers,
    /// until nothing is open.
    async fn batch(&self, batch: Arc<Batch>) -> Result<EncodedBatch> {
        let mut answers = Answers::default();
        loop {
            let (encoded, asks, known) = self.encode(batch.clone(), answers).await?;
            answers = known;
            let Some(model) = self.context.model.as_ref().filter(|_| !asks.is_empty()) else { return Ok(encoded) };
            drop(encoded);
            let ids: Vec<AskId> = asks.iter().map(Ask::id).collect();
            let found = model.answer(asks).await?;
            ids.into_iter().zip(found).for_each(|(id, answer)| answers.insert(id, answer));
        }
    }

    /// What the batch becomes with these answers, what is still to be asked, and the answers again.
    async fn encode(&self, batch: Arc<Batch>, answers: Answers) -> Result<(EncodedBatch, Vec<Ask>, Answers)> {
        let (engine, source) = (self.context.engine.clone(), self.source.clone());
        let options = &self.context.options;
        let (form, trace, verbatim_map) = (options.format.into(), options.trace, options.verbatim_map);
        let whole = options.originals == Originals::Whole;
        let (dataset, shape, forced, earlier) = (options.dataset, self.shape, self.forced, self.earlier.clone());
        let place = match &*batch {
            Batch::Lines(lines) => format!("{source}: byte {}", lines.offset),
            Batch::Rows(rows) => format!("{source}: row {}", rows.first_row),
        };
        let laps = self.context.timer.as_ref().map(Timer::watch);
        let encode = move || {
            let consulted = Consulted::new(&*engine, &answers);
            let recipe = Recipe { engine: &consulted, form, shape, forced, earlier: earlier.as_deref(), whole };
            let task = Task { recipe, source: &source, trace, verbatim_map, dataset };
            let encoded = watched(laps, || encode_batch(&task, &batch))?;
            let open = consulted.open();
            Ok((encoded, open, answers))
        };
        self.context.bridge.run(place, encode).await
    }
}

/// The shape of the first line that has one.
fn detect(admitted: Admitted) -> (Admitted, Option<ShapeName>) {
    let Batch::Lines(batch) = &admitted.batch else { return (admitted, None) };
    let lines = batch.lines.iter().filter(|line| line.kind.is_record());
    let mut records = lines.filter_map(|line| std::str::from_utf8(&batch.bytes[line.record.clone()]).ok());
    let shape = records.find_map(|record| guard(|| shape::detect(record)).ok().flatten());
    (admitted, shape)
}

/// Writes what workers made; gives the sums, and the bytes as stored that were told.
async fn write_all<P: PartSink>(
    context: &Context,
    shared: &Shared,
    name: &str,
    mut results: Receiver<Worked>,
    sink: &mut P,
) -> Result<(Totals, Proof, Sketch, u64)> {
    let (mut totals, mut proof, mut sketch) = (Totals::default(), Proof::default(), Sketch::default());
    let mut stored_bytes = 0;
    while let Some(mut worked) = results.recv().await {
        totals.absorb(&worked.encoded.totals);
        proof.absorb(&worked.encoded.proof);
        let counts = worked.encoded.totals;
        let (mut sum, part) = (sketch, std::mem::take(&mut worked.encoded.sketch));
        let merge = move || {
            sum.absorb(&part);
            Ok(sum)
        };
        sketch = context.bridge.run(name.to_owned(), merge).await?;
        let written = sink.write(worked.encoded, &context.bridge);
        Timer::time_async(context.timer.as_deref(), "write", written).await?;
        stored_bytes += worked.stored_bytes;
        let progress = shared.advance(|progress| {
            progress.totals.absorb(&counts);
            progress.bytes += worked.bytes;
            progress.stored_bytes += worked.stored_bytes;
        });
        if let Some(MaxRejects::Count(limit)) = context.max_rejects
            && progress.totals.rejects > limit
        {
            return Err(too_many(name, progress.totals.rejects, &format!("more than --max-rejects {limit}")));
        }
        context.observer.progress(&progress);
        drop(worked.permit);
    }
    Ok((totals, proof, sketch, stored_bytes))
}

/// The error of a job whose inputs are not what they should be.
pub(super) fn too_many(name: &str, rejects: u64, limit: &str) -> Error {
    let records = if rejects == 1 { "1 record was".to_owned() } else { format!("{rejects} records were") };
    Error::input(name, format!("{records} rejected, {limit}"))
        .hinting("look at the reasons with --max-rejects left out, or name the shape with --shape")
}
