//! What a commit tells of its part beside its totals, so that a report reads no table: sketches of every figure,
//! breakdowns, extremes, repeated texts. Everything merges, and what a part holds has a bound. Knows conversations and
//! the rows of metrics and decisions, no file.

mod breakdown;
mod contents;
mod density;
mod distinct;
mod extremes;
mod figures;
mod packed;
mod quantiles;
mod repeats;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::TrainingTally;
use super::merge::{Merge, merges};
use super::reject::{RejectRow, raw_len_of_reject};

pub use breakdown::{Breakdown, MAX_NAMES, Share};
pub use contents::{Contents, DecisionTally};
pub use density::{Density, DensityCell};
pub use distinct::Distinct;
pub use extremes::{Extreme, MAX_EXTREMES};
pub use figures::{ClassFigures, Figures, ratio};
pub use quantiles::{Bin, Quantiles, RELATIVE_ERROR};
pub use repeats::{MIN_REPEAT_CHARS, Repeat, Repeats};

/// A mergeable summary of a part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Sketch {
    /// Of the rows of the metrics table.
    pub figures: Figures,
    /// Of the messages; `null` when nobody looked at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Contents>,
    /// Rejected records by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejects: BTreeMap<String, RejectShare>,
    /// Of training data, where some was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingTally>,
}

/// Records that were rejected for a reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RejectShare {
    /// How many.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was wrong with the first, in a sentence.
    pub example: String,
    /// Where the first is: source and line.
    pub place: String,
}

impl Merge for RejectShare {
    fn absorb(&mut self, later: &Self) {
        if self.place.is_empty() {
            *self = later.clone();
        } else {
            self.records = self.records.saturating_add(later.records);
            self.bytes = self.bytes.saturating_add(later.bytes);
        }
    }
}

merges!(Sketch { figures, contents, rejects, training });

impl Sketch {
    /// Sees a row of the rejects.
    pub fn add_reject(&mut self, reject: &RejectRow) {
        let bytes = match &reject.row_base64 {
            Some(row) => row.len() as u64 / 4 * 3,
            None => raw_len_of_reject(reject),
        };
        // A further piece of a long line has no reason of its own.
        let reason = if reject.reason.is_empty() { "too_long" } else { &*reject.reason };
        let share = self.rejects.entry(reason.to_owned()).or_insert_with(|| RejectShare {
            example: reject.detail.clone(),
            place: format!("{}: line {}", reject.source, reject.line),
            ..RejectShare::default()
        });
        share.records += u64::from(!reject.reason.is_empty());
        share.bytes = share.bytes.saturating_add(bytes);
    }

    /// Leaves what is written into a commit.
    pub fn trim(&mut self) {
        self.figures.distinct.trim();
        if let Some(contents) = &mut self.contents {
            contents.trim();
        }
    }
}
