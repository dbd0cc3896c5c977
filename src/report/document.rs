//! Everything that a report shows, as one document: terminal, page and JSON render nothing else, so that their numbers
//! agree. Plain data; `compile` fills it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Calibration;
use crate::model::{LookAhead, Tokenizer};
use crate::pipeline::sketch::{DensityCell, Extreme, RejectShare, Repeat, Share};
use crate::pipeline::{Merge, NightFigures, SourceDigest, Timings, Totals};

/// Version of the document.
pub const REPORT_VERSION: u32 = 1;

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "report"))]
pub struct ReportDocument {
    /// See [`REPORT_VERSION`].
    pub report_version: u32,
    /// What it is called, when somebody called it something.
    pub title: Option<String>,
    /// The day on which it was made, in UTC, such as `2031-05-06`; `null` when nobody told.
    pub made: Option<String>,
    /// The runs that it is about.
    pub runs: Vec<RunFacts>,
    /// Of a store, what its nights came to, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nights: Vec<NightFigures>,
    /// Sums over all of them.
    pub totals: TotalFacts,
    /// What the tokens cost, when a price was given.
    pub money: Option<Money>,
    /// Distributions over conversations: all, then class by class.
    pub distributions: Vec<Distribution>,
    /// Conversations by ratio and another figure.
    pub densities: Vec<DensityFacts>,
    /// Where the characters went: what is shown and what is hidden of each kind of text, the largest first.
    pub kinds: Vec<KindFacts>,
    /// What falls to whom.
    pub breakdowns: Vec<BreakdownFacts>,
    /// Conversations of which every message stayed as it was, by the reason that kept most of their characters; empty
    /// where nobody looked.
    pub unchanged: Vec<BreakdownRow>,
    /// Seconds of work by stage; `null` when no run measured them.
    pub timings: Option<Timings>,
    /// The conversations that gained most.
    pub largest_savings: Vec<ConversationFacts>,
    /// The conversations that lost most from view.
    pub worst_losses: Vec<ConversationFacts>,
    /// Texts that occur more than once; `null` when nobody looked.
    pub repeated: Option<Repeated>,
    /// Rejected records by reason.
    pub rejects: Vec<RejectFacts>,
    /// How surely each metric finds planted damage.
    pub calibration: Option<Calibration>,
}

/// A run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RunFacts {
    /// Its directory as given.
    pub run: String,
    /// Version of condenser that wrote it.
    pub engine_version: String,
    /// `complete` or `partial`.
    pub status: String,
    /// BLAKE3 of the job's options, in hex.
    pub config_blake3: String,
    /// How it counted tokens; `chars` estimates them by characters.
    pub tokenizer: String,
    /// How much of what comes after a message decided what was hidden of it; `null` where looks decided.
    pub look_ahead: Option<LookAhead>,
    /// The options that differ from the defaults, as `name = value`.
    pub options: Vec<String>,
    /// Whether its figures come from sketches in the commits, or were read from its tables.
    pub from_sketches: bool,
    /// Inputs that were left out.
    pub missing: Vec<String>,
    /// Parts.
    pub parts: u64,
    /// How many of its sources are tables, whose rows come back.
    pub tables: u64,
    /// What its sources came to, by source.
    pub sources: BTreeMap<String, SourceFacts>,
    /// Bytes that it wrote, by table.
    pub bytes_written: BTreeMap<String, u64>,
}

impl RunFacts {
    /// True where tokens were not counted but estimated by characters.
    #[must_use]
    pub fn estimates_tokens(&self) -> bool {
        self.tokenizer == String::from(Tokenizer::Chars)
    }
}

/// A source of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SourceFacts {
    /// What was in it.
    #[serde(flatten)]
    pub share: Share,
    /// Rejected records.
    pub rejects: u64,
    /// Conversations over their token budget.
    pub over_budget: u64,
    /// Bytes as stored.
    pub bytes_stored: u64,
    /// Bytes of the uncompressed stream; of a table, canonical bytes of its rows.
    pub bytes_stream: u64,
    /// Rows of a damaged table that could not be read and do not come back.
    pub lost_rows: u64,
}

impl SourceFacts {
    /// Adds a part.
    pub fn add(&mut self, digest: &SourceDigest, totals: &Totals) {
        self.share.absorb(&Share {
            conversations: totals.conversations,
            messages: totals.messages_in,
            chars_in: totals.chars_in,
            chars_out: totals.chars_out,
        });
        self.rejects += totals.rejects;
        self.over_budget += totals.over_budget;
        self.bytes_stored += digest.bytes;
        self.bytes_stream += digest.stream_bytes;
        self.lost_rows += digest.lost_rows;
    }
}

