//! `condenser compress`: settings from arguments, then the job into a run directory or through the filter.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use condenser::engine::Engine;
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::{Place, Stores};
use condenser::io::{FilterSink, Input, Inputs, RunWriter, expand};
use condenser::model::{EngineOptions, ProvenancePlace};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, Condense, Context, ConversationFormat, Corpus, DEFAULT_BATCH_BYTES, DEFAULT_MAX_RECORD_BYTES,
    DEFAULT_SPLIT_BYTES, JobOptions, Outcome, Plan, ResourceLimits, Shard, TableOptions, compress,
};

use super::args::CompressArgs;
use super::{Ending, block_on, local, message, place, progress};

/// What is in flight stays below this; with everything else the process stays below 400 MB.
const DEFAULT_MEMORY: usize = 256 << 20;

/// What holds; nothing is optional any more.
struct Settings {
    inputs: Vec<Input>,
    target: Target,
    options: JobOptions,
    memory: usize,
    threads: usize,
    shard: Option<Shard>,
}

enum Target {
    Run(Place),
    Filter(Option<PathBuf>),
}

/// Runs the command.
pub(crate) fn run(args: CompressArgs) -> Result<Ending> {
    let observer = progress::observer(&args.progress);
    let (quiet, max_rejects, trace) = (args.progress.quiet, args.max_rejects, args.trace);
    #[cfg(debug_assertions)]
    let drill = args.drill_panic.clone();
    let stores = args.stores.stores();
    let settings = Settings::new(args, &stores)?;
    let engine = Engine::new(settings.options.engine.clone())?.explaining(trace);
    let engine: Arc<dyn Condense> = Arc::new(engine);
    #[cfg(debug_assertions)]
    let engine: Arc<dyn Condense> = match drill {
        None => engine,
        Some(id) => Arc::new(super::drill::Drill { engine, id }),
    };
    let batches =
        BatchOptions { batch_bytes: settings.options.batch_bytes, max_record_bytes: settings.options.max_record_bytes };
    let tables =
        TableOptions { messages_column: settings.options.messages_column.clone(), shape: settings.options.shape };
    let (corpus, inputs) = Inputs::plan(settings.inputs, batches, tables, settings.options.split_bytes)?;
    let plan = Plan::new(settings.options.clone(), inputs)?;
    let bridge = Bridge::new(settings.threads)?;
    let context = Context {
        engine,
        options: settings.options,
        limits: ResourceLimits::new(settings.memory, bridge.threads()),
        bridge,
        max_rejects,
        shard: settings.shard,
        observer,
    };
    let corpus: Arc<dyn Corpus> = Arc::new(corpus);
    let outcome = match &settings.target {
        Target::Run(path) => block_on(async {
            let (sink, commits) = RunWriter::open(path.clone(), &plan).await?;
            compress(&context, &plan, commits, corpus, &sink).await
        }),
        Target::Filter(sidecar) => block_on(async {
            let sink = FilterSink::create(Box::new(tokio::io::stdout()), sidecar.as_deref())?;
            compress(&context, &plan, Vec::new(), corpus, &sink).await
        }),
    };
    // What a failed or stopped job began to upload is taken back.
    stores.settle();
    let outcome = outcome?;
    drop(context);
    Ok(finish(&outcome, &settings.target, quiet))
}

fn finish(outcome: &Outcome, target: &Target, quiet: bool) -> Ending {
    let totals = &outcome.totals;
    if !quiet {
        if outcome.n_resumed > 0 {
            message::note(&format!("{} parts were committed before and are kept", outcome.n_resumed));
        }
        message::note(&progress::summary(totals));
        if let (Target::Run(path), 1..) = (target, outcome.n_missing) {
            let run = path;
            message::note(&format!(
                "{} parts are left to other shards; then: condenser finish {run}",
                outcome.n_missing
            ));
        }
        if let (Target::Run(path), true) = (target, totals.rejects > 0) {
            message::note(&format!("rejected records stand in {}", path.join("rejects")));
        }
    }
    if totals.rejects > 0 { Ending::Rejects } else { Ending::Clean }
}

impl Settings {
    fn new(args: CompressArgs, stores: &Stores) -> Result<Self> {
        let usage = |message: &str| Err(Error::new(ErrorKind::Usage, "", message));
        let inputs = expand(&args.inputs, stores)?;
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
            if args.shard.is_some() || args.fresh {
                return usage("--shard and --fresh belong to a run directory; the filter has none");
            }
            if args.sidecar.is_none() && !args.progress.quiet {
                message::note("note: without --sidecar FILE the originals cannot be restored");
            }
            Target::Filter(args.sidecar.as_deref().map(local).transpose()?)
        } else {
            if args.sidecar.is_some() {
                return usage("--sidecar belongs to the filter; a run directory has its own");
            }
            let run = place(&output, stores)?;
            Target::Run(if args.fresh { fresh(run, &output, stores)? } else { run })
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
            split_bytes: if is_filter {
                u64::MAX
            } else {
                args.split_size.map_or(DEFAULT_SPLIT_BYTES, |size| size as u64)
            },
        };
        let memory = args.resources.memory.unwrap_or(DEFAULT_MEMORY);
        refuse_inside(&inputs, &target)?;
        Ok(Self { inputs, target, options, memory, threads: args.resources.threads.unwrap_or(0), shard: args.shard })
    }
}

/// The first of RUN, RUN-2, RUN-3, … that does not exist.
fn fresh(run: Place, output: &Path, stores: &Stores) -> Result<Place> {
    let is_taken = |run: &Place| match run.as_local() {
        Some(path) => Ok(path.exists()),
        None => Ok::<_, Error>(!run.names()?.is_empty()),
    };
    let mut candidate = run;
    for n in 2.. {
        if !is_taken(&candidate)? {
            break;
        }
        let mut name = output.as_os_str().to_owned();
        name.push(format!("-{n}"));
        candidate = place(Path::new(&name), stores)?;
    }
    Ok(candidate)
}

/// Refuses to write a run into a folder that it reads from.
fn refuse_inside(inputs: &[Input], target: &Target) -> Result<()> {
    let Target::Run(run) = target else { return Ok(()) };
    let within = |input: &&Input| input.file.as_ref().is_some_and(|file| file.location().is_within(run.location()));
    match inputs.iter().find(within) {
        Some(input) => Err(Error::new(ErrorKind::Usage, &input.name, "the input lies in the output directory")),
        None => Ok(()),
    }
}
