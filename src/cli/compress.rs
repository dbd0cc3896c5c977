//! `condenser compress`, and every job that ends in a run: settings become a pipeline into a run directory or
//! through the filter.

use std::path::Path;
use std::sync::Arc;

use condenser::engine::Engine;
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::{Place, Stores};
use condenser::io::{FilterSink, Input, Inputs, RunWriter, expand};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, ChatGuard, Condense, Context, Corpus, JobSettings, Observer, Outcome, Plan, ResourceLimits, Shard,
    TableOptions, Target, compress,
};

use super::args::{CompressArgs, PlaceArgs};
use super::{Ending, block_on, local, message, place, progress, settled, stores_of};

/// Runs the command.
pub(crate) fn run(args: CompressArgs) -> Result<Ending> {
    let usage = |message: &str| Err(Error::new(ErrorKind::Usage, "", message));
    let settings = settled(args.job)?;
    let stores = stores_of(&settings);
    let inputs = expand(&settings.inputs, &stores)?;
    let engine = engine(&settings)?;
    #[cfg(debug_assertions)]
    let engine: Arc<dyn Condense> = match args.drill_panic {
        None => engine,
        Some(id) => Arc::new(super::drill::Drill { engine, id }),
    };
    match &settings.target {
        Target::Run(_) if args.sidecar.is_some() => {
            usage("--sidecar belongs to the filter; a run directory has its own")
        }
        Target::Run(path) => {
            let run = place_of(path, &args.place, &stores)?;
            let outcome = into_run(&settings, engine, inputs, &run, args.place.shard)?;
            Ok(finish(&settings, &outcome, Some(&run)))
        }
        Target::Filter if inputs.len() != 1 => usage("the filter takes exactly one input"),
        Target::Filter if args.place.shard.is_some() || args.place.fresh => {
            usage("--shard and --fresh belong to a run directory; the filter has none")
        }
        Target::Filter => {
            let sidecar = args.sidecar.as_deref().map(local).transpose()?;
            filter(&settings, engine, inputs, sidecar.as_deref())
        }
    }
}

/// The engine that `settings` ask for.
pub(super) fn engine(settings: &JobSettings) -> Result<Arc<dyn Condense>> {
    let engine = Engine::new(settings.options.engine.clone())?.explaining(settings.options.trace);
    let engine: Arc<dyn Condense> = Arc::new(match &settings.counter {
        Some(counter) => engine.with_counter(counter.clone()),
        None => engine,
    });
    if settings.options.dataset.is_none() {
        return Ok(engine);
    }
    let guard = ChatGuard::new(engine);
    Ok(Arc::new(match &settings.counter {
        Some(counter) => guard.with_counter(counter.clone()),
        None => guard,
    }))
}

/// Compresses `inputs` into the run directory `run`.
pub(super) fn into_run(
    settings: &JobSettings,
    engine: Arc<dyn Condense>,
    inputs: Vec<Input>,
    run: &Place,
    shard: Option<Shard>,
) -> Result<Outcome> {
    refuse_inside(&inputs, run)?;
    let (corpus, plan) = plan(settings, inputs)?;
    run_plan(settings, engine, corpus, &plan, run, shard)
}

/// Does what `plan` says with what `corpus` gives, into the run directory `run`.
pub(super) fn run_plan(
    settings: &JobSettings,
    engine: Arc<dyn Condense>,
    corpus: Arc<dyn Corpus>,
    plan: &Plan,
    run: &Place,
    shard: Option<Shard>,
) -> Result<Outcome> {
    let context = Context { shard, ..context(settings, engine, progress::observer(settings))? };
    let outcome = block_on(async {
        let (sink, commits) = RunWriter::open(run.clone(), plan).await?;
        compress(&context, plan, commits, corpus, &sink).await
    });
    // What a failed or stopped job began to upload is taken back.
    run.settle();
    outcome
}

fn filter(
    settings: &JobSettings,
    engine: Arc<dyn Condense>,
    inputs: Vec<Input>,
    sidecar: Option<&Path>,
) -> Result<Ending> {
    if sidecar.is_none() && !settings.quiet {
        message::note("note: without --sidecar FILE the originals cannot be restored");
    }
    let (corpus, plan) = plan(settings, inputs)?;
    let context = context(settings, engine, progress::observer(settings))?;
    let outcome = block_on(async {
        let sink = FilterSink::create(Box::new(tokio::io::stdout()), sidecar)?;
        compress(&context, &plan, Vec::new(), corpus, &sink).await
    })?;
    drop(context);
    Ok(finish(settings, &outcome, None))
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
        options: settings.options.clone(),
        limits: ResourceLimits::new(settings.memory, bridge.threads()),
        bridge,
        max_rejects: settings.max_rejects,
        shard: None,
        observer,
    })
}

/// Tells what a job came to, and where its run is when it has one.
pub(super) fn finish(settings: &JobSettings, outcome: &Outcome, run: Option<&Place>) -> Ending {
    let totals = &outcome.totals;
    if !settings.quiet {
        if outcome.n_resumed > 0 {
            message::note(&format!("{} parts were committed before and are kept", outcome.n_resumed));
        }
        message::note(&progress::summary(totals));
        if let (Some(run), 1..) = (run, outcome.n_missing) {
            let n = outcome.n_missing;
            message::note(&format!("{n} parts are left to other shards; then: condenser finish {run}"));
        }
        if let (Some(run), true) = (run, totals.rejects > 0) {
            message::note(&format!("rejected records stand in {}", run.join("rejects")));
        }
    }
    if totals.rejects > 0 { Ending::Rejects } else { Ending::Clean }
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
