//! What a job may choose about its output, as flags, job files and commits write it. Knows no engine.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What a job is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// A run directory from which everything is restored.
    #[default]
    Compress,
    /// The same, and training-ready data beside its tables.
    Dataset,
    /// A store that takes in new and grown files night by night, each time as a run of its own.
    Compaction,
    /// Figures only: no conversations and no originals are written.
    Report,
}

/// How the conversations table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ConversationFormat {
    /// All tables as Parquet with columns.
    Parquet,
    /// Conversations as records of their own shape, all tables as JSON lines.
    Jsonl,
    /// All tables as Arrow IPC files with columns.
    Arrow,
}

impl ConversationFormat {
    /// Refuses to write the table `name` as JSON lines.
    ///
    /// # Errors
    /// `Usage` when its columns and types would be lost.
    pub fn check_table(self, name: &str) -> Result<()> {
        let message = "the input is a table, and JSON lines cannot hold its columns and types; use --output RUN with \
                       --format parquet or --format arrow";
        if self == Self::Jsonl { Err(Error::usage(name, message)) } else { Ok(()) }
    }
}

/// How what is written is compressed: lines in pieces of a file, columns page by page. Written `none`, `gzip`, `zstd` or
/// `zstd:LEVEL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Gzip, which everything reads; not in Arrow IPC.
    Gzip,
    /// Zstandard at this level, one of 1 to 19.
    Zstd(u8),
}

impl Default for Compression {
    fn default() -> Self {
        Self::Zstd(Self::ZSTD)
    }
}

impl Compression {
    /// The level of Zstandard that is taken when none is named.
    pub(crate) const ZSTD: u8 = 3;
    /// The same for a store of nights, which is written once and kept for long.
    const KEPT_ZSTD: u8 = 9;

    /// How a job of this kind writes when nothing is said about it.
    pub(crate) fn of(kind: JobKind, format: ConversationFormat) -> Self {
        let is_kept = kind == JobKind::Compaction && format != ConversationFormat::Arrow;
        if is_kept { Self::Zstd(Self::KEPT_ZSTD) } else { Self::default() }
    }

    /// True for the levels of Zstandard before the one that is taken when none is named.
    pub(crate) fn is_quick(self) -> bool {
        matches!(self, Self::Zstd(level) if level < Self::ZSTD)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What the table of originals holds of a message that something else stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Originals {
    /// What is not shown, and how to put it together with what is; all of it where that is not longer.
    #[default]
    Hidden,
    /// All of it.
    Whole,
}

impl Originals {
    /// What is taken where nothing is said: who asks for the map from ids to originals reads whole ones.
    pub(crate) fn with_map(verbatim_map: bool) -> Self {
        if verbatim_map { Self::Whole } else { Self::Hidden }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An option of training data with these values, as job files write them.
macro_rules! dataset_choices {
    ($($(#[$meta:meta])* $visibility:vis enum $name:ident { $($(#[$value_meta:meta])* $value:ident),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        $visibility enum $name { $($(#[$value_meta])* $value),* }
    )*};
}

dataset_choices! {
    /// Who reads training data: which columns, keys and files it has.
    pub enum TargetName {
        /// TRL and everything that reads `messages` with chat templates: Parquet with `messages` and `tools`.
        #[default]
        Trl,
        /// OpenAI's fine-tuning: JSON lines with `messages` and `tools` and nothing else.
        Openai,
        /// `conversations: [{from, value}]` in JSON lines.
        Sharegpt,
        /// Axolotl: `messages` in JSON lines, with `train` on each turn of the assistant.
        Axolotl,
        /// LLaMA-Factory: JSON lines with `conversations`, `system` and `tools`, and the `dataset_info.json` beside them.
        LlamaFactory,
        /// Unsloth: Parquet with `conversations` of `role` and `content`.
        Unsloth,
    }
    /// What a row is.
    pub enum RowForm {
        /// A conversation.
        #[default]
        Messages,
        /// Everything before the last turn of the assistant as `prompt`, that turn as `completion`.
        PromptCompletion,
        /// `prompt`, `chosen` and `rejected`, of records that have two answers.
        Preference,
    }
    /// How arguments of calls are written.
    pub enum Arguments {
        /// As JSON, which chat templates write as such.
        #[default]
        Json,
        /// As a text that holds JSON, as the API of OpenAI has it.
        Text,
    }
    /// What stands where an assistant calls and says nothing.
    pub enum Empty {
        /// A text without a letter.
        #[default]
        Text,
        /// `null`.
        Null,
    }
    /// What becomes of what an assistant thinks.
    pub enum Thinking {
        /// It stands in `reasoning_content` of its message.
        #[default]
        Field,
        /// It stands in tags before the text.
        Content,
        /// It is left out.
        Drop,
    }
    /// How calls that are made at once are written.
    pub enum CallOrder {
        /// In one message, their results behind it.
        #[default]
        Together,
        /// One to a message, each with its result behind it: for templates that know no others.
        Apart,
    }
    /// Which rows of a data set are compressed.
    pub enum Compact {
        /// Those that have more than `max_tokens` as they are; all where it sets none.
        #[default]
        ToFit,
        /// All of which something can be hidden.
        Always,
    }
    /// What becomes of conversations that fit not even compressed.
    pub enum Unfit {
        /// They are cut where turns end.
        #[default]
        Windows,
        /// They are left out, and listed.
        LeaveOut,
    }
    /// What conversations of a data set have in common that go to one side. First prompts that are nearly the same always count, but with
    /// `id`.
    pub enum GroupBy {
        /// The repository and the task, unless one of them holds more than a tenth of all conversations; and the first prompt.
        #[default]
        Auto,
        /// The repository, and the first prompt.
        Repository,
        /// The task, and the first prompt.
        Task,
        /// The first prompt.
        Prompt,
        /// Nothing but the id.
        Id,
    }
    /// Which conversations of a data set are left out since another one is like them.
    pub enum Twins {
        /// Those that say nearly the same, or end where another goes on.
        #[default]
        Near,
        /// Those that say the same, case, spacing and punctuation aside.
        Exact,
        /// None.
        None,
    }
    /// What of a conversation may decide about what is hidden in rows for evaluation.
    pub enum EvalLookAhead {
        /// What comes before, and the last messages.
        #[default]
        Strict,
        /// What comes before.
        Off,
    }
}

impl TargetName {
    /// True where turns are `from` and `value`.
    pub(crate) fn is_sharegpt(self) -> bool {
        matches!(self, Self::Sharegpt | Self::LlamaFactory)
    }

    /// True where rows are lines of JSON.
    pub(crate) fn is_lines(self) -> bool {
        !matches!(self, Self::Trl | Self::Unsloth)
    }

    /// The column with the messages.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Trl | Self::Openai | Self::Axolotl => "messages",
            Self::Sharegpt | Self::LlamaFactory | Self::Unsloth => "conversations",
        }
    }

    /// The name in job files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trl => "trl",
            Self::Openai => "openai",
            Self::Sharegpt => "sharegpt",
            Self::Axolotl => "axolotl",
            Self::LlamaFactory => "llama-factory",
            Self::Unsloth => "unsloth",
        }
    }
}

/// How many rejects are too many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxRejects {
    /// More than this many.
    Count(u64),
    /// More than this share of the records of a part.
    Share(f64),
}
