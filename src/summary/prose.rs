//! Extracts: scores the units of one or more texts, packs the best into the budget, keeps their order.

use std::collections::HashSet;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::blob;
use super::budget::{Style, budget_of};
use super::draft::{Draft, Proposal, Wrap};
use super::entities::{entities, most_telling};
use super::score::{FILLER, Scorer, Spoken};
use crate::model::CompressionDepth;
use crate::text::{Span, TextView, Unit, UnitKind, cut, fold_key, plain};

/// Between units that do not follow each other in the source.
const GAP: &str = " ... ";
/// The best unit may exceed the budget by this much, as long as something is saved: better one sentence too
/// long than the second best.
const STRETCH: f64 = 2.0;
/// Of the text, which even a stretched budget does not pass.
const MAX_SHARE: f64 = 0.75;
/// So many characters of a question or request are free.
const MAX_ASKED: usize = 60;
/// A longer question has to earn its place.
const MAX_ADDED: usize = 100;
/// Facts in the summary that consists of nothing else.
const MAX_STUB_ENTITIES: usize = 10;
/// A chain of announcements is followed so far.
const MAX_ANNOUNCED: usize = 3;

type Keys = HashSet<u64, FixedState>;

/// A summary of `texts`, each with its own budget. `max_chars` is the budget of each text when given.
#[must_use]
pub fn summarize(texts: &[Spoken<'_>], wrap: &Wrap, style: Style, max_chars: Option<usize>) -> Proposal {
    if style.depth == CompressionDepth::Aggressive {
        return Proposal::summary(stub(texts, style), wrap, Vec::new());
    }
    let mut body = Draft::default();
    let mut shown = Keys::default();
    for spoken in texts {
        if !body.text.is_empty() {
            body.say(GAP);
        }
        extract(spoken, max_chars.unwrap_or_else(|| budget_of(spoken, style)), &mut shown, &mut body);
    }
    let entities = entities(texts, &body.text);
    Proposal::summary(body, wrap, entities)
}

/// The most telling facts alone; where there are none, the beginning of the best sentence of each text.
fn stub(texts: &[Spoken<'_>], style: Style) -> Draft {
    let mut out = Draft::default();
    for entity in most_telling(texts, MAX_STUB_ENTITIES) {
        if !out.text.is_empty() {
            out.say(", ");
        }
        let start = out.text.len();
        out.say(&entity);
        out.entities.push(start..out.text.len());
    }
    if out.text.is_empty() {
        for spoken in texts {
            if !out.text.is_empty() {
                out.say(GAP);
            }
            let view = &spoken.view;
            let best = best_unit(spoken).map_or(view.covered(), |index| whole_span(view, index).of(view.text));
            shorten(&plain(best), budget_of(spoken, style), &mut out);
        }
    }
    out
}

/// Appends the extract of one text to `out`.
pub(super) fn extract(spoken: &Spoken<'_>, budget: usize, shown: &mut Keys, out: &mut Draft) {
    let view = &spoken.view;
    let start = out.text.len();
    let picked = select(spoken, budget, shown);
    let mut last: Option<usize> = None;
    for &index in &picked {
        let unit = &view.units[index];
        if let Some(previous) = last {
            out.say(if previous + 1 == index { link(&out.text, &view.units[previous]) } else { GAP });
        }
        out.quote(&plain(unit.span.of(view.text)));
        last = Some(index);
    }
    if picked.is_empty() {
        let best = best_unit(spoken).map_or(view.covered(), |index| whole_span(view, index).of(view.text));
        shorten(&plain(best), budget, out);
    }
    if let Some((kind, blob)) = blob::longest(view)
        && !out.text.get(start..).unwrap_or_default().contains(blob)
    {
        out.say(&format!("{GAP}({} characters of {kind})", blob.len()));
    }
}

/// Quotes `text`, cut to `budget` characters with `...` when it is longer.
pub(super) fn shorten(text: &str, budget: usize, out: &mut Draft) {
    let mut flat = String::new();
    if cut::push_collapsed(&mut flat, text) <= budget {
        out.quote(&flat);
    } else {
        out.quote(cut::prefix(&flat, budget.saturating_sub(3)));
        out.say("...");
    }
}

/// Quotes the beginning of `text` as it is, up to `n_chars` characters, and no fence that would stay open.
pub fn shorten_raw(text: &str, n_chars: usize, out: &mut Draft) {
    let head = cut::prefix(text.trim(), n_chars);
    let is_fence = |line: &str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    if head.lines().filter(|line| is_fence(line)).count() % 2 == 0 {
        out.quote_exact(head);
        return;
    }
    // Up to the fence that would stay open; when the text begins with it, what is in it.
    let mut pieces: Vec<&str> = Vec::new();
    let mut open = Vec::new();
    for line in head.lines() {
        if is_fence(line) {
            if open.is_empty() { open.push(pieces.len()) } else { open.clear() }
        }
        pieces.push(line);
    }
    let at = open.first().copied().unwrap_or(pieces.len());
    let before = pieces[..at].join("\n");
    let inside = pieces.get(at + 1..).unwrap_or_default().join("\n");
    out.quote_exact(if before.trim().is_empty() { inside.trim_end() } else { before.trim_end() });
}

/// Indices of the units that fit, in text order: first the best of each paragraph, then the others, each time
/// the best first; what is shown already does not count again.
fn select(spoken: &Spoken<'_>, budget: usize, shown: &mut Keys) -> Vec<usize> {
    let view = &spoken.view;
    let scorer = Scorer::new(spoken);
    let scores: Vec<i32> = (0..view.units.len()).map(|index| scorer.score(index, |_| true)).collect();
    let mut order: Vec<usize> = (0..scores.len()).filter(|&index| scores[index] >= 0).collect();
    order.sort_by_key(|&index| -scores[index]);
    let mut packing =
        Packing { budget, stretched: stretched(view, budget), used: 0, taken: Vec::new(), texts: Keys::default() };
    packing.budget += asked(spoken, &scorer, &order);
    let (primaries, others) = split_primaries(view, &scores, order);
    for candidates in [primaries, others] {
        let mut repeated = Vec::new();
        for index in candidates {
            let fresh = scorer.score(index, |fact| !shown.contains(&fact.key));
            if fresh * 2 < scores[index] {
                repeated.push(index);
            } else {
                packing.take(view, index, shown);
            }
        }
        for index in repeated {
            packing.take(view, index, shown);
        }
    }
    if let Some(index) = scorer.last_ask() {
        packing.add(view, index);
    }
    packing.taken.sort_unstable();
    packing.taken
}

/// What the best question or request may take beyond the budget, so that it takes no place from facts.
fn asked(spoken: &Spoken<'_>, scorer: &Scorer<'_, '_>, order: &[usize]) -> usize {
    let units = &spoken.view.units;
    let best = order.iter().find(|&&index| scorer.is_asking(index));
    best.map_or(0, |&index| (units[index].n_chars as usize).min(MAX_ASKED))
}

/// What the first unit may take at most.
fn stretched(view: &TextView<'_>, budget: usize) -> usize {
    (budget as f64 * STRETCH).min(f64::from(view.counts.chars) * MAX_SHARE) as usize
}

/// True when a summary of the text would show its best unit whole: where it would not, it shows the second best or a cut.
#[must_use]
pub fn shows_best_unit(spoken: &Spoken<'_>, style: Style) -> bool {
    let budget = budget_of(spoken, style);
    let view = &spoken.view;
    best_unit(spoken).is_some_and(|index| {
        let n_chars: usize = whole(view, index).map(|index| view.units[index].n_chars as usize).sum();
        n_chars <= budget.max(stretched(view, budget))
    })
}

/// The unit and what it announces: what ends with a colon says nothing without what follows.
fn whole(view: &TextView<'_>, index: usize) -> Range<usize> {
    let mut end = index + 1;
    while end < view.units.len() && end - index < MAX_ANNOUNCED && announces(view, end - 1) {
        end += 1;
    }
    index..end
}

/// From the start of a unit to the end of what it announces.
fn whole_span(view: &TextView<'_>, index: usize) -> Span {
    let last = whole(view, index).end - 1;
    Span { start: view.units[index].span.start, end: view.units[last].span.end }
}

/// True when the unit ends with a colon, and its line is no code.
fn announces(view: &TextView<'_>, index: usize) -> bool {
    let unit = &view.units[index];
    let mut text = unit.span.of(view.text).as_bytes();
    while let [rest @ .., b'*' | b'_'] = text {
        text = rest;
    }
    unit.kind != UnitKind::Line && (text.ends_with(b":") || text.ends_with("：".as_bytes()))
}

/// The best unit of each paragraph apart from the rest; both keep the order of `order`.
fn split_primaries(view: &TextView<'_>, scores: &[i32], order: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    let mut best: Vec<Option<usize>> = Vec::new();
    for (index, unit) in view.units.iter().enumerate() {
        let paragraph = unit.paragraph as usize;
        if best.len() <= paragraph {
            best.resize(paragraph + 1, None);
        }
        if best[paragraph].is_none_or(|other| scores[index] > scores[other]) {
            best[paragraph] = Some(index);
        }
    }
    order.into_iter().partition(|&index| best[view.units[index].paragraph as usize] == Some(index))
}

struct Packing {
    budget: usize,
    /// For the first unit alone.
    stretched: usize,
    used: usize,
    taken: Vec<usize>,
    texts: Keys,
}

impl Packing {
    fn take(&mut self, view: &TextView<'_>, index: usize, shown: &mut Keys) {
        let unit = &view.units[index];
        if self.taken.contains(&index) {
            return;
        }
        let range = whole(view, index);
        let fresh = range.clone().filter(|index| !self.taken.contains(index));
        let n_chars: usize = fresh.map(|index| view.units[index].n_chars as usize + 1).sum();
        let gap = if self.taken.is_empty() { 0 } else { GAP.len() };
        let cost = gap + n_chars - 1;
        let limit = if self.taken.is_empty() { self.budget.max(self.stretched) } else { self.budget };
        if self.used + cost <= limit && self.texts.insert(fold_key(unit.span.of(view.text))) {
            self.used += cost;
            for index in range {
                if !self.taken.contains(&index) {
                    shown.extend(view.facts_of(&view.units[index]).iter().map(|fact| fact.key));
                    self.taken.push(index);
                }
            }
        }
    }

    /// Takes a short unit whatever the budget says.
    fn add(&mut self, view: &TextView<'_>, index: usize) {
        let unit = &view.units[index];
        let fits = unit.n_chars as usize <= MAX_ADDED && !self.taken.is_empty() && !self.taken.contains(&index);
        if fits && self.texts.insert(fold_key(unit.span.of(view.text))) {
            self.taken.push(index);
        }
    }
}

fn best_unit(spoken: &Spoken<'_>) -> Option<usize> {
    let scorer = Scorer::new(spoken);
    (0..spoken.view.units.len()).rev().max_by_key(|&index| scorer.score(index, |_| true).max(FILLER))
}

/// What goes between two units that follow each other in the source.
fn link(written: &str, previous: &Unit) -> &'static str {
    let ended =
        written.chars().next_back().is_none_or(|c| c.is_ascii_punctuation() || "。！？…；：，、」』”’）".contains(c));
    match previous.kind {
        _ if ended => " ",
        UnitKind::Heading => ": ",
        UnitKind::Sentence => " ",
        UnitKind::Fragment | UnitKind::ListItem | UnitKind::Line => "; ",
    }
}
