//! Packs units into a budget: each with what it announces, and by clauses with what it depends on and without what adds
//! nothing. Knows one text and what was taken of it; refuses to know why one unit comes before another.

use std::collections::HashSet;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::discourse::{DEFAULT_MAX_DEPTH, Discourse};
use crate::text::{Span, TextView, UnitKind, fold_key};

/// Between units that do not follow each other in the source.
pub(super) const GAP: &str = " ... ";
/// A longer question has to earn its place.
const MAX_ADDED: usize = 100;
/// Fewer points are for its length, or a word or two.
const MIN_TELLING: i32 = 3;
/// A chain of announcements is followed so far.
const MAX_ANNOUNCED: usize = 3;

pub(super) type Keys = HashSet<u64, FixedState>;

/// The unit and what it announces: what ends with a colon says nothing without what follows.
pub(super) fn whole(view: &TextView<'_>, index: usize) -> Range<usize> {
    let mut end = index + 1;
    while end < view.units.len() && end - index < MAX_ANNOUNCED && announces(view, end - 1) {
        end += 1;
    }
    index..end
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

/// What of a unit is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) unit: usize,
    pub(super) span: Span,
    /// It follows the piece before without anything between.
    pub(super) follows: bool,
}

#[derive(Debug)]
pub(super) struct Packing<'p> {
    pub(super) budget: usize,
    /// What every unit is worth.
    points: &'p [i32],
    /// For the first unit alone.
    stretched: usize,
    used: usize,
    taken: Vec<usize>,
    texts: Keys,
    discourse: Option<Discourse>,
    /// Clauses that add nothing and for which there was room.
    restored: Vec<usize>,
    /// Of how many units it was seen to what they refer to, and to their clauses.
    n_completed: usize,
}

impl<'p> Packing<'p> {
    pub(super) fn new(budget: usize, stretched: usize, points: &'p [i32], discourse: Option<Discourse>) -> Self {
        let (taken, texts, restored) = (Vec::new(), Keys::default(), Vec::new());
        Self { budget, points, stretched, used: 0, taken, texts, discourse, restored, n_completed: 0 }
    }

    /// Takes unit `index` if it fits, with what belongs to it. What it refers to comes along when that tells something
    /// itself, unless only one of them fits; the rest of it comes when there is room.
    pub(super) fn take(&mut self, view: &TextView<'_>, index: usize, shown: &mut Keys) {
        if self.discourse.is_some() && self.points[index] < MIN_TELLING {
            // What the shown sentences refer to, and their clauses, say more than one more without content.
            self.complete(view);
        }
        let mut needed = self.needed_by(view, index);
        let n_telling = needed.iter().take_while(|&&unit| self.points[unit] >= MIN_TELLING).count();
        needed.truncate(n_telling);
        let is_telling = || view.facts_of(&view.units[index]).iter().any(|fact| fact.kind.is_precise());
        if !self.take_all(view, index, &needed, shown) && !needed.is_empty() && is_telling() {
            self.take_all(view, index, &[], shown);
        }
    }

    /// What unit `index` refers to: nothing that is longer than itself, and no filler.
    fn needed_by(&self, view: &TextView<'_>, index: usize) -> Vec<usize> {
        let Some(found) = &self.discourse else { return Vec::new() };
        let mut needed = found.needed_by(index, DEFAULT_MAX_DEPTH);
        let fits = |&unit: &usize| self.points[unit] >= 0 && view.units[unit].n_chars <= view.units[index].n_chars;
        needed.truncate(needed.iter().take_while(|unit| fits(unit)).count());
        needed
    }

