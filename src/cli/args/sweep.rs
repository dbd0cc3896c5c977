//! What was typed after `condenser sweep`.

use clap::Args;
use condenser::model::{EngineArgs, Floor, ShapeName};
use condenser::pipeline::Size;

use super::StoreArgs;

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
    pub(crate) stores: StoreArgs,
    /// The options as given, which every set goes over and is held against.
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}
