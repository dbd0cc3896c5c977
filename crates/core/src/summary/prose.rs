//! Extracts: scores the units of one or more texts, packs the best into the budget, keeps their order.

use super::blob;
use super::budget::{Style, budget_of};
use super::discourse::Discourse;
use super::draft::{Draft, Proposal, Wrap};
use super::ending::{self, ending};
use super::entities::{entities, most_telling};
use super::hints::{Hints, ranks};
use super::packing::{GAP, Keys, Packing, Piece, whole};
use super::score::{FILLER, Scorer, Spoken};
use super::tokens::without_tokens;
use crate::model::CompressionDepth;
use crate::text::{Span, TextView, Unit, UnitKind, cut, plain};

/// The best unit may exceed the budget by this much, as long as something is saved: better one sentence too
/// long than the second best.
const STRETCH: f64 = 2.0;
/// Of the text, which even a stretched budget does not pass.
const MAX_SHARE: f64 = 0.75;
/// So many characters of a question or request are free.
const MAX_ASKED: usize = 60;
/// Facts in the summary that consists of nothing else.
const MAX_STUB_ENTITIES: usize = 10;

/// A summary of `texts`, each with its own budget. `max_chars` is the budget of each text when given.
#[must_use]
pub fn summarize(texts: &[Spoken<'_>], wrap: &Wrap, style: Style, max_chars: Option<usize>) -> Proposal {
    if style.depth == CompressionDepth::Aggressive {
        return Proposal::unlisted(stub(texts, style), wrap);
    }
    let mut body = Draft::default();
    let mut shown = Keys::default();
    // What a classifier let go was let go on purpose: it is not listed again.
    let mut listed = Vec::with_capacity(texts.len());
    for spoken in texts {
        let filtered = if style.is_usual() && max_chars.is_none() { filtered(spoken) } else { None };
        if !body.text.is_empty() {
            body.say(if filtered.is_some() { "\n\n" } else { GAP });
        }
        if let Some(draft) = filtered {
            body.append(&draft);
        } else {
            extract(spoken, max_chars.unwrap_or_else(|| budget_of(spoken, style)), &mut shown, &mut body);
            listed.push(*spoken);
        }
    }
    let entities = entities(&listed, &body.text);
    Proposal::summary(body, wrap, entities)
}

/// What a classifier of tokens left of the text; it has no budget, so that it stands for no tighter summary.
fn filtered(spoken: &Spoken<'_>) -> Option<Draft> {
    spoken.hints.tokens.and_then(|decisions| without_tokens(&spoken.view, decisions))
}

/// A summary of `texts` by clauses: clauses without facts that the sentence is true without give way to sentences, and
/// a sentence that points to the one before brings that along. Else as [`summarize`].
#[must_use]
pub fn summarize_with_edus(texts: &[Spoken<'_>], wrap: &Wrap, style: Style, max_chars: Option<usize>) -> Proposal {
    let mut texts = texts.to_vec();
    for spoken in &mut texts {
        spoken.hints = Hints { by_clauses: true, tokens: None, ..spoken.hints };
    }
    summarize(&texts, wrap, style, max_chars)
}

/// The most telling facts alone; where there are none, the beginning of the best sentence of each text.
pub(super) fn stub(texts: &[Spoken<'_>], style: Style) -> Draft {
    let mut out = Draft::default();
    for spoken in texts {
        let ended = ending(spoken);
        if !out.text.is_empty() && !ended.is_empty() {
            out.say(ending::SEPARATOR);
        }
        ending::say(&ended, &mut out);
    }
    let mut join = if out.text.is_empty() { "" } else { ending::SEPARATOR };
    for entity in most_telling(texts, MAX_STUB_ENTITIES) {
        out.say(std::mem::replace(&mut join, ", "));
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
    let ended = ending(spoken);
    let n_ended = ending::say(&ended, out);
    let mut picked = select(spoken, budget.saturating_sub(n_ended).max(budget / 2), shown);
    picked.retain(|piece| !ended.contains(&piece.span.of(view.text).trim()));
    if !ended.is_empty() && !picked.is_empty() {
        out.say(ending::SEPARATOR);
    }
    let mut last: Option<usize> = None;
    for piece in &picked {
        if let Some(previous) = last {
            out.say(if piece.follows { link(&out.text, &view.units[previous]) } else { GAP });
        }
        out.quote(&plain(piece.span.of(view.text)));
        last = Some(piece.unit);
    }
    if picked.is_empty() && ended.is_empty() {
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

/// What fits, in text order: first the best of each paragraph, then the others, each time the best first; what is shown
/// already does not count again.
fn select(spoken: &Spoken<'_>, budget: usize, shown: &mut Keys) -> Vec<Piece> {
    let view = &spoken.view;
    let scorer = Scorer::new(spoken);
    let scores = points(spoken, &scorer);
    let ranks = ranks(view, &scores, &spoken.hints);
    let mut order: Vec<usize> = (0..scores.len()).filter(|&index| scores[index] >= 0).collect();
    order.sort_by(|&a, &b| ranks[b].total_cmp(&ranks[a]));
    let discourse = spoken.hints.by_clauses.then(|| Discourse::of(view));
    let mut packing = Packing::new(budget, stretched(view, budget), &scores, discourse);
    packing.budget += asked(spoken, &scorer, &order);
    let (primaries, others) = split_primaries(view, &ranks, order);
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
    packing.pieces(view)
}

/// The points of every unit.
fn points(spoken: &Spoken<'_>, scorer: &Scorer<'_, '_>) -> Vec<i32> {
    (0..spoken.view.units.len()).map(|index| scorer.score(index, |_| true)).collect()
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

/// From the start of a unit to the end of what it announces.
fn whole_span(view: &TextView<'_>, index: usize) -> Span {
    let last = whole(view, index).end - 1;
    Span { start: view.units[index].span.start, end: view.units[last].span.end }
}

/// The best unit of each paragraph apart from the rest; both keep the order of `order`.
fn split_primaries(view: &TextView<'_>, scores: &[f64], order: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
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

fn best_unit(spoken: &Spoken<'_>) -> Option<usize> {
    let points = points(spoken, &Scorer::new(spoken));
    let points: Vec<i32> = points.into_iter().map(|points| points.max(FILLER)).collect();
    let ranks = ranks(&spoken.view, &points, &spoken.hints);
    (0..ranks.len()).rev().max_by(|&a, &b| ranks[a].total_cmp(&ranks[b]))
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
