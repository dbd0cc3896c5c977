//! Tables: which rows are shown, and what the others have in common. Knows rows, cells and names; refuses to know how
//! a table is written.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::adapter::{Wanted, count, is_candidate, overlong, plural};
use super::columns::{Column, describe, is_missing, number};
use crate::summary::draft::Draft;
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::words::word_list;
use crate::text::{Span, TextView};

/// A table with fewer rows is shown whole.
pub(super) const MIN_ROWS: usize = 8;
/// Rows that are shown at the start, when there is room and when there is little, and at the end.
const HEAD: usize = 3;
const SHORT_HEAD: usize = 1;
const TAIL: usize = 1;
/// Rows that report a failure are shown when they are so few.
const MAX_REPORTS: usize = 30;
const MAX_REPORT_SHARE: f64 = 0.34;
/// Rows that stand out for another reason, per reason.
const MAX_ODD: usize = 5;
/// So many of the rows must have a value for a row without one to stand out.
const MIN_PRESENT_SHARE: f64 = 0.95;
/// A value among a few is rare when it is in no more of the rows.
const RARE_SHARE: f64 = 0.01;
const MAX_KINDS: usize = 12;
const MIN_RARE_ROWS: usize = 20;
/// Columns whose extremes are shown.
const MAX_EXTREME_COLUMNS: usize = 4;
/// Fewer neighbours are shown rather than counted.
const MIN_HIDDEN: usize = 2;
/// So much of the text must be rows that can be left out.
const MIN_SHARE: f64 = 0.25;
/// Columns that are looked at.
const MAX_COLUMNS: usize = 64;

/// A row.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub(super) span: Span,
    /// As many as there are names; empty where there is no value.
    pub(super) cells: Vec<Cow<'a, str>>,
    /// Rows with the same keys have the same shape.
    pub(super) shape: u64,
    /// Nothing stands between the row before and this one.
    pub(super) is_next: bool,
}

/// Rows with the names of their cells.
#[derive(Debug, Clone)]
pub(super) struct Table<'a> {
    pub(super) names: Vec<Cow<'a, str>>,
    pub(super) rows: Vec<Row<'a>>,
    /// What a row is called: `row`, `item`, `record`.
    pub(super) word: &'static str,
}

/// Finds the tables of a text.
pub(super) type Tables = for<'a> fn(&TextView<'a>) -> Vec<Table<'a>>;

/// True for a text of whose tables enough can be left out.
pub(super) fn detect(text: &TextView<'_>, tables: Tables) -> bool {
    let bytes: usize = if is_candidate(text) { tables(text).iter().map(Table::hidden_bytes).sum() } else { 0 };
    bytes as f64 >= MIN_SHARE * text.covered().len() as f64
}

/// Thins out the tables of a text.
pub(super) fn edit(spoken: &Spoken<'_>, wanted: &Wanted<'_>, edits: &mut Edits<'_>, tables: Tables) {
    for table in tables(&spoken.view) {
        table.thin(spoken.view.text, wanted.is_tight(), edits);
    }
}

