//! Logs: failures and warnings with what stands around them stay, and so does one line of each kind; lines of the same
//! kind (the same words with other numbers) are counted, with the time of the last.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;

use super::adapter::{Wanted, count, is_candidate, plural};
use crate::summary::draft::Draft;
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::{FactKind, LineKind, Severity, Span, TextView, outcome_of};

const MIN_LINES: usize = 12;
/// So many of the lines must begin like entries of a log, and so many be what programs print.
const MIN_LOG_SHARE: f64 = 0.4;
const MIN_OUTPUT_SHARE: f64 = 0.6;
/// A kind with fewer lines is shown whole.
const MIN_SAME: usize = 3;
/// Lines that are shown before and behind a failure or warning.
const BEFORE: usize = 1;
const BEHIND: usize = 2;
/// Lines of a traceback that are shown behind its failure.
const MAX_REST: usize = 60;
/// Failures and warnings of one kind that are shown; more are counted.
const MAX_SAME_REPORTS: usize = 10;
/// Lines at the end that are shown: how it ended.
const TAIL: usize = 2;
/// The time of a line stands in its first bytes.
const MAX_STAMP: u32 = 48;
/// So much of the text must be lines that can be left out.
const MIN_SHARE: f64 = 0.25;

/// True for logs of which lines can be left out.
pub(super) fn detect(text: &TextView<'_>) -> bool {
    if !is_candidate(text) {
        return false;
    }
    let (mut all, mut entries, mut output) = (0, 0, 0);
    for line in text.lines.iter().filter(|line| line.kind != LineKind::Blank) {
        all += 1;
        entries += usize::from(line.kind == LineKind::Log);
        output += usize::from(is_said(line.kind));
    }
    all >= MIN_LINES
        && entries as f64 >= MIN_LOG_SHARE * all as f64
        && output as f64 >= MIN_OUTPUT_SHARE * all as f64
        && Folded::of(text).n_hidden_bytes(text) as f64 >= MIN_SHARE * text.covered().len() as f64
}

/// Entries, states and tracebacks.
fn is_said(kind: LineKind) -> bool {
    matches!(kind, LineKind::Log | LineKind::Status | LineKind::Trace | LineKind::TraceHead | LineKind::Output)
}

/// Shortens such a text.
pub(super) fn edit(spoken: &Spoken<'_>, _wanted: &Wanted<'_>, edits: &mut Edits<'_>) {
    let view = &spoken.view;
    let folded = Folded::of(view);
    let mut at = 0;
    while at < view.lines.len() {
        let end = folded.gap_end(view, at);
        if end > at {
            let span = Span { start: view.lines[at].span.start, end: view.lines[end - 1].span.end };
            let n = (at..end).filter(|&line| folded.kinds[line].is_some()).count();
            edits.cut(span, &format!("[… {} line{} of the kinds above]", count(n), plural(n)));
            at = end;
            continue;
        }
        if let Some(kind) =
            folded.kinds[at].filter(|&kind| folded.all[kind].n_hidden > 0 && folded.all[kind].first == at)
        {
            let end = view.lines[at].span.end;
            edits.replace(Span { start: end, end }, &note(view, &folded.all[kind]));
        }
        at += 1;
    }
}

/// ` [×413, until 2024-05-01 10:33:01]`
fn note(view: &TextView<'_>, kind: &Kind) -> Draft {
    let mut out = Draft::default();
    out.say(&format!(" [×{}", count(kind.n)));
    if let Some(stamp) = stamp(view, kind.last) {
        out.say(", until ");
        out.quote(stamp.of(view.text));
    }
    out.say("]");
    out
}

/// Lines that have the same words and other numbers.
struct Kind {
    n: usize,
    n_hidden: usize,
    first: usize,
    last: usize,
    n_reports: usize,
}

struct Folded {
    /// The kind of each line; `None` for blank ones.
    kinds: Vec<Option<usize>>,
    all: Vec<Kind>,
    shown: Vec<bool>,
}

