//! The stream of one part: read → batches → workers → in order → write. Bounds the bytes in flight, keeps the order
//! and counts. Knows neither where batches come from nor where tables go.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::try_join3;
use futures::{TryStreamExt, stream};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::admission::{Admission, stopped};
use super::ages::Dated;
use super::bridge::Bridge;
use super::choices::Originals;
use super::consulted::Consulted;
use super::earlier::{Earlier, PromptLines};
use super::look::Look;
use super::reading::{Admitted, Fed, Load, Named, Reading, detect, name_of, read_all};
use super::record::Recipe;
use super::sketch::Sketch;
use super::split::Surveyor;
use super::task::{Task, watched};
use super::timings::Timer;
use super::work::{Counted, encode_batch, encode_batches};
use super::{
    Batch, Context, EarlierNights, EncodedBatch, MaxRejects, Merge, PartSink, Progress, Proof, SourceDigest, Totals,
};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Answers, Ask, AskId, Conversation, ReadAs};

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
    /// Whoever has one reads: of the parts that are open one is always at its end, or waits.
    pub(super) turns: Semaphore,
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
    /// Of each of its inputs, or why it could not be opened.
    pub(super) read: Vec<Result<SourceDigest>>,
    /// Of each of its inputs.
    pub(super) counted: Vec<Counted>,
    pub(super) totals: Totals,
    pub(super) proof: Proof,
    pub(super) sketch: Sketch,
    /// The runs of the store that hold the rest of conversations.
    pub(super) rests_on: BTreeSet<String>,
}

struct Worked {
    encoded: EncodedBatch,
    counted: Vec<(usize, Counted)>,
    bytes: u64,
    stored_bytes: u64,
    permit: OwnedSemaphorePermit,
}

/// Brings everything that there is to read into `sink`.
pub(super) async fn run_part<P: PartSink>(
    context: &Context,
    shared: &Shared,
    reading: Reading,
    sink: &mut P,
) -> std::result::Result<Done, Failure> {
    let beside = Beside { nights: reading.earlier.clone(), surveyor: reading.surveyor.clone() };
    let inputs = reading.inputs.clone();
    let (read, batches) = channel(1);
    let (worked, results) = channel(2);
    let (admission, handle) = (shared.admission.clone(), Handle::current());
    let (timer, enough) = (context.timer.clone(), context.options.batch_bytes);
    let reading = move || read_all(reading, enough, &admission, &handle, &read, timer.as_deref());
    let reading = async {
        let _turn = shared.turns.acquire().await.map_err(|_| Failure::Job(stopped()))?;
        Bridge::run_blocking("reader", reading).await.map_err(failure_of_source)
    };
    let working = async { work_all(context, (inputs.clone(), beside), batches, worked).await.map_err(Failure::Job) };
    let writing = async { write_all(context, shared, &inputs, results, sink).await.map_err(Failure::Job) };
    let (read, (), (mut done, told)) = try_join3(reading, working, writing).await?;
    done.sketch.trim();
    // What was told on the way is an estimate.
    let n_bytes: u64 = read.iter().flatten().map(|digest| digest.bytes).sum();
    context.observer.progress(&shared.advance(|progress| {
        progress.stored_bytes = (progress.stored_bytes + n_bytes).saturating_sub(told);
    }));
    Ok(Done { read, ..done })
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

async fn work_all(
    context: &Context,
    (inputs, beside): (Arc<[Named]>, Beside),
    batches: Receiver<Admitted>,
    results: Sender<Worked>,
) -> Result<()> {
    // Twice the workers, so that nobody waits for the slowest batch; memory bounds it from above.
    let n_in_flight = context.bridge.threads() * 2 + 1;
    // A map is taken where a load is worked on.
    let (forced, is_mapped) = (context.options.shape, context.options.map.is_some());
    let earlier = Earlier::asked(context.engine.options()).map(Arc::new);
    // The shape of an input is that of its first record.
    stream::try_unfold((batches, (0, forced)), |(mut batches, (input, shape))| async move {
        let Some(mut admitted) = batches.recv().await else { return Ok(None) };
        let is_known =
            forced.is_some() || is_mapped || shape.is_some() && admitted.load.iter().all(|fed| fed.input == input);
        if is_known {
            admitted.load.iter_mut().for_each(|fed| fed.shape = shape);
        } else {
            admitted = context.bridge.run(String::new(), move || Ok(detect(admitted, input, shape))).await?;
        }
        let last = admitted.load.last().map_or((input, shape), |fed| (fed.input, fed.shape));
        Ok(Some((admitted, (batches, last))))
    })
    .map_ok(|Admitted { load, stored_bytes, permit }| {
        let (load, earlier, inputs) = (Arc::new(load), earlier.clone(), inputs.clone());
        async move {
            let prompts = match earlier {
                Some(earlier) => prompts(context, inputs, load.clone(), earlier).await?,
                None => Vec::new(),
            };
            Ok((load, stored_bytes, permit, prompts))
        }
    })
    .try_buffered(n_in_flight)
    .map_ok(|(load, stored_bytes, permit, prompts)| {
        // Batches come here in their order.
        if let Some(earlier) = &earlier {
            earlier.take(prompts);
        }
        let (inputs, earlier, beside) = (inputs.clone(), earlier.clone(), beside.clone());
        let work = Work { context, inputs, forced: forced.is_some() || is_mapped, earlier, beside };
        async move {
            let bytes = load.iter().map(|fed| fed.batch.n_bytes() as u64).sum();
            let (encoded, counted) = work.load(load).await?;
            Ok(Worked { encoded, counted, bytes, stored_bytes, permit })
        }
    })
    .try_buffered(n_in_flight)
    .try_for_each(|worked| async { results.send(worked).await.map_err(|_| stopped()) })
    .await
}

/// How the batches of a part are worked on.
struct Work<'c> {
    context: &'c Context,
    inputs: Arc<[Named]>,
    forced: bool,
    earlier: Option<Arc<Earlier>>,
    beside: Beside,
}

