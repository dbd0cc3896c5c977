//! Finds the conversations that both sides have and that changed most. What was before is held as one small entry per
//! conversation; when there are too many, in several rounds, each for a share of the ids. Knows rows of the metrics table.

use arrow::array::{Float64Array, LargeStringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use twox_hash::XxHash3_64;

use super::{Change, Changes};
use crate::error::{Error, Result};
use crate::model::Figure;
use crate::pipeline::sketch::ratio;
use crate::pipeline::tables::{CHECKSUM_DIGITS, count_column, figure_at, figure_column, text_column};

/// So many conversations of the side before are held at once: 64 MB.
pub const MAX_HELD: u64 = 1 << 21;
/// So many conversations are listed.
const MAX_LISTED: usize = 20;

/// A conversation before.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Held {
    id: u64,
    record: u64,
    ratio: f64,
    /// NaN when it was not measured.
    facts: f64,
}

/// Looks for changes. In every round: all rows of the side before, then all rows of the side after.
#[derive(Debug)]
pub struct ChangeFinder {
    n_rounds: u64,
    round: u64,
    held: Vec<Held>,
    is_sorted: bool,
    changes: Changes,
}

impl ChangeFinder {
    /// The columns of the metrics table that are looked at.
    pub const COLUMNS: [&'static str; 7] = [
        "conversation_id",
        "source",
        "source_row",
        "checksum",
        "chars_in",
        "chars_out",
        Figure::FactRetention.as_str(),
    ];

    /// For a side before of `n_before` conversations.
    pub fn new(n_before: u64) -> Self {
        Self::holding(n_before, MAX_HELD)
    }

    fn holding(n_before: u64, most: u64) -> Self {
        let n_rounds = n_before.div_ceil(most).max(1);
        Self { n_rounds, round: 0, held: Vec::new(), is_sorted: false, changes: Changes::default() }
    }

    /// How often both sides must be read.
    pub fn rounds(&self) -> u64 {
        self.n_rounds
    }

    /// Begins the next round.
    pub fn next_round(&mut self) {
        self.round += 1;
        self.held.clear();
        self.is_sorted = false;
    }

    /// Sees rows of the side before.
    pub fn see_before(&mut self, rows: &RecordBatch) -> Result<()> {
        let columns = Columns::of(rows)?;
        for row in 0..rows.num_rows() {
            let id = hash(columns.id.value(row));
            if self.is_mine(id) {
                let record = hash(columns.record.value(row));
                let facts = columns.facts(row).unwrap_or(f64::NAN);
                self.held.push(Held { id, record, ratio: columns.ratio(row), facts });
            }
        }
        Ok(())
    }

    /// Sees rows of a run of the side after.
    pub fn see_after(&mut self, run: usize, rows: &RecordBatch) -> Result<()> {
        if !self.is_sorted {
            self.held.sort_by(|a, b| {
                (a.id, a.record)
                    .cmp(&(b.id, b.record))
                    .then(a.ratio.total_cmp(&b.ratio))
                    .then(a.facts.total_cmp(&b.facts))
            });
            self.is_sorted = true;
        }
        let columns = Columns::of(rows)?;
        for row in 0..rows.num_rows() {
            let id = hash(columns.id.value(row));
            if self.is_mine(id) {
                self.compare(id, &columns, row, run);
            }
        }
        Ok(())
    }

    /// What was found.
    pub fn finish(self) -> Changes {
        self.changes
    }

    fn is_mine(&self, id: u64) -> bool {
        id % self.n_rounds == self.round % self.n_rounds
    }

    fn compare(&mut self, id: u64, columns: &Columns<'_>, row: usize, run: usize) {
        let start = self.held.partition_point(|held| held.id < id);
        let known = self.held.get(start..).unwrap_or_default();
        let known = known.get(..known.partition_point(|held| held.id == id)).unwrap_or_default();
        let record = hash(columns.record.value(row));
        let before = match (known.iter().find(|held| held.record == record), known) {
            (Some(same), _) | (None, [same]) => *same,
            (None, []) => {
                self.changes.only_after += 1;
                return;
            }
            (None, _) => {
                self.changes.ambiguous += 1;
                return;
            }
        };
        self.changes.in_both += 1;
        self.changes.same_record += u64::from(before.record == record);
        let (ratio, facts) = (columns.ratio(row), columns.facts(row));
        let facts_before = Some(before.facts).filter(|facts| !facts.is_nan());
        let change = || Change {
            conversation_id: columns.id.value(row).to_owned(),
            run,
            source: columns.source.value(row).to_owned(),
            source_row: columns.source_row.value(row),
            is_same_record: before.record == record,
            ratio_before: before.ratio,
            ratio_after: ratio,
            fact_retention_before: facts_before,
            fact_retention_after: facts,
        };
        let by_ratio = factor(before.ratio, ratio);
        insert(&mut self.changes.by_ratio, by_ratio, |of| factor(of.ratio_before, of.ratio_after), change);
        let by_facts = fall(facts_before, facts);
        let measure = |of: &Change| fall(of.fact_retention_before, of.fact_retention_after);
        insert(&mut self.changes.by_fact_retention, by_facts, measure, change);
    }
}

/// By how much a ratio changed, up or down.
fn factor(before: f64, after: f64) -> f64 {
    let change = (after.max(f64::MIN_POSITIVE) / before.max(f64::MIN_POSITIVE)).ln().abs();
    if change.is_nan() { 0.0 } else { change }
}