impl Table<'_> {
    /// Bytes of the rows that would be left out.
    fn hidden_bytes(&self) -> usize {
        let shown = self.shown(false);
        self.rows.iter().zip(shown).filter(|(_, is_shown)| !is_shown).map(|(row, _)| row.span.len()).sum()
    }

    /// Leaves out the rows that are like others, and says what they have in common.
    fn thin(&self, text: &str, is_tight: bool, edits: &mut Edits<'_>) {
        let shown = self.shown(is_tight);
        let n_hidden = shown.iter().filter(|is_shown| !**is_shown).count();
        if n_hidden == 0 {
            return;
        }
        let hidden = self.rows.iter().zip(&shown).filter(|(_, is_shown)| !**is_shown).map(|(row, _)| row);
        let summary = describe(&self.names, &columns(self.names.len(), hidden));
        let pairs: Vec<(&Row<'_>, bool)> = self.rows.iter().zip(shown.iter().copied()).collect();
        let runs: Vec<&[(&Row<'_>, bool)]> = pairs.chunk_by(|a, b| a.1 == b.1 && (a.1 || b.0.is_next)).collect();
        let n_gaps = runs.iter().filter(|rows| !rows[0].1).count();
        for run in runs {
            let rows: Vec<&Row<'_>> = run.iter().map(|(row, _)| *row).collect();
            if run[0].1 {
                for (span, words) in rows.iter().filter_map(|row| overlong(text, row.span)) {
                    edits.cut(span, &words);
                }
                continue;
            }
            let span = Span { start: rows[0].span.start, end: rows[rows.len() - 1].span.end };
            let mut mark = Draft::default();
            mark.say(&format!("[… {} {}{}", count(rows.len()), self.word, plural(rows.len())));
            if n_gaps == 1 && !summary.text.is_empty() {
                mark.say(" — ");
                mark.append(&summary);
            }
            mark.say("]");
            edits.replace(span, &mark);
        }
        if n_gaps > 1 && !summary.text.is_empty() {
            let end = self.rows.last().map_or(0, |row| row.span.end);
            let mut note = Draft::default();
            note.say(&format!("\n[{} of {} {}s left out — ", count(n_hidden), count(self.rows.len()), self.word));
            note.append(&summary);
            note.say("]");
            edits.replace(Span { start: end, end }, &note);
        }
    }

    /// Which rows are shown: the first, the last, and those that stand out.
    fn shown(&self, is_tight: bool) -> Vec<bool> {
        let n = self.rows.len();
        let head = if is_tight { SHORT_HEAD } else { HEAD };
        if n < MIN_ROWS.max(head + TAIL + MIN_HIDDEN) {
            return vec![true; n];
        }
        let mut shown = vec![false; n];
        shown[..head].fill(true);
        shown[n - TAIL..].fill(true);
        self.show_reports(&mut shown);
        self.show_odd_shapes(&mut shown);
        let columns = columns(self.names.len(), &self.rows);
        let mut n_extreme = 0;
        for (at, column) in columns.iter().enumerate() {
            self.show_gaps(at, column, &mut shown);
            if column.is_numeric() && column.n_kinds() > 2 && n_extreme < MAX_EXTREME_COLUMNS {
                self.show_extremes(at, column, &mut shown);
                n_extreme += 1;
            }
            self.show_rare(at, column, &mut shown);
        }
        for at in 1..n - 1 {
            // A single row is as long as its count.
            let ends = |next: usize| shown[next] || !self.rows[at.max(next)].is_next;
            shown[at] |= ends(at - 1) && ends(at + 1);
        }
        shown
    }

    fn show_reports(&self, shown: &mut [bool]) {
        let reports: Vec<usize> =
            (0..self.rows.len()).filter(|&at| self.rows[at].cells.iter().any(|cell| reports_failure(cell))).collect();
        if reports.len() as f64 <= MAX_REPORT_SHARE * self.rows.len() as f64 {
            reports.into_iter().take(MAX_REPORTS).for_each(|at| shown[at] = true);
        }
    }

    fn show_odd_shapes(&self, shown: &mut [bool]) {
        let mut tally: HashMap<u64, usize, FixedState> = HashMap::default();
        self.rows.iter().for_each(|row| *tally.entry(row.shape).or_default() += 1);
        let is_odd = |row: &Row<'_>| tally[&row.shape] as f64 <= (RARE_SHARE * self.rows.len() as f64).max(1.0);
        let odd = (0..self.rows.len()).filter(|&at| is_odd(&self.rows[at]));
        odd.take(MAX_ODD).for_each(|at| shown[at] = true);
    }

    fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].cells.get(column).map_or("", AsRef::as_ref)
    }

    /// Rows without a value that nearly all others have.
    fn show_gaps(&self, at: usize, column: &Column<'_>, shown: &mut [bool]) {
        let n = self.rows.len();
        if column.n_present() < n && column.n_present() as f64 >= MIN_PRESENT_SHARE * n as f64 {
            (0..n).filter(|&row| is_missing(self.cell(row, at))).take(MAX_ODD).for_each(|row| shown[row] = true);
        }
    }

    fn show_extremes(&self, at: usize, column: &Column<'_>, shown: &mut [bool]) {
        let Some((least, most)) = column.extremes() else { return };
        for extreme in [least, most] {
            let is_it =
                |row: &usize| number(self.cell(*row, at)).is_some_and(|number| number.total_cmp(&extreme).is_eq());
            if let Some(row) = (0..self.rows.len()).find(is_it) {
                shown[row] = true;
            }
        }
    }

    /// Rows with a value that is one of a few kinds and hardly ever occurs.
    fn show_rare(&self, at: usize, column: &Column<'_>, shown: &mut [bool]) {
        let n = self.rows.len();
        if n < MIN_RARE_ROWS || column.n_kinds() < 2 || column.n_kinds() > MAX_KINDS {
            return;
        }
        let limit = (RARE_SHARE * n as f64).max(1.0) as usize;
        let is_rare = |row: &usize| (1..=limit).contains(&column.n_of(self.cell(*row, at)));
        (0..n).filter(is_rare).take(MAX_ODD).for_each(|row| shown[row] = true);
    }
}

fn columns<'t, 'a: 't>(n: usize, rows: impl IntoIterator<Item = &'t Row<'a>>) -> Vec<Column<'a>> {
    let mut columns = vec![Column::default(); n.min(MAX_COLUMNS)];
    for row in rows {
        for (at, column) in columns.iter_mut().enumerate() {
            column.add(row.cells.get(at).cloned().unwrap_or_default());
        }
    }
    columns
}

/// A cell that is or begins with a word of failure.
pub(super) fn reports_failure(cell: &str) -> bool {
    const WORDS: &[&str] = word_list!("formats", FAILURES);
    let words = cell.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.take(4).peekable();
    // `0 errors`, `no failures`.
    let is_denied = words.peek().is_some_and(|word| matches!(*word, "0" | "no" | "No" | "none" | "not"));
    let is_name = |word: &str| (word.ends_with("Error") || word.ends_with("Exception")) && word.len() > 6;
    !is_denied && words.any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)) || is_name(word))
}

#[cfg(test)]
mod tests {
    use super::reports_failure;

    #[test]
    fn failures_are_told_from_their_absence() {
        for cell in ["FAILED", "error: no route", "TypeError in x", "timeout"] {
            assert!(reports_failure(cell), "{cell}");
        }
        for cell in ["ok", "0 errors", "no failures", "terrorist", "Errol", ""] {
            assert!(!reports_failure(cell), "{cell}");
        }
    }
}
