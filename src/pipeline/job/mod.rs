//! A job as it was written: the keys of job files and the flags of the command line, declared once. Everything may
//! be left out here; what holds in the end is `JobSettings`. Knows no file: text comes in, settings go out.

mod compaction;
mod dataset;
mod files;
mod formats;
mod llm;
mod policy;
mod read;
mod report;
mod settle;
mod store;
mod target;

mod values;

use serde::{Deserialize, Serialize};

use super::{
    Arguments, CallOrder, Compact, Compression, ConversationFormat, Empty, EvalLookAhead, GroupBy, JobKind, MaxRejects,
    Originals, Policy, RowForm, TargetName, Thinking, Twins, Unfit,
};
use crate::model::{EngineArgs, FieldMap, Floor, ShapeName, one_or_many_floors};

pub use compaction::{AgeRules, CompactionArgs, MERGED};
pub use dataset::{DatasetOptions, SplitOptions};
pub use files::{EngineFiles, FileKind, HOW_TO_LEARN};
pub(crate) use llm::asks_a_model;
pub use llm::{
    DEFAULT_LLM_CONCURRENCY, DEFAULT_LLM_RETRIES, DEFAULT_LLM_TIMEOUT, LlmArgs, LlmKey, LlmMode, LlmOptions, LlmPrices,
    LlmProvider, LlmSettings, Parameters,
};
pub use read::{nearest, read_job, read_keys, read_options};
pub use report::ReportArgs;
pub use settle::{DEFAULT_MEMORY, DEFAULT_SPLIT_BYTES, FORMAT_VERSION, JobOptions, JobSettings, Target};
pub use store::{Secret, StoreArgs};
pub use target::Settled;
pub use values::{ProgressMode, Seconds, Size, Temperature, TimeSpan, parse_size};

/// The keys of a job file, which are the flags of `condenser compress` too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schemas", schemars(title = "job"))]
pub struct JobArgs {
    /// What the job is for [default: compress].
    #[arg(skip)]
    pub kind: Option<JobKind>,
    /// Files, folders or patterns with JSON lines (plain, gzip or zstd), documents, Parquet or Arrow IPC, also in s3://,
    /// gs://, az:// and on http(s)://, or `-` for stdin.
    #[arg(skip)]
    pub inputs: Vec<String>,
    /// Directory for the run, also in s3://, gs:// or az://; `-` writes records to stdout.
    #[arg(long, short, value_name = "RUN")]
    pub output: Option<String>,
    /// How tables are written [default: parquet].
    #[arg(long, value_enum)]
    pub format: Option<ConversationFormat>,
    /// How what is written is compressed: none, gzip, zstd or zstd:1 to zstd:19; Arrow has no gzip [default: zstd, which is zstd:3].
    #[arg(long, value_name = "CODEC[:LEVEL]")]
    pub compression: Option<Compression>,
    /// Shape of all records; found out per file when left out.
    #[arg(long, value_enum)]
    pub shape: Option<ShapeName>,
    /// Where records of no known shape have their conversation, such as messages=state.turns,role=speaker,content=text.
    #[arg(long, value_name = "NAME=PATH,…")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<FieldMap>,
    /// Of tables: the column with the conversations; found by name and type when left out.
    #[arg(long, value_name = "NAME")]
    pub messages_column: Option<String>,
    /// Also write the decisions table: one row per message.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub trace: Option<bool>,
    /// What is stored of originals: what is not shown, or all; with `--verbatim-map` all [default: hidden].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub originals: Option<Originals>,
    /// With `--format jsonl`: also write the map from message id to original, as other tools read it.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub verbatim_map: Option<bool>,
    /// Fail when more records are rejected: a number, or a share of a source such as 0.01 or 1%.
    #[arg(long, value_name = "N|SHARE")]
    pub max_rejects: Option<MaxRejects>,
    /// How many times shorter the run should be, the last messages of each conversation left out: one threshold for all, settled on
    /// a sample.
    #[arg(long, value_name = "RATIO")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ratio: Option<f64>,
    /// The same as the share that stays: 0.5 for half.
    #[arg(long, value_name = "SHARE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<f64>,
    /// With a token budget or a target ratio: end with exit code 5 where it is not met. Everything is written all the same.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub require_fit: Option<bool>,
    /// Reject longer lines [default: 256MiB].
    #[arg(long, value_name = "SIZE")]
    pub max_record_bytes: Option<Size>,
    /// Cut large files of plain JSON lines into parts of this size [default: 256MiB].
    #[arg(long, value_name = "SIZE")]
    pub split_size: Option<Size>,
    /// Number of workers [default: one per core].
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Bound on the bytes in flight, such as 512MiB [default: 256MiB].
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Size>,
    /// Seconds without an answer after which a remote store has stalled; it is given up after four times as long
    /// [default: 30].
    #[arg(long, value_name = "SECONDS")]
    pub store_timeout: Option<Seconds>,
    /// How often a failed request to a remote store is tried again [default: 10].
    #[arg(long, value_name = "N")]
    pub store_retries: Option<usize>,
    /// Print errors only.
    #[arg(long, short, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub quiet: Option<bool>,
    /// How progress is shown [default: auto].
    #[arg(long, value_enum)]
    pub progress: Option<ProgressMode>,
    /// Choose an option set for each conversation: the shortest output that stays above `floor`.
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// With `policy`: what no figure of a conversation may be below, such as quality=0.9 or `fact_retention=gentlest`.
    #[arg(long, value_delimiter = ',', value_name = "FIGURE=SHARE")]
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many_floors")]
    pub floor: Vec<Floor>,
    /// With `policy`: the option sets to try beside the job's own, from gentle to aggressive; each goes over `engine`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<EngineArgs>,
    /// Take the time that each step takes, and write it into `timings/` of the run.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub timings: Option<bool>,
    /// What the engine does.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// For `kind = "dataset"`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "is_empty")]
    pub dataset: DatasetArgs,
    /// For `kind = "compaction"`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "is_empty")]
    pub compaction: CompactionArgs,
    /// What is reported of the run, and what it is held against.
    #[arg(skip)]
    #[serde(skip_serializing_if = "is_empty")]
    pub report: ReportArgs,
    /// The model that the engine asks, when it is told to ask one.
    #[command(flatten)]
    #[serde(skip_serializing_if = "is_empty")]
    pub llm: LlmArgs,
    /// Access to object stores; goes before the environment. The only place for `${NAME}`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "is_empty")]
    pub store: StoreArgs,
}

