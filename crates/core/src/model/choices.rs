//! The values that options choose from. Knows their names in flags and job files, not what they do.

use serde::{Deserialize, Serialize};

/// Where provenance is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ProvenancePlace {
    /// In the message, as `metadata._cce_original`, and in the sidecar.
    Metadata,
    /// In the sidecar only: no marker noise in the conversations.
    Sidecar,
}

/// A label and a regular expression of the `regex` crate (linear time, Unicode).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PreservePattern {
    /// Shown in the decision.
    pub label: String,
    /// What to look for.
    pub re: String,
}

impl std::str::FromStr for PreservePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (label, re) = text.split_once('=').ok_or("expected LABEL=REGEX")?;
        regex::Regex::new(re).map_err(|error| error.to_string())?;
        Ok(Self { label: label.to_owned(), re: re.to_owned() })
    }
}

/// In which order a token budget is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum BudgetStrategy {
    /// The recency window grows for as long as the conversation fits.
    BinarySearch,
    /// The recency window stays; old and unimportant messages are tightened, then left out.
    Tiered,
}

/// How short summaries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum CompressionDepth {
    /// 15 to 45 % of the text.
    Gentle,
    /// Half of that.
    Moderate,
    /// The facts alone.
    Aggressive,
    /// The first of these with which the token budget is met; without a budget gentle.
    Auto,
}

impl CompressionDepth {
    /// The name as users write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gentle => "gentle",
            Self::Moderate => "moderate",
            Self::Aggressive => "aggressive",
            Self::Auto => "auto",
        }
    }
}

/// Formats that adapters know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum AdapterName {
    /// XML and HTML.
    Xml,
    /// YAML.
    Yaml,
    /// Markdown with headings.
    Markdown,
    /// Values separated by commas, semicolons or tabs.
    Csv,
    /// One JSON value per line.
    JsonLines,
    /// Unified diffs.
    Diff,
    /// Logs.
    Log,
}

impl AdapterName {
    /// All of them, in the order in which they are asked.
    pub const ALL: [Self; 7] =
        [Self::Xml, Self::Yaml, Self::Markdown, Self::Csv, Self::JsonLines, Self::Diff, Self::Log];
}

/// How the entropy of a sentence is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum EntropyMode {
    /// Six tenths of the score, the other four are those of the scorer of facts.
    Augment,
    /// The whole score.
    Replace,
}

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Summarizer {
    /// The engine, from the sentences of the text.
    Deterministic,
    /// A model, asked for a concise text.
    Normal,
    /// A model, asked for terse bullet points in half the space.
    Aggressive,
    /// A model, asked for reasoning, values and guard rails under headings.
    Structured,
    /// A model: normal, and aggressive where that is not good enough.
    Escalating,
}

impl Summarizer {
    /// How a model is asked, one after the other until an answer is good enough; nothing when none is asked.
    #[must_use]
    pub fn modes(self) -> &'static [SummaryMode] {
        match self {
            Self::Deterministic => &[],
            Self::Normal => &[SummaryMode::Normal],
            Self::Aggressive => &[SummaryMode::Aggressive],
            Self::Structured => &[SummaryMode::Structured],
            Self::Escalating => &[SummaryMode::Normal, SummaryMode::Aggressive],
        }
    }
}

/// How a model is asked for a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummaryMode {
    /// Concise.
    Normal,
    /// Terse bullet points.
    Aggressive,
    /// Reasoning, values and guard rails under headings.
    Structured,
}

impl SummaryMode {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Aggressive => "aggressive",
            Self::Structured => "structured",
        }
    }
}

/// Which of several identical or similar messages stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum KeepCopy {
    /// The first: who reads a reference has read what it means.
    First,
    /// The first in the recency window, else the last.
    Last,
}

/// Who decides what may be summarised, beside the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ClassifierSource {
    /// Nobody.
    None,
    /// A model; where it gives no usable answer the rules decide.
    Model,
}

/// What a classifier is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ClassifierMode {
    /// What the rules would summarise.
    Hybrid,
    /// Also what the rules would keep as structure, except for fenced code.
    Full,
}

/// What is compressed as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Messages, one by one and with their neighbours.
    Messages,
    /// Everything but the recent messages of a long conversation, by one summary asked for inside it.
    InsertThenCompress,
}

/// Where the archive of a conversation begins a new chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ChunkPolicy {
    /// A forced compaction goes on with the last chunk, another one begins a new chunk.
    Idle,
    /// Every compaction begins a new chunk.
    New,
    /// The model says whether the last chunk goes on.
    Model,
}

/// How tokens are counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schemars", schemars(with = "String"))]
pub enum Tokenizer {
    /// `ceil(chars / 3.5)`.
    Chars,
    /// The tokenizer of GPT-4o and later models.
    O200kBase,
    /// The tokenizer of GPT-4 and GPT-3.5.
    Cl100kBase,
    /// A `tokenizer.json` of Hugging Face, by its path.
    File(String),
}

impl TryFrom<String> for Tokenizer {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            "chars" => Ok(Self::Chars),
            "o200k_base" => Ok(Self::O200kBase),
            "cl100k_base" => Ok(Self::Cl100kBase),
            path if std::path::Path::new(path).extension().is_some_and(|extension| extension == "json") => {
                Ok(Self::File(name))
            }
            _ => Err(format!(
                "`{name}` is no tokenizer; expected chars, o200k_base, cl100k_base or the path of a tokenizer.json"
            )),
        }
    }
}

impl From<Tokenizer> for String {
    fn from(tokenizer: Tokenizer) -> Self {
        match tokenizer {
            Tokenizer::Chars => "chars".to_owned(),
            Tokenizer::O200kBase => "o200k_base".to_owned(),
            Tokenizer::Cl100kBase => "cl100k_base".to_owned(),
            Tokenizer::File(path) => path,
        }
    }
}

impl std::str::FromStr for Tokenizer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::try_from(name.to_owned())
    }
}