/// Sums over all conversations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TotalFacts {
    /// Conversations.
    pub conversations: u64,
    /// Different ones, about; see docs/reports.md.
    pub distinct_conversations: u64,
    /// Rejected records.
    pub rejects: u64,
    /// Rows of damaged tables that could not be read and do not come back.
    pub lost_rows: u64,
    /// Rejected records, of which what damage took of a table counts as so many rows.
    pub rejected: u64,
    /// Conversations over their token budget; 0 without one.
    pub over_budget: u64,
    /// Messages before.
    pub messages_in: u64,
    /// Messages after.
    pub messages_out: u64,
    /// Characters before.
    pub chars_in: u64,
    /// Characters after.
    pub chars_out: u64,
    /// Tokens before.
    pub tokens_in: u64,
    /// Tokens after.
    pub tokens_out: u64,
    /// Characters before over characters after.
    pub ratio: f64,
    /// Tokens before over tokens after.
    pub token_ratio: f64,
    /// What the assistants used and what of it still stands, where use decides what is hidden; see docs/reports.md.
    pub used: u64,
    /// See docs/reports.md.
    pub used_in_place: u64,
    /// See docs/reports.md.
    pub edits: u64,
    /// See docs/reports.md.
    pub edits_whole: u64,
    /// See docs/reports.md.
    pub facts: u64,
    /// See docs/reports.md.
    pub facts_held: u64,
    /// `used_in_place / used`; `null` where nothing was used.
    pub grounding: Option<f64>,
    /// What the next turns of the conversations that were looked at needed, where nobody looks ahead; see docs/reports.md.
    pub next_turn_needed: u64,
    /// See docs/reports.md.
    pub next_turn_in_place: u64,
    /// See docs/reports.md.
    pub next_turn_lines: u64,
    /// See docs/reports.md.
    pub next_turn_lines_shown: u64,
    /// `next_turn_in_place / next_turn_needed`; `null` where nothing was needed.
    pub next_turn_recall: Option<f64>,
    /// `next_turn_lines_shown / next_turn_lines`; `null` where no line was repeated.
    pub next_turn_lines_recall: Option<f64>,
    /// Bytes of the inputs as stored.
    pub bytes_stored: u64,
    /// Bytes of the inputs uncompressed.
    pub bytes_stream: u64,
    /// Bytes of all tables that were written, the originals included.
    pub bytes_written: u64,
}

impl TotalFacts {
    /// The share of records that were rejected.
    #[must_use]
    pub fn reject_rate(&self) -> f64 {
        self.rejected as f64 / (self.rejected + self.conversations).max(1) as f64
    }
}

/// What tokens cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Money {
    /// Price of a million tokens.
    pub per_million_tokens: f64,
    /// Its currency, as it was named.
    pub currency: String,
    /// Of the tokens before.
    pub before: f64,
    /// Of the tokens after.
    pub after: f64,
    /// The difference.
    pub saved: f64,
}

/// How a figure is distributed over the conversations of a class that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// The class; `null` for all.
    pub class: Option<String>,
    /// The figure, a column of the metrics table.
    pub figure: String,
    /// Conversations that have it.
    pub conversations: u64,
    /// Its mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// Five in a hundred are not above.
    pub p5: f64,
    /// A tenth is not above.
    pub p10: f64,
    /// A quarter is not above.
    pub p25: f64,
    /// Half is not above.
    pub p50: f64,
    /// Three quarters are not above.
    pub p75: f64,
    /// Nine tenths are not above.
    pub p90: f64,
    /// 95 in a hundred are not above.
    pub p95: f64,
    /// The largest.
    pub max: f64,
    /// Counts by value, for a picture.
    pub bars: Vec<Bar>,
}

/// Conversations whose figure is above `from` (or equal, in the first bar) and not above `to`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bar {
    /// The lower end.
    pub from: f64,
    /// The upper end.
    pub to: f64,
    /// Conversations.
    pub count: u64,
}

/// Conversations by ratio and another figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DensityFacts {
    /// The other figure.
    pub figure: String,
    /// The cells that hold something.
    pub cells: Vec<DensityCell>,
}

/// What falls to whom.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BreakdownFacts {
    /// `class`, `role`, `tool`, `language`, `source`, `action`, `reason`, or `choice`: the option set that a policy chose.
    pub by: String,
    /// The shares, the most characters first.
    pub rows: Vec<BreakdownRow>,
}

/// A share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BreakdownRow {
    /// The name; `null` for everything that is not told apart.
    pub name: Option<String>,
    /// What falls to it.
    #[serde(flatten)]
    pub share: Share,
    /// Characters before over characters after.
    pub ratio: f64,
}

/// A kind of text: who said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct KindFacts {
    /// Who said it: `tool results`, `assistants`, `users`, `system`, another role, or `arguments`, which are those of calls and
    /// metadata.
    pub kind: String,
    /// Characters before.
    pub chars_in: u64,
    /// Characters that are shown.
    pub chars_out: u64,
    /// Characters that are hidden.
    pub chars_hidden: u64,
}

/// A conversation that somebody will want to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ConversationFacts {
    /// The run that has it, a number in `runs`.
    pub run: usize,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Extreme,
    /// Characters that are gone from view.
    pub chars_saved: u64,
    /// The share of content that left the view, 0 to 1; see docs/reports.md.
    pub loss: Option<f64>,
}

/// Texts that occur more than once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Repeated {
    /// Texts of messages.
    pub texts: u64,
    /// Different ones, about.
    pub distinct_texts: u64,
    /// Those that would save most if each were stored once.
    pub largest: Vec<RepeatFacts>,
}

/// A text that occurs more than once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RepeatFacts {
    /// What it is, how often it occurs and what it weighs.
    #[serde(flatten)]
    pub repeat: Repeat,
    /// The characters of all occurrences but one.
    pub chars_spare: u64,
}

/// Records that were rejected for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RejectFacts {
    /// The stable code of the reason; see docs/output.md.
    pub reason: String,
    /// How many, and one of them.
    #[serde(flatten)]
    pub share: RejectShare,
}
