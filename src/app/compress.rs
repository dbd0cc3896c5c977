//! Jobs that end in a run, or pass through as a filter: settings become a pipeline from inputs into tables.

use std::path::Path;
use std::sync::Arc;

use tokio::io::AsyncWrite;

use super::engines::{engine_of, trainer_of};
use super::inputs::{batches_of, refuse_inside, tables_of};
use super::oracle::LateOracle;
use super::outcome::RunOutcome;
use super::settle::settled;
use super::split::{SplitJob, refuse_pipes, verdicts_of, with_split};
use super::{App, inputs_of, local, place, stores_of};
use crate::engine::Scratch;
use crate::error::{Error, Result};
use crate::io::store::{Place, Stores};
use crate::io::{FilterSink, Input, Inputs, NightInputs, Rejects, Run, RunWriter, Store, plan_at};
use crate::model::{Condensed, Consult, Conversation, EngineOptions};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    Condense, Context, Corpus, JobKind, JobSettings, News, Observer, ResourceLimits, RunPlan, Shard, Target, Timer,
};

/// A call of a job.
#[derive(Clone)]
pub struct Call<'c> {
    /// The job.
    pub settings: &'c JobSettings,
    /// Who watches it.
    pub observer: Arc<dyn Observer>,
    /// Only these parts of it.
    pub shard: Option<Shard>,
    /// Whether a run that is there already is left alone, and another one made beside it.
    pub is_fresh: bool,
    /// For drills: the engine fails on the conversation with this id.
    pub drill: Option<&'c str>,
}