/// Who is asked about conversations, or told of them.
#[derive(Clone)]
struct Beside {
    nights: Option<Arc<dyn EarlierNights>>,
    surveyor: Option<Arc<Surveyor>>,
}

/// What batches become, and what was counted of the input of each.
type Encoded = (EncodedBatch, Vec<(usize, Counted)>);

/// The system prompts of a load.
async fn prompts(
    context: &Context,
    inputs: Arc<[Named]>,
    load: Arc<Load>,
    earlier: Arc<Earlier>,
) -> Result<Vec<PromptLines>> {
    let name = load.first().map(|fed| name_of(&inputs, fed.input).to_owned()).unwrap_or_default();
    let map = context.options.map.clone();
    let read = move || {
        let found = Mutex::new(Vec::new());
        let look = Look::new(|conversation: &Conversation<'_>| {
            found.lock().unwrap_or_else(PoisonError::into_inner).push(earlier.read(conversation));
        });
        for fed in &*load {
            let read_as = ReadAs::told(map.as_ref(), fed.shape);
            encode_batch(&look.task(name_of(&inputs, fed.input), read_as), &fed.batch)?;
        }
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    };
    context.bridge.run(name, read).await
}

impl Work<'_> {
    /// What a load becomes. Where a model is asked, the load goes over the bridge again with each round of answers,
    /// until nothing is open.
    async fn load(&self, load: Arc<Load>) -> Result<Encoded> {
        let mut answers = Answers::default();
        loop {
            let (encoded, asks, known) = self.encode(load.clone(), answers).await?;
            answers = known;
            let Some(model) = self.context.model.as_ref().filter(|_| !asks.is_empty()) else { return Ok(encoded) };
            drop(encoded);
            let ids: Vec<AskId> = asks.iter().map(Ask::id).collect();
            let found = model.answer(asks).await?;
            ids.into_iter().zip(found).for_each(|(id, answer)| answers.insert(id, answer));
        }
    }

    /// What the load becomes with these answers, what is still to be asked, and the answers again.
    async fn encode(&self, load: Arc<Load>, answers: Answers) -> Result<(Encoded, Vec<Ask>, Answers)> {
        let (engine, inputs) = (self.context.engine.clone(), self.inputs.clone());
        let options = &self.context.options;
        let (form, trace, verbatim_map) = (options.format.into(), options.trace, options.verbatim_map);
        let whole = options.originals == Originals::Whole;
        let (trainer, forced, earlier) = (self.context.trainer.clone(), self.forced, self.earlier.clone());
        let map = options.map.clone();
        let (beside, verdicts, ages) = (self.beside.clone(), self.context.verdicts.clone(), options.ages);
        let place = load.first().map_or_else(String::new, |fed| {
            let source = name_of(&inputs, fed.input);
            match &fed.batch {
                Batch::Lines(lines) => format!("{source}: byte {}", lines.offset),
                Batch::Rows(rows) => format!("{source}: row {}", rows.first_row),
            }
        });
        let laps = self.context.timer.as_ref().map(Timer::watch);
        let encode = move || {
            let consulted = Consulted::new(&*engine, &answers);
            let task = |fed: &Fed| {
                let (read_as, earlier) = (ReadAs::told(map.as_ref(), fed.shape), earlier.as_deref());
                // Rows of a table are conversations that have ended.
                let is_dated = matches!(fed.batch, Batch::Lines(_));
                let written_at = inputs.get(fed.input).and_then(|input| input.written_at);
                let dated = ages.as_ref().filter(|_| is_dated).map(|ages| {
                    let known = beside.nights.as_deref().map(|nights| (nights, name_of(&inputs, fed.input)));
                    Dated { ages, written_at, known }
                });
                let recipe = Recipe { engine: &consulted, form, read_as, forced, earlier, whole, dated };
                Task {
                    recipe,
                    source: name_of(&inputs, fed.input),
                    trace,
                    verbatim_map,
                    trainer: trainer.as_deref(),
                    input: inputs.get(fed.input).map_or(0, |input| input.index),
                    verdicts: verdicts.as_deref(),
                    surveyor: beside.surveyor.as_deref(),
                    nights: beside.nights.as_deref(),
                }
            };
            let tasks: Vec<_> = load.iter().map(|fed| (task(fed), &fed.batch)).collect();
            let (encoded, counted) = watched(laps, || encode_batches(&tasks))?;
            let counted = load.iter().map(|fed| fed.input).zip(counted).collect();
            let open = consulted.open();
            Ok(((encoded, counted), open, answers))
        };
        self.context.bridge.run(place, encode).await
    }
}

