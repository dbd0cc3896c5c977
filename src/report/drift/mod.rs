//! What changed from one run to another: distributions and shares side by side, how far they are apart, what is new, and
//! which conversations changed most. Plain data; the modules below fill it.

mod changes;
mod compare;
mod statistics;
mod thresholds;

use serde::Serialize;

use super::{Distribution, RunFacts, TotalFacts};

pub use changes::{ChangeFinder, MAX_HELD};
pub use thresholds::{breaches, unmeasured};

/// An index from here on is customarily read as some change (N. Siddiqi, 2006).
const SOME: f64 = 0.1;

/// Version of the document.
pub const DRIFT_VERSION: u32 = 1;

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "drift"))]
pub struct DriftDocument {
    /// See [`DRIFT_VERSION`].
    pub drift_version: u32,
    /// What it is called, when somebody called it something.
    pub title: Option<String>,
    /// The day on which it was made, in UTC, such as `2031-05-06`; `null` when nobody told.
    pub made: Option<String>,
    /// What is compared with.
    pub before: SideFacts,
    /// What is compared.
    pub after: SideFacts,
    /// Figures: all conversations, then class by class.
    pub figures: Vec<FigureDrift>,
    /// Shares of classes, languages, roles, tools, actions, reasons and reasons of rejects.
    pub breakdowns: Vec<BreakdownDrift>,
    /// Names that only one side has.
    pub novelties: Vec<Novelty>,
    /// Conversations that both sides have; `null` when nobody looked.
    pub changes: Option<Changes>,
    /// What could not be compared, in sentences.
    pub notes: Vec<String>,
    /// Thresholds that are passed.
    pub breaches: Vec<Breach>,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SideFacts {
    /// Its runs.
    pub runs: Vec<RunFacts>,
    /// Sums over all of them.
    pub totals: TotalFacts,
}

/// A figure on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FigureDrift {
    /// The class of conversations; `null` for all.
    pub class: Option<String>,
    /// The figure, a column of the metrics table.
    pub figure: String,
    /// Its distribution before; `null` when no conversation has it.
    pub before: Option<Distribution>,
    /// Its distribution after; `null` when no conversation has it.
    pub after: Option<Distribution>,
    /// How far the distributions are apart; `null` unless both sides have the figure.
    pub psi: Option<Psi>,
    /// The largest distance of the two cumulative distributions; `null` unless both sides have the figure.
    pub ks: Option<Ks>,
    /// Both sides on the same scale, for a picture.
    pub bars: Vec<BarPair>,
}

/// Conversations whose figure is above `from` (or equal, in the first bar) and not above `to`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BarPair {
    /// The lower end.
    pub from: f64,
    /// The upper end.
    pub to: f64,
    /// Conversations before.
    pub before: u64,
    /// Conversations after.
    pub after: u64,
}

/// A population stability index.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Psi {
    /// The sum over bins of `(after - before) · ln(after / before)` of their shares; see docs/reports.md.
    pub value: f64,
    /// Up to here one comparison in twenty of the same population comes by chance, with so many conversations.
    pub by_chance: f64,
}

impl FigureDrift {
    /// How far a figure moved, by the index or the distance: beyond what is read as some change and what chance explains.
    #[must_use]
    pub fn moved(&self) -> Option<f64> {
        let by_index = self.psi.filter(Psi::moved).map(|psi| psi.value);
        let by_distance = self.ks.filter(|ks| ks.statistic > ks.critical.max(SOME)).map(|ks| ks.statistic);
        by_index.or(by_distance)
    }
}

impl Psi {
    /// True from where it is customarily read as some change, unless chance explains it.
    #[must_use]
    pub fn moved(&self) -> bool {
        self.value > self.by_chance.max(SOME)
    }
}

/// A two-sample Kolmogorov–Smirnov test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ks {
    /// The largest distance of the cumulative distributions, 0 to 1.
    pub statistic: f64,
    /// Up to here one comparison in twenty of the same population comes by chance, with so many conversations.
    pub critical: f64,
    /// How often chance alone gives this distance or more; see docs/reports.md.
    pub p_value: f64,
}

/// What falls to whom on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BreakdownDrift {
    /// `class`, `language`, `role`, `tool`, `action`, `reason` or `reject`.
    pub by: String,
    /// What is counted: `conversations`, `messages` or `records`.
    pub unit: String,
    /// How far the shares are apart; `null` unless both sides have some.
    pub psi: Option<Psi>,
    /// The names, those whose share changed most first.
    pub rows: Vec<ShareDrift>,
}

/// The share of a name on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShareDrift {
    /// The name; `null` for everything that is not told apart.
    pub name: Option<String>,
    /// How many before.
    pub before: u64,
    /// How many after.
    pub after: u64,
    /// Their share before, 0 to 1.
    pub share_before: f64,
    /// Their share after, 0 to 1.
    pub share_after: f64,
}

/// A name that only one side has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Novelty {
    /// As in [`BreakdownDrift::by`].
    pub by: String,
    /// The name.
    pub name: String,
    /// It came; else it is gone.
    pub is_new: bool,
    /// How many there are on the side that has it.
    pub count: u64,
}

/// Conversations that both sides have.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Changes {
    /// Conversations after whose id was there before.
    pub in_both: u64,
    /// Of these, conversations whose record is the same byte for byte.
    pub same_record: u64,
    /// Conversations after whose id is new.
    pub only_after: u64,
    /// Conversations after whose id several conversations had before, none of them with the same record.
    pub ambiguous: u64,
    /// Those whose ratio changed by the largest factor, the largest first.
    pub by_ratio: Vec<Change>,
    /// Those whose fact retention changed most, the most first.
    pub by_fact_retention: Vec<Change>,
}

/// A conversation on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Change {
    /// Its id.
    pub conversation_id: String,
    /// The run after that has it, a number in `after.runs`.
    pub run: usize,
    /// The input that it came from, after.
    pub source: String,
    /// Its row there.
    pub source_row: u64,
    /// Its record is the same byte for byte.
    pub is_same_record: bool,
    /// `chars_in / chars_out` before.
    pub ratio_before: f64,
    /// `chars_in / chars_out` after.
    pub ratio_after: f64,
    /// Fact retention before.
    pub fact_retention_before: Option<f64>,
    /// Fact retention after.
    pub fact_retention_after: Option<f64>,
}

/// A threshold that is passed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Breach {
    /// The key of the threshold, such as `max_psi`.
    pub threshold: String,
    /// What passes it: a figure, a breakdown or a name.
    pub name: String,
    /// What was found.
    pub found: f64,
    /// What is allowed.
    pub limit: f64,
    /// The same as a sentence.
    pub message: String,
}
