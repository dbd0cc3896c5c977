//! Packs units into a budget: each with what it announces, and by clauses with what it depends on and without what adds
//! nothing. Knows one text and what was taken of it; refuses to know why one unit comes before another.

use std::ops::Range;

use super::discourse::Discourse;
use super::spoken::Keys;
use crate::text::{Fact, Span, TextView, Unit, UnitKind, fold_key, plain};

/// Between units that do not follow each other in the source.
pub(super) const GAP: &str = " ... ";
/// Between those that do.
pub(super) const BLANK: &str = " ";
/// Between the name of a speaker and the words.
pub(super) const LABEL_END: &str = ": ";
/// A longer question has to earn its place.
pub(super) const MAX_ADDED: usize = 100;
/// Fewer points are for its length, or a word or two.
const MIN_TELLING: i32 = 3;
/// What a joiner may get shorter by when a unit comes between two others.
const MAX_JOINED: usize = GAP.len() - 2;
/// A chain of announcements is followed so far.
const MAX_ANNOUNCED: usize = 3;

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
    follows: bool,
    /// Characters that it takes.
    n_chars: usize,
}

/// What stands between two pieces.
pub(super) fn joiner(view: &TextView<'_>, before: &Piece, piece: &Piece) -> &'static str {
    if !piece.follows {
        return GAP;
    }
    let text = plain(before.span.of(view.text));
    let ended =
        text.chars().next_back().is_none_or(|c| c.is_ascii_punctuation() || "。！？…；：，、」』”’）".contains(c));
    match view.units[before.unit].kind {
        _ if ended => BLANK,
        UnitKind::Heading => ": ",
        UnitKind::Sentence => BLANK,
        UnitKind::Fragment | UnitKind::ListItem | UnitKind::Line => "; ",
    }
}

/// The facts that begin in `span`.
pub(super) fn facts_in<'a>(view: &TextView<'a>, span: Span) -> &'a [Fact] {
    let first = view.facts.partition_point(|fact| fact.span.start < span.start);
    let n = view.facts.get(first..).unwrap_or_default().partition_point(|fact| fact.span.start < span.end);
    view.facts.get(first..first + n).unwrap_or_default()
}