/// Writes what workers made; gives the sums, and the bytes as stored that were told.
async fn write_all<P: PartSink>(
    context: &Context,
    shared: &Shared,
    inputs: &[Named],
    mut results: Receiver<Worked>,
    sink: &mut P,
) -> Result<(Done, u64)> {
    let (mut totals, mut proof, mut sketch) = (Totals::default(), Proof::default(), Sketch::default());
    let (mut all, mut stored_bytes, mut rests_on) = (vec![Counted::default(); inputs.len()], 0, BTreeSet::new());
    let name = name_of(inputs, 0);
    while let Some(mut worked) = results.recv().await {
        totals.absorb(&worked.encoded.totals);
        proof.absorb(&worked.encoded.proof);
        for (input, counted) in &worked.counted {
            if let Some(sum) = all.get_mut(*input) {
                sum.totals.absorb(&counted.totals);
                sum.proven_bytes += counted.proven_bytes;
            }
        }
        rests_on.append(&mut worked.encoded.rests_on);
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
            let name = worked.counted.last().map_or(name, |&(input, _)| name_of(inputs, input));
            return Err(too_many(name, progress.totals.rejects, &format!("more than --max-rejects {limit}")));
        }
        context.observer.progress(&progress);
        drop(worked.permit);
    }
    Ok((Done { read: Vec::new(), counted: all, totals, proof, sketch, rests_on }, stored_bytes))
}

/// The error of a job whose inputs are not what they should be.
pub(super) fn too_many(name: &str, rejects: u64, limit: &str) -> Error {
    let records = if rejects == 1 { "1 record was".to_owned() } else { format!("{rejects} records were") };
    Error::input(name, format!("{records} rejected, {limit}"))
        .hinting("look at the reasons without the limit (`max_rejects`): they say what would help")
}
