//! The options of the engine, declared once: the macro makes the struct that holds them, and the all-optional
//! struct that flags and job files are read into; and the named sets of them. Knows defaults, not what an option does.

use std::str::FromStr;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::choices::{
    AssistantText, BudgetStrategy, ChunkPolicy, ClassifierMode, ClassifierSource, CompressionDepth, EntropyMode,
    HideBy, Images, KeepCopy, LookAhead, PreservePattern, ProvenancePlace, Strategy, Summarizer, SystemPrompts,
    Tokenizer, Users,
};
use super::decision::AdapterName;
use super::named::choices;
use crate::error::{Error, ErrorKind, Result};

/// Recent turns are what the next answer depends on; four covers a question, a call, its result and an answer.
pub const DEFAULT_RECENCY_WINDOW: usize = 4;
/// Messages of less than 400 characters were 41 % of what was replaced and brought 1.5 % of what was saved.
pub const DEFAULT_MIN_SAVING: usize = 200;
/// Below 0.85 similar logs of different runs begin to match.
pub const DEFAULT_FUZZY_THRESHOLD: f64 = 0.85;
/// A run of eight summaries is worth a summary of its own.
pub const DEFAULT_RESUMMARIZE_AFTER: usize = 8;
/// Half of the references that the most used message has, and a cue or two.
pub const DEFAULT_IMPORTANCE_THRESHOLD: f64 = 0.65;
/// A correction and what it corrects share a few words of their own.
pub const DEFAULT_TOPIC_THRESHOLD: f64 = 0.15;
/// Similarity of TF-IDF vectors and entities from which texts are of one topic.
pub const DEFAULT_CLUSTER_THRESHOLD: f64 = 0.15;
/// A paragraph; no summary of one message needs more.
pub const DEFAULT_MAX_RESPONSE_TOKENS: usize = 300;
/// Three quarters of a context of 200,000 tokens.
pub const DEFAULT_COMPACTION_TOKENS: usize = 150_000;
/// A day of work with an agent.
pub const DEFAULT_COMPACTION_MESSAGES: usize = 200;
/// A task with the calls that it took.
pub const DEFAULT_COMPACTION_RECENT: usize = 20;

