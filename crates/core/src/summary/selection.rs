//! Which sentences of a conversation stay: one order over the sentences of all texts that give way, each for what it tells
//! that neither a chosen sentence nor a message that stays shows, per character. Knows texts and what is visible; refuses to
//! know messages, and how what was chosen is written.

use std::ops::Range;

use super::packing::{GAP, MAX_ADDED, numbered, whole};
use super::score::{Scorer, Weight};
use super::spoken::{Keys, Spoken};
use crate::text::greedy::{Candidates, greedy};
use crate::text::{CueKind, Fact, FactKind, Span, TextView, fold_key};

/// Points per character are compared in so many parts of a point.
const PARTS: u64 = 1 << 16;
/// What a fact that is visible nowhere counts for beyond its points: three times a decision, so that facts come before words.
const NEW_FACT: u64 = 12;
/// What a denial or a duty counts for beyond its points.
const NEW_STATEMENT: u64 = 4;
/// Characters added to each sentence when they are compared, so that scraps are not the cheapest.
const BESIDE: usize = 40;
/// A sentence comes with those that a quotation goes on in, up to so many.
const MAX_QUOTED: usize = 4;

/// Of each text where the units begin that are chosen, ascending; `visible` is what is shown anyway. What comes of the order
/// takes at most `budget` characters, and a larger budget chooses the same and more. What a text asks last is always chosen.
#[must_use]
pub fn choose(texts: &[Spoken<'_>], visible: Keys, budget: usize) -> Vec<Vec<u32>> {
    let mut choice = Choice::new(texts, visible, budget);
    choice.take_asks();
    greedy(&mut choice);
    let begins = |(spoken, taken): (&Spoken<'_>, &Vec<bool>)| {
        let units = spoken.view.units.iter().zip(taken);
        units.filter(|(_, is_taken)| **is_taken).map(|(unit, _)| unit.span.start).collect()
    };
    texts.iter().zip(&choice.taken).map(begins).collect()
}

/// The facts that begin in `span`.
fn facts_in<'a>(view: &TextView<'a>, span: Span) -> &'a [Fact] {
    let first = view.facts.partition_point(|fact| fact.span.start < span.start);
    let n = view.facts.get(first..).unwrap_or_default().partition_point(|fact| fact.span.start < span.end);
    view.facts.get(first..first + n).unwrap_or_default()
}

/// The choice as it stands.
struct Choice<'t, 'a> {
    texts: &'t [Spoken<'a>],
    scorers: Vec<Scorer<'t, 'a>>,
    /// Text, and the units that are shown together.
    items: Vec<(usize, Range<usize>)>,
    visible: Keys,
    taken: Vec<Vec<bool>>,
    /// Characters that are left.
    left: usize,
}

impl<'t, 'a> Choice<'t, 'a> {
    fn new(texts: &'t [Spoken<'a>], visible: Keys, left: usize) -> Self {
        let scorers = texts.iter().map(Scorer::new).collect();
        let taken = texts.iter().map(|spoken| vec![false; spoken.view.units.len()]).collect();
        let items_of = |(text, spoken): (usize, &Spoken<'a>)| {
            let view = spoken.view;
            (0..view.units.len()).map(move |unit| (text, extent(&view, unit)))
        };
        let items = texts.iter().enumerate().flat_map(items_of).collect();
        Self { texts, scorers, items, visible, taken, left }
    }

    /// Takes short units that wait for the other side.
    fn take_asks(&mut self) {
        for text in 0..self.texts.len() {
            let n_chars = |unit: usize| self.texts[text].view.units[unit].n_chars as usize;
            if let Some(unit) = self.scorers[text].last_ask().filter(|&unit| n_chars(unit) <= MAX_ADDED) {
                self.show(text, unit);
            }
        }
    }

    /// Shows a unit, whatever is left.
    fn show(&mut self, text: usize, unit: usize) {
        let view = &self.texts[text].view;
        if !std::mem::replace(&mut self.taken[text][unit], true) {
            self.left = self.left.saturating_sub(view.units[unit].n_chars as usize + GAP.len());
            self.visible.insert(fold_key(view.units[unit].span.of(view.text)));
            self.visible.extend(facts_in(view, numbered(view, unit)).iter().map(|fact| fact.key));
        }
    }

    fn cost(&self, text: usize, units: &Range<usize>) -> usize {
        let view = &self.texts[text].view;
        let open = units.clone().filter(|&unit| !self.taken[text][unit]);
        open.map(|unit| view.units[unit].n_chars as usize).sum::<usize>() + GAP.len()
    }
}

/// The unit with what it announces, and the sentences that a quotation in it goes on in.
fn extent(view: &TextView<'_>, unit: usize) -> Range<usize> {
    let Range { start, mut end } = whole(view, unit);
    let last = facts_in(view, view.units[unit].span).iter().map(|fact| fact.span.end).max().unwrap_or_default();
    while end < view.units.len() && end - start < MAX_QUOTED && view.units[end].span.start < last {
        end += 1;
    }
    start..end
}

