//! Digests of tool output: test runs, logs, searches, listings. Failures and totals come first, successes are
//! counted, and what is left of the budget shows how the output begins and ends.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::budget::budget_of;
use super::draft::Draft;
use super::prose::shorten;
use crate::text::{FactKind, Line, LineKind, Severity, TextView};

/// A line is shown up to this many characters.
const MAX_LINE_CHARS: usize = 200;
/// Tool output is dense: below this a digest says nothing.
const MIN_CHARS: usize = 240;
/// Lines from the start that are shown at most. Half of what is left of the budget goes to them, four fifths when
/// there is nothing else to show: a list of files is what its lines say.
const HEAD_LINES: usize = 24;

/// The digest of a text whose lines are structured, unwrapped.
#[must_use]
pub fn digest(view: &TextView<'_>) -> Draft {
    let mut digest =
        Digest { view, out: Draft::default(), left: budget_of(view).max(MIN_CHARS), seen: HashSet::default() };
    let lines: Vec<&Line> = view.lines.iter().filter(|line| line.kind != LineKind::Blank).collect();
    digest.counts(&lines);
    digest.all_of("", &lines, Severity::Failure);
    digest.all_of("", &lines, Severity::Totals);
    digest.matches();
    digest.all_of("", &lines, Severity::Warning);
    digest.ends(&lines);
    digest.out
}

struct Digest<'v, 'a> {
    view: &'v TextView<'a>,
    out: Draft,
    left: usize,
    seen: HashSet<&'a str, FixedState>,
}

impl<'a> Digest<'_, 'a> {
    /// `14 lines: 1 failure, 2 warnings, 11 ok`.
    fn counts(&mut self, lines: &[&Line]) {
        let count = |severity| lines.iter().filter(|line| line.severity == severity).count();
        let mut text = format!("{} lines", lines.len());
        let figures = [(Severity::Failure, "failure"), (Severity::Warning, "warning"), (Severity::Success, "ok")];
        let mut join = ": ";
        for (severity, word) in figures {
            let n = count(severity);
            // A lone exit status of 0 is no test that passed.
            if n > usize::from(severity == Severity::Success && join == ": ") {
                let plural = if n == 1 || severity == Severity::Success { "" } else { "s" };
                text.push_str(&format!("{join}{n} {word}{plural}"));
                join = ", ";
            }
        }
        self.out.say(&text);
        self.left = self.left.saturating_sub(text.len());
    }

    /// The distinct lines of a severity as far as they fit, and how many do not.
    fn all_of(&mut self, label: &str, lines: &[&Line], severity: Severity) {
        let mut hidden = 0;
        for line in lines.iter().filter(|line| line.severity == severity) {
            if !self.show(label, line) {
                hidden += 1;
            }
        }
        if hidden > 0 && severity == Severity::Failure {
            self.out.say(&format!(" | +{hidden} more"));
        }
    }

    /// Shows a line; true also when an equal one is shown already.
    fn show(&mut self, label: &str, line: &Line) -> bool {
        let text = line.span.of(self.view.text).trim();
        if self.seen.contains(text) {
            return true;
        }
        let cost = 3 + label.len() + text.chars().count().min(MAX_LINE_CHARS);
        if cost > self.left {
            return false;
        }
        self.left -= cost;
        self.seen.insert(text);
        self.out.say(" | ");
        self.out.say(label);
        shorten(text, MAX_LINE_CHARS, &mut self.out);
        true
    }

    /// `files: a, b, c +4 more` for searches: places with their line numbers.
    fn matches(&mut self) {
        let mut places: Vec<&'a str> = Vec::new();
        let mut distinct: HashSet<u64, FixedState> = HashSet::default();
        for fact in self.view.facts.iter().filter(|fact| fact.kind == FactKind::FileRef) {
            if distinct.insert(fact.key) {
                places.push(fact.span.of(self.view.text));
            }
        }
        let mut shown = 0;
        for place in &places {
            let cost = place.chars().count() + if shown == 0 { 10 } else { 2 };
            if cost + 12 > self.left / 2 {
                break;
            }
            self.out.say(if shown == 0 { " | files: " } else { ", " });
            self.out.quote(place);
            self.left -= cost;
            shown += 1;
        }
        if shown > 0 && shown < places.len() {
            self.out.say(&format!(" +{} more", places.len() - shown));
        }
    }

    /// The first lines and the last one.
    fn ends(&mut self, lines: &[&Line]) {
        let n_head = lines.len().min(HEAD_LINES);
        let mut shown = 0;
        let enough = if self.out.quotes.is_empty() { self.left / 5 } else { self.left / 2 };
        for line in &lines[..n_head] {
            if (shown >= 2 && self.left < enough) || !self.show("", line) {
                break;
            }
            shown += 1;
        }
        if let Some(last) = lines.last().filter(|_| lines.len() > shown) {
            if shown > 0 && lines.len() > shown + 1 {
                self.out.say(" | ...");
            }
            self.show("", last);
        }
    }
}