impl Folded {
    fn of(view: &TextView<'_>) -> Self {
        let n = view.lines.len();
        let mut by_key: HashMap<u64, usize, FixedState> = HashMap::default();
        let mut folded = Self { kinds: vec![None; n], all: Vec::new(), shown: vec![false; n] };
        for (at, line) in view.lines.iter().enumerate() {
            if line.kind == LineKind::Blank {
                folded.shown[at] = true;
                continue;
            }
            let next = folded.all.len();
            let kind = *by_key.entry(template(line.span.of(view.text))).or_insert(next);
            if kind == next {
                folded.all.push(Kind { n: 0, n_hidden: 0, first: at, last: at, n_reports: 0 });
            }
            folded.all[kind].n += 1;
            folded.all[kind].last = at;
            folded.kinds[at] = Some(kind);
        }
        folded.show(view);
        for at in 0..n {
            if let Some(kind) = folded.kinds[at].filter(|_| !folded.shown[at]) {
                folded.all[kind].n_hidden += 1;
            }
        }
        folded
    }

    fn show(&mut self, view: &TextView<'_>) {
        let n = view.lines.len();
        for at in 0..n {
            let Some(kind) = self.kinds[at] else { continue };
            let same = &mut self.all[kind];
            self.shown[at] |= same.first == at || same.n < MIN_SAME || at + TAIL >= n;
            let reports = match view.lines[at].severity {
                Severity::Failure if outcome_of(view, &view.lines[at]).is_some() => true,
                Severity::Failure | Severity::Warning => same.n_reports < MAX_SAME_REPORTS,
                Severity::Totals => true,
                Severity::None | Severity::Success => continue,
            };
            same.n_reports += 1;
            if reports {
                let behind = (at + BEHIND).min(n - 1);
                self.shown[at.saturating_sub(BEFORE)..=behind].fill(true);
                self.show_rest(view, at);
            }
        }
    }

    /// What belongs to a failure: frames of a traceback and what is indented under it.
    fn show_rest(&mut self, view: &TextView<'_>, failure: usize) {
        let indent = view.lines[failure].indent;
        let rest = view.lines.iter().skip(failure + 1).take(MAX_REST);
        let is_trace = |kind| matches!(kind, LineKind::Trace | LineKind::TraceHead);
        let n = rest.take_while(|line| is_trace(line.kind) || line.indent > indent).count();
        self.shown[failure..=failure + n].fill(true);
    }

    /// One past the hidden lines that begin at `at`; blank lines between them are hidden too.
    fn gap_end(&self, view: &TextView<'_>, at: usize) -> usize {
        let (mut end, mut next) = (at, at);
        while next < self.shown.len() {
            match (self.shown[next], view.lines[next].kind) {
                (false, _) => end = next + 1,
                (true, LineKind::Blank) if end > at => {}
                (true, _) => break,
            }
            next += 1;
        }
        end
    }

    fn n_hidden_bytes(&self, view: &TextView<'_>) -> usize {
        view.lines.iter().zip(&self.shown).filter(|(_, is_shown)| !**is_shown).map(|(line, _)| line.span.len()).sum()
    }
}

/// A key of the words of a line: those with a digit in them count as one sign.
fn template(line: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    for word in line.trim_end().as_bytes().chunk_by(|a, b| is_part(a) == is_part(b)) {
        if word.iter().any(u8::is_ascii_digit) {
            hasher.write_u8(1);
        } else {
            hasher.write(word);
        }
    }
    hasher.finish()
}

/// Date and time at the start of a line.
fn stamp(view: &TextView<'_>, at: usize) -> Option<Span> {
    let line = view.lines[at].span;
    let first = view.facts.partition_point(|fact| fact.span.start < line.start);
    let is_stamp = |kind: FactKind| matches!(kind, FactKind::Date | FactKind::Time);
    let facts =
        view.facts.get(first..)?.iter().take_while(|fact| fact.span.start < line.end.min(line.start + MAX_STAMP));
    let mut stamps = facts.filter(|fact| is_stamp(fact.kind)).map(|fact| fact.span).take(2);
    let first = stamps.next()?;
    Some(Span { start: first.start, end: stamps.next().map_or(first.end, |last| last.end.max(first.end)) })
}
