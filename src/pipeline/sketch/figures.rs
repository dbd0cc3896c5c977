//! Sketches of the rows of the metrics table, per class and language. The same code reads rows that a worker has just
//! built and rows of a table of an older run.

use std::collections::BTreeMap;

use arrow::array::{Array, Float64Array, LargeStringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};

use super::extremes::Rank;
use super::{Breakdown, Density, Distinct, Extreme, Quantiles, Share};
use crate::error::{Error, Result};
use crate::model::{Figure, metric_columns};
use crate::pipeline::merge::{Merge, merges};
use crate::pipeline::tables::{count_column, figure_at, figure_column, text_column};

/// What was used, and what of it is still seen, by the columns that count it.
const USES: [(&str, &str); 5] = [
    ("used", "used_in_place"),
    ("edits", "edits_whole"),
    ("facts", "facts_held"),
    ("next_turn_needed", "next_turn_in_place"),
    ("next_turn_lines", "next_turn_lines_shown"),
];
/// The language of conversations that say too little.
pub(super) const UNKNOWN: &str = "unknown";

/// Of the rows of the metrics table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Figures {
    /// By class of conversation.
    pub classes: BTreeMap<String, ClassFigures>,
    /// By language, as ISO 639-1 codes; `unknown` where too little is said.
    pub languages: Breakdown,
    /// By the option set that a policy chose; empty without one.
    #[serde(default, skip_serializing_if = "Breakdown::is_empty")]
    pub choices: Breakdown,
    /// Conversations by ratio and figure.
    pub densities: BTreeMap<String, Density>,
    /// The conversations that gained most, the most first.
    pub savings: Vec<Extreme>,
    /// The conversations that lost most from view, the most first.
    pub losses: Vec<Extreme>,
    /// Different conversations, by the checksum of their record.
    pub distinct: Distinct,
}

/// The figures of a class of conversations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClassFigures {
    /// Conversations.
    pub conversations: u64,
    /// Sums by column.
    pub sums: BTreeMap<String, u64>,
    /// Sketches by column, of the conversations that have the figure.
    pub figures: BTreeMap<String, Quantiles>,
}

impl ClassFigures {
    /// The sum of a column; 0 when the run has no such column.
    pub fn sum(&self, name: &str) -> u64 {
        self.sums.get(name).copied().unwrap_or_default()
    }

    /// The share of what assistants used that still stands before its use; `None` where nothing was used.
    pub fn grounding(&self) -> Option<f64> {
        let used = self.sum("used");
        (used > 0).then(|| self.sum("used_in_place") as f64 / used as f64)
    }
}

merges!(ClassFigures { conversations, sums, figures });

impl Merge for Figures {
    fn absorb(&mut self, other: &Self) {
        self.classes.absorb(&other.classes);
        self.languages.absorb(&other.languages);
        self.choices.absorb(&other.choices);
        self.densities.absorb(&other.densities);
        Rank::Saved.merge(&mut self.savings, &other.savings);
        Rank::Lost.merge(&mut self.losses, &other.losses);
        self.distinct.absorb(&other.distinct);
    }
}

impl Figures {
    /// All classes together.
    pub fn total(&self) -> ClassFigures {
        let mut total = ClassFigures::default();
        self.classes.values().for_each(|class| total.absorb(class));
        total
    }

    /// Sees rows of the metrics table.
    pub fn add_rows(&mut self, rows: &RecordBatch) -> Result<()> {
        let columns = Columns::of(rows).map_err(|error| Error { place: "metrics".to_owned(), ..error })?;
        for row in 0..rows.num_rows() {
            self.row(&columns, row);
        }
        Ok(())
    }

