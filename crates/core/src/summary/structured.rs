//! Digests of tool output: test runs, logs, searches, listings. How it ended as it says itself comes first, then failures;
//! successes are counted, and what is left of the budget shows how the output begins and ends.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::budget::{Style, budget_of_view};
use super::draft::{Draft, shorten};
use super::harness;
use crate::text::{FactKind, Line, LineKind, Outcome, OutcomeKind, Severity, TextView, outcome_of, outcomes};

/// A line is shown up to this many characters.
const MAX_LINE_CHARS: usize = 200;
/// The first failure is shown up to this many characters at least, whatever the budget is.
const MAX_FIRST_FAILURE: usize = 120;
/// Tool output is dense: below this a digest says nothing.
const MIN_CHARS: usize = 240;
/// Lines from the start that are shown at most. Half of what is left of the budget goes to them, four fifths when
/// there is nothing else to show: a list of files is what its lines say.
const HEAD_LINES: usize = 24;

/// So many entries of a directory are a listing, of which the names are shown.
const MIN_ENTRIES: usize = 3;
/// Of what stands behind a failure so many lines are its reason, each up to so many characters.
const MAX_REASON_LINES: usize = 2;
const MAX_REASON_CHARS: usize = 160;
/// A match of many is shown up to this many characters.
const MAX_MATCH_CHARS: usize = 120;

/// The digest of a text whose lines are structured, unwrapped.
#[must_use]
pub fn digest(view: &TextView<'_>, style: Style) -> Draft {
    let left = style.of(budget_of_view(view).max(MIN_CHARS));
    let mut digest = Digest { view, out: Draft::default(), left, seen: HashSet::default() };
    let is_shown = |line: &&Line| line.kind != LineKind::Blank && !harness::is_noise(line.span.of(view.text));
    let mut lines: Vec<&Line> = view.lines.iter().filter(is_shown).collect();
    let stated = outcomes(view);
    digest.counts(&lines, &stated);
    for (line, _) in &stated {
        digest.show_always(MAX_LINE_CHARS, line);
    }
    let is_stated = |line: &Line| outcome_of(view, line).is_some();
    if let Some(first) = lines.iter().find(|line| line.severity == Severity::Failure && !is_stated(line)) {
        let room = (digest.left / 2).clamp(MAX_FIRST_FAILURE, MAX_LINE_CHARS);
        digest.show_always(room, first);
    }
    digest.all_of(&lines, Severity::Failure);
    digest.all_of(&lines, Severity::Totals);
    digest.matches(&mut lines);
    digest.all_of(&lines, Severity::Warning);
    digest.entries(&mut lines);
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
    /// `14 lines: failures in 1, warnings in 2, ok in 11`. One failure may take several lines, and what the text itself
    /// states takes the place of what can be counted: lines that look like failures are none where it says that all passed.
    fn counts(&mut self, lines: &[&Line], stated: &[(&Line, Outcome)]) {
        let states = |kind: OutcomeKind| stated.iter().any(|(_, outcome)| outcome.kind == kind);
        let ended_well = stated.iter().any(|(_, outcome)| outcome.kind != OutcomeKind::Changes && !outcome.is_bad);
        let figures: &[(Severity, &str)] = match (states(OutcomeKind::Counts), ended_well) {
            (true, _) => &[],
            (false, true) => &[(Severity::Warning, "warnings"), (Severity::Success, "ok")],
            (false, false) => {
                &[(Severity::Failure, "failures"), (Severity::Warning, "warnings"), (Severity::Success, "ok")]
            }
        };
        let is_stated = |line: &Line| stated.iter().any(|(other, _)| std::ptr::eq(*other, line));
        let mut text = format!("{} line{}", lines.len(), if lines.len() == 1 { "" } else { "s" });
        let mut join = ": ";
        for &(severity, word) in figures {
            // A match of a search reports what another file says.
            let says = |line: &&&Line| line.severity == severity && line.kind != LineKind::Grep && !is_stated(line);
            let n = lines.iter().filter(says).count();
            if n > 0 {
                text.push_str(&format!("{join}{word} in {n}"));
                join = ", ";
            }
        }
        self.out.say(&text);
        self.left = self.left.saturating_sub(text.len());
    }

    /// The distinct lines of a severity as far as they fit, and how many do not; behind a failure what is indented
    /// deeper, since that is the reason.
    fn all_of(&mut self, lines: &[&Line], severity: Severity) {
        let mut hidden = 0;
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.severity == severity) {
            if !self.show(MAX_LINE_CHARS, line) {
                hidden += 1;
                continue;
            }
            let indent = self.indent(line);
            let behind =
                lines.iter().skip(at + 1).take(if severity == Severity::Failure { MAX_REASON_LINES } else { 0 });
            for reason in behind {
                if reason.severity != Severity::None || self.indent(reason) <= indent {
                    break;
                }
                self.show(MAX_REASON_CHARS, reason);
            }
        }
        if hidden > 0 && severity == Severity::Failure {
            self.out.say(&format!(" | +{hidden} more"));
        }
    }

    fn indent(&self, line: &Line) -> usize {
        let text = line.span.of(self.view.text);
        text.len() - text.trim_start().len()
    }

    /// Shows a line where there is room for it; true also when an equal one is shown already.
    fn show(&mut self, max_chars: usize, line: &Line) -> bool {
        let text = line.span.of(self.view.text).trim();
        let fits = self.seen.contains(text) || 3 + text.chars().count().min(max_chars) <= self.left;
        if fits {
            self.show_always(max_chars, line);
        }
        fits
    }

    /// Shows a line whatever is left.
    fn show_always(&mut self, max_chars: usize, line: &Line) {
        let text = line.span.of(self.view.text).trim();
        if self.seen.insert(text) {
            self.left = self.left.saturating_sub(3 + text.chars().count().min(max_chars));
            self.out.say(" | ");
            shorten(text, max_chars, &mut self.out);
        }
    }

    /// Searches: the lines that match when they fit, else `files: a, b, c +4 more`, places with their line numbers, and
    /// matches as far as they fit. What stands around a match is not shown.
    fn matches(&mut self, lines: &mut Vec<&Line>) {
        let text = self.view.text;
        let matches: Vec<&Line> = lines.iter().copied().filter(|line| line.kind == LineKind::Grep).collect();
        let n_chars = |line: &&Line| line.span.of(text).trim().chars().count().min(MAX_LINE_CHARS) + 3;
        let fits = matches.iter().map(n_chars).sum::<usize>() <= self.left;
        if matches.is_empty() || !fits {
            self.places();
        }
        if matches.is_empty() {
            return;
        }
        let max = if fits { MAX_LINE_CHARS } else { MAX_MATCH_CHARS };
        for line in matches {
            self.show(max, line);
        }
        lines.retain(|line| line.kind != LineKind::Grep && !is_context(line.span.of(text)));
    }

    /// `files: a, b, c +4 more`
    fn places(&mut self) {
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

    /// `names: a/, b 120, c 45` for a long listing of a directory: what is in it says more than modes and dates. Sizes
    /// where there is room for all of them, else `names: a/, b, c +4 more`.
    fn entries(&mut self, lines: &mut Vec<&Line>) {
        let text = self.view.text;
        let entries: Vec<Entry<'_>> = lines.iter().filter_map(|line| Entry::of(line.span.of(text))).collect();
        if entries.len() < MIN_ENTRIES || entries.len() * 2 < lines.len() {
            return;
        }
        let sized = entries.iter().map(|entry| entry.n_chars(true) + 2).sum::<usize>() + 10 <= self.left;
        let mut shown = 0;
        for entry in &entries {
            let cost = entry.n_chars(sized) + if shown == 0 { 10 } else { 2 };
            if cost + 10 > self.left {
                break;
            }
            self.out.say(if shown == 0 { " | names: " } else { ", " });
            self.out.quote(entry.name);
            if entry.is_folder {
                self.out.say("/");
            } else if sized {
                self.out.say(" ");
                self.out.quote(entry.size);
            }
            self.left -= cost;
            shown += 1;
        }
        if shown < entries.len() {
            self.out.say(&format!(" +{} more", entries.len() - shown));
        }
        let is_sum = |line: &str| line.trim().strip_prefix("total ").is_some_and(|sum| sum.parse::<u64>().is_ok());
        lines.retain(|line| !is_entry(line.span.of(text)) && !is_sum(line.span.of(text)));
    }

    /// The first lines and the last one.
    fn ends(&mut self, lines: &[&Line]) {
        let n_head = lines.len().min(HEAD_LINES);
        let mut shown = 0;
        let enough = if self.out.quotes.is_empty() { self.left / 5 } else { self.left / 2 };
        for line in &lines[..n_head] {
            if (shown >= 2 && self.left < enough) || !self.show(MAX_LINE_CHARS, line) {
                break;
            }
            shown += 1;
        }
        if let Some(last) = lines.last().filter(|_| lines.len() > shown) {
            if shown > 0 && lines.len() > shown + 1 {
                self.out.say(" | ...");
            }
            self.show(MAX_LINE_CHARS, last);
        }
    }
}