macro_rules! options {
    (always { $($(#[$meta:meta])* $name:ident : $type:ty = $default:expr, arg($($arg:tt)*);)* }
     optional { $($(#[$ometa:meta])* $oname:ident : $otype:ty, arg($($oarg:tt)*);)* }
     gone { $($gone:ident;)* }) => {
        /// What holds for a run of the engine; nothing is optional any more.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct EngineOptions {
            $($(#[$meta])* pub $name: $type,)*
            $($(#[$ometa])* #[serde(skip_serializing_if = "Option::is_none")] pub $oname: Option<$otype>,)*
            $(#[doc(hidden)] #[serde(skip_serializing)] #[cfg_attr(feature = "schemars", schemars(skip))]
            pub $gone: Gone,)*
        }

        impl Default for EngineOptions {
            fn default() -> Self { Self { $($name: $default,)* $($oname: None,)* $($gone: Gone,)* } }
        }

        /// What a user typed: everything may be left out.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "clap", derive(clap::Args))]
        #[serde(default, deny_unknown_fields)]
        pub struct EngineArgs {
            /// Options that go well together; every option beside it goes before what it sets.
            #[cfg_attr(feature = "clap", arg(long, help_heading = "Engine", value_enum))]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub preset: Option<Preset>,
            $($(#[$meta])* #[cfg_attr(feature = "clap", arg(long, help_heading = "Engine", $($arg)*))] pub $name: Option<$type>,)*
            $($(#[$ometa])* #[cfg_attr(feature = "clap", arg(long, help_heading = "Engine", $($oarg)*))] pub $oname: Option<$otype>,)*
            $(#[doc(hidden)] #[serde(skip_serializing)] #[cfg_attr(feature = "schemars", schemars(skip))]
            #[cfg_attr(feature = "clap", arg(long, hide = true))]
            pub $gone: Option<Gone>,)*
        }

        impl EngineArgs {
            /// These values where given, those of the preset elsewhere, and those of `base` where neither has one. A
            /// token budget of 0 takes the budget of a preset away.
            #[must_use]
            pub fn over(self, base: EngineOptions) -> EngineOptions {
                let base = self.preset.map(Preset::options).map_or(base.clone(), |preset| preset.over(base));
                let mut options = EngineOptions {
                    $($name: self.$name.unwrap_or(base.$name),)*
                    $($oname: self.$oname.or(base.$oname),)*
                    $($gone: Gone,)*
                };
                options.token_budget = options.token_budget.filter(|&tokens| tokens > 0);
                options
            }
        }
    };
}

options! {
    always {
        /// What decides which text of a session with tools is hidden.
        hide_by: HideBy = HideBy::Use, arg(value_enum, value_name = "WHAT");
        /// How much of what comes after a message may decide what is hidden of it, where use decides.
        look_ahead: LookAhead = LookAhead::Turns, arg(value_enum, value_name = "HOW-FAR");
        /// Which answers of an assistant may be shortened, where use decides.
        assistant: AssistantText = AssistantText::Auto, arg(value_enum, value_name = "WHICH");
        /// What becomes of images, audio and files outside the recency window, where use decides.
        images: Images = Images::Keep, arg(value_enum, value_name = "WHAT");
        /// What becomes of paragraphs of system prompts that an earlier conversation of the same part of a run shows, with
        /// `hide_by = "use"`; never in data sets.
        prompts: SystemPrompts = SystemPrompts::Keep, arg(value_enum, value_name = "WHAT");
        /// Whose texts use what stands before them, where use decides.
        users: Users = Users::Speakers, arg(value_enum, value_name = "WHOSE");
        /// Where use decides, the share of unused stretches that stay all the same, so that what is visible is not always what is
        /// needed, 0 to 1; 0.05 in data sets unless told otherwise.
        distractors: f64 = 0.0, arg(value_name = "SHARE", value_parser = parse_share);
        /// Measure every conversation by its texts and by what is used, also where the other decides what is hidden; takes two to
        /// four times as long.
        all_figures: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Roles that are never changed.
        preserve: Vec<String> = vec!["system".into(), "developer".into()], arg(value_delimiter = ',', value_name = "ROLES");
        /// Number of last messages that are never changed.
        recency_window: usize = DEFAULT_RECENCY_WINDOW, arg(value_name = "N");
        /// Where a user talks with an assistant: keep the first message of the user, the short ones and consents.
        keep_first_user: bool = true, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Characters that a replacement must save; for a group, the group.
        min_saving: usize = DEFAULT_MIN_SAVING, arg(value_name = "CHARS");
        /// Replace identical messages by references.
        dedup: bool = true, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Which of several identical or similar messages stays: references point back to the first, or on to the last.
        keep_copy: KeepCopy = KeepCopy::First, arg(value_enum, value_name = "WHICH");
        /// Replace similar messages by references that show the lines that differ.
        fuzzy_dedup: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Share of common lines from which messages are similar, 0 to 1.
        fuzzy_threshold: f64 = DEFAULT_FUZZY_THRESHOLD, arg(value_name = "SHARE", value_parser = parse_share);
        /// Write the summary id into the summary: `[summary#cce_sum_…: …]`.
        embed_summary_id: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Messages that match are kept; LABEL=REGEX.
        preserve_patterns: Vec<PreservePattern> = Vec::new(), arg(value_name = "LABEL=REGEX");
        /// Copied into the provenance.
        source_version: u64 = 0, arg(value_name = "N");
        /// Conversations with fewer tokens are left as they are; 0 means none.
        compression_threshold: usize = 0, arg(value_name = "TOKENS");
        /// Messages with more tokens lose the protection of the recency window and of structure; 0 means none.
        observation_threshold: usize = 0, arg(value_name = "TOKENS");
        /// So many summaries of earlier rounds in a row become one, once a conversation has grown; 0 means never.
        resummarize_after: usize = DEFAULT_RESUMMARIZE_AFTER, arg(value_name = "N");
        /// Where the provenance of a summary goes.
        provenance: ProvenancePlace = ProvenancePlace::Sidecar, arg(value_enum, value_name = "PLACE");
        /// How tokens are counted: `chars` (characters / 3.5), `o200k_base`, `cl100k_base`, or a `tokenizer.json`.
        tokenizer: Tokenizer = Tokenizer::Chars, arg(value_name = "NAME|FILE");
        /// Tokens that a chat format adds to every message.
        message_overhead: usize = 0, arg(value_name = "TOKENS");
        /// With a token budget: number of last messages that no budget takes.
        min_recency_window: usize = 0, arg(value_name = "N");
        /// In which order a token budget is met.
        budget_strategy: BudgetStrategy = BudgetStrategy::BinarySearch, arg(value_enum, value_name = "STRATEGY");
        /// Truncate what is left when a token budget is not met otherwise.
        force_converge: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// How short summaries are, and how much is shown that nothing uses.
        compression_depth: CompressionDepth = CompressionDepth::Auto, arg(value_enum, value_name = "DEPTH");
        /// Keep messages that later ones depend on.
        importance_scoring: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Importance from which a message is kept, 0 to 1.
        importance_threshold: f64 = DEFAULT_IMPORTANCE_THRESHOLD, arg(value_name = "SHARE", value_parser = parse_share);
        /// Replace what a later message corrects, and keep the correction.
        contradiction_detection: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// How much a correction must share with what it corrects, 0 to 1.
        contradiction_topic_threshold: f64 = DEFAULT_TOPIC_THRESHOLD, arg(value_name = "SHARE", value_parser = parse_share);
        /// Summarise questions with their answers and requests with what was done.
        conversation_flow: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Summarise messages about one topic together.
        semantic_clustering: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Similarity from which messages are about one topic, 0 to 1.
        cluster_threshold: f64 = DEFAULT_CLUSTER_THRESHOLD, arg(value_name = "SHARE", value_parser = parse_share);
        /// Define in a summary the identifiers that later kept messages use.
        coreference: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Take clauses with what they depend on instead of sentences.
        discourse_aware: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Take noise out of the output of tools: passing tests, build steps, what was just said, files written again later.
        agent_tool_prepass: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Formats whose structure is kept while the prose or repetition in it is compressed.
        adapters: Vec<AdapterName> = Vec::new(), arg(value_enum, value_delimiter = ',', value_name = "FORMATS");
        /// How the scores of an entropy scorer are used, which callers of the library bring along.
        entropy_scorer_mode: EntropyMode = EntropyMode::Augment, arg(value_enum, value_name = "MODE");
        /// Who writes summaries: the engine, or a model that is asked in one of four ways.
        summarizer: Summarizer = Summarizer::Deterministic, arg(value_enum, value_name = "WHO");
        /// Tokens that a model is allowed for a summary.
        max_response_tokens: usize = DEFAULT_MAX_RESPONSE_TOKENS, arg(value_name = "TOKENS");
        /// What a model is told to keep, beside code, paths, names, URLs, keys, errors, numbers and decisions.
        preserve_terms: Vec<String> = Vec::new(), arg(value_delimiter = ',', value_name = "TERMS");
        /// Who decides what may be summarised, beside the rules.
        classifier: ClassifierSource = ClassifierSource::None, arg(value_enum, value_name = "WHO");
        /// What the classifier is asked about.
        classifier_mode: ClassifierMode = ClassifierMode::Hybrid, arg(value_enum, value_name = "MODE");
        /// Kinds of messages that the classifier is told to keep.
        always_preserve: Vec<String> = Vec::new(), arg(value_delimiter = ';', value_name = "KINDS");
        /// Kinds of messages that the classifier is told to summarise.
        always_compress: Vec<String> = Vec::new(), arg(value_delimiter = ';', value_name = "KINDS");
        /// What is compressed as one.
        strategy: Strategy = Strategy::Messages, arg(value_enum, value_name = "STRATEGY");
        /// With insert-then-compress: tokens from which a conversation is compacted.
        compaction_tokens: usize = DEFAULT_COMPACTION_TOKENS, arg(value_name = "TOKENS");
        /// With insert-then-compress: messages from which a conversation is compacted.
        compaction_messages: usize = DEFAULT_COMPACTION_MESSAGES, arg(value_name = "N");
        /// With insert-then-compress: last messages that stay; calls and their results stay together.
        compaction_recent: usize = DEFAULT_COMPACTION_RECENT, arg(value_name = "N");
        /// With insert-then-compress: compact from 20,000 tokens on, as an idle session does.
        compaction_forced: bool = false, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// With insert-then-compress: when the archive begins a new chunk.
        compaction_chunks: ChunkPolicy = ChunkPolicy::Idle, arg(value_enum, value_name = "POLICY");
    }
    optional {
        /// Where use decides, lines of long arguments of calls give way that earlier texts show, and without look-ahead those that
        /// are not worth their place; on without look-ahead, never in data sets.
        arguments: bool, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
        /// Without look-ahead: the worth from which a line is shown, 0 for all; higher hides more. The model's own unless told
        /// otherwise.
        worth_threshold: u32, arg(value_name = "N");
        /// Without look-ahead: the model of uses that `condenser learn` wrote, instead of the built-in one.
        use_model: String, arg(value_name = "FILE");
        /// Tokens that a conversation may have; 0 means any number.
        token_budget: usize, arg(value_name = "TOKENS");
        /// Sentence score under which a message is general discussion; 3 to 5 catch most of it.
        relevance_threshold: f64, arg(value_name = "SCORE", value_parser = parse_score);
        /// What a model is told first of all when it is asked for a summary or a ruling.
        system_prompt: String, arg(value_name = "TEXT");
    }
    gone {
        entropy_scorer;
    }
}

/// An option that is no more. What earlier versions wrote is read, whatever it says: nothing that was compressed with it
/// needs it to come back. Who asks for it is refused.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gone;

impl Gone {
    /// What a user is told who asks for more than its absence.
    pub const REFUSED: &'static str = "this option is no longer offered; leave it out, or write none";
    /// The names of such options.
    pub const NAMES: [&'static str; 1] = ["entropy_scorer"];
    /// What such an option may still say.
    pub const NONE: &'static str = "none";
}

impl FromStr for Gone {
    type Err = &'static str;
    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        if text == Self::NONE { Ok(Self) } else { Err(Self::REFUSED) }
    }
}

impl<'de> Deserialize<'de> for Gone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl EngineOptions {
    /// How far the engine looks ahead; `None` where looks decide and nobody does.
    #[must_use]
    pub fn looks_ahead(&self) -> Option<LookAhead> {
        (self.hide_by == HideBy::Use).then_some(self.look_ahead)
    }

    /// True where what comes after a conversation is guessed, and nothing that is in it counts as used for good.
    #[must_use]
    pub fn guesses(&self) -> bool {
        self.looks_ahead().is_some_and(|how_far| how_far != LookAhead::Turns)
    }

    /// True where a message is decided once, whatever comes behind its window.
    #[must_use]
    pub fn decides_once(&self) -> bool {
        self.looks_ahead() == Some(LookAhead::Strict)
    }

    /// True where what an assistant says and thinks at length gives way to what is likely to be used.
    #[must_use]
    pub fn takes_answers(&self) -> bool {
        self.guesses() && self.assistant != AssistantText::Keep
    }

    /// True where long arguments of calls give way.
    #[must_use]
    pub fn takes_arguments(&self) -> bool {
        self.arguments.unwrap_or_else(|| self.guesses())
    }

    /// Refuses values that no engine can work with. Options that merely do nothing without another one are let pass, so
    /// that one of several can be switched off.
    ///
    /// # Errors
    /// `Usage` names the option and what it takes.
    pub fn check(&self) -> Result<()> {
        let wrong = |name: &str, message: String| Err(Error::new(ErrorKind::Usage, name, message));
        let shares = [
            ("distractors", self.distractors),
            ("fuzzy_threshold", self.fuzzy_threshold),
            ("importance_threshold", self.importance_threshold),
            ("contradiction_topic_threshold", self.contradiction_topic_threshold),
            ("cluster_threshold", self.cluster_threshold),
        ];
        if let Some((name, share)) = shares.into_iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return wrong(name, format!("{share} is no share; write a number from 0 to 1"));
        }
        let asks_for_all = [
            ("token_budget", self.token_budget.is_some()),
            ("compression_threshold", self.compression_threshold > 0),
            ("observation_threshold", self.observation_threshold > 0),
            ("prompts", self.prompts == SystemPrompts::Once),
            ("strategy", self.strategy != Strategy::Messages),
        ];
        if let Some((name, _)) = asks_for_all.into_iter().find(|(_, is_asked)| self.decides_once() && *is_asked) {
            let message =
                "it takes a look at the whole conversation, and with look_ahead = \"strict\" nobody does".to_owned();
            return wrong(name, message);
        }
        match self.relevance_threshold {
            Some(score) if !score.is_finite() || score < 0.0 => {
                wrong("relevance_threshold", format!("{score} is no score; write 0 or more, 3 to 5 catch most"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(feature = "clap")]
fn parse_score(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(score) if score.is_finite() && score >= 0.0 => Ok(score),
        _ => Err("expected a number from 0 on; 3 to 5 catch most general discussion".to_owned()),
    }
}

#[cfg(feature = "clap")]
fn parse_share(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

choices! {
    /// Options that go well together. They go under what is written beside the name and over the defaults.
    pub enum Preset {
        /// Keeps context: `recency_window` 8, `compression_depth` gentle.
        Quality = "quality",
        /// As short as nothing used is hidden: `compression_depth` aggressive, `assistant` old, `arguments` on.
        Ratio = "ratio",
        /// In between: the defaults.
        Balanced = "balanced",
        /// The order, the limits and the formats of the documented engine: `hide_by` look, `compression_depth` gentle,
        /// `keep_first_user` off, `min_saving` 1, `keep_copy` last.
        Classic = "classic",
    }
}

impl Preset {
    /// What it sets; everything else is left as it is.
    #[must_use]
    pub fn options(self) -> EngineArgs {
        let nothing = EngineArgs::default();
        match self {
            Self::Quality => {
                EngineArgs { recency_window: Some(8), compression_depth: Some(CompressionDepth::Gentle), ..nothing }
            }
            Self::Ratio => EngineArgs {
                compression_depth: Some(CompressionDepth::Aggressive),
                assistant: Some(AssistantText::Old),
                arguments: Some(true),
                ..nothing
            },
            Self::Balanced => EngineArgs {
                hide_by: Some(HideBy::Use),
                compression_depth: Some(CompressionDepth::Auto),
                assistant: Some(AssistantText::Auto),
                ..nothing
            },
            Self::Classic => EngineArgs {
                hide_by: Some(HideBy::Look),
                compression_depth: Some(CompressionDepth::Gentle),
                keep_first_user: Some(false),
                min_saving: Some(1),
                keep_copy: Some(KeepCopy::Last),
                ..nothing
            },
        }
    }
}
