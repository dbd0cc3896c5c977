//! The figures of a run, added up row by row. Sums are taken in the order of the rows, so that the same run gives the
//! same digits.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray, Float64Array};
use arrow::datatypes::{Float64Type, UInt64Type};
use arrow::record_batch::RecordBatch;
use serde_json::{Map, Value, json};

use super::Quantiles;
use crate::error::{Error, ErrorKind, Result};

/// Sums that a row of metrics adds to.
const COUNTS: [&str; 6] = ["messages_in", "messages_out", "chars_in", "chars_out", "tokens_in", "tokens_out"];
/// Figures whose mean is shown.
const MEANS: [&str; 7] = [
    "entity_retention",
    "structural_integrity",
    "reference_coherence",
    "fact_retention",
    "forward_recall",
    "negation_retention",
    "error_retention",
];

/// Tenth, fiftieth and ninetieth percentile, and the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// A tenth is not above.
    pub p10: f64,
    /// Half is not above.
    pub p50: f64,
    /// Nine tenths are not above.
    pub p90: f64,
    /// The mean over conversations.
    pub mean: f64,
}

impl Spread {
    fn of(quantiles: &Quantiles) -> Option<Self> {
        Some(Self {
            p10: quantiles.quantile(0.1)?,
            p50: quantiles.quantile(0.5)?,
            p90: quantiles.quantile(0.9)?,
            mean: quantiles.mean()?,
        })
    }
}

/// The figures of a class of conversations, or of all.
#[derive(Debug, Clone)]
pub struct Figures {
    conversations: u64,
    counts: [u64; COUNTS.len()],
    ratio: Quantiles,
    quality: Quantiles,
    /// Sum and number of conversations that have the figure.
    means: [(f64, u64); MEANS.len()],
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            conversations: 0,
            counts: [0; COUNTS.len()],
            ratio: Quantiles::of_ratios(),
            quality: Quantiles::of_shares(),
            means: [(0.0, 0); MEANS.len()],
        }
    }
}

impl Figures {
    /// Conversations.
    #[must_use]
    pub fn conversations(&self) -> u64 {
        self.conversations
    }

    /// Characters before and after.
    #[must_use]
    pub fn chars(&self) -> (u64, u64) {
        (self.counts[2], self.counts[3])
    }

    /// Tokens before and after.
    #[must_use]
    pub fn tokens(&self) -> (u64, u64) {
        (self.counts[4], self.counts[5])
    }

    /// Characters before over characters after, of all together.
    #[must_use]
    pub fn total_ratio(&self) -> f64 {
        let (before, after) = self.chars();
        if after == 0 { 1.0 } else { before as f64 / after as f64 }
    }

    /// Ratios of single conversations.
    #[must_use]
    pub fn ratio(&self) -> Option<Spread> {
        Spread::of(&self.ratio)
    }

    /// Quality scores of single conversations.
    #[must_use]
    pub fn quality(&self) -> Option<Spread> {
        Spread::of(&self.quality)
    }

    /// Names and means of the retention figures; `None` where nothing was measured.
    pub fn means(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        MEANS.into_iter().zip(self.means.iter().map(|&(sum, n)| (n > 0).then(|| sum / n as f64)))
    }

    fn json(&self) -> Value {
        let mut out = Map::new();
        out.insert("conversations".to_owned(), json!(self.conversations));
        out.extend(COUNTS.iter().zip(self.counts).map(|(name, count)| ((*name).to_owned(), json!(count))));
        let spread = |spread: Option<Spread>| {
            spread.map(|Spread { p10, p50, p90, mean }| json!({ "p10": p10, "p50": p50, "p90": p90, "mean": mean }))
        };
        out.insert("total_ratio".to_owned(), json!(self.total_ratio()));
        out.insert("ratio".to_owned(), json!(spread(self.ratio())));
        out.insert("quality_score".to_owned(), json!(spread(self.quality())));
        out.extend(self.means().map(|(name, mean)| (name.to_owned(), json!(mean))));
        Value::Object(out)
    }
}

/// The figures of a run per class of conversation and in total.
#[derive(Debug, Clone, Default)]
pub struct Report {
    classes: BTreeMap<String, Figures>,
    total: Figures,
}

impl Report {
    /// The classes by name.
    pub fn classes(&self) -> impl Iterator<Item = (&str, &Figures)> {
        self.classes.iter().map(|(name, figures)| (name.as_str(), figures))
    }

    /// All conversations.
    #[must_use]
    pub fn total(&self) -> &Figures {
        &self.total
    }

    /// Adds rows of the metrics table.
    ///
    /// # Errors
    /// `Verification` when a column is missing.
    pub fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        let missing = |name: &str| {
            Error::new(ErrorKind::Verification, "metrics", format!("the table has no column `{name}` of its type"))
        };
        let column = |name: &'static str| rows.column_by_name(name).ok_or_else(|| missing(name));
        let classes = column("class")?.as_string_opt::<i64>().ok_or_else(|| missing("class"))?;
        let mut counts = Vec::with_capacity(COUNTS.len());
        for name in COUNTS {
            counts.push(column(name)?.as_primitive_opt::<UInt64Type>().ok_or_else(|| missing(name))?);
        }
        let share = |name: &'static str| -> Result<&Float64Array> {
            column(name)?.as_primitive_opt::<Float64Type>().ok_or_else(|| missing(name))
        };
        let (ratio, quality) = (share("ratio")?, share("quality_score")?);
        let means = MEANS.into_iter().map(share).collect::<Result<Vec<_>>>()?;
        for row in 0..rows.num_rows() {
            let class = classes.value(row);
            if !self.classes.contains_key(class) {
                self.classes.insert(class.to_owned(), Figures::default());
            }
            let of_class = self.classes.get_mut(class);
            for figures in of_class.into_iter().chain([&mut self.total]) {
                figures.conversations += 1;
                for (sum, column) in figures.counts.iter_mut().zip(&counts) {
                    *sum += column.value(row);
                }
                figures.ratio.push(ratio.value(row));
                if quality.is_valid(row) {
                    figures.quality.push(quality.value(row));
                }
                for ((sum, n), column) in figures.means.iter_mut().zip(&means) {
                    if column.is_valid(row) {
                        *sum += column.value(row);
                        *n += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Everything as JSON: `{"classes": {NAME: …}, "total": …}`.
    #[must_use]
    pub fn json(&self) -> Value {
        let classes: Map<String, Value> =
            self.classes.iter().map(|(name, figures)| (name.clone(), figures.json())).collect();
        json!({ "classes": classes, "total": self.total.json() })
    }
}