    fn row(&mut self, columns: &Columns<'_>, row: usize) {
        let name = columns.class.value(row);
        if !self.classes.contains_key(name) {
            self.classes.insert(name.to_owned(), ClassFigures::default());
        }
        let Some(class) = self.classes.get_mut(name) else { return };
        class.conversations += 1;
        for (name, column) in &columns.counts {
            match class.sums.get_mut(*name) {
                Some(sum) => *sum = sum.saturating_add(count_at(column, row)),
                None => drop(class.sums.insert((*name).to_owned(), count_at(column, row))),
            }
        }
        let (count, figure) = (|name| columns.count(name, row), |figure| columns.figure(figure, row));
        let ratio = ratio(count("chars_in"), count("chars_out"));
        for of in Figure::ALL {
            let (name, Some(value)) = (of.as_str(), figure(of)) else { continue };
            match class.figures.get_mut(name) {
                Some(sketch) => sketch.push(value),
                None => class.figures.entry(name.to_owned()).or_default().push(value),
            }
            if Figure::AGAINST_RATIO.contains(&of) {
                match self.densities.get_mut(name) {
                    Some(density) => density.push(ratio, value),
                    None => self.densities.entry(name.to_owned()).or_default().push(ratio, value),
                }
            }
        }
        let part = Share {
            conversations: 1,
            messages: count("messages_in"),
            chars_in: count("chars_in"),
            chars_out: count("chars_out"),
        };
        if let Some(languages) = columns.language {
            let language = if languages.is_valid(row) { languages.value(row) } else { UNKNOWN };
            self.languages.add(language, &part);
        }
        if let Some(choices) = columns.choice.filter(|choices| choices.is_valid(row)) {
            self.choices.add(choices.value(row), &part);
        }
        self.distinct.push(twox_hash::XxHash3_64::oneshot(columns.checksum.value(row).as_bytes()));
        let gone = |before, after| count(before).saturating_sub(count(after));
        let mut extreme = Extreme {
            used_hidden: USES.iter().map(|(all, left)| gone(all, left)).sum(),
            chars_in: count("chars_in"),
            chars_out: count("chars_out"),
            ratio,
            quality_score: figure(Figure::QualityScore),
            grounding: figure(Figure::Grounding),
            edit_grounding: figure(Figure::EditGrounding),
            fact_grounding: figure(Figure::FactGrounding),
            next_turn_recall: figure(Figure::NextTurnRecall),
            next_turn_lines_recall: figure(Figure::NextTurnLinesRecall),
            fact_retention: figure(Figure::FactRetention),
            forward_recall: figure(Figure::ForwardRecall),
            negation_retention: figure(Figure::NegationRetention),
            error_retention: figure(Figure::ErrorRetention),
            source_row: columns.source_row.value(row),
            ..Extreme::default()
        };
        let saves = Rank::Saved.admits(&self.savings, &extreme);
        let loses = Rank::Lost.admits(&self.losses, &extreme);
        if saves || loses {
            columns.id.value(row).clone_into(&mut extreme.conversation_id);
            columns.source.value(row).clone_into(&mut extreme.source);
            name.clone_into(&mut extreme.class);
        }
        if loses {
            Rank::Lost.insert(&mut self.losses, extreme.clone());
        }
        if saves {
            Rank::Saved.insert(&mut self.savings, extreme);
        }
    }
}

/// What was before over what is left; 1 when nothing is.
pub fn ratio(before: u64, after: u64) -> f64 {
    if after == 0 { 1.0 } else { before as f64 / after as f64 }
}

/// The count in a row; 0 where there is none.
fn count_at(column: &UInt64Array, row: usize) -> u64 {
    if column.is_valid(row) { column.value(row) } else { 0 }
}

/// The columns that are read; runs of older versions may lack some figures.
struct Columns<'a> {
    id: &'a LargeStringArray,
    source: &'a LargeStringArray,
    source_row: &'a UInt64Array,
    class: &'a LargeStringArray,
    checksum: &'a LargeStringArray,
    language: Option<&'a LargeStringArray>,
    choice: Option<&'a LargeStringArray>,
    counts: Vec<(&'static str, &'a UInt64Array)>,
    /// In the order of [`Figure::ALL`].
    figures: [Option<&'a Float64Array>; Figure::ALL.len()],
}

impl<'a> Columns<'a> {
    fn of(rows: &'a RecordBatch) -> Result<Self> {
        for name in ["messages_in", "messages_out", "chars_in", "chars_out", "tokens_in", "tokens_out"] {
            count_column(rows, name)?;
        }
        let counts = metric_columns().filter(|column| column.adds_up).map(|column| column.name);
        Ok(Self {
            id: text_column(rows, "conversation_id")?,
            source: text_column(rows, "source")?,
            source_row: count_column(rows, "source_row")?,
            class: text_column(rows, "class")?,
            checksum: text_column(rows, "checksum")?,
            language: text_column(rows, "language").ok(),
            choice: text_column(rows, "policy_choice").ok(),
            counts: counts.filter_map(|name| Some((name, count_column(rows, name).ok()?))).collect(),
            figures: Figure::ALL.map(|figure| figure_column(rows, figure.as_str()).ok()),
        })
    }

    fn count(&self, name: &str, row: usize) -> u64 {
        self.counts.iter().find(|(known, _)| *known == name).map_or(0, |(_, column)| count_at(column, row))
    }

    fn figure(&self, figure: Figure, row: usize) -> Option<f64> {
        let of = |before, after| Some(ratio(self.count(before, row), self.count(after, row)));
        match figure {
            Figure::Ratio => of("chars_in", "chars_out"),
            Figure::TokenRatio => of("tokens_in", "tokens_out"),
            _ => figure_at(self.figures[figure as usize]?, row),
        }
    }
}
