//! Outlines of data and code that are too long to keep: the shape of a JSON document, the head of a table, the
//! declarations of a source file. Reached only for messages above the observation threshold.

use serde_json::Value;

use super::draft::{Draft, shorten};
use crate::text::{LineKind, TextView};

/// Keys of an object that are named; the others are counted.
const MAX_KEYS: usize = 12;
/// How deep the outline looks.
const MAX_DEPTH: usize = 3;
/// An outline is no longer than this.
const MAX_CHARS: usize = 600;

/// An outline of JSON, tables or code, unwrapped; `None` for other texts.
#[must_use]
pub fn outline(view: &TextView<'_>) -> Option<Draft> {
    json(view.covered()).or_else(|| rows(view)).or_else(|| declarations(view))
}

fn json(text: &str) -> Option<Draft> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let mut shape = String::from("JSON ");
    describe(&value, 0, &mut shape);
    let mut out = Draft::default();
    shorten(&shape, MAX_CHARS, &mut out);
    Some(out)
}

fn describe(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(map) if depth < MAX_DEPTH => {
            out.push('{');
            for (i, (key, value)) in map.iter().take(MAX_KEYS).enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                out.push_str(key);
                out.push_str(": ");
                describe(value, depth + 1, out);
            }
            if map.len() > MAX_KEYS {
                out.push_str(&format!(", +{} keys", map.len() - MAX_KEYS));
            }
            out.push('}');
        }
        Value::Object(map) => out.push_str(&format!("{{{} keys}}", map.len())),
        Value::Array(items) => {
            out.push_str(&format!("[{} items", items.len()));
            if let (Some(first), true) = (items.first(), depth < MAX_DEPTH) {
                out.push_str(", first ");
                describe(first, depth + 1, out);
            }
            if let (Some(last), true) = (items.get(1..).and_then(<[Value]>::last), depth == 0) {
                out.push_str(", last ");
                describe(last, depth + 1, out);
            }
            out.push(']');
        }
        Value::String(text) if text.chars().count() > 40 => {
            out.push_str(&format!("\"… {} chars\"", text.chars().count()));
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn rows(view: &TextView<'_>) -> Option<Draft> {
    let rows = lines_of(view, LineKind::is_row)?;
    let mut out = Draft::default();
    out.say(&format!("table of {} lines: ", rows.len()));
    shorten(rows[0], MAX_CHARS / 3, &mut out);
    out.say(" | ");
    shorten(rows[rows.len() / 2], MAX_CHARS / 3, &mut out);
    out.say(" | ");
    shorten(rows[rows.len() - 1], MAX_CHARS / 3, &mut out);
    Some(out)
}

fn declarations(view: &TextView<'_>) -> Option<Draft> {
    let lines = lines_of(view, LineKind::is_code)?;
    let mut out = Draft::default();
    out.say(&format!("code of {} lines", view.lines.len()));
    let mut left = MAX_CHARS;
    for line in lines {
        let opens = line.ends_with([':', '{', '(']) && !line.starts_with([' ', '\t']);
        let n_chars = line.chars().count() + 3;
        if opens && n_chars <= left {
            left -= n_chars;
            out.say(" | ");
            out.quote(line.trim_end_matches(['{', ' ']));
        }
    }
    Some(out)
}

/// The lines of a kind when they are more than half of all that are not blank.
fn lines_of<'a>(view: &TextView<'a>, is_one: fn(LineKind) -> bool) -> Option<Vec<&'a str>> {
    let found: Vec<&str> =
        view.lines.iter().filter(|line| is_one(line.kind)).map(|line| line.body(view.text).of(view.text)).collect();
    let n_lines = view.lines.iter().filter(|line| line.kind != LineKind::Blank).count();
    (found.len() * 2 > n_lines).then_some(found)
}
