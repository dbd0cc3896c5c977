//! `condenser compress`, and every job that ends in a run: settings become a pipeline into a run directory or
//! through the filter.

use std::path::Path;
use std::sync::Arc;

use condenser::engine::Engine;
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::{Place, Stores};
use condenser::io::{FilterSink, FrozenWords, Input, Inputs, RunWriter};
use condenser::model::{EngineOptions, EntropySource};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, BestAboveFloor, ChatGuard, Condense, Context, Corpus, JobSettings, Observer, Outcome, Plan,
    ResourceLimits, Shard, TableOptions, Target, Timer, compress, count_words,
};
use condenser::summary::CorpusScorer;
use condenser::text::WordStatistics;

use super::args::{CompressArgs, PlaceArgs};
use super::end::Told;
use super::oracle::LateOracle;
use super::screen::{Given, Stdout};
use super::{Ending, block_on_then, block_on_thread, inputs_of, local, message, place, progress, settled, stores_of};

/// Runs the command.
pub(crate) fn run(args: CompressArgs) -> Result<Ending> {
    let usage = |message: &str| Err(Error::new(ErrorKind::Usage, "", message));
    let settings = settled(args.job)?;
    let stores = stores_of(&settings);
    let inputs = inputs_of(&settings.inputs, &stores, settings.quiet)?;
    let make = |words: Option<&WordStatistics>| engine(&settings, words);
    let make = |words: Option<&WordStatistics>| -> Result<Arc<dyn Condense>> {
        let engine = make(words)?;
        Ok(match args.drill_panic.clone() {
            None => engine,
            Some(id) => Arc::new(super::drill::Drill { engine, id }),
        })
    };
    match &settings.target {
        Target::Run(_) if args.sidecar.is_some() => {
            usage("--sidecar belongs to the filter; a run directory has its own")
        }
        Target::Run(path) => {
            let run = place_of(path, &args.place, &stores)?;
            let outcome = into_run(&settings, &make, inputs, &run, args.place.shard)?;
            Ok(Told::of(&settings).end(&settings.options, &outcome, Some(&run)))
        }
        Target::Filter if inputs.len() != 1 => usage("the filter takes exactly one input"),
        Target::Filter if args.place.shard.is_some() || args.place.fresh => {
            usage("--shard and --fresh belong to a run directory; the filter has none")
        }
        Target::Filter => {
            let sidecar = args.sidecar.as_deref().map(local).transpose()?;
            filter(&settings, &make, inputs, sidecar.as_deref())
        }
    }
}

/// Makes an engine from the word statistics of the inputs, when the job asks for them.
pub(super) type Make<'m> = dyn Fn(Option<&WordStatistics>) -> Result<Arc<dyn Condense>> + 'm;

/// The engine that `settings` ask for.
pub(super) fn engine(settings: &JobSettings, words: Option<&WordStatistics>) -> Result<Arc<dyn Condense>> {
    let mut engines = Vec::new();
    for options in settings.options.engines() {
        engines.push(engine_with(settings, options, words)?);
    }
    let gentlest = engines.remove(0);
    let Some(policy) = &settings.options.policy else { return Ok(gentlest) };
    let best = BestAboveFloor::new(gentlest, engines, policy.floor.clone());
    Ok(Arc::new(match &settings.counter {
        Some(counter) => best.with_counter(counter.clone()),
        None => best,
    }))
}

/// One engine of a job.
fn engine_with(
    settings: &JobSettings,
    options: &EngineOptions,
    words: Option<&WordStatistics>,
) -> Result<Arc<dyn Condense>> {
    let words = words.filter(|_| counts_words(options));
    let options = options.clone();
    let engine = match &settings.counter {
        Some(counter) => Engine::counting(options, counter.clone())?,
        None => Engine::new(options)?,
    };
    let engine: Arc<dyn Condense> = Arc::new(with_words(engine, words).explaining(settings.options.trace));
    if settings.options.dataset.is_none() {
        return Ok(engine);
    }
    let guard = ChatGuard::new(engine);
    Ok(Arc::new(match &settings.counter {
        Some(counter) => guard.with_counter(counter.clone()),
        None => guard,
    }))
}

/// The engine with the scorer that needs nothing but counts.
pub(super) fn with_words(engine: Engine, words: Option<&WordStatistics>) -> Engine {
    match words {
        Some(words) => engine.with_entropy(Arc::new(CorpusScorer::new(words))),
        None => engine,
    }
}

/// True when an engine of the job scores sentences by the words of its inputs.
pub(super) fn job_counts_words(settings: &JobSettings) -> bool {
    settings.options.engines().any(counts_words)
}

/// True when sentences are scored by the words of the inputs.
pub(super) fn counts_words(options: &EngineOptions) -> bool {
    options.entropy_scorer == EntropySource::Corpus
}

/// Compresses `inputs` into the run directory `run`.
pub(super) fn into_run(
    settings: &JobSettings,
    make: &Make<'_>,
    inputs: Vec<Input>,
    run: &Place,
    shard: Option<Shard>,
) -> Result<Outcome> {
    // What is wrong with the options is told before anything is read.
    make(None)?;
    refuse_inside(&inputs, run)?;
    let (corpus, plan) = plan(settings, inputs)?;
    run_plan(settings, make, corpus, plan, run, shard)
}