/// An entry of a long listing of a directory.
struct Entry<'a> {
    name: &'a str,
    size: &'a str,
    is_folder: bool,
}

/// Mode, links, owner, group, size, and a date of three words stand before the name.
const N_COLUMNS: usize = 8;
const SIZE_COLUMN: usize = 4;

impl<'a> Entry<'a> {
    /// The entry of a line; the folder itself and the one above it are none.
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim();
        if !is_entry(line) {
            return None;
        }
        let size = line.split_whitespace().nth(SIZE_COLUMN)?;
        let mut rest = line;
        for _ in 0..N_COLUMNS {
            let (_, behind) = rest.split_once(char::is_whitespace)?;
            rest = behind.trim_start();
        }
        let name = rest.split(" -> ").next().unwrap_or(rest);
        let is_new = !name.is_empty() && name != "." && name != "..";
        is_new.then_some(Self { name, size, is_folder: line.starts_with('d') })
    }

    /// Characters of what is shown.
    fn n_chars(&self, sized: bool) -> usize {
        let size = if sized && !self.is_folder { self.size.len() + 1 } else { usize::from(self.is_folder) };
        self.name.chars().count() + size
    }
}

fn is_entry(line: &str) -> bool {
    let mut columns = line.split_whitespace();
    let mode = columns.next().unwrap_or_default();
    (10..=11).contains(&mode.len())
        && mode.starts_with(['-', 'd', 'l'])
        && mode.bytes().skip(1).all(|byte| b"rwxsStT-@+.".contains(&byte))
        && columns.next().is_some_and(|links| links.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `path-12-…` or `12-…`: a line before or after a match; `--` between them.
fn is_context(line: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let head = line.split(char::is_whitespace).next().unwrap_or_default();
    if line.trim() == "--" {
        return true;
    }
    let mut parts = head.split('-').peekable();
    let first = parts.next().unwrap_or_default();
    if is_number(first) && parts.peek().is_some_and(|next| !next.starts_with(|c: char| c.is_ascii_digit())) {
        return true;
    }
    // A number between two hyphens, somewhere behind a sign of a path.
    let mut is_path = first.contains(['.', '/']);
    while let Some(part) = parts.next() {
        if is_path && is_number(part) && parts.peek().is_some() {
            return true;
        }
        is_path |= part.contains(['.', '/']);
    }
    false
}