shows!(Call<'_> { settings });

impl<'c> Call<'c> {
    /// The whole job, into the run that it names.
    pub fn of(settings: &'c JobSettings, observer: Arc<dyn Observer>) -> Self {
        Self { settings, observer, shard: None, is_fresh: false, drill: None }
    }

    /// The run of this call: the one that the job names, or a fresh one beside it.
    pub fn place(&self) -> Result<Place> {
        let stores = stores_of(self.settings);
        let Target::Run(output) = &self.settings.target else {
            return Err(Error::usage("output", "this writes a directory, and none was named"));
        };
        let run = place(Path::new(output), &stores)?;
        if self.is_fresh { fresh(run, output, &stores) } else { Ok(run) }
    }

    fn engine(&self) -> Result<Arc<dyn Condense>> {
        let engine = engine_of(self.settings)?;
        Ok(match self.drill {
            None => engine,
            Some(id) => Arc::new(Drill { engine, id: id.to_owned() }),
        })
    }
}

/// Compresses the inputs of a job into the run directory `run`.
///
/// # Errors
/// When the job cannot be begun or finished; what was committed stays, and the same call goes on from there.
pub fn compress(app: &App, call: &Call<'_>, run: &Place) -> Result<RunOutcome> {
    let inputs = inputs_of(app, &call.settings.inputs, &stores_of(call.settings), &*call.observer)?;
    into_run(app, call, inputs, run, None)
}

/// Compresses the only input of a job into `out`; with `sidecar`, what restores it goes there.
pub fn filter(
    app: &App,
    call: &Call<'_>,
    out: Box<dyn AsyncWrite + Send + Unpin>,
    sidecar: Option<&Path>,
) -> Result<RunOutcome> {
    let settings = call.settings;
    let inputs = inputs_of(app, &settings.inputs, &stores_of(settings), &*call.observer)?;
    if inputs.len() != 1 {
        return Err(Error::usage("", "the filter takes exactly one input"));
    }
    let sidecar = sidecar.map(local).transpose()?;
    if sidecar.is_none() {
        call.observer.news(News::Note("note: without --sidecar FILE the originals cannot be restored"));
    }
    let (settings, corpus, plan) = prepared(settings, inputs, &[], None, &*call.observer)?;
    let call = &Call { settings: &settings, ..call.clone() };
    let context = context(&settings, call.engine()?, call.observer.clone())?;
    let oracle = LateOracle::default();
    let work = async {
        let sink = FilterSink::create(out, sidecar.as_deref())?;
        let context = Context { model: oracle.open(&settings, None)?, ..context };
        Box::pin(crate::pipeline::compress(&context, &plan, Vec::new(), corpus, &sink)).await
    };
    let outcome = app.wait(work);
    call.observer.ends();
    let closed = app.close(oracle.close(&*call.observer));
    let outcome = outcome?;
    closed?;
    Ok(RunOutcome { options: settings.options, outcome, run: None, goes_on: false })
}

/// Reads what the run that is the only input of a job rejected again, with the options of the job, into a run of its own.
pub fn retry_rejects(app: &App, call: &Call<'_>) -> Result<RunOutcome> {
    let settings = call.settings;
    let stores = stores_of(settings);
    let [rejected] = &*settings.inputs else {
        return Err(Error::usage("", "name one run whose rejects are to be read again"));
    };
    if settings.target == Target::Filter {
        return Err(Error::usage("", "name a directory for the new run with --output"));
    }
    let rejected = Run::open(place(Path::new(rejected), &stores)?)?;
    let (corpus, inputs) = Rejects::plan(rejected, batches_of(settings), tables_of(settings))?;
    let plan = RunPlan::new(settings.options.clone(), inputs)?;
    run_plan(app, call, Arc::new(corpus), &plan, &call.place()?)
}

/// Makes the commits of several machines a finished run; with `is_partial` without the inputs that are not wholly committed.
pub fn finish(app: &App, run: &Place, is_partial: bool, observer: &dyn Observer) -> Result<RunOutcome> {
    let outcome = app.wait(async {
        let (plan, commits, sink) = RunWriter::reopen(run.clone(), is_partial, &|who| observer.waits(who)).await?;
        let outcome = crate::pipeline::finish(&plan, commits, &sink).await?;
        Ok(RunOutcome { options: plan.options, outcome, run: Some(run.clone()), goes_on: false })
    });
    run.settle();
    outcome
}

/// Writes what the job would do into its run directory `run`, and does none of it: for shards that work on it at the same time.
///
/// # Errors
/// When the job cannot be begun, or `run` holds another one.
pub fn begin(app: &App, call: &Call<'_>, run: &Place) -> Result<RunPlan> {
    let inputs = inputs_of(app, &call.settings.inputs, &stores_of(call.settings), &*call.observer)?;
    let (_, _, plan) = planned(app, call, inputs, run, None)?;
    // Nobody else waits for a shard that does nothing.
    let waits = |who: &str| call.observer.waits(who);
    app.wait(async { RunWriter::open(run.clone(), &plan, call.shard, &waits).await.map(drop) })?;
    run.settle();
    Ok(plan)
}

/// Compresses `inputs` into the run directory `run`, for a night of `store`; a threshold that was settled there, or for an earlier
/// night, holds.
pub(super) fn into_run(
    app: &App,
    call: &Call<'_>,
    inputs: Vec<Input>,
    run: &Place,
    store: Option<&Store>,
) -> Result<RunOutcome> {
    let (settings, corpus, plan) = planned(app, call, inputs, run, store)?;
    run_plan(app, &Call { settings: &settings, ..call.clone() }, corpus, &plan, run)
}

/// What [`into_run`] would do: the job with all that was settled, what it reads, and its plan.
fn planned(
    app: &App,
    call: &Call<'_>,
    inputs: Vec<Input>,
    run: &Place,
    store: Option<&Store>,
) -> Result<(JobSettings, Arc<dyn Corpus>, RunPlan)> {
    // What is wrong with the options is told before anything is read.
    call.engine()?;
    refuse_inside(&call.settings.inputs, &inputs, run)?;
    refuse_pipes(call.settings, &inputs)?;
    // A store settles once.
    let earlier = store.into_iter().flat_map(|store| store.runs().into_iter().rev());
    let runs: Vec<Place> = std::iter::once(run.clone()).chain(earlier).collect();
    let (settings, corpus, plan) = prepared(call.settings, inputs, &runs, store, &*call.observer)?;
    let plan = plan.as_begun(plan_at(run).ok().flatten());
    let engine = Call { settings: &settings, ..call.clone() }.engine()?;
    let with = |watch: Arc<dyn Observer>| context(&settings, engine.clone(), watch);
    let job = SplitJob { settings: &settings, corpus: &corpus, observer: &call.observer, context: &with };
    let plan = with_split(app, &job, plan, run)?;
    Ok((settings, corpus, plan))
}

/// Does what `plan` says with what `corpus` gives, into the run directory `run`.
pub(super) fn run_plan(
    app: &App,
    call: &Call<'_>,
    corpus: Arc<dyn Corpus>,
    plan: &RunPlan,
    run: &Place,
) -> Result<RunOutcome> {
    let settings = call.settings;
    let engine = call.engine()?;
    let context = Context { shard: call.shard, ..context(settings, engine, call.observer.clone())? };
    let oracle = LateOracle::default();
    let work = async {
        let waits = |who: &str| context.observer.waits(who);
        let (sink, commits) = RunWriter::open(run.clone(), plan, call.shard, &waits).await?;
        let verdicts = verdicts_of(plan, run).await?;
        let context = Context { model: oracle.open(settings, Some(run))?, verdicts, ..context };
        Box::pin(crate::pipeline::compress(&context, plan, commits, corpus, &sink)).await
    };
    let outcome = app.wait(work);
    call.observer.ends();
    let closed = app.close(oracle.close(&*call.observer));
    // What a failed or stopped job began to upload is taken back.
    run.settle();
    let outcome = outcome?;
    closed?;
    let goes_on = settings.kind == JobKind::Compaction;
    Ok(RunOutcome { options: settings.options.clone(), outcome, run: Some(run.clone()), goes_on })
}

/// The job with the threshold that it needs, the inputs as they are now, and what it would do with them. The first of `runs` that
/// was begun with the same target decides about the threshold. Inputs of a night of `store` go on from what that has.
pub(super) fn prepared(
    settings: &JobSettings,
    inputs: Vec<Input>,
    runs: &[Place],
    store: Option<&Store>,
    observer: &dyn Observer,
) -> Result<(JobSettings, Arc<dyn Corpus>, RunPlan)> {
    let split_bytes = settings.options.split_bytes;
    let (mut corpus, inputs) = Inputs::plan(inputs, batches_of(settings), tables_of(settings), split_bytes)?;
    let settings = settled(settings, (&mut corpus, &inputs), runs, observer)?;
    let plan = RunPlan::new(settings.options.clone(), inputs)?.sharing(|index| corpus.may_share(index));
    let corpus: Arc<dyn Corpus> = match store {
        Some(store) => Arc::new(NightInputs::new(corpus, store)?),
        None => Arc::new(corpus),
    };
    Ok((settings, corpus, plan))
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
        trainer: trainer_of(settings)?,
        model: None,
        options: settings.options.clone(),
        limits: ResourceLimits::new(settings.memory, bridge.threads()),
        bridge,
        max_rejects: settings.max_rejects,
        shard: None,
        observer,
        verdicts: None,
        timer: settings.timings.then(Timer::begin),
    })
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

/// The engine with a planted failure: so tests and those who watch over jobs can see from outside what a defect of it does.
#[derive(Debug)]
struct Drill {
    engine: Arc<dyn Condense>,
    id: String,
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