impl Candidates for Choice<'_, '_> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn key(&self, number: usize) -> u64 {
        let (text, units) = &self.items[number];
        let (text, first) = (*text, units.start);
        let view = &self.texts[text].view;
        if self.taken[text][first] || self.visible.contains(&fold_key(view.units[first].span.of(view.text))) {
            return 0;
        }
        let weight = |fact: &Fact| if self.visible.contains(&fact.key) { Weight::None } else { Weight::Full };
        let points = self.scorers[text].score(first, weight);
        let span = Span { start: numbered(view, first).start, end: view.units[units.end - 1].span.end };
        let tells = |fact: &&Fact| fact.kind.is_precise() || fact.kind == FactKind::Name;
        let mut fresh: Vec<u64> = facts_in(view, span).iter().filter(tells).map(|fact| fact.key).collect();
        fresh.retain(|key| !self.visible.contains(key));
        fresh.sort_unstable();
        fresh.dedup();
        let says = |unit: &usize| {
            let mut cues = view.cues_of(&view.units[*unit]).iter();
            cues.any(|cue| matches!(cue.kind, CueKind::Negation | CueKind::Obligation))
        };
        let n_said = units.clone().filter(says).count() as u64;
        let gain = u64::try_from(points).unwrap_or_default() + fresh.len() as u64 * NEW_FACT + n_said * NEW_STATEMENT;
        gain * PARTS / (self.cost(text, units) + BESIDE) as u64
    }

    fn take(&mut self, number: usize) -> bool {
        let (text, units) = self.items[number].clone();
        if self.cost(text, &units) > self.left {
            return false;
        }
        // A decision comes with what it decides on.
        let chosen = self.scorers[text].chosen_by(units.start);
        units.chain(chosen).for_each(|unit| self.show(text, unit));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{choose, numbered};
    use crate::summary::{Hints, Keys, Spoken, Voice};
    use crate::text::{Lexed, Lexer};

    const BEST: &str = "The valve KMS-7781 must not be opened before 2024 and costs $500.";

    /// What is chosen of `texts` with `budget`, text by text.
    fn chosen(texts: &[String], budget: usize) -> Vec<Vec<String>> {
        let mut lexer = Lexer::default();
        let lexed: Vec<Lexed> = texts.iter().map(|text| lexer.lex(text)).collect();
        let spoken =
            |(text, lexed)| Spoken { view: lexer.view(text, lexed), voice: Voice::Other, hints: Hints::default() };
        let spoken: Vec<Spoken<'_>> = texts.iter().map(String::as_str).zip(&lexed).map(spoken).collect();
        let begins = choose(&spoken, Keys::default(), budget);
        let shown = |(spoken, begins): (&Spoken<'_>, Vec<u32>)| {
            let units = (0..spoken.view.units.len()).filter(|&at| begins.contains(&spoken.view.units[at].span.start));
            units.map(|at| numbered(&spoken.view, at).of(spoken.view.text).to_owned()).collect()
        };
        spoken.iter().zip(begins).map(shown).collect()
    }

    /// Texts of invented sentences, some of which stand in several.
    fn talk(seed: usize) -> Vec<String> {
        let sentence = |at: usize| match at % 7 {
            0 => format!("We decided to close gate {} by Friday.", at % 11),
            1 => BEST.to_owned(),
            2 => "The rain was loud and the garden was quiet for the whole of the day.".to_owned(),
            3 => format!("Anna paid ${} for it, because the others would not:", at % 90),
            4 => format!("\n{}. The shed has {} beams of oak.\n", at % 5, at % 13),
            5 => format!("He said \"it was {} o'clock. We all left.\" on the way.", at % 12),
            _ => "Thanks!".to_owned(),
        };
        let text = |of: usize| {
            let sentences: Vec<String> = (0..3 + of % 5).map(|at| sentence(seed * 31 + of * 17 + at * 5)).collect();
            sentences.join(" ")
        };
        (0..12).map(text).collect()
    }

    #[test]
    fn what_ten_texts_say_is_chosen_once() {
        let text = |at: usize| format!("{BEST} Room {at} was painted by the people of house {at}.");
        let texts: Vec<String> = (0..10).map(text).collect();
        let shown = chosen(&texts, 800);
        assert_eq!(shown.iter().filter(|shown| shown.iter().any(|text| text == BEST)).count(), 1, "{shown:?}");
        assert!(shown.iter().filter(|shown| shown.len() == 1 && shown[0] != BEST).count() >= 9, "{shown:?}");
    }

    #[test]
    fn a_larger_budget_chooses_the_same_and_more() {
        for seed in 0..40 {
            let texts = talk(seed);
            let mut before = chosen(&texts, 0);
            let n_first = before.iter().map(Vec::len).sum::<usize>();
            for budget in (0..2_000).step_by(37) {
                let now = chosen(&texts, budget);
                for (before, now) in before.iter().zip(&now) {
                    assert!(before.iter().all(|shown| now.contains(shown)), "{budget}: {before:?} in {now:?}");
                }
                before = now;
            }
            assert!(before.iter().map(Vec::len).sum::<usize>() > n_first);
        }
    }

    #[test]
    fn items_keep_their_numbers_and_quotations_their_ends() {
        let list = "We looked at it:\n\n1. The roof of straw leaks.\n2. The pump KMS-7781 costs $500.".to_owned();
        assert_eq!(chosen(&[list], 50), [["2. The pump KMS-7781 costs $500."]]);
        let said = "It was dark. She said \"take the 14 pumps. Leave the rest.\" The garden was quiet.".to_owned();
        assert_eq!(chosen(&[said], 60), [["She said \"take the 14 pumps.", "Leave the rest.\""]]);
    }
}