/// Does what `plan` says with what `corpus` gives, into the run directory `run`. Words are counted once: what stands in
/// the directory holds for every later call.
pub(super) fn run_plan(
    settings: &JobSettings,
    make: &Make<'_>,
    corpus: Arc<dyn Corpus>,
    plan: Plan,
    run: &Place,
    shard: Option<Shard>,
) -> Result<Outcome> {
    let words = if job_counts_words(settings) { Some(words_of_run(&corpus, &plan, run)?) } else { None };
    let plan = words.as_ref().map_or(plan.clone(), |words| plan.with_words(&words.blake3));
    let engine = make(words.as_ref().map(|words| &words.statistics))?;
    let context = Context { shard, ..context(settings, engine, progress::observer(settings))? };
    let oracle = LateOracle::default();
    let work = async {
        let (sink, commits) = RunWriter::open(run.clone(), &plan, shard, &|who| context.observer.waits(who)).await?;
        if let Some(words) = &words {
            words.write(run).await?;
        }
        let context = Context { model: oracle.open(settings, Some(run))?, ..context };
        compress(&context, &plan, commits, corpus, &sink).await
    };
    let outcome = block_on_then(work, oracle.close(settings.quiet));
    // What a failed or stopped job began to upload is taken back.
    run.settle();
    outcome
}

/// The word statistics of a run: those that stand there, or those of the inputs.
fn words_of_run(corpus: &Arc<dyn Corpus>, plan: &Plan, run: &Place) -> Result<FrozenWords> {
    let (corpus, plan, run) = (corpus.clone(), plan.clone(), run.clone());
    block_on_thread(move |_| match FrozenWords::find(&run)? {
        Some(words) => Ok(words),
        None => FrozenWords::new(count_words(&*corpus, &plan)?),
    })
}

fn filter(settings: &JobSettings, make: &Make<'_>, inputs: Vec<Input>, sidecar: Option<&Path>) -> Result<Ending> {
    if sidecar.is_none() && !settings.quiet {
        message::note("note: without --sidecar FILE the originals cannot be restored");
    }
    let (corpus, plan) = plan(settings, inputs)?;
    let words = if job_counts_words(settings) {
        let (corpus, plan) = (corpus.clone(), plan.clone());
        Some(block_on_thread(move |_| count_words(&*corpus, &plan))?)
    } else {
        None
    };
    let engine = make(words.as_ref())?;
    let context = context(settings, engine, progress::observer(settings))?;
    let oracle = LateOracle::default();
    let work = async {
        let sink = FilterSink::create(Stdout::unblocked(Given::Data), sidecar)?;
        let context = Context { model: oracle.open(settings, None)?, ..context };
        compress(&context, &plan, Vec::new(), corpus, &sink).await
    };
    let outcome = block_on_then(work, oracle.close(settings.quiet))?;
    Ok(Told::of(settings).end(&settings.options, &outcome, None))
}

/// The inputs as they are now, and what a job would do with them.
pub(super) fn plan(settings: &JobSettings, inputs: Vec<Input>) -> Result<(Arc<dyn Corpus>, Plan)> {
    let options = &settings.options;
    let batches = BatchOptions { batch_bytes: options.batch_bytes, max_record_bytes: options.max_record_bytes };
    let (corpus, inputs) = Inputs::plan(inputs, batches, tables_of(settings), options.split_bytes)?;
    Ok((Arc::new(corpus), Plan::new(options.clone(), inputs)?))
}

/// How tables among the inputs are read.
pub(super) fn tables_of(settings: &JobSettings) -> TableOptions {
    TableOptions { messages_column: settings.options.messages_column.clone(), shape: settings.options.shape }
}

/// Everything that holds for the pipeline of a job.
pub(super) fn context(
    settings: &JobSettings,
    engine: Arc<dyn Condense>,
    observer: Arc<dyn Observer>,
) -> Result<Context> {
    let bridge = Bridge::new(settings.threads)?;
    Ok(Context {
        engine,
        model: None,
        options: settings.options.clone(),
        limits: ResourceLimits::new(settings.memory, bridge.threads()),
        bridge,
        max_rejects: settings.max_rejects,
        shard: None,
        observer,
        timer: settings.timings.then(Timer::begin),
    })
}

/// The directory that `output` stands for in this call.
pub(super) fn place_of(output: &str, args: &PlaceArgs, stores: &Stores) -> Result<Place> {
    let run = place(Path::new(output), stores)?;
    if args.fresh { fresh(run, output, stores) } else { Ok(run) }
}

/// The first of RUN, RUN-2, RUN-3, … that does not exist.
fn fresh(run: Place, output: &str, stores: &Stores) -> Result<Place> {
    let is_taken = |run: &Place| match run.as_local() {
        Some(path) => Ok(path.exists()),
        None => Ok::<_, Error>(!run.names()?.is_empty()),
    };
    let mut candidate = run;
    for n in 2.. {
        if !is_taken(&candidate)? {
            break;
        }
        candidate = place(Path::new(&format!("{output}-{n}")), stores)?;
    }
    Ok(candidate)
}

/// Refuses to write a run into a folder that it reads from.
pub(super) fn refuse_inside(inputs: &[Input], run: &Place) -> Result<()> {
    let within = |input: &&Input| input.file.as_ref().is_some_and(|file| file.location().is_within(run.location()));
    match inputs.iter().find(within) {
        Some(input) => Err(Error::new(ErrorKind::Usage, &input.name, "the input lies in the output directory")),
        None => Ok(()),
    }
}
