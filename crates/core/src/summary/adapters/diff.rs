//! Unified diffs: heads and every line that was added or taken stay; lines that did not change are thinned out, and
//! what changed in files that a program writes is counted.

use super::adapter::{MIN_CHARS, Wanted, count, overlong, plural};
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::words::word_list;
use crate::text::{Span, TextView};

/// Lines that did not change are shown so near to one that did.
const NEAR: usize = 1;
/// Fewer are shown rather than counted.
const MIN_HIDDEN: usize = 2;
/// What saves fewer bytes is shown.
const MIN_CUT: usize = 12;
/// So much of the text must be lines of hunks and heads.
const MIN_DIFF_SHARE: f64 = 0.6;
/// So much of the text must be such that it can be left out.
const MIN_SHARE: f64 = 0.2;
/// Hunks of written files are shown when they have no more lines.
const MAX_GENERATED: usize = 20;
/// What programs write.
const GENERATED: &[&str] = word_list!("formats", GENERATED);

/// True for unified diffs of which something can be left out.
pub(super) fn detect(text: &TextView<'_>) -> bool {
    if text.counts.chars < MIN_CHARS {
        return false;
    }
    let found = cuts(text);
    let n_bytes = text.covered().len() as f64;
    let hidden: usize = found.cuts.iter().map(|(span, _)| span.len()).sum();
    found.n_bytes as f64 >= MIN_DIFF_SHARE * n_bytes && hidden as f64 >= MIN_SHARE * n_bytes
}

/// Shortens such a text.
pub(super) fn edit(spoken: &Spoken<'_>, _wanted: &Wanted<'_>, edits: &mut Edits<'_>) {
    for (span, words) in cuts(&spoken.view).cuts {
        edits.cut(span, &words);
    }
}

/// What is left out, and what stands for it.
#[derive(Default)]
struct Found {
    cuts: Vec<(Span, String)>,
    /// Bytes of hunks and heads.
    n_bytes: usize,
}

fn cuts(view: &TextView<'_>) -> Found {
    let mut found = Found::default();
    let text = view.text;
    let mut generated = false;
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut at = 0;
    while let Some(line) = view.lines.get(at) {
        let words = line.span.of(text);
        at += 1;
        if let Some(size) = hunk_size(words) {
            let end = hunk_end(view, at, size);
            found.n_bytes += Span { start: line.span.start, end: view.lines[end - 1].span.end }.len();
            hunks.push(Hunk { head: at - 1, end });
            if !generated {
                thin(view, at..end, &mut found.cuts);
            }
            at = end;
            continue;
        }
        if is_head(words) {
            found.n_bytes += line.span.len();
            if words.starts_with("diff ") || words.starts_with("--- ") {
                close(view, generated, &mut hunks, &mut found.cuts);
                generated = false;
            }
            generated |= is_generated(words);
        }
    }
    close(view, generated, &mut hunks, &mut found.cuts);
    found
}

/// A hunk: its head and the lines up to `end`.
struct Hunk {
    head: usize,
    end: usize,
}

/// Counts what changed in a file that a program wrote.
fn close(view: &TextView<'_>, generated: bool, hunks: &mut Vec<Hunk>, cuts: &mut Vec<(Span, String)>) {
    let hunks = std::mem::take(hunks);
    let (Some(first), Some(last)) = (hunks.first().filter(|_| generated), hunks.last()) else { return };
    let lines = || hunks.iter().flat_map(|hunk| &view.lines[hunk.head + 1..hunk.end]);
    let n_signs = |sign: char| lines().filter(|line| line.span.of(view.text).starts_with(sign)).count();
    let (added, taken) = (n_signs('+'), n_signs('-'));
    if lines().count() <= MAX_GENERATED {
        for hunk in &hunks {
            thin(view, hunk.head + 1..hunk.end, cuts);
        }
        return;
    }
    let span = Span { start: view.lines[first.head].span.start, end: view.lines[last.end - 1].span.end };
    let n = hunks.len();
    let words = format!(
        "[… {} hunk{} of a generated file: {} line{} added, {} removed]",
        count(n),
        plural(n),
        count(added),
        plural(added),
        count(taken)
    );
    cuts.push((span, words));
}

/// Leaves out lines that did not change and are far from one that did, and the ends of very long lines.
fn thin(view: &TextView<'_>, range: std::ops::Range<usize>, cuts: &mut Vec<(Span, String)>) {
    let lines = &view.lines[range];
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        let is_context = |at: usize| lines.get(at).is_some_and(|line| !is_change(line.span.of(view.text)));
        while is_context(at) {
            at += 1;
        }
        // Near to a change only where there is one.
        let start = first + if first > 0 { NEAR } else { 0 };
        let end = at.saturating_sub(if at < lines.len() { NEAR } else { 0 });
        if end >= start + MIN_HIDDEN {
            let n = end - start;
            let span = Span { start: lines[start].span.start, end: lines[end - 1].span.end };
            let words = format!("[… {} unchanged lines]", count(n));
            if span.len() > words.len() + MIN_CUT {
                cuts.push((span, words));
            }
        }
        if let Some(line) = lines.get(at) {
            cuts.extend(overlong(view.text, line.span));
            at += 1;
        }
    }
}

fn is_change(line: &str) -> bool {
    line.starts_with(['+', '-', '\\'])
}

fn is_head(line: &str) -> bool {
    const HEADS: &[&str] = word_list!("formats", HEADS);
    HEADS.iter().any(|head| line.starts_with(head))
}

fn is_generated(head: &str) -> bool {
    let is_name = |path: &str| {
        let name = path.trim_matches('"').rsplit('/').next().unwrap_or_default();
        GENERATED.contains(&name) || name.contains(".min.")
    };
    head.split_whitespace().skip(1).any(is_name)
}

/// How many lines of the old and of the new file a hunk has: `@@ -12,3 +12,4 @@`.
fn hunk_size(line: &str) -> Option<(usize, usize)> {
    let mut words = line.strip_prefix("@@ -")?.split(' ');
    let size = |word: &str| word.split_once(',').map_or(Some(1), |(_, n)| n.parse().ok());
    let old = size(words.next()?)?;
    let new = size(words.next()?.strip_prefix('+')?)?;
    (words.next()? == "@@").then_some((old, new))
}

/// One past the last line of the hunk that begins at line `at`.
fn hunk_end(view: &TextView<'_>, at: usize, (mut old, mut new): (usize, usize)) -> usize {
    let mut end = at;
    while let Some(line) = view.lines.get(end) {
        match line.span.of(view.text).as_bytes().first() {
            Some(b'+') if new > 0 => new -= 1,
            Some(b'-') if old > 0 => old -= 1,
            Some(b'\\') => {}
            // A line that did not change; editors take the blank of an empty one.
            Some(b' ' | b'\t' | b'\r') | None if old > 0 && new > 0 => (old, new) = (old - 1, new - 1),
            _ => break,
        }
        end += 1;
    }
    end
}