    fn take_all(&mut self, view: &TextView<'_>, index: usize, needed: &[usize], shown: &mut Keys) -> bool {
        let unit = &view.units[index];
        if self.taken.contains(&index) {
            return true;
        }
        let mut fresh: Vec<usize> = whole(view, index).chain(needed.iter().copied()).collect();
        fresh.retain(|index| !self.taken.contains(index));
        let n_chars: usize = fresh.iter().map(|&index| self.n_chars(view, index) + 1).sum();
        let gap = if self.taken.is_empty() { 0 } else { GAP.len() };
        let cost = gap + n_chars - 1;
        let limit = if self.taken.is_empty() { self.budget.max(self.stretched) } else { self.budget };
        if self.used + cost > limit || !self.texts.insert(fold_key(unit.span.of(view.text))) {
            return false;
        }
        self.used += cost;
        for index in fresh {
            shown.extend(view.facts_of(&view.units[index]).iter().map(|fact| fact.key));
            self.taken.push(index);
        }
        true
    }

    /// Takes a short unit whatever the budget says.
    pub(super) fn add(&mut self, view: &TextView<'_>, index: usize) {
        let unit = &view.units[index];
        let fits = unit.n_chars as usize <= MAX_ADDED && !self.taken.is_empty() && !self.taken.contains(&index);
        if fits && self.texts.insert(fold_key(unit.span.of(view.text))) {
            self.taken.push(index);
        }
    }

    /// Characters that a unit takes without its spare clauses.
    fn n_chars(&self, view: &TextView<'_>, index: usize) -> usize {
        match &self.discourse {
            None => view.units[index].n_chars as usize,
            Some(found) => {
                let kept = found.clauses(index).filter(|(_, _, is_spare)| !is_spare);
                kept.map(|(_, edu, _)| edu.n_chars as usize + 1).sum::<usize>().saturating_sub(1)
            }
        }
    }

    /// What is shown, in text order.
    pub(super) fn pieces(mut self, view: &TextView<'_>) -> Vec<Piece> {
        self.complete(view);
        self.taken.sort_unstable();
        let mut pieces: Vec<Piece> = Vec::with_capacity(self.taken.len());
        // The unit that was shown up to its end.
        let mut ended = None;
        for &unit in &self.taken {
            let mut follows = ended.is_some_and(|ended| ended + 1 == unit);
            let Some(found) = &self.discourse else {
                pieces.push(Piece { unit, span: view.units[unit].span, follows });
                ended = Some(unit);
                continue;
            };
            let mut is_inside = false;
            for (index, edu, is_spare) in found.clauses(unit) {
                if is_spare && !self.restored.contains(&index) {
                    if let Some(last) = pieces.last_mut().filter(|_| is_inside) {
                        last.span = without_comma(view.text, last.span);
                    }
                    follows = false;
                } else {
                    match pieces.last_mut().filter(|_| is_inside && follows) {
                        Some(last) => last.span.end = edu.span.end,
                        None => pieces.push(Piece { unit, span: edu.span, follows }),
                    }
                    follows = true;
                }
                is_inside = true;
            }
            ended = follows.then_some(unit);
        }
        pieces
    }

    /// While there is room: what the taken units refer to, and their spare clauses.
    fn complete(&mut self, view: &TextView<'_>) {
        // There is never more room than there was.
        let n_before = std::mem::replace(&mut self.n_completed, self.taken.len());
        if n_before == self.taken.len() {
            return;
        }
        for at in 0..self.taken.len() {
            for unit in self.needed_by(view, self.taken[at]) {
                let cost = GAP.len() + self.n_chars(view, unit);
                if !self.taken.contains(&unit) && self.used + cost <= self.budget {
                    self.used += cost;
                    self.taken.push(unit);
                }
            }
        }
        let Some(found) = &self.discourse else { return };
        let clauses = self.taken.iter().flat_map(|&unit| found.clauses(unit)).filter(|(_, _, is_spare)| *is_spare);
        let limit = if self.taken.len() == 1 { self.budget.max(self.stretched) } else { self.budget };
        for (index, edu, _) in clauses {
            let cost = edu.n_chars as usize + 1;
            if self.used + cost <= limit && !self.restored.contains(&index) {
                self.used += cost;
                self.restored.push(index);
            }
        }
    }
}

/// The sentence ends where a clause was left out.
fn without_comma(text: &str, span: Span) -> Span {
    let kept = span.of(text).trim_end_matches([',', ';', '，', '；', ' ']);
    Span { start: span.start, end: span.start + kept.len() as u32 }
}
