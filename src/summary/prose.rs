//! Extracts: scores the units of one or more texts, packs the best into the budget, keeps their order.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::budget::budget_of;
use super::draft::{Draft, Proposal, Wrap};
use super::entities::entities;
use super::score::{FILLER, score};
use crate::text::{TextView, Unit, UnitKind, cut, fold_key};

/// Between units that do not follow each other in the source.
const GAP: &str = " ... ";
/// The best unit may exceed the budget by this much, as long as something is saved: better one sentence too
/// long than the second best.
const STRETCH: f64 = 2.0;
/// Of the text, which even a stretched budget does not pass.
const MAX_SHARE: f64 = 0.75;

type Keys = HashSet<u64, FixedState>;

/// A summary of `texts`, each with its own budget. `max_chars` is the budget of each text when given.
#[must_use]
pub fn summarize(texts: &[TextView<'_>], wrap: &Wrap, max_chars: Option<usize>) -> Proposal {
    let mut body = Draft::default();
    let mut shown = Keys::default();
    for view in texts {
        if !body.text.is_empty() {
            body.say(GAP);
        }
        extract(view, max_chars.unwrap_or_else(|| budget_of(view)), &mut shown, &mut body);
    }
    let entities = entities(texts, &body.text);
    Proposal::summary(body, wrap, entities)
}

/// Appends the extract of one text to `out`.
pub(super) fn extract(view: &TextView<'_>, budget: usize, shown: &mut Keys, out: &mut Draft) {
    let picked = select(view, budget, shown);
    let mut last: Option<usize> = None;
    for &index in &picked {
        let unit = &view.units[index];
        if let Some(previous) = last {
            out.say(if previous + 1 == index { link(&out.text, &view.units[previous]) } else { GAP });
        }
        out.quote(unit.span.of(view.text));
        last = Some(index);
    }
    if picked.is_empty() {
        let best = best_unit(view).map_or(view.covered(), |unit| unit.span.of(view.text));
        shorten(best, budget, out);
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

/// Indices of the units that fit, in text order: first the best of each paragraph, then the others, each time
/// the best first; what is shown already does not count again.
fn select(view: &TextView<'_>, budget: usize, shown: &mut Keys) -> Vec<usize> {
    let scores: Vec<i32> = view.units.iter().map(|unit| score(view, unit, |_| true)).collect();
    let mut order: Vec<usize> = (0..scores.len()).filter(|&index| scores[index] >= 0).collect();
    order.sort_by_key(|&index| -scores[index]);
    let mut packing =
        Packing { budget, stretched: stretched(view, budget), used: 0, taken: Vec::new(), texts: Keys::default() };
    let (primaries, others) = split_primaries(view, &scores, order);
    for candidates in [primaries, others] {
        let mut repeated = Vec::new();
        for index in candidates {
            let fresh = score(view, &view.units[index], |fact| !shown.contains(&fact.key));
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
    packing.taken.sort_unstable();
    packing.taken
}

/// What the first unit may take at most.
fn stretched(view: &TextView<'_>, budget: usize) -> usize {
    (budget as f64 * STRETCH).min(f64::from(view.counts.chars) * MAX_SHARE) as usize
}

/// True when a summary of the text would show its best unit whole: where it would not, it shows the second best or a cut.
#[must_use]
pub fn shows_best_unit(view: &TextView<'_>) -> bool {
    let budget = budget_of(view);
    best_unit(view).is_some_and(|unit| unit.n_chars as usize <= budget.max(stretched(view, budget)))
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
        let gap = if self.taken.is_empty() { 0 } else { GAP.len() };
        let cost = gap + unit.n_chars as usize;
        let limit = if self.taken.is_empty() { self.budget.max(self.stretched) } else { self.budget };
        if self.used + cost <= limit && self.texts.insert(fold_key(unit.span.of(view.text))) {
            self.used += cost;
            self.taken.push(index);
            shown.extend(view.facts_of(unit).iter().map(|fact| fact.key));
        }
    }
}

fn best_unit<'a>(view: &TextView<'a>) -> Option<&'a Unit> {
    let value = |unit: &Unit| score(view, unit, |_| true).max(FILLER);
    view.units.iter().rev().max_by_key(|unit| value(unit))
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
