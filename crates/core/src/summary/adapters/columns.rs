//! What many values of one name have in common: their range, their few kinds, or how many they are. Knows values, not
//! the rows that they come from.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::adapter::count;
use crate::summary::draft::Draft;
use crate::text::cut;

/// More kinds of values are only counted.
const MAX_KINDS: usize = 6;
/// A value is shown up to this many characters.
const MAX_VALUE_CHARS: usize = 32;
/// The names of rows that are left out are shown when they take no more.
const MAX_NAMES_BYTES: usize = 240;
/// So many names are described; the others are left to the sidecar.
const MAX_COLUMNS: usize = 16;
/// So many of the values must be numbers for a range.
const MIN_NUMBER_SHARE: f64 = 0.95;

/// The values of one name.
#[derive(Debug, Clone, Default)]
pub(super) struct Column<'a> {
    n: usize,
    n_missing: usize,
    n_numbers: usize,
    least: Option<(f64, Cow<'a, str>)>,
    most: Option<(f64, Cow<'a, str>)>,
    first_date: Option<Cow<'a, str>>,
    last_date: Option<Cow<'a, str>>,
    n_dates: usize,
    kinds: HashMap<Cow<'a, str>, (usize, usize), FixedState>,
}

/// The number that a value is, with its sign of money or its percent sign.
pub(super) fn number(value: &str) -> Option<f64> {
    let value = value.trim().trim_matches('"').trim_start_matches(['$', '€', '£']).trim_end_matches(['%', '€']).trim();
    let first = *value.as_bytes().first()?;
    (first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.'))
        .then(|| value.parse::<f64>().ok().filter(|number| number.is_finite()))
        .flatten()
}

/// True for a date, with or without a time.
fn is_date(value: &str) -> bool {
    let value = value.trim_matches('"').as_bytes();
    let is_digit = |at: usize| value.get(at).is_some_and(u8::is_ascii_digit);
    value.len() >= 10
        && value.len() <= 35
        && [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(is_digit)
        && value[4] == value[7]
        && matches!(value[4], b'-' | b'/')
}

/// True for what stands where there is no value.
pub(super) fn is_missing(value: &str) -> bool {
    matches!(value.trim(), "" | "\"\"" | "null" | "NULL" | "None" | "NaN" | "nan" | "N/A" | "n/a" | "NA" | "~" | "-")
}

impl<'a> Column<'a> {
    /// Takes one more value.
    pub(super) fn add(&mut self, value: Cow<'a, str>) {
        self.n += 1;
        if is_missing(&value) {
            self.n_missing += 1;
            return;
        }
        if let Some(number) = number(&value) {
            self.n_numbers += 1;
            if self.least.as_ref().is_none_or(|(least, _)| number < *least) {
                self.least = Some((number, value.clone()));
            }
            if self.most.as_ref().is_none_or(|(most, _)| number > *most) {
                self.most = Some((number, value.clone()));
            }
        } else if is_date(&value) {
            self.n_dates += 1;
            if self.first_date.as_ref().is_none_or(|first| value < *first) {
                self.first_date = Some(value.clone());
            }
            if self.last_date.as_ref().is_none_or(|last| value > *last) {
                self.last_date = Some(value.clone());
            }
        }
        let next = self.kinds.len();
        self.kinds.entry(value).or_insert((next, 0)).1 += 1;
    }

    /// How often `value` was taken.
    pub(super) fn n_of(&self, value: &str) -> usize {
        self.kinds.get(value).map_or(0, |&(_, n)| n)
    }
    /// Values that are there.
    pub(super) fn n_present(&self) -> usize {
        self.n - self.n_missing
    }
    /// Values that differ.
    pub(super) fn n_kinds(&self) -> usize {
        self.kinds.len()
    }
    /// True when nearly all values are numbers.
    pub(super) fn is_numeric(&self) -> bool {
        self.n_numbers > 0 && self.n_numbers as f64 >= MIN_NUMBER_SHARE * self.n_present() as f64
    }
    /// The least and the largest number.
    pub(super) fn extremes(&self) -> Option<(f64, f64)> {
        Some((self.least.as_ref()?.0, self.most.as_ref()?.0))
    }

    /// True when no value is a number or a date, and all differ: such values name their rows.
    fn is_naming(&self) -> bool {
        self.n_kinds() > 1 && self.n_kinds() == self.n && self.n_numbers == 0 && self.n_dates == 0
    }

    /// All values in their order, when they are few and short.
    fn names(&self) -> Option<Vec<&Cow<'a, str>>> {
        let n_bytes: usize = self.kinds.keys().map(|kind| kind.len() + 2).sum();
        if !self.is_naming() || n_bytes > MAX_NAMES_BYTES {
            return None;
        }
        let mut kinds: Vec<(&Cow<'a, str>, usize)> = self.kinds.iter().map(|(kind, &(at, _))| (kind, at)).collect();
        kinds.sort_by_key(|&(_, at)| at);
        Some(kinds.into_iter().map(|(kind, _)| kind).collect())
    }

    fn describe(&self, out: &mut Draft) {
        let mut kinds: Vec<(&Cow<'a, str>, usize, usize)> =
            self.kinds.iter().map(|(kind, &(at, n))| (kind, at, n)).collect();
        let n_kinds = kinds.len();
        let few = n_kinds <= MAX_KINDS && (n_kinds <= 2 || n_kinds * 2 <= self.n_present());
        match (&self.least, &self.most, &self.first_date, &self.last_date) {
            _ if n_kinds == 0 => out.say("none"),
            _ if n_kinds == 1 => quote(kinds[0].0, out),
            (Some((_, least)), Some((_, most)), ..) if self.is_numeric() && !few => range(least, most, out),
            (.., Some(first), Some(last)) if self.n_dates == self.n_present() => range(first, last, out),
            _ if few => {
                kinds.sort_by_key(|&(_, at, n)| (std::cmp::Reverse(n), at));
                for (index, (kind, _, n)) in kinds.into_iter().enumerate() {
                    out.say(if index > 0 { ", " } else { "" });
                    quote(kind, out);
                    out.say(&format!(" ×{}", count(n)));
                }
            }
            _ if n_kinds == self.n_present() => out.say("all different"),
            _ => out.say(&format!("{} different", count(n_kinds))),
        }
        if self.n_missing > 0 && n_kinds > 0 {
            out.say(&format!(" ({} missing)", count(self.n_missing)));
        }
    }
}

fn range(least: &str, most: &str, out: &mut Draft) {
    quote(least, out);
    out.say(" to ");
    quote(most, out);
}

fn quote(value: &str, out: &mut Draft) {
    let value = value.trim().trim_matches('"');
    let shown = cut::prefix(value, MAX_VALUE_CHARS);
    out.quote(shown);
    if shown.len() < value.len() {
        out.say("…");
    }
}

/// `id 4 to 44; status ok ×40, failed ×1; name all different`
pub(super) fn describe(names: &[Cow<'_, str>], columns: &[Column<'_>]) -> Draft {
    let mut out = Draft::default();
    let naming = columns.iter().take(MAX_COLUMNS).position(|column| column.names().is_some());
    for (at, (name, column)) in names.iter().zip(columns).take(MAX_COLUMNS).enumerate() {
        if !out.text.is_empty() {
            out.say("; ");
        }
        if !name.is_empty() {
            quote(name, &mut out);
            out.say(": ");
        }
        match column.names().filter(|_| naming == Some(at)) {
            Some(values) => {
                for (index, value) in values.into_iter().enumerate() {
                    out.say(if index > 0 { ", " } else { "" });
                    quote(value, &mut out);
                }
            }
            None => column.describe(&mut out),
        }
    }
    if columns.len() > MAX_COLUMNS {
        out.say(&format!("; {} more columns", columns.len() - MAX_COLUMNS));
    }
    out
}
