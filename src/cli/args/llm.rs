//! What was typed for `condenser llm`. Knows no defaults beyond what help shows.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use condenser::pipeline::Seconds;

use super::StoreArgs;

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Write the questions of a job that no kept reply answers into batches; nothing is sent.
    Plan(BatchArgs),
    /// Hand in the batches that were planned, each of them once.
    Submit(BatchArgs),
    /// Ask how far the batches are.
    Poll(PollArgs),
    /// Fetch the results of batches that have ended into the kept replies.
    Fetch(BatchArgs),
    /// Say what became of the batches, without asking anybody.
    Status(BatchArgs),
    /// Ask the model of a job what went wrong in pairs of originals and compressed texts; prints better options.
    Learn(LearnArgs),
    /// Write pairs of originals and what stands for them, to train a model of one's own with.
    Distill(DistillArgs),
}

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

#[derive(Debug, Args)]
pub(crate) struct DistillArgs {
    /// The run directory.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// A new file of JSON lines with `input` and `output`.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
