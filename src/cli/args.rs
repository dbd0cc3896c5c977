//! What was typed: everything that may be left out is optional here. Knows no defaults beyond what help shows.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use condenser::io::store::{StoreConfig, Stores};
use condenser::model::{EngineArgs, ShapeName};
use condenser::pipeline::{ConversationFormat, MaxRejects, Shard};

/// Compresses corpora of chat and agent transcripts, provably lossless.
#[derive(Debug, Parser)]
#[command(name = "condenser", version, about, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say more on stderr: -v what happens, -vv also details, -vvv everything.
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compress conversations into a run directory, or as a filter from stdin to stdout.
    Compress(Box<CompressArgs>),
    /// Join what several machines did with `--shard` into a finished run.
    Finish(FinishArgs),
    /// Bring the originals back, byte for byte.
    Restore(RestoreArgs),
    /// Recompute every hash of a run and restore every record; exit code 4 on any difference.
    Verify(VerifyArgs),
    /// Say for every message of an input why it would be kept or compressed.
    Explain(Box<ExplainArgs>),
    /// Print the published schema of a table or document; without a name, list them.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompressArgs {
    /// Files, folders or patterns with JSON lines (plain, gzip or zstd), documents, Parquet or Arrow IPC, also in s3://,
    /// gs://, az:// and on http(s)://, or `-` for stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// Directory for the run, also in s3://, gs:// or az://; `-` writes records to stdout.
    #[arg(long, short, value_name = "RUN")]
    pub(crate) output: Option<String>,
    /// How tables are written [default: parquet].
    #[arg(long, value_enum)]
    pub(crate) format: Option<ConversationFormat>,
    /// Shape of all records; found out per file when left out.
    #[arg(long, value_enum)]
    pub(crate) shape: Option<ShapeName>,
    /// Of tables: the column with the conversations; found by name and type when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) messages_column: Option<String>,
    /// Also write the decisions table: one row per message.
    #[arg(long)]
    pub(crate) trace: bool,
    /// With `--format jsonl`: also write the map from message id to original, as other tools read it.
    #[arg(long)]
    pub(crate) verbatim_map: bool,
    /// As a filter: the file that restores the input.
    #[arg(long, value_name = "FILE")]
    pub(crate) sidecar: Option<PathBuf>,
    /// Fail when more records are rejected: a number, or a share of a source such as 0.01 or 1%.
    #[arg(long, value_name = "N|SHARE", value_parser = parse_max_rejects)]
    pub(crate) max_rejects: Option<MaxRejects>,
    /// Reject longer lines [default: 1GiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_record_bytes: Option<usize>,
    /// Cut large files of plain JSON lines into parts of this size [default: 256MiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) split_size: Option<usize>,
    /// Do only every N-th part, beginning with part I (from 0): one job on N machines; then `condenser finish RUN`.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// When RUN holds a run already, start over in a new directory beside it.
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// For drills of debug builds: fail inside the engine on the conversation with this id.
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, value_name = "ID")]
    pub(crate) drill_panic: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    /// The run directory.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResourceArgs {
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Bound on the bytes in flight, such as 512MiB [default: 256MiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<usize>,
}

/// For inputs and runs in object stores and on web servers.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Seconds without an answer after which a remote store has stalled; it is given up after four times as long
    /// [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) store_timeout: Option<Duration>,
    /// How often a failed request to a remote store is tried again [default: 10].
    #[arg(long, value_name = "N")]
    pub(crate) store_retries: Option<usize>,
}

impl StoreArgs {
    /// The stores that hold.
    pub(crate) fn stores(&self) -> Stores {
        let default = StoreConfig::default();
        Stores::new(StoreConfig {
            stall_timeout: self.store_timeout.unwrap_or(default.stall_timeout),
            retry_timeout: self.store_timeout.map_or(default.retry_timeout, |timeout| timeout * STALLS_UNTIL_GIVEN_UP),
            max_retries: self.store_retries.unwrap_or(default.max_retries),
            ..default
        })
    }
}

/// A store that stalls so many times in a row is given up, as with the defaults.
const STALLS_UNTIL_GIVEN_UP: u32 = 4;

#[derive(Debug, Args)]
pub(crate) struct ProgressArgs {
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// How progress is shown.
    #[arg(long, value_enum, default_value_t = ProgressMode::Auto)]
    pub(crate) progress: ProgressMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// A bar on a terminal, else plain lines.
    Auto,
    /// A bar.
    Bar,
    /// One line per source.
    Plain,
    /// One JSON object per line.
    Json,
    /// Nothing.
    None,
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
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
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
    pub(crate) stores: StoreArgs,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Files, folders or patterns with JSON lines, or `-` for stdin.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// Only the conversation with this id.
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// Shape of all records; found out per record when left out.
    #[arg(long, value_enum)]
    pub(crate) shape: Option<ShapeName>,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
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

/// A size in bytes with an optional unit: `1GiB`, `512MB`, `64k`. The units of 1024 and their short forms count
/// in 1024, `kB`, `MB` and `GB` in 1000.
pub(crate) fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>();
    let unit = text.strip_prefix(&*digits).unwrap_or_default().trim();
    let factor: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        _ => return Err(format!("`{unit}` is no unit; use KiB, MiB, GiB, kB, MB or GB")),
    };
    match digits.parse::<f64>() {
        Ok(number) if number * factor >= 1.0 => Ok((number * factor) as usize),
        _ => Err("expected a size such as 512MiB".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse::<f64>();
    match seconds.map(Duration::try_from_secs_f64) {
        Ok(Ok(duration)) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a number of seconds such as 30".to_owned()),
    }
}

fn parse_max_rejects(text: &str) -> Result<MaxRejects, String> {
    if let Ok(count) = text.parse() {
        return Ok(MaxRejects::Count(count));
    }
    let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.parse::<f64>().map(|number| number / divisor) {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(MaxRejects::Share(share)),
        _ => Err("expected a number of records or a share such as 0.01 or 1%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{MaxRejects, parse_max_rejects, parse_size};

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("1", 1), ("2k", 2048), ("1.5MiB", 1_572_864), ("3 MB", 3_000_000), ("1GiB", 1 << 30)] {
            assert_eq!(parse_size(text), Ok(bytes));
        }
        for text in ["", "x", "1 parsec", "-1", "0"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_of_rejects_are_numbers_or_shares() {
        assert_eq!(parse_max_rejects("10"), Ok(MaxRejects::Count(10)));
        assert_eq!(parse_max_rejects("0.25"), Ok(MaxRejects::Share(0.25)));
        assert_eq!(parse_max_rejects("1%"), Ok(MaxRejects::Share(0.01)));
        assert!(parse_max_rejects("1.5").is_err() && parse_max_rejects("many").is_err());
    }
}
