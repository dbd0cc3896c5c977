//! Long lists of a YAML document whose items have one form: which of them are left out. Knows items and their keys;
//! refuses to know texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::adapter::{count, plural};
use super::columns::{Column, describe};
use super::rows::reports_failure;
use super::yaml_lines::{Kind, YamlLine};
use crate::summary::draft::Draft;
use crate::text::{Severity, Span, TextView};

/// A shorter list is shown whole.
const MIN_ITEMS: usize = 10;
/// So many of the items must have the form that most have.
const MIN_SAME_SHARE: f64 = 0.8;
/// Items that are shown at the start, and at the end.
const HEAD: usize = 2;
const TAIL: usize = 1;
/// Items are named when they are no more, no longer, and shorter in one line than in their own.
const MAX_VALUES: usize = 100;
const MAX_VALUE: usize = 60;
const MAX_VALUES_SHARE: f64 = 0.75;
/// Keys of an item whose values are looked at.
const MAX_KEYS: usize = 32;
/// Fewer neighbours are shown.
const MIN_HIDDEN: usize = 4;

/// Neighbouring items that are left out.
pub(super) struct Items<'a> {
    /// From the sign of the first to the end of the last.
    pub(super) span: Span,
    n: usize,
    names: Vec<Cow<'a, str>>,
    columns: Vec<Column<'a>>,
    /// The items themselves where they are few and short.
    values: Vec<&'a str>,
}

/// `# [… 41 items — id: 4 to 44; kind: disk ×41]`; short values are all named: `# [… 41 items — bodyclose, dupl, …]`.
pub(super) fn mark(items: &Items<'_>) -> Draft {
    let mut out = Draft::default();
    out.say(&format!("# [… {} item{} — ", count(items.n), plural(items.n)));
    if items.values.is_empty() {
        out.append(&describe(&items.names, &items.columns));
    }
    for (at, value) in items.values.iter().enumerate() {
        out.say(if at > 0 { ", " } else { "" });
        out.quote(value);
    }
    out.say("]");
    out
}

struct List {
    indent: u32,
    /// The lines in which the items begin.
    starts: Vec<usize>,
}

/// What is left out of the lists, in order and apart from each other.
pub(super) fn hidden_items<'a>(view: &TextView<'a>, lines: &[YamlLine], is_tight: bool) -> Vec<Items<'a>> {
    let mut found = Vec::new();
    let mut open: Vec<List> = Vec::new();
    let head = if is_tight { 1 } else { HEAD };
    let mut close = |list: List, end: usize| hide(view, lines, &list, end, head, &mut found);
    for (at, line) in lines.iter().enumerate() {
        if matches!(line.kind, Kind::Blank | Kind::Comment) {
            continue;
        }
        while open.last().is_some_and(|list| list.indent > line.indent || !line.is_item && list.indent == line.indent) {
            close(open.pop().expect("there is a last one"), at);
        }
        match open.last_mut().filter(|list| line.is_item && list.indent == line.indent) {
            Some(list) => list.starts.push(at),
            None if line.is_item => open.push(List { indent: line.indent, starts: vec![at] }),
            None => {}
        }
    }
    while let Some(list) = open.pop() {
        close(list, lines.len());
    }
    found.sort_by_key(|items| (items.span.start, std::cmp::Reverse(items.span.end)));
    let mut end = 0;
    found.retain(|items| {
        let is_apart = items.span.start >= end;
        end = end.max(items.span.end);
        is_apart
    });
    found
}

fn hide<'a>(view: &TextView<'a>, lines: &[YamlLine], list: &List, end: usize, head: usize, found: &mut Vec<Items<'a>>) {
    let n = list.starts.len();
    if n < MIN_ITEMS {
        return;
    }
    let bounds = |item: usize| list.starts[item]..list.starts.get(item + 1).copied().unwrap_or(end);
    let shapes: Vec<u64> = (0..n).map(|item| shape(view.text, &lines[bounds(item)])).collect();
    let mut tally: HashMap<u64, usize, FixedState> = HashMap::default();
    for &shape in &shapes {
        *tally.entry(shape).or_default() += 1;
    }
    let most = shapes.iter().copied().max_by_key(|shape| tally[shape]);
    let Some(most) = most.filter(|shape| tally[shape] as f64 >= MIN_SAME_SHARE * n as f64) else { return };
    let reports = |item: usize| {
        let severities = view.lines.get(bounds(item)).unwrap_or_default();
        severities.iter().any(|line| matches!(line.severity, Severity::Failure | Severity::Warning))
            || lines[bounds(item)].iter().any(|line| reports_failure(line.value.of(view.text)))
    };
    let is_hidden = |item: usize| (head..n - TAIL).contains(&item) && shapes[item] == most && !reports(item);
    let mut item = 0;
    while item < n {
        let first = item;
        while item < n && is_hidden(item) {
            item += 1;
        }
        if item - first >= MIN_HIDDEN {
            found.push(items(view.text, lines, list, first..item, bounds(item - 1).end));
        }
        item += usize::from(item == first);
    }
}

/// The keys of an item, as one number.
fn shape(text: &str, item: &[YamlLine]) -> u64 {
    let indent = item.first().map_or(0, |line| line.key_indent);
    let keys: Vec<&str> = item
        .iter()
        .filter(|line| line.kind == Kind::Key && line.key_indent == indent)
        .map(|line| line.key.of(text))
        .collect();
    FixedState::default().hash_one(keys)
}

fn items<'a>(text: &'a str, lines: &[YamlLine], list: &List, range: std::ops::Range<usize>, end: usize) -> Items<'a> {
    let first = &lines[list.starts[range.start]];
    let last = lines[..end].iter().rev().find(|line| line.kind != Kind::Blank).unwrap_or(first);
    let mut names: Vec<Cow<'a, str>> = Vec::new();
    let mut columns: Vec<Column<'a>> = Vec::new();
    let key_indent = first.key_indent;
    for line in lines.get(list.starts[range.start]..end).unwrap_or_default() {
        let is_scalar = line.kind == Kind::Item && line.indent == list.indent;
        let is_key = line.kind == Kind::Key && line.key_indent == key_indent;
        if !is_scalar && (!is_key || line.value.is_empty()) {
            continue;
        }
        let key = line.key.of(text);
        let at = names.iter().position(|name| name == key).unwrap_or(names.len());
        if at == MAX_KEYS {
            continue;
        }
        if at == names.len() {
            names.push(Cow::Borrowed(key));
            columns.push(Column::default());
        }
        columns[at].add(Cow::Borrowed(line.value.of(text)));
    }
    let span = Span { start: first.span.start + first.indent, end: last.span.end };
    let values: Vec<&'a str> = range
        .clone()
        .map(|item| &lines[list.starts[item]])
        .filter(|line| line.kind == Kind::Item)
        .map(|line| line.value.of(text))
        .collect();
    let n_bytes: usize = values.iter().map(|value| value.len() + 2).sum();
    let are_short = values.len() == range.len()
        && values.len() <= MAX_VALUES
        && values.iter().all(|value| !value.is_empty() && value.len() <= MAX_VALUE)
        && n_bytes as f64 <= MAX_VALUES_SHARE * span.len() as f64;
    Items { span, n: range.len(), names, columns, values: if are_short { values } else { Vec::new() } }
}