#[derive(Debug)]
pub(super) struct Packing<'p> {
    pub(super) budget: usize,
    /// What every unit is worth.
    points: &'p [i32],
    /// For the first unit alone.
    stretched: usize,
    /// Characters that are taken, with what stands between.
    used: usize,
    /// Sorted.
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
    /// itself, unless only one of them fits; the rest of it comes when there is room. A choice comes with the units
    /// `chosen` where there is room for them.
    pub(super) fn take(&mut self, view: &TextView<'_>, index: usize, chosen: &[usize], shown: &mut Keys) {
        if self.discourse.is_some() && self.points[index] < MIN_TELLING {
            // What the shown sentences refer to, and their clauses, say more than one more without content.
            self.complete(view);
        }
        let mut needed = self.needed_by(view, index);
        let n_telling = needed.iter().take_while(|&&unit| self.points[unit] >= MIN_TELLING).count();
        needed.truncate(n_telling);
        needed.extend(chosen);
        let facts = view.facts_of(&view.units[index]);
        let is_telling = || !chosen.is_empty() || facts.iter().any(|fact| fact.kind.is_precise());
        if !self.take_all(view, index, &needed, shown) && !needed.is_empty() && is_telling() {
            self.take_all(view, index, &[], shown);
        }
    }

    /// What unit `index` refers to: nothing that is longer than itself, and no filler.
    fn needed_by(&self, view: &TextView<'_>, index: usize) -> Vec<usize> {
        let Some(found) = &self.discourse else { return Vec::new() };
        let mut needed = found.needed_by(index);
        let fits = |&unit: &usize| self.points[unit] >= 0 && view.units[unit].n_chars <= view.units[index].n_chars;
        needed.truncate(needed.iter().take_while(|unit| fits(unit)).count());
        needed
    }

    fn take_all(&mut self, view: &TextView<'_>, index: usize, needed: &[usize], shown: &mut Keys) -> bool {
        let unit = &view.units[index];
        if self.has(index) {
            return true;
        }
        let mut fresh: Vec<usize> = whole(view, index).chain(needed.iter().copied()).collect();
        fresh.retain(|&index| !self.has(index));
        let limit = self.limit(self.taken.is_empty());
        if !self.fits(view, &fresh, limit) || !self.texts.insert(fold_key(unit.span.of(view.text))) {
            return false;
        }
        self.put(view, &fresh);
        for index in fresh {
            shown.extend(view.facts_of(&view.units[index]).iter().map(|fact| fact.key));
        }
        true
    }

    /// What is shown of `view` when just the units `taken` are, which are sorted.
    pub(super) fn laid_out(view: &TextView<'_>, taken: &[usize]) -> Vec<Piece> {
        let mut pieces = Packing::new(0, 0, &[], None).layout(view, taken);
        for piece in &mut pieces {
            piece.span = numbered(view, piece.unit);
        }
        pieces
    }

    fn has(&self, index: usize) -> bool {
        self.taken.binary_search(&index).is_ok()
    }

    /// Only the first unit may take more than the budget.
    fn limit(&self, is_first: bool) -> usize {
        if is_first { self.budget.max(self.stretched) } else { self.budget }
    }

    /// True when the text with the units `fresh` has at most `limit` characters, as it will be written. Most units are
    /// refused before anything is laid out.
    fn fits(&self, view: &TextView<'_>, fresh: &[usize], limit: usize) -> bool {
        let touches =
            |&index: &usize| self.has(index + 1) || index.checked_sub(1).is_some_and(|before| self.has(before));
        let n_chars: usize = fresh.iter().map(|&index| self.n_chars(view, index)).sum();
        let least = if self.taken.is_empty() {
            n_chars
        } else if fresh.iter().any(touches) {
            (self.used + n_chars).saturating_sub(MAX_JOINED * fresh.len())
        } else {
            self.used + GAP.len() + n_chars
        };
        least <= limit && written(view, &self.layout(view, &self.with(fresh))) <= limit
    }

    fn put(&mut self, view: &TextView<'_>, fresh: &[usize]) {
        self.taken = self.with(fresh);
        self.used = written(view, &self.layout(view, &self.taken));
    }

    fn with(&self, fresh: &[usize]) -> Vec<usize> {
        let mut taken = [&self.taken, fresh].concat();
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    /// Takes a short unit whatever the budget says.
    pub(super) fn add(&mut self, view: &TextView<'_>, index: usize) {
        let unit = &view.units[index];
        let fits = unit.n_chars as usize <= MAX_ADDED && !self.taken.is_empty() && !self.has(index);
        if fits && self.texts.insert(fold_key(unit.span.of(view.text))) {
            self.taken = self.with(&[index]);
        }
    }

    /// Characters that a unit takes without its spare clauses.
    fn n_chars(&self, view: &TextView<'_>, index: usize) -> usize {
        match &self.discourse {
            None => view.units[index].n_chars as usize,
            Some(found) => {
                let kept = found.clauses(index).filter(|(_, edu)| !edu.is_spare);
                kept.map(|(_, edu)| edu.n_chars as usize + 1).sum::<usize>().saturating_sub(1)
            }
        }
    }

    /// What is shown, in text order.
    pub(super) fn pieces(mut self, view: &TextView<'_>) -> Vec<Piece> {
        self.complete(view);
        self.layout(view, &self.taken)
    }

    /// The pieces of the units `taken`, which are sorted.
    fn layout(&self, view: &TextView<'_>, taken: &[usize]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::with_capacity(taken.len());
        // The unit that was shown up to its end.
        let mut ended = None;
        for &unit in taken {
            let mut follows = ended.is_some_and(|ended| ended + 1 == unit);
            let Some(found) = &self.discourse else {
                let Unit { span, n_chars, .. } = view.units[unit];
                pieces.push(Piece { unit, span, follows, n_chars: n_chars as usize });
                ended = Some(unit);
                continue;
            };
            let mut is_inside = false;
            for (index, edu) in found.clauses(unit) {
                if edu.is_spare && !self.restored.contains(&index) {
                    if let Some(last) = pieces.last_mut().filter(|_| is_inside) {
                        last.span = without_comma(view.text, last.span);
                    }
                    follows = false;
                } else {
                    match pieces.last_mut().filter(|_| is_inside && follows) {
                        Some(last) => {
                            last.span.end = edu.span.end;
                            last.n_chars += 1 + edu.n_chars as usize;
                        }
                        None => pieces.push(Piece { unit, span: edu.span, follows, n_chars: edu.n_chars as usize }),
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
        if n_before == self.taken.len() || self.discourse.is_none() {
            return;
        }
        for unit in self.taken.clone() {
            for needed in self.needed_by(view, unit) {
                if !self.has(needed) && self.fits(view, &[needed], self.budget) {
                    self.put(view, &[needed]);
                }
            }
        }
        let Some(found) = &self.discourse else { return };
        let clauses = self.taken.iter().flat_map(|&unit| found.clauses(unit)).filter(|(_, edu)| edu.is_spare);
        let spare: Vec<usize> = clauses.map(|(index, _)| index).collect();
        let limit = self.limit(self.taken.len() == 1);
        for index in spare {
            if !self.restored.contains(&index) {
                self.restored.push(index);
                let used = written(view, &self.layout(view, &self.taken));
                if used <= limit { self.used = used } else { self.restored.truncate(self.restored.len() - 1) }
            }
        }
    }
}

/// Characters of the pieces with what stands between them.
fn written(view: &TextView<'_>, pieces: &[Piece]) -> usize {
    let joined: usize = pieces.windows(2).map(|pair| joiner(view, &pair[0], &pair[1]).len()).sum();
    pieces.iter().map(|piece| piece.n_chars).sum::<usize>() + joined
}

/// The sentence ends where a clause was left out.
fn without_comma(text: &str, span: Span) -> Span {
    let kept = span.of(text).trim_end_matches([',', ';', '，', '；', ' ']);
    Span { start: span.start, end: span.start + kept.len() as u32 }
}

/// A unit as it is shown when it was chosen: an item of a list with its number.
pub(super) fn numbered(view: &TextView<'_>, index: usize) -> Span {
    let unit = &view.units[index];
    if unit.kind != UnitKind::ListItem {
        return unit.span;
    }
    let line = view.text.get(view.scope.start as usize..unit.span.start as usize).unwrap_or_default();
    let head = line.rsplit('\n').next().unwrap_or_default().trim_start();
    let number = head.trim_end().strip_suffix(['.', ')', ':']).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Span { start: unit.span.start - if is_number { head.len() as u32 } else { 0 }, end: unit.span.end }
}
