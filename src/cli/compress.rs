//! `condenser compress`, and every job that ends in a run: settings become a pipeline into a run directory or
//! through the filter.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use condenser::engine::Engine;
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{FilterSink, Input, RunWriter, expand, open_input};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{BatchOptions, Condense, Context, JobSettings, Observer, Outcome, Source, Target, compress};

use super::args::CompressArgs;
use super::{Ending, block_on, environment, message, progress};

/// Runs the command.
pub(crate) fn run(args: CompressArgs) -> Result<Ending> {
    let settings = args.job.settle(&environment)?;
    let inputs = expand(&settings.inputs)?;
    let engine = engine(&settings)?;
    #[cfg(debug_assertions)]
    let engine: Arc<dyn Condense> = match args.drill_panic {
        None => engine,
        Some(id) => Arc::new(super::drill::Drill { engine, id }),
    };
    match &settings.target {
        Target::Run(_) if args.sidecar.is_some() => {
            let message = "--sidecar belongs to the filter; a run directory has its own";
            Err(Error::new(ErrorKind::Usage, "", message))
        }
        Target::Run(path) => {
            let path = PathBuf::from(path);
            let outcome = into_run(&settings, engine, inputs, &path)?;
            Ok(finish(&settings, &outcome, &path))
        }
        Target::Filter => filter(&settings, engine, inputs, args.sidecar.as_deref()),
    }
}

/// The engine that `settings` ask for.
pub(super) fn engine(settings: &JobSettings) -> Result<Arc<dyn Condense>> {
    let engine = Engine::new(settings.options.engine.clone())?.explaining(settings.options.trace);
    Ok(Arc::new(engine))
}

/// Compresses `inputs` into the run directory `path`.
pub(super) fn into_run(
    settings: &JobSettings,
    engine: Arc<dyn Condense>,
    inputs: Vec<Input>,
    path: &Path,
) -> Result<Outcome> {
    refuse_inside(&inputs, path)?;
    let context = context(settings, engine, progress::observer(settings))?;
    let mut sink = RunWriter::create(path, &context.options)?;
    block_on(compress(&context, sources(settings, inputs), &mut sink))
}

fn filter(
    settings: &JobSettings,
    engine: Arc<dyn Condense>,
    inputs: Vec<Input>,
    sidecar: Option<&Path>,
) -> Result<Ending> {
    if inputs.len() != 1 {
        return Err(Error::new(ErrorKind::Usage, "", "the filter takes exactly one input"));
    }
    if sidecar.is_none() && !settings.quiet {
        message::note("note: without --sidecar FILE the originals cannot be restored");
    }
    let context = context(settings, engine, progress::observer(settings))?;
    let outcome = block_on(async {
        let mut sink = FilterSink::create(Box::new(tokio::io::stdout()), sidecar)?;
        compress(&context, sources(settings, inputs), &mut sink).await
    })?;
    drop(context);
    if !settings.quiet {
        message::note(&progress::summary(&outcome.totals));
    }
    Ok(ending(&outcome))
}

pub(super) fn context(
    settings: &JobSettings,
    engine: Arc<dyn Condense>,
    observer: Arc<dyn Observer>,
) -> Result<Context> {
    Ok(Context {
        engine,
        options: settings.options.clone(),
        bridge: Bridge::new(settings.threads)?,
        limits: settings.limits,
        max_rejects: settings.max_rejects,
        observer,
    })
}

fn sources(settings: &JobSettings, inputs: Vec<Input>) -> impl Iterator<Item = Result<Box<dyn Source>>> + use<> {
    let batches =
        BatchOptions { batch_bytes: settings.options.batch_bytes, max_record_bytes: settings.options.max_record_bytes };
    inputs.into_iter().map(move |input| open_input(&input, batches).map(|source| Box::new(source) as Box<dyn Source>))
}

/// Tells what a run came to.
pub(super) fn finish(settings: &JobSettings, outcome: &Outcome, path: &Path) -> Ending {
    if !settings.quiet {
        message::note(&progress::summary(&outcome.totals));
        if outcome.totals.rejects > 0 {
            message::note(&format!("rejected records stand in {}", path.join("rejects").display()));
        }
    }
    ending(outcome)
}

fn ending(outcome: &Outcome) -> Ending {
    if outcome.totals.rejects > 0 { Ending::Rejects } else { Ending::Clean }
}

/// Refuses to write a run into a folder that it reads from.
fn refuse_inside(inputs: &[Input], run: &Path) -> Result<()> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let run = absolute(run);
    match inputs.iter().filter_map(|input| input.path.as_deref()).find(|path| absolute(path).starts_with(&run)) {
        Some(path) => {
            let place = path.to_string_lossy();
            Err(Error::new(ErrorKind::Usage, place, "the input lies in the output directory"))
        }
        None => Ok(()),
    }
}
