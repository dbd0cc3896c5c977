//! Values separated by commas, semicolons or tabs: the names, the first rows, the last, and those that stand out stay;
//! the others are counted and described. Lines that are no rows stay.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::adapter::Wanted;
use super::columns::{is_missing, number};
use super::rows::{self, MIN_ROWS, Row, Table};
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::{LineKind, Severity, Span, TextView};

const SIGNS: [u8; 3] = *b",\t;";
/// So many of the lines must have as many values as most have; more others would be no preface.
const MIN_SAME_SHARE: f64 = 0.9;
/// A preface may have so many lines.
const MAX_OTHERS: usize = 6;
/// A quoted value may go over so many lines.
const MAX_VALUE_LINES: usize = 20;
/// A longer first value is no name.
const MAX_NAME: usize = 40;
/// Values of tables are shorter than clauses of prose.
const MAX_MEAN_CELL: usize = 40;

/// True for a text of such values of which enough can be left out.
pub(super) fn detect(text: &TextView<'_>) -> bool {
    rows::detect(text, tables)
}

/// Thins out such a text.
pub(super) fn edit(spoken: &Spoken<'_>, wanted: &Wanted<'_>, edits: &mut Edits<'_>) {
    rows::edit(spoken, wanted, edits, tables);
}

/// The table of a text that is one.
fn tables<'a>(view: &TextView<'a>) -> Vec<Table<'a>> {
    table(view).into_iter().collect()
}

/// Lines joined where a quoted value goes over several, without blank ones.
fn records(view: &TextView<'_>) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let mut at = 0;
    let is_odd = |span: Span| memchr::memchr_iter(b'"', span.of(view.text).as_bytes()).count() % 2 == 1;
    while let Some(line) = view.lines.get(at) {
        let mut record = line.body(view.text);
        at += 1;
        if record.of(view.text).trim().is_empty() {
            continue;
        }
        if is_odd(record) {
            let next = view.lines.get(at..).unwrap_or_default().iter().take(MAX_VALUE_LINES);
            if let Some(more) = next.map(|line| line.span).position(is_odd) {
                record.end = view.lines[at + more].span.end;
                at += more + 1;
            }
        }
        found.push(record);
    }
    found
}

/// Values of a record.
fn cells(record: &str, sign: u8) -> Vec<Cow<'_, str>> {
    let mut cells = Vec::new();
    let (mut start, mut quoted) = (0, false);
    let mut push = |start: usize, end: usize| cells.push(value(record.get(start..end).unwrap_or_default()));
    for (at, byte) in record.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if byte == sign && !quoted => {
                push(start, at);
                start = at + 1;
            }
            _ => {}
        }
    }
    push(start, record.len());
    cells
}

fn value(raw: &str) -> Cow<'_, str> {
    let trimmed = raw.trim();
    match trimmed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if inner.contains("\"\"") => Cow::Owned(inner.replace("\"\"", "\"")),
        Some(inner) => Cow::Borrowed(inner),
        None => Cow::Borrowed(trimmed),
    }
}

fn n_cells(record: &str, sign: u8) -> usize {
    let mut quoted = false;
    let is_end = |byte: u8| {
        quoted ^= byte == b'"';
        byte == sign && !quoted
    };
    record.bytes().map(is_end).filter(|is_end| *is_end).count() + 1
}

fn table<'a>(view: &TextView<'a>) -> Option<Table<'a>> {
    let is_other = |kind: LineKind| {
        use LineKind::{Grep, Json, Log, Markup};
        kind.is_code() || kind.is_diff() || matches!(kind, Log | Json | Markup | Grep)
    };
    // The lines of a test runner have tabs too.
    let reports = |severity: Severity| matches!(severity, Severity::Success | Severity::Failure | Severity::Totals);
    let n_reports = view.lines.iter().filter(|line| line.kind == LineKind::Status && reports(line.severity)).count();
    let n_others = n_reports + view.lines.iter().filter(|line| is_other(line.kind)).count();
    if view.lines.len() < MIN_ROWS || n_others * 2 > view.lines.len() {
        return None;
    }
    let records = records(view);
    let found = SIGNS.into_iter().find_map(|sign| Some((sign, width(view.text, &records, sign)?)));
    let (sign, width) = found?;
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(records.len());
    let mut is_next = true;
    for span in records {
        let cells = cells(span.of(view.text), sign);
        let is_row = cells.len() == width;
        if is_row {
            rows.push(Row { span, cells, shape: 0, is_next });
        }
        is_next = is_row;
    }
    let bytes: usize = rows.iter().map(|row| row.span.len()).sum();
    if rows.len() < MIN_ROWS || bytes > MAX_MEAN_CELL * width * rows.len() || !is_tabular(&rows, width, sign) {
        return None;
    }
    let has_header = is_header(&rows);
    if !has_header && (width < 3 || n_numbers(&rows) * 4 < rows.len() * width) {
        return None;
    }
    let names = if has_header {
        rows.remove(0).cells
    } else {
        (1..=width).map(|at| Cow::Owned(format!("column {at}"))).collect()
    };
    Some(Table { names, rows, word: "row" })
}

/// How many values most records have, when nearly all have as many.
fn width(text: &str, records: &[Span], sign: u8) -> Option<usize> {
    let mut tally: HashMap<usize, usize, FixedState> = HashMap::default();
    for record in records {
        *tally.entry(n_cells(record.of(text), sign)).or_default() += 1;
    }
    let (width, n) = tally.into_iter().max_by_key(|&(width, n)| (n, width))?;
    let n_others = records.len() - n;
    let is_table = n as f64 >= MIN_SAME_SHARE * records.len() as f64 || n_others <= MAX_OTHERS && n >= 2 * MIN_ROWS;
    (width >= 2 && n >= MIN_ROWS && is_table).then_some(width)
}

/// Lists of clauses have commas too: values have numbers among them, or no blanks behind the signs.
fn is_tabular(rows: &[Row<'_>], width: usize, sign: u8) -> bool {
    let n_cells = rows.len() * width;
    let all = || rows.iter().flat_map(|row| &row.cells);
    let n_values = all().filter(|cell| number(cell).is_some() || is_missing(cell)).count();
    let n_words = all().filter(|cell| cell.split(' ').nth(3).is_some()).count();
    // Indented code begins with tabs.
    let n_bare = rows.iter().filter(|row| is_missing(&row.cells[0])).count();
    let is_dense = n_words * 5 <= n_cells && n_bare * 2 < rows.len();
    is_dense && (n_values * 6 >= n_cells || sign == b'\t' || width >= 3 && n_words * 20 <= n_cells)
}

fn n_numbers(rows: &[Row<'_>]) -> usize {
    rows.iter().flat_map(|row| &row.cells).filter(|cell| number(cell).is_some()).count()
}

/// The first row has names: short, all different, no numbers, no paths, and none of them is a value further down.
fn is_header(rows: &[Row<'_>]) -> bool {
    let cells = &rows[0].cells;
    let is_name = |cell: &str| {
        !is_missing(cell) && number(cell).is_none() && cell.len() <= MAX_NAME && !cell.contains(['/', '\\'])
    };
    let mut sorted: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let is_value = |row: &Row<'_>| row.cells.iter().zip(cells).any(|(value, name)| value == name);
    sorted.len() == cells.len() && cells.iter().all(|cell| is_name(cell)) && !rows.iter().skip(1).any(is_value)
}
