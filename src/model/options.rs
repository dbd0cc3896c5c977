//! The options of the engine, declared once: the macro makes the struct that holds them, and the all-optional
//! struct that flags and job files are read into. Knows defaults, not what an option does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recent turns are what the next answer depends on; four covers a question, a call, its result and an answer.
pub const DEFAULT_RECENCY_WINDOW: usize = 4;
/// Below 0.85 similar logs of different runs begin to match.
pub const DEFAULT_FUZZY_THRESHOLD: f64 = 0.85;

macro_rules! options {
    ($($(#[$meta:meta])* $name:ident : $type:ty = $default:expr, arg($($arg:tt)*);)*) => {
        /// What holds for a run of the engine; nothing is optional any more.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct EngineOptions { $($(#[$meta])* pub $name: $type,)* }

        impl Default for EngineOptions {
            fn default() -> Self { Self { $($name: $default,)* } }
        }

        /// What a user typed: everything may be left out.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, clap::Args)]
        #[serde(default, deny_unknown_fields)]
        pub struct EngineArgs { $($(#[$meta])* #[arg(long, help_heading = "Engine", $($arg)*)] pub $name: Option<$type>,)* }

        impl EngineArgs {
            /// These values where given, those of `base` elsewhere.
            #[must_use]
            pub fn over(self, base: EngineOptions) -> EngineOptions {
                EngineOptions { $($name: self.$name.unwrap_or(base.$name),)* }
            }
        }
    };
}

options! {
    /// Roles that are never changed.
    preserve: Vec<String> = vec!["system".into(), "developer".into()], arg(value_delimiter = ',', value_name = "ROLES");
    /// Number of last messages that are never changed.
    recency_window: usize = DEFAULT_RECENCY_WINDOW, arg(value_name = "N");
    /// Replace identical messages by references.
    dedup: bool = true, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
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
    /// Summarise summaries of earlier rounds again once a conversation has grown.
    recompact: bool = true, arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL");
    /// Where the provenance of a summary goes.
    provenance: ProvenancePlace = ProvenancePlace::Sidecar, arg(value_enum, value_name = "PLACE");
}

/// Where provenance is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ProvenancePlace {
    /// In the message, as `metadata._cce_original`, and in the sidecar.
    Metadata,
    /// In the sidecar only: no marker noise in the conversations.
    Sidecar,
}

/// A label and a regular expression of the `regex` crate (linear time, Unicode).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}
