//! What was typed for the commands that look at conversations: `show`, `explain`, `calibrate`. Knows no defaults beyond
//! what help shows.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use condenser::model::{EngineArgs, ShapeName};

use super::{StoreArgs, columns};

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
    pub(crate) stores: StoreArgs,
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
    /// Of tables: the column with the conversations; found by name and type when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) messages_column: Option<String>,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
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
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}