/// Training-ready data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DatasetArgs {
    /// Who reads the data [default: trl].
    pub target: Option<TargetName>,
    /// What a row is [default: messages].
    pub form: Option<RowForm>,
    /// How arguments of calls are written [default: json; text for openai].
    pub arguments: Option<Arguments>,
    /// What stands where an assistant calls and says nothing [default: text; null for openai].
    pub empty: Option<Empty>,
    /// What becomes of what an assistant thinks [default: field; content for sharegpt and llama-factory, drop for openai].
    pub thinking: Option<Thinking>,
    /// How calls that are made at once are written [default: together].
    pub calls: Option<CallOrder>,
    /// Share of the conversations that go to `eval`, 0 to 1 [default: 0.05].
    pub eval_share: Option<f64>,
    /// What conversations have in common that go to one side: all that is known, or one kind of it [default: auto].
    pub group_by: Option<GroupBy>,
    /// Which conversations are left out since another one is like them [default: near].
    pub dedup: Option<Twins>,
    /// Evaluation files: conversations that hold a text of theirs are left out.
    pub decontaminate: Vec<String>,
    /// Another seed, another split [default: 0].
    pub seed: Option<u64>,
    /// See that each class has its share of conversations to evaluate on [default: true].
    pub stratify: Option<bool>,
    /// An earlier run whose sides are kept.
    pub split_from: Option<String>,
    /// What may decide about what is hidden in rows for evaluation [default: strict].
    pub eval_look_ahead: Option<EvalLookAhead>,
    /// Most tokens of a row, as the trainer counts them: with `tokenizer` of the engine and `chat_template`.
    pub max_tokens: Option<u64>,
    /// Which rows are compressed [default: to-fit with `max_tokens`, else always].
    pub compact: Option<Compact>,
    /// A row is compressed so many times at most to fit `max_tokens`; what takes more is cut into windows [default: 2].
    pub max_ratio: Option<f64>,
    /// Share of a window of a longer conversation that shows what stands before, 0 to 0.9 [default: 0.3].
    pub overlap: Option<f64>,
    /// Least grounding of a row that was compacted to `max_tokens`; with less it is cut instead, 0 to 1 [default: 0.9].
    pub min_grounding: Option<f64>,
    /// The chat template of the model: a Jinja file, or the `tokenizer_config.json` that holds it.
    pub chat_template: Option<String>,
    /// What becomes of conversations that take more even compressed [default: windows].
    pub unfit: Option<Unfit>,
}

fn is_empty<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
