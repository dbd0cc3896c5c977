//! What was typed: everything that may be left out is optional here. Knows no defaults beyond what help shows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{ArgAction, Args, Parser, Subcommand};
use condenser::io::store::Stores;
use condenser::model::{EngineArgs, FieldMap, Floor, ShapeName};
use condenser::pipeline::{JobArgs, Seconds, Shard, Size};

use super::screen::ColorWhen;

/// The heading of what decides how much is said.
pub(crate) const SHOWN: &str = "What is shown";

/// A width that somebody can read; lines are filled up to it.
fn columns() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1000)
}

/// Compresses corpora of chat and agent transcripts, provably lossless.
#[derive(Debug, Parser)]
#[command(name = "condenser", version, about, propagate_version = true)]
#[command(disable_help_flag = true, disable_version_flag = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Say more on stderr: -v what happens, -vv also details, -vvv everything.
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = SHOWN)]
    pub(crate) verbose: u8,
    /// Colours: auto is on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_enum, value_name = "WHEN", help_heading = SHOWN)]
    pub(crate) color: Option<ColorWhen>,
    /// Short help with -h, help with every flag with --help.
    #[arg(long, short, global = true, action = ArgAction::Help, help_heading = SHOWN)]
    help: Option<bool>,
    /// Print the version.
    #[arg(long, short = 'V', global = true, action = ArgAction::Version, help_heading = SHOWN)]
    version: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compress conversations into a run directory, or as a filter.
    Compress(Box<CompressArgs>),
    /// Run a job file.
    Run(Box<RunArgs>),
    /// Report of a finished run, or what changed from one run to another.
    Report(Box<ReportRunsArgs>),
    /// Delete originals that a store of nights is proven to give back.
    Expire(ExpireArgs),
    /// Make one run of the nights of a store.
    ///
    /// What it replaces goes with --yes.
    Merge(MergeArgs),
    /// Read the rejects of a run again, after a fix, into a run of their own.
    RetryRejects(Box<RetryArgs>),
    /// Join what several machines did with `--shard` into a finished run.
    Finish(FinishArgs),
    /// Bring the originals back, byte for byte.
    Restore(RestoreArgs),
    /// What a run holds, file by file.
    ///
    /// Of a run that is not finished too, and of a store night by night.
    Ls(ListArgs),
    /// One conversation out of a run, as it was or as it is shown.
    Get(GetArgs),
    /// One conversation before and after, side by side, and why.
    ///
    /// Or its archive as Markdown, what one mark hides, or a page.
    Show(ShowArgs),
    /// Recompute every hash of a run and restore every record.
    ///
    /// Exit code 4 on any difference.
    Verify(VerifyArgs),
    /// Why each message of an input would be kept or compressed.
    Explain(Box<ExplainArgs>),
    /// Try option sets on a sample: what each saves and loses.
    Sweep(Box<SweepArgs>),
    /// Learn what next turns use, for `--look-ahead off`.
    ///
    /// From finished conversations; what is learned is a file for `--use-model`.
    Learn(Box<LearnUsesArgs>),
    /// Damage outputs in known ways, and count which metrics notice.
    Calibrate(Box<CalibrateArgs>),
    /// Ask a model through a batch API, at half the price.
    ///
    /// In this order: plan, submit, poll, fetch, plan again until nothing is open; then run the job.
    #[cfg(feature = "llm")]
    Llm(ModelArgs),
    /// Print the schema of a table or document; without a name, list them.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write those of all.
    Man(ManArgs),
    /// Help with a command or a topic.
    Help(HelpArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompressArgs {
    /// Files, folders or patterns with JSON lines (plain, gzip or zstd), documents, Parquet or Arrow IPC, also in s3://,
    /// gs://, az:// and on http(s)://, or `-` for stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    /// As a filter: the file that restores the input.
    #[arg(long, value_name = "FILE")]
    pub(crate) sidecar: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// For drills: fail inside the engine on the conversation with this id.
    #[arg(long, hide = true, value_name = "ID")]
    pub(crate) drill_panic: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// The run whose rejects are read again.
    #[arg(value_name = "RUN")]
    pub(crate) rejected: String,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The job file; paths in it start from the current directory, as those on the command line.
    #[arg(value_name = "JOB.toml")]
    pub(crate) job: PathBuf,
    /// Sets a key over the file, such as `engine.recency_window=2` or `inputs='["logs"]'`; the value is TOML, or else
    /// a text. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run nothing: print the job with all defaults, list its inputs, and estimate memory, disk and time from a sample.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With `kind = "report"`: print the figures as JSON.
    #[arg(long, hide_short_help = true)]
    pub(crate) json: bool,
    /// With `kind = "dataset"`: keep the sides of the conversations of an earlier run.
    #[arg(long, value_name = "RUN", hide_short_help = true)]
    pub(crate) split_from: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// What goes over the file: the flags of `condenser compress`.
    #[command(flatten)]
    pub(crate) over: JobArgs,
}

/// What belongs to one call of a job, not to the job.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Do only every N-th part, beginning with part I (from 0): one job on N machines; then `condenser finish RUN`.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// When RUN holds a run already, start over in a new directory beside it.
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportRunsArgs {
    /// Run directories, or stores of nightly compaction, which are all their runs together; also in s3://, gs:// or az://.
    /// Of several, the last is compared with all before it.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Report of all runs together instead of comparing the last with the others.
    #[arg(long, conflicts_with = "against")]
    pub(crate) together: bool,
    #[command(flatten)]
    pub(crate) report: condenser::pipeline::ReportArgs,
    /// Everything: all breakdowns, classes and lists.
    #[arg(long)]
    pub(crate) all: bool,
    /// Read all figures from the tables, and none from the sketches in the commits.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Columns of the report [default: those of the terminal, else 80].
    #[arg(long, value_name = "N", value_parser = columns())]
    pub(crate) width: Option<usize>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ExpireArgs {
    /// The store that a compaction job wrote.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// Only originals that were last written before so many days, such as 30d.
    #[arg(long, value_name = "DAYS", value_parser = parse_days)]
    pub(crate) older_than: u64,
    /// Delete; without it, what would be deleted is proven and listed only.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The store that a compaction job wrote, also in s3://, gs:// or az://.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// Keep what each night left of every log, and not only the last state.
    #[arg(long)]
    pub(crate) every_state: bool,
    /// Delete the runs that are replaced, after a proof that the store gives everything back without them.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Bound on the bytes in flight [default: 256MiB].
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    /// The run directory.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// End with exit code 5 when a conversation is over its token budget.
    #[arg(long)]
    pub(crate) require_fit: bool,
    /// Make do without the inputs that are not wholly committed, such as one that is damaged for good.
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// For inputs and runs in object stores and on web servers.
#[derive(Debug, Args)]
pub(crate) struct StoreFlags {
    /// Seconds without an answer after which a remote store has stalled; it is given up after four times as long
    /// [default: 30].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) store_timeout: Option<Seconds>,
    /// How often a failed request to a remote store is tried again [default: 10].
    #[arg(long, value_name = "N")]
    pub(crate) store_retries: Option<usize>,
}

impl StoreFlags {
    /// The stores that hold.
    pub(crate) fn stores(&self) -> Stores {
        condenser::app::stores(self.store_timeout, self.store_retries, BTreeMap::new())
    }
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The run directory; with `--verbatim`, a file of compressed records; with `--sidecar`, the filter's output
    /// [default: stdin].
    #[arg(value_name = "RUN|FILE")]
    pub(crate) path: Option<PathBuf>,
    /// Directory for the originals, or `-` for stdout; with `--verbatim` and `--sidecar`, a file.
    #[arg(long, short, value_name = "DIR|-")]
    pub(crate) output: Option<String>,
    /// Only the conversation with this id, on stdout.
    #[arg(long, value_name = "ID", conflicts_with_all = ["verbatim", "sidecar", "through"])]
    pub(crate) conversation: Option<String>,
    /// Of a store: its logs as they were after the night of this run, such as 00007 [default: the last night].
    #[arg(long, value_name = "NIGHT", conflicts_with_all = ["verbatim", "sidecar", "through", "conversation"])]
    pub(crate) night: Option<String>,
    /// The run whose conversations were the input of RUN; again for a round before that.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["verbatim", "sidecar"])]
    pub(crate) through: Vec<PathBuf>,
    /// The sidecar that the filter wrote.
    #[arg(long, value_name = "FILE", conflicts_with = "verbatim")]
    pub(crate) sidecar: Option<PathBuf>,
    /// A map from message id to original, or JSON lines of `conversation_id` and `verbatim`.
    #[arg(long, value_name = "FILE")]
    pub(crate) verbatim: Option<PathBuf>,
    /// With `--verbatim`: also expand summaries among the originals.
    #[arg(long, requires = "verbatim")]
    pub(crate) recursive: bool,
    /// With `--verbatim`: the shape of the records.
    #[arg(long, value_enum, requires = "verbatim")]
    pub(crate) shape: Option<ShapeName>,
    /// With `--verbatim`: where the records have their conversation, as for `compress`.
    #[arg(long, value_name = "NAME=PATH,…", requires = "verbatim", conflicts_with = "shape")]
    pub(crate) map: Option<FieldMap>,
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The run directory, also in s3://, gs:// or az://.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The ids of the conversations of a finished run or store instead, one a line.
    #[arg(long, conflicts_with_all = ["json", "width"])]
    pub(crate) ids: bool,
    /// Print JSON: what `condenser schema listing` says, of a store `condenser schema store-listing`.
    #[arg(long, conflicts_with = "width")]
    pub(crate) json: bool,
    /// Columns that lines are cut to [default: those of the terminal; elsewhere nothing is cut].
    #[arg(long, value_name = "N", value_parser = columns())]
    pub(crate) width: Option<usize>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The run directory, also in s3://, gs:// or az://.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The id of the conversation.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// As the run shows it, instead of the original.
    #[arg(long)]
    pub(crate) compressed: bool,
    /// The exact text that the mark `#N` hides.
    #[arg(long, value_name = "N", conflicts_with = "compressed")]
    pub(crate) mark: Option<u32>,
    /// A file, or `-` for stdout [default: -].
    #[arg(long, short, value_name = "FILE|-")]
    pub(crate) output: Option<String>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run directory, also in s3://, gs:// or az://.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The id of the conversation.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The originals that are not shown any more, as one Markdown document per conversation.
    #[arg(long, conflicts_with_all = ["json", "full", "width"])]
    pub(crate) markdown: bool,
    /// The originals of this chunk of the archive, as Markdown; for compacted conversations.
    #[arg(long, value_name = "N", conflicts_with_all = ["markdown", "json", "html", "full", "width"])]
    pub(crate) archive: Option<u64>,
    /// What the mark `#N` hides, with two shown lines on either side.
    #[arg(long, value_name = "N", conflicts_with_all = ["markdown", "archive", "json", "html", "full"])]
    pub(crate) mark: Option<u32>,
    /// Why each line or member of the messages that are shown in part stays or goes; plans the original again.
    #[arg(long, conflicts_with_all = ["markdown", "archive", "mark", "json", "html", "full", "width"])]
    pub(crate) why: bool,
    /// As JSON, one line per conversation: what `condenser schema pair` says.
    #[arg(long, conflicts_with_all = ["full", "width"])]
    pub(crate) json: bool,
    /// As one page that fetches nothing, with every message; a file that is there is replaced. `-` for stdout.
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["json", "markdown", "full", "width", "output"])]
    pub(crate) html: Option<String>,
    /// Every line of every message, instead of the first lines of long ones.
    #[arg(long)]
    pub(crate) full: bool,
    /// Columns [default: those of the terminal, or 120].
    #[arg(long, value_name = "N", value_parser = columns())]
    pub(crate) width: Option<usize>,
    /// A file, or `-` for stdout [default: -].
    #[arg(long, short, value_name = "FILE|-")]
    pub(crate) output: Option<String>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The run directory.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The original inputs, in the order in which they were compressed; compared byte by byte.
    #[arg(long, value_name = "INPUT", num_args = 1..)]
    pub(crate) against: Vec<String>,
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Files, folders or patterns with JSON lines, documents, Parquet or Arrow IPC, or `-` for stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// Only the conversation with this id.
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// Everything about each message: what the classifier and the scorers see in it, and what each stage would do.
    #[arg(long)]
    pub(crate) all: bool,
    /// As JSON, one line per conversation with everything: what `condenser schema explanation` says.
    #[arg(long)]
    pub(crate) json: bool,
    /// Shape of all records; found out per record when left out.
    #[arg(long, value_enum)]
    pub(crate) shape: Option<ShapeName>,
    /// Where records of no known shape have their conversation, such as messages=state.turns,role=speaker,content=text.
    #[arg(long, value_name = "NAME=PATH,…", conflicts_with = "shape")]
    pub(crate) map: Option<FieldMap>,
    /// Of tables: the column with the conversations; found by name and type when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) messages_column: Option<String>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Files, folders or patterns as with `compress` [default: jobs/sample].
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// Write what was found into a file, which `condenser report` takes; `-` for stdout.
    #[arg(long, short, value_name = "FILE|-")]
    pub(crate) output: Option<String>,
    /// Print JSON instead of a table: what `condenser schema calibration` says.
    #[arg(long)]
    pub(crate) json: bool,
    /// So many conversations at most.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) limit: usize,
    /// Shape of all records; found out per record when left out.
    #[arg(long, value_enum)]
    pub(crate) shape: Option<ShapeName>,
    /// Where records of no known shape have their conversation, such as messages=state.turns,role=speaker,content=text.
    #[arg(long, value_name = "NAME=PATH,…", conflicts_with = "shape")]
    pub(crate) map: Option<FieldMap>,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LearnUsesArgs {
    /// Files, folders or patterns with finished sessions of agents, also in object stores, as `compress` takes them.
    #[arg(required = true, value_name = "CORPUS")]
    pub(crate) inputs: Vec<String>,
    /// The model that is written, for `--use-model`.
    #[arg(long, short, value_name = "FILE", default_value = "use.toml")]
    pub(crate) output: String,
    /// Overwrite the model.
    #[arg(long)]
    pub(crate) force: bool,
    /// Shape of all records; found out per record when left out.
    #[arg(long, value_enum)]
    pub(crate) shape: Option<ShapeName>,
    /// Where records of no known shape have their conversation, such as messages=state.turns,role=speaker,content=text.
    #[arg(long, value_name = "NAME=PATH,…", conflicts_with = "shape")]
    pub(crate) map: Option<FieldMap>,
    /// The column of tables that holds the conversations; found out when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) messages_column: Option<String>,
    /// Print what was learned as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// No word on stderr but errors and warnings.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Files, folders or patterns, also in object stores, as `compress` takes them, or `-` for stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// What no figure may be below, such as quality=0.9, `fact_retention=0.8` or `forward_recall=gentlest`; may be given
    /// several times [default: nothing gets worse than with the options as given].
    #[arg(long, value_delimiter = ',', value_name = "FIGURE=SHARE")]
    pub(crate) floor: Vec<Floor>,
    /// Write the recommendation as a job file.
    #[arg(long, short, value_name = "JOB.toml")]
    pub(crate) output: Option<String>,
    /// Overwrite the job file.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Conversations that are measured [default: 400].
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// Text that is measured, of each class of conversations [default: 16MiB].
    #[arg(long, value_name = "SIZE")]
    pub(crate) sample_bytes: Option<Size>,
    /// Hold this share of the conversations back, and prove the recommendation on them.
    #[arg(long, value_name = "SHARE")]
    pub(crate) held_back: Option<f64>,
    /// Measure every set on the whole sample, instead of leaving out the worse half of them round by round.
    #[arg(long)]
    pub(crate) grid: bool,
    /// Try no set with a smaller recency window: no figure sees what the last messages are worth.
    #[arg(long)]
    pub(crate) keep_window: bool,
    /// Print everything that was measured as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write everything that was measured as one page that fetches nothing; a file that is there is replaced. `-` for
    /// stdout, instead of the table.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) html: Option<String>,
    /// Shape of all records; found out per file when left out.
    #[arg(long, value_enum)]
    pub(crate) shape: Option<ShapeName>,
    /// Where records of no known shape have their conversation, such as messages=state.turns,role=speaker,content=text.
    #[arg(long, value_name = "NAME=PATH,…", conflicts_with = "shape")]
    pub(crate) map: Option<FieldMap>,
    /// Of tables: the column with the conversations; found by name and type when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) messages_column: Option<String>,
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Print errors and the result only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    /// The options as given, which every set goes over and is held against.
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Name of a table or document.
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, such as `compress` or `llm plan` [default: condenser itself].
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// A command, such as `compress` or `llm plan`, or a topic, such as `options`; without one, what there is.
    #[arg(value_name = "COMMAND|TOPIC")]
    pub(crate) about: Vec<String>,
}

#[cfg(feature = "llm")]
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

#[cfg(feature = "llm")]
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Write the open questions of a job into batches; nothing is sent.
    Plan(BatchArgs),
    /// Hand in the batches that were planned, each of them once.
    Submit(BatchArgs),
    /// Ask how far the batches are.
    Poll(PollArgs),
    /// Fetch the results of batches that have ended into the kept replies.
    Fetch(BatchArgs),
    /// Say what became of the batches, without asking anybody.
    Status(BatchArgs),
    /// Ask the model of a job what went wrong in pairs of texts; prints better options.
    Learn(LearnArgs),
    /// Write pairs of originals and what stands for them, to train a model with.
    Distill(DistillArgs),
}

#[cfg(feature = "llm")]
#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    /// The job file.
    #[arg(value_name = "JOB.toml")]
    pub(crate) job: PathBuf,
    /// Sets a key over the file, as with `condenser run`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print a JSON object instead of a sentence.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(feature = "llm")]
#[derive(Debug, Args)]
pub(crate) struct PollArgs {
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
    /// Ask again until all of them have ended.
    #[arg(long)]
    pub(crate) wait: bool,
    /// With `--wait`: seconds between two times [default: 60].
    #[arg(long, value_name = "SECONDS", requires = "wait")]
    pub(crate) every: Option<Seconds>,
}

#[cfg(feature = "llm")]
#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    /// The job file.
    #[arg(value_name = "JOB.toml")]
    pub(crate) job: PathBuf,
    /// JSON lines of `original`, `compressed` and `outcome`: `{"success": true}` or `{"success": false, "error": "…"}`.
    #[arg(value_name = "PAIRS.jsonl")]
    pub(crate) pairs: PathBuf,
    /// Look at what went well, for what is kept without need.
    #[arg(long, conflicts_with = "candidates")]
    pub(crate) tighten: bool,
    /// Print so many sets of options to try.
    #[arg(long, value_name = "N")]
    pub(crate) candidates: Option<usize>,
    /// Sets a key over the file, as with `condenser run`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[cfg(feature = "llm")]
#[derive(Debug, Args)]
pub(crate) struct DistillArgs {
    /// The run directory.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// A new file of JSON lines with `input` and `output`.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) stores: StoreFlags,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Days: `30d` or `30`.
fn parse_days(text: &str) -> Result<u64, String> {
    let days = text.strip_suffix('d').unwrap_or(text);
    days.parse().map_err(|_| "expected a number of days such as 30d".to_owned())
}