/// By how much a share changed. A side that lacks it lost nothing: there it counts as whole.
fn fall(before: Option<f64>, after: Option<f64>) -> f64 {
    (after.unwrap_or(1.0) - before.unwrap_or(1.0)).abs()
}

/// Puts a change in its place among the largest; of equal ones the first stays first.
fn insert(listed: &mut Vec<Change>, size: f64, measure: impl Fn(&Change) -> f64, change: impl Fn() -> Change) {
    if size <= 0.0 || (listed.len() == MAX_LISTED && listed.last().is_some_and(|last| measure(last) >= size)) {
        return;
    }
    let at = listed.partition_point(|other| measure(other) >= size);
    listed.insert(at, change());
    listed.truncate(MAX_LISTED);
}

/// Of a checksum the digits that those of every version have.
fn hash(checksum: &str) -> u64 {
    XxHash3_64::oneshot(checksum.get(..CHECKSUM_DIGITS).unwrap_or(checksum).as_bytes())
}

struct Columns<'a> {
    id: &'a LargeStringArray,
    source: &'a LargeStringArray,
    source_row: &'a UInt64Array,
    record: &'a LargeStringArray,
    chars: [&'a UInt64Array; 2],
    facts: Option<&'a Float64Array>,
}

impl<'a> Columns<'a> {
    fn of(rows: &'a RecordBatch) -> Result<Self> {
        let placed = |error| Error { place: "metrics".to_owned(), ..error };
        let text = |name| text_column(rows, name).map_err(placed);
        Ok(Self {
            id: text("conversation_id")?,
            source: text("source")?,
            source_row: count_column(rows, "source_row").map_err(placed)?,
            record: text("checksum")?,
            chars: [count_column(rows, "chars_in").map_err(placed)?, count_column(rows, "chars_out").map_err(placed)?],
            facts: figure_column(rows, Figure::FactRetention.as_str()).ok(),
        })
    }

    fn ratio(&self, row: usize) -> f64 {
        let [before, after] = self.chars.map(|chars| chars.value(row));
        ratio(before, after)
    }

    fn facts(&self, row: usize) -> Option<f64> {
        figure_at(self.facts?, row)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Float64Array, LargeStringArray, UInt64Array};
    use arrow::record_batch::RecordBatch;

    use super::ChangeFinder;

    /// Id, record, ratio, fact retention.
    type Row<'r> = (&'r str, &'r str, f64, Option<f64>);

    fn rows(rows: &[Row<'_>]) -> RecordBatch {
        let text = |pick: fn(&Row<'_>) -> String| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(pick(row))).collect::<LargeStringArray>())
        };
        let chars = |pick: fn(&Row<'_>) -> u64| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(pick(row))).collect::<UInt64Array>())
        };
        RecordBatch::try_from_iter_with_nullable([
            ("conversation_id", text(|row| row.0.to_owned()), false),
            ("source", text(|_| "in.jsonl".to_owned()), false),
            ("source_row", Arc::new((0..rows.len() as u64).collect::<UInt64Array>()) as ArrayRef, false),
            ("checksum", text(|row| row.1.to_owned()), false),
            ("chars_in", chars(|row| (row.2 * 1_000.0) as u64), false),
            ("chars_out", chars(|_| 1_000), false),
            ("fact_retention", Arc::new(rows.iter().map(|row| row.3).collect::<Float64Array>()) as ArrayRef, true),
        ])
        .expect("columns of one length")
    }

    #[test]
    fn conversations_are_matched_by_id_and_record_whatever_the_number_of_rounds() {
        let before = rows(&[
            ("same", "r1", 2.0, Some(0.9)),
            ("grown", "r2", 3.0, None),
            ("twice", "r3", 4.0, Some(1.0)),
            ("twice", "r4", 5.0, Some(1.0)),
            ("gone", "r5", 1.0, None),
        ]);
        let after = rows(&[
            ("same", "r1", 1.0, Some(0.5)),
            ("grown", "r2b", 12.0, Some(0.4)),
            ("twice", "r4", 5.0, Some(1.0)),
            ("twice", "r9", 9.0, Some(1.0)),
            ("new", "r6", 7.0, None),
        ]);
        for most in [1, 2, 1_000] {
            let mut finder = ChangeFinder::holding(5, most);
            assert_eq!(finder.rounds(), 5_u64.div_ceil(most));
            for _ in 0..finder.rounds() {
                finder.see_before(&before).expect("the columns are there");
                finder.see_after(0, &after).expect("the columns are there");
                finder.next_round();
            }
            let found = finder.finish();
            assert_eq!((found.in_both, found.same_record, found.only_after, found.ambiguous), (3, 2, 1, 1), "{most}");
            let names = |changes: &[super::Change]| -> Vec<String> {
                changes.iter().map(|change| change.conversation_id.clone()).collect()
            };
            assert_eq!(names(&found.by_ratio), ["grown", "same"], "{most}");
            // What was not measured before had lost nothing.
            assert_eq!(names(&found.by_fact_retention), ["grown", "same"], "{most}");
            assert_eq!((found.by_ratio[0].is_same_record, found.by_ratio[0].ratio_before), (false, 3.0));
        }
    }
}
