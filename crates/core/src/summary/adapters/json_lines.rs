//! JSON values of one kind, one per line or in a list: the first, the last, and those that stand out stay; the others
//! are counted and described. Lines that are no JSON stay.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::adapter::Wanted;
use super::rows::{self, MIN_ROWS, Row, Table};
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::{Span, TextView};

/// So many of the lines must be JSON; more others would be no preface.
const MIN_SAME_SHARE: f64 = 0.9;
const MAX_OTHERS: usize = 6;
/// Keys that are looked at.
const MAX_KEYS: usize = 64;

/// True for a text of such values of which enough can be left out.
pub(super) fn detect(text: &TextView<'_>) -> bool {
    rows::detect(text, tables)
}

/// Thins out such a text.
pub(super) fn edit(spoken: &Spoken<'_>, wanted: &Wanted<'_>, edits: &mut Edits<'_>) {
    rows::edit(spoken, wanted, edits, tables);
}

/// The lines of a text, its list, or the lists of its object.
fn tables<'a>(view: &TextView<'a>) -> Vec<Table<'a>> {
    let text = view.covered().trim_start();
    match lines(view) {
        Some(table) => vec![table],
        None if text.starts_with('[') => list(view.text, text.trim_end()).into_iter().collect(),
        None if text.starts_with('{') => {
            let fields: HashMap<Cow<'a, str>, &'a RawValue, FixedState> =
                serde_json::from_str(text).unwrap_or_default();
            let mut tables: Vec<Table<'a>> =
                fields.into_values().filter_map(|raw| list(view.text, raw.get())).collect();
            tables.sort_by_key(|table| table.rows[0].span.start);
            tables
        }
        None => Vec::new(),
    }
}

/// One value per line.
fn lines<'a>(view: &TextView<'a>) -> Option<Table<'a>> {
    let bodies = view.lines.iter().map(|line| line.body(view.text)).filter(|body| !body.is_empty());
    let (mut rows, mut n_others, mut is_next) = (Vec::new(), 0, true);
    for body in bodies {
        let line = body.of(view.text);
        let is_row = line.starts_with('{') && line.ends_with('}');
        if is_row {
            rows.push((body, line, is_next));
        } else {
            n_others += 1;
        }
        is_next = is_row;
    }
    let n = rows.len();
    let is_table = n as f64 >= MIN_SAME_SHARE * (n + n_others) as f64 || n_others <= MAX_OTHERS && n >= 2 * MIN_ROWS;
    (n >= MIN_ROWS && is_table).then(|| table(rows, "record")).flatten()
}

/// A list of objects.
fn list<'a>(text: &'a str, list: &'a str) -> Option<Table<'a>> {
    if !list.starts_with('[') {
        return None;
    }
    let values: Vec<&'a RawValue> = serde_json::from_str(list).ok()?;
    let offset = |raw: &str| (raw.as_ptr() as usize).checked_sub(text.as_ptr() as usize).map(|start| start as u32);
    let mut rows = Vec::with_capacity(values.len());
    for value in values {
        let raw = value.get();
        let start = offset(raw)?;
        rows.push((Span { start, end: start + raw.len() as u32 }, raw, true));
    }
    if rows.len() < MIN_ROWS { None } else { table(rows, "item") }
}

/// `None` when a value is no object.
fn table<'a>(raw: Vec<(Span, &'a str, bool)>, word: &'static str) -> Option<Table<'a>> {
    let mut keys: HashMap<String, usize, FixedState> = HashMap::default();
    let mut names = Vec::new();
    let mut rows = Vec::with_capacity(raw.len());
    for (span, json, is_next) in raw {
        let object: Map<String, Value> = serde_json::from_str(json).ok()?;
        let shape = FixedState::default().hash_one(object.keys().collect::<Vec<_>>());
        let mut cells = Vec::new();
        for (key, value) in object {
            let next = names.len();
            if next < MAX_KEYS && !keys.contains_key(&key) {
                keys.insert(key.clone(), next);
                names.push(Cow::Owned(key.clone()));
            }
            let Some(&at) = keys.get(&key) else { continue };
            cells.resize_with(cells.len().max(at + 1), || Cow::Borrowed(""));
            cells[at] = match value {
                Value::String(text) => Cow::Owned(text),
                Value::Null => Cow::Borrowed(""),
                Value::Array(items) => Cow::Owned(format!("[{} values]", items.len())),
                Value::Object(fields) => Cow::Owned(format!("{{{} keys}}", fields.len())),
                scalar => Cow::Owned(scalar.to_string()),
            };
        }
        rows.push(Row { span, cells, shape, is_next });
    }
    Some(Table { names, rows, word })
}
