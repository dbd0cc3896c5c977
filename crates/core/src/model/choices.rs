//! The values that options choose from. Knows their names in flags and job files, not what they do.

use serde::{Deserialize, Serialize};

use super::named::choices;

choices! {
    /// Where provenance is written.
    pub enum ProvenancePlace {
        /// In the message, as `metadata._cce_original`, and in the sidecar.
        Metadata = "metadata",
        /// In the sidecar only: no marker noise in the conversations.
        Sidecar = "sidecar",
    }

    /// In which order a token budget is met.
    pub enum BudgetStrategy {
        /// The recency window grows for as long as the conversation fits.
        BinarySearch = "binary-search",
        /// The recency window stays; old and unimportant messages are tightened, then left out.
        Tiered = "tiered",
    }

    /// How short summaries are.
    pub enum CompressionDepth {
        /// 15 to 45 % of the text.
        Gentle = "gentle",
        /// Half of that.
        Moderate = "moderate",
        /// The facts alone.
        Aggressive = "aggressive",
        /// The first of these with which the token budget is met; without a budget gentle.
        Auto = "auto",
    }

    /// What decides which text is hidden.
    pub enum HideBy {
        /// Whether anything after it uses it.
        Use = "use",
        /// What it looks like: prose, structure, length.
        Look = "look",
    }

    /// How much of what comes after a message may decide what is hidden of it.
    pub enum LookAhead {
        /// Everything in its conversation.
        Turns = "turns",
        /// Nothing: the conversation may go on, and what its next turns use is guessed.
        Off = "off",
        /// As much as stays at the end: a message is decided once, by what stands before it and the last messages that never change,
        /// and what comes behind those changes nothing of it.
        Strict = "strict",
    }

    /// Which answers of an assistant may be shortened.
    pub enum AssistantText {
        /// None in sessions with tools; long ones outside the recency window where answers are all there is.
        Auto = "auto",
        /// None: they are what a model is trained on.
        Keep = "keep",
        /// Long ones outside the recency window.
        Old = "old",
    }

    /// What becomes of images, audio and files.
    pub enum Images {
        /// They stay.
        Keep = "keep",
        /// Those that an answer follows, outside the recency window, give way to a mark.
        Mark = "mark",
    }

    /// What becomes of system prompts that conversations have in common.
    pub enum SystemPrompts {
        /// They stay.
        Keep = "keep",
        /// What an earlier conversation of the same part shows gives way to a reference to it.
        Once = "once",
    }

    /// Whose texts use what stands before them.
    pub enum Users {
        /// Those of the assistant, its calls, and what a person says.
        Speakers = "speakers",
        /// The results of tools, too.
        All = "all",
    }

    /// How the entropy of a sentence is used.
    pub enum EntropyMode {
        /// Six tenths of the score, the other four are those of the scorer of facts.
        Augment = "augment",
        /// The whole score.
        Replace = "replace",
    }

    /// Who writes summaries.
    pub enum Summarizer {
        /// The engine, from the sentences of the text.
        Deterministic = "deterministic",
        /// A model, asked for a concise text.
        Normal = "normal",
        /// A model, asked for terse bullet points in half the space.
        Aggressive = "aggressive",
        /// A model, asked for reasoning, values and guard rails under headings.
        Structured = "structured",
        /// A model: normal, and aggressive where that is not good enough.
        Escalating = "escalating",
    }

    /// How a model is asked for a summary.
    pub enum SummaryMode {
        /// Concise.
        Normal = "normal",
        /// Terse bullet points.
        Aggressive = "aggressive",
        /// Reasoning, values and guard rails under headings.
        Structured = "structured",
        /// One sentence for the mark of lines that are hidden.
        Line = "line",
    }

    /// Which of several identical or similar messages stays.
    pub enum KeepCopy {
        /// The first: who reads a reference has read what it means.
        First = "first",
        /// The first in the recency window, else the last.
        Last = "last",
    }

    /// Who decides what may be summarised, beside the rules.
    pub enum ClassifierSource {
        /// Nobody.
        None = "none",
        /// A model; where it gives no usable answer the rules decide.
        Model = "model",
    }

    /// What a classifier is asked about.
    pub enum ClassifierMode {
        /// What the rules would summarise.
        Hybrid = "hybrid",
        /// Also what the rules would keep as structure, except for fenced code.
        Full = "full",
    }

    /// What is compressed as one.
    pub enum Strategy {
        /// Messages, one by one and with their neighbours.
        Messages = "messages",
        /// Everything but the recent messages of a long conversation, by one summary asked for inside it.
        InsertThenCompress = "insert-then-compress",
    }

    /// Where the archive of a conversation begins a new chunk.
    pub enum ChunkPolicy {
        /// A forced compaction goes on with the last chunk, another one begins a new chunk.
        Idle = "idle",
        /// Every compaction begins a new chunk.
        New = "new",
        /// The model says whether the last chunk goes on.
        Model = "model",
    }
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
