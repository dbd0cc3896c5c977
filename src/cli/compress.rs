//! `condenser compress`: settings from arguments, then the job into a run directory or through the filter.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use condenser::engine::Engine;
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{FilterSink, Input, RunWriter, expand, open_source, table_in};
use condenser::model::{EngineOptions, ProvenancePlace};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, Condense, Context, ConversationFormat, DEFAULT_BATCH_BYTES, DEFAULT_MAX_RECORD_BYTES, JobOptions,
    Outcome, ResourceLimits, TableOptions, compress,
};

use super::args::CompressArgs;
use super::{Ending, block_on, message, progress};

/// What is in flight stays below this; with everything else the process stays below 400 MB.
const DEFAULT_MEMORY: usize = 256 << 20;

/// What holds; nothing is optional any more.
struct Settings {
    inputs: Vec<Input>,
    target: Target,
    options: JobOptions,
    limits: ResourceLimits,
    threads: usize,
}

enum Target {
    Run(PathBuf),
    Filter(Option<PathBuf>),
}

/// Runs the command.
pub(crate) fn run(args: CompressArgs) -> Result<Ending> {
    let observer = progress::observer(&args.progress);
    let (quiet, max_rejects, trace) = (args.progress.quiet, args.max_rejects, args.trace);
    #[cfg(debug_assertions)]
    let drill = args.drill_panic.clone();
    let settings = Settings::new(args)?;
    let engine = Engine::new(settings.options.engine.clone())?.explaining(trace);
    let engine: Arc<dyn Condense> = Arc::new(engine);
    #[cfg(debug_assertions)]
    let engine: Arc<dyn Condense> = match drill {
        None => engine,
        Some(id) => Arc::new(super::drill::Drill { engine, id }),
    };
    let context = Context {
        engine,
        options: settings.options.clone(),
        bridge: Bridge::new(settings.threads)?,
        limits: settings.limits,
        max_rejects,
        observer,
    };
    let batches =
        BatchOptions { batch_bytes: settings.options.batch_bytes, max_record_bytes: settings.options.max_record_bytes };
    let tables =
        TableOptions { messages_column: settings.options.messages_column.clone(), shape: settings.options.shape };
    let sources = settings.inputs.into_iter().map(move |input| open_source(&input, batches, &tables));
    let outcome = match &settings.target {
        Target::Run(path) => {
            let mut sink = RunWriter::create(path, &context.options)?;
            block_on(compress(&context, sources, &mut sink))?
        }
        Target::Filter(sidecar) => block_on(async {
            let mut sink = FilterSink::create(Box::new(tokio::io::stdout()), sidecar.as_deref())?;
            compress(&context, sources, &mut sink).await
        })?,
    };
    drop(context);
    Ok(finish(&outcome, &settings.target, quiet))
}

fn finish(outcome: &Outcome, target: &Target, quiet: bool) -> Ending {
    let totals = &outcome.totals;
    if !quiet {
        message::note(&progress::summary(totals));
        if let (Target::Run(path), true) = (target, totals.rejects > 0) {
            message::note(&format!("rejected records stand in {}", path.join("rejects").display()));
        }
    }
    if totals.rejects > 0 { Ending::Rejects } else { Ending::Clean }
}

impl Settings {
    fn new(args: CompressArgs) -> Result<Self> {
        let usage = |message: &str| Err(Error::new(ErrorKind::Usage, "", message));
        let inputs = expand(&args.inputs)?;
        let is_filter = match args.output.as_deref() {
            Some(output) => output == "-",
            None => args.inputs == ["-"],
        };
        let Some(output) =
            args.output.filter(|_| !is_filter).map(PathBuf::from).or_else(|| is_filter.then(PathBuf::new))
        else {
            return usage("no output was named; use --output RUN");
        };
        let target = if is_filter {
            if inputs.len() != 1 {
                return usage("the filter takes exactly one input");
            }
            if args.format.is_some_and(|format| format != ConversationFormat::Jsonl) || args.trace || args.verbatim_map
            {
                return usage(
                    "the filter writes records of the input's shape; other formats, --trace and --verbatim-map need --output RUN",
                );
            }
            if args.sidecar.is_none() && !args.progress.quiet {
                message::note("note: without --sidecar FILE the originals cannot be restored");
            }
            Target::Filter(args.sidecar)
        } else {
            if args.sidecar.is_some() {
                return usage("--sidecar belongs to the filter; a run directory has its own");
            }
            Target::Run(output)
        };
        let format =
            args.format.unwrap_or(if is_filter { ConversationFormat::Jsonl } else { ConversationFormat::Parquet });
        if args.verbatim_map && format != ConversationFormat::Jsonl {
            return usage("--verbatim-map goes with --format jsonl");
        }
        // A map is found through the provenance in the messages, so it is written there unless told otherwise.
        let mut base = EngineOptions::default();
        if args.verbatim_map {
            base.provenance = ProvenancePlace::Metadata;
        }
        let options = JobOptions {
            engine: args.engine.over(base),
            format,
            shape: args.shape,
            messages_column: args.messages_column,
            trace: args.trace,
            verbatim_map: args.verbatim_map,
            batch_bytes: DEFAULT_BATCH_BYTES,
            max_record_bytes: args.max_record_bytes.unwrap_or(DEFAULT_MAX_RECORD_BYTES),
        };
        let limits = ResourceLimits { memory: args.resources.memory.unwrap_or(DEFAULT_MEMORY) };
        refuse_inside(&inputs, &target)?;
        refuse_tables(&inputs, format)?;
        Ok(Self { inputs, target, options, limits, threads: args.resources.threads.unwrap_or(0) })
    }
}

/// Refuses to write rows of a table as records of JSON lines.
fn refuse_tables(inputs: &[Input], format: ConversationFormat) -> Result<()> {
    let mut paths = inputs.iter().filter_map(|input| input.path.as_deref());
    let Some(path) = paths.find(|path| format == ConversationFormat::Jsonl && table_in(path).is_some()) else {
        return Ok(());
    };
    let message = "the input is a table, and JSON lines cannot hold its columns and types; use --output RUN with \
                   --format parquet or --format arrow";
    Err(Error::new(ErrorKind::Usage, path.to_string_lossy(), message))
}

/// Refuses to write a run into a folder that it reads from.
fn refuse_inside(inputs: &[Input], target: &Target) -> Result<()> {
    let Target::Run(run) = target else { return Ok(()) };
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
