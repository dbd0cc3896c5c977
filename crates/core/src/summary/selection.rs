//! Which sentences of a conversation stay: one order over the sentences of all texts that give way, each for what it tells
//! that neither a chosen sentence nor a message that stays shows, per character. Knows texts and what is visible; refuses to
//! know messages, and how what was chosen is written.

use std::ops::Range;

use super::packing::{GAP, LABEL_END, MAX_ADDED, facts_in, numbered, whole};
use super::score::{Scorer, Scores, Weight};
use super::spoken::{Keys, Spoken};
use crate::text::greedy::{Candidates, greedy};
use crate::text::{CueKind, Fact, FactKind, Span, TextView, fold_key, is_question};

/// Points per character are compared in so many parts of a point.
const PARTS: u64 = 1 << 16;
/// What a fact that is visible nowhere counts for beyond its points: three times a decision, so that facts come before words.
const NEW_FACT: u64 = 12;
/// What a denial or a duty counts for beyond its points.
const NEW_STATEMENT: u64 = 4;
/// Characters added to each sentence when they are compared, so that scraps are not the cheapest.
const BESIDE: usize = 40;
/// What belongs to a sentence in another turn is brought along up to so many characters, and over so many turns of others.
const MAX_PAIRED: u32 = 120;
const MAX_BETWEEN: usize = 2;
/// A scrap of talk with fewer characters says nothing without what it answers.
const MAX_SCRAP: u32 = 22;
/// Up to so many facts are compared one by one.
const FEW_FACTS: usize = 12;
/// A sentence comes with those that a quotation goes on in, up to so many.
const MAX_QUOTED: usize = 4;

/// Of each of several texts where the units begin that are chosen.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    begins: Vec<u32>,
    /// Of each text where its begins end.
    ends: Vec<usize>,
}

impl Chosen {
    /// Those of a text, ascending.
    #[must_use]
    pub fn of(&self, text: usize) -> &[u32] {
        let first = text.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.begins[first..self.ends[text]]
    }

    /// True when nothing is chosen of any text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }
}

/// What is chosen of `texts`, where `visible` is shown anyway. What comes of the order takes at most `budget` characters, and a
/// larger budget chooses the same and more. What a text asks last is always chosen.
#[must_use]
pub fn choose(texts: &[Spoken<'_>], visible: Keys, budget: usize) -> Chosen {
    let mut choice = Choice::new(texts, visible, budget);
    choice.take_asks();
    greedy(&mut choice);
    choice.begins()
}

/// The same for the one sentence that is worth most for its length, if any is worth something.
#[must_use]
pub(super) fn best(texts: &[Spoken<'_>]) -> Chosen {
    let mut choice = Choice::new(texts, Keys::default(), usize::MAX);
    let best = (0..choice.len()).rev().max_by_key(|&number| choice.key(number));
    if let Some(number) = best.filter(|&number| choice.key(number) > 0) {
        choice.take(number);
    }
    choice.begins()
}

/// Which turns belong together: a question and what the next speaker says to it; what stops at a comma and how the same one
/// goes on.
struct Links {
    /// Of each text.
    next: Vec<Option<usize>>,
    before: Vec<Option<usize>>,
}

fn links(texts: &[Spoken<'_>]) -> Links {
    let mut links = Links { next: vec![None; texts.len()], before: vec![None; texts.len()] };
    for (at, spoken) in texts.iter().enumerate() {
        let Some(last) = spoken.view.units.last().filter(|_| spoken.hints.speaker.is_some()) else { continue };
        let words = last.span.of(spoken.view.text).trim_end();
        let speaks_on = words.ends_with([',', '，']);
        let behind = || (at + 1..texts.len()).take(if speaks_on { MAX_BETWEEN + 1 } else { 1 });
        let next = behind().find(|&next| {
            let speaker = texts[next].hints.speaker;
            speaker.is_some() && (speaker == spoken.hints.speaker) == speaks_on && !texts[next].view.units.is_empty()
        });
        if let Some(next) = next.filter(|_| speaks_on || is_question(words)) {
            links.next[at] = Some(next);
            links.before[next] = Some(at);
        }
    }
    links
}

/// The choice as it stands.
struct Choice<'t, 'a> {
    texts: &'t [Spoken<'a>],
    scores: Scores,
    /// Text, and the units that are shown together.
    items: Vec<(usize, Range<usize>)>,
    /// Of each unit, which begins an item, its key.
    keys: Vec<u64>,
    links: Links,
    visible: Keys,
    /// Of each unit.
    taken: Vec<bool>,
    /// Characters that are left.
    left: usize,
}

impl<'t, 'a> Choice<'t, 'a> {
    fn new(texts: &'t [Spoken<'a>], visible: Keys, left: usize) -> Self {
        let scores = Scores::of(texts);
        let items_of = |(text, spoken): (usize, &Spoken<'a>)| {
            let view = spoken.view;
            (0..view.units.len()).map(move |unit| (text, extent(&view, unit)))
        };
        let items: Vec<(usize, Range<usize>)> = texts.iter().enumerate().flat_map(items_of).collect();
        let key = |(text, units): &(usize, Range<usize>)| {
            let view = &texts[*text].view;
            fold_key(view.units[units.start].span.of(view.text))
        };
        let keys = items.iter().map(key).collect();
        let links = links(texts);
        let taken = vec![false; items.len()];
        Self { texts, scores, items, keys, links, visible, taken, left }
    }

    /// Of each text where the units begin that are taken.
    fn begins(&self) -> Chosen {
        let mut chosen = Chosen::default();
        for (text, spoken) in self.texts.iter().enumerate() {
            let units = spoken.view.units.iter().zip(self.taken_of(text));
            chosen.begins.extend(units.filter(|(_, is_taken)| **is_taken).map(|(unit, _)| unit.span.start));
            chosen.ends.push(chosen.begins.len());
        }
        chosen
    }

    fn scorer(&self, text: usize) -> Scorer<'_, 'a> {
        self.scores.scorer(text, &self.texts[text].view)
    }

    fn is_taken(&self, text: usize, unit: usize) -> bool {
        self.taken[self.scores.number(text, unit)]
    }

    fn taken_of(&self, text: usize) -> &[bool] {
        let first = self.scores.number(text, 0);
        &self.taken[first..first + self.texts[text].view.units.len()]
    }

    /// Takes short units that wait for the other side.
    fn take_asks(&mut self) {
        for text in 0..self.texts.len() {
            let n_chars = |unit: usize| self.texts[text].view.units[unit].n_chars as usize;
            if let Some(unit) = self.scorer(text).last_ask().filter(|&unit| n_chars(unit) <= MAX_ADDED) {
                self.show(text, unit);
            }
        }
    }

    /// Shows a unit, whatever is left.
    fn show(&mut self, text: usize, unit: usize) {
        let view = &self.texts[text].view;
        let n_beside = GAP.len() + self.label(text);
        let number = self.scores.number(text, unit);
        if !std::mem::replace(&mut self.taken[number], true) {
            self.left = self.left.saturating_sub(view.units[unit].n_chars as usize + n_beside);
            self.visible.insert(self.keys[number]);
            self.visible.extend(facts_of(view, &(unit..unit + 1)).iter().map(|fact| fact.key));
        }
    }

    /// What units tell that is visible nowhere, of which `n_fresh` are facts.
    fn gain(&self, text: usize, units: &Range<usize>, n_fresh: u64) -> u64 {
        let view = &self.texts[text].view;
        let weight = |fact: &Fact| if self.visible.contains(&fact.key) { Weight::None } else { Weight::Full };
        let points = self.scorer(text).score(units.start, weight);
        let says = |unit: &usize| {
            let mut cues = view.cues_of(&view.units[*unit]).iter();
            cues.any(|cue| matches!(cue.kind, CueKind::Negation | CueKind::Obligation))
        };
        let n_said = units.clone().filter(says).count() as u64;
        u64::try_from(points).unwrap_or_default() + n_fresh * NEW_FACT + n_said * NEW_STATEMENT
    }

    /// How many facts of units are visible nowhere.
    fn n_fresh(&self, text: usize, units: &Range<usize>) -> u64 {
        let view = &self.texts[text].view;
        let tells = |fact: &&Fact| fact.kind.is_precise() || fact.kind == FactKind::Name;
        let facts = facts_of(view, units);
        let is_fresh = |fact: &&Fact| tells(fact) && !self.visible.contains(&fact.key);
        if facts.len() > FEW_FACTS {
            let mut fresh: Vec<u64> = facts.iter().filter(is_fresh).map(|fact| fact.key).collect();
            fresh.sort_unstable();
            fresh.dedup();
            return fresh.len() as u64;
        }
        let is_first =
            |(at, fact): &(usize, &Fact)| !facts[..*at].iter().any(|other| other.key == fact.key && tells(&other));
        facts.iter().enumerate().filter(|(_, fact)| is_fresh(fact)).filter(is_first).count() as u64
    }

    /// True for a word or two of a turn, of which `n_fresh` are facts.
    fn is_scrap(&self, text: usize, units: &Range<usize>, n_fresh: u64) -> bool {
        let Spoken { view, hints, .. } = &self.texts[text];
        hints.speaker.is_some() && view.units[units.start].n_chars < MAX_SCRAP && n_fresh == 0
    }

    /// What is shown with these units of another turn.
    fn partner(&self, text: usize, units: &Range<usize>) -> Option<(usize, Range<usize>)> {
        let n_units = |text: usize| self.texts[text].view.units.len();
        let next = || self.links.next[text].filter(|_| units.end == n_units(text)).map(|next| (next, 0));
        let before = || {
            let before = self.links.before[text].filter(|_| units.start == 0)?;
            Some((before, n_units(before) - 1))
        };
        let (other, unit) = next().or_else(before)?;
        let is_short = self.texts[other].view.units.get(unit)?.n_chars <= MAX_PAIRED;
        (is_short && !self.is_taken(other, unit)).then_some((other, unit..unit + 1))
    }

    fn cost(&self, text: usize, units: &Range<usize>) -> usize {
        let view = &self.texts[text].view;
        let open = units.clone().filter(|&unit| !self.is_taken(text, unit));
        open.map(|unit| view.units[unit].n_chars as usize).sum::<usize>() + GAP.len() + self.label(text)
    }

    /// Characters of the name of who says a text of which nothing is shown yet.
    fn label(&self, text: usize) -> usize {
        let speaker = self.texts[text].hints.speaker.filter(|_| !self.taken_of(text).contains(&true));
        speaker.map_or(0, |name| name.chars().count() + LABEL_END.len())
    }
}

/// The facts of units, with the number that stands before an item.
fn facts_of<'a>(view: &TextView<'a>, units: &Range<usize>) -> &'a [Fact] {
    let own = &view.units[units.clone()];
    let start = numbered(view, units.start).start;
    if start == own[0].span.start {
        return view.facts_of_all(own);
    }
    facts_in(view, Span { start, end: own[own.len() - 1].span.end })
}

/// The unit with what it announces, and the sentences that a quotation in it goes on in.
fn extent(view: &TextView<'_>, unit: usize) -> Range<usize> {
    let Range { start, mut end } = whole(view, unit);
    let last = view.facts_of(&view.units[unit]).iter().map(|fact| fact.span.end).max().unwrap_or_default();
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
        if self.is_taken(text, first) || self.visible.contains(&self.keys[number]) {
            return 0;
        }
        let n_fresh = self.n_fresh(text, units);
        let partner = self.partner(text, units).map(|(other, unit)| (other, self.n_fresh(other, &unit), unit));
        if self.is_scrap(text, units, n_fresh)
            && partner.as_ref().is_none_or(|(other, n_fresh, unit)| self.is_scrap(*other, unit, *n_fresh))
        {
            return 0;
        }
        let (mut gain, mut cost) = (self.gain(text, units, n_fresh), self.cost(text, units));
        if let Some((other, n_fresh, unit)) = partner {
            gain += self.gain(other, &unit, n_fresh);
            cost += self.cost(other, &unit);
        }
        gain * PARTS / (cost + BESIDE) as u64
    }

    fn take(&mut self, number: usize) -> bool {
        let (text, units) = self.items[number].clone();
        let partner = self.partner(text, &units);
        let beside = partner.as_ref().map_or(0, |(other, unit)| self.cost(*other, unit));
        if self.cost(text, &units) + beside > self.left {
            return false;
        }
        // A decision comes with what it decides on.
        let chosen = self.scorer(text).chosen_by(units.start);
        units.chain(chosen).for_each(|unit| self.show(text, unit));
        if let Some((other, unit)) = partner {
            self.show(other, unit.start);
        }
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
        chosen_of(texts, &[None], budget)
    }

    /// The same where those `speakers` say them in turn.
    fn chosen_of(texts: &[String], speakers: &[Option<&str>], budget: usize) -> Vec<Vec<String>> {
        let mut lexer = Lexer::default();
        let lexed: Vec<Lexed> = texts.iter().map(|text| lexer.lex(text)).collect();
        let spoken = |((text, lexed), &speaker)| {
            let hints = Hints { speaker, ..Hints::default() };
            Spoken { view: lexer.view(text, lexed), voice: Voice::Other, hints }
        };
        let speakers = speakers.iter().cycle();
        let spoken: Vec<Spoken<'_>> = texts.iter().map(String::as_str).zip(&lexed).zip(speakers).map(spoken).collect();
        let begins = choose(&spoken, Keys::default(), budget);
        let shown = |(text, spoken): (usize, &Spoken<'_>)| {
            let begins = begins.of(text);
            let units = (0..spoken.view.units.len()).filter(|&at| begins.contains(&spoken.view.units[at].span.start));
            units.map(|at| numbered(&spoken.view, at).of(spoken.view.text).to_owned()).collect()
        };
        spoken.iter().enumerate().map(shown).collect()
    }

    /// Texts of invented sentences, some of which stand in several.
    fn talk(seed: usize) -> Vec<String> {
        let sentence = |at: usize| match at % 7 {
            0 => format!("We decided to close gate {} by Friday.", at % 11),
            1 => BEST.to_owned(),
            2 => "The rain was loud and the garden was quiet for the whole of the day.".to_owned(),
            3 => format!("Anna paid ${} for it, because the others would not:", at % 90),
            4 => format!("\n{}. The shed has {} beams of oak.\n", at % 5, at % 13),
            6 if at.is_multiple_of(2) => format!("Is gate {} open?", at % 11),
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
        let speakers = [None, Some("Ada"), Some("Bo Berg"), Some("Ada")];
        for seed in 0..80 {
            let texts = talk(seed);
            let speakers = &speakers[..=seed % speakers.len()];
            let mut before = chosen_of(&texts, speakers, 0);
            let n_first = before.iter().map(Vec::len).sum::<usize>();
            for budget in (0..2_000).step_by(37) {
                let now = chosen_of(&texts, speakers, budget);
                for (before, now) in before.iter().zip(&now) {
                    assert!(before.iter().all(|shown| now.contains(shown)), "{budget}: {before:?} in {now:?}");
                }
                before = now;
            }
            assert!(before.iter().map(Vec::len).sum::<usize>() > n_first);
        }
    }

    #[test]
    fn turns_that_belong_together_are_chosen_together() {
        let speakers = [Some("Ada"), Some("Bo")];
        let rest = "The rain was loud and the garden was quiet for the whole of the day.";
        let texts = |pairs: [&str; 4]| pairs.map(str::to_owned);
        let asked = texts([rest, rest, "Is the valve KMS-7781 shut?", "No."]);
        assert_eq!(chosen_of(&asked, &speakers, 70)[2..], [["Is the valve KMS-7781 shut?"], ["No."]]);
        // There is no room for the answer.
        assert_eq!(chosen_of(&asked, &speakers, 35), [[""; 0]; 4]);
        let open = texts(["We decided to shut the 14 valves,", "Hm.", "when nobody looks.", rest]);
        let of_ada = [vec!["We decided to shut the 14 valves,"], vec![], vec!["when nobody looks."], vec![]];
        assert_eq!(chosen_of(&open, &speakers, 80), of_ada);
        let scraps = texts(["Aren't you?", "Not me.", rest, "We won't."]);
        assert_eq!(chosen_of(&scraps, &speakers, 900), [vec![], vec![], vec![rest], vec![]]);
        // Without a speaker each text is by itself.
        assert_eq!(chosen(&open, 45)[..3], [vec!["We decided to shut the 14 valves,"], vec![], vec![]]);
    }

    #[test]
    fn items_keep_their_numbers_and_quotations_their_ends() {
        let list = "We looked at it:\n\n1. The roof of straw leaks.\n2. The pump KMS-7781 costs $500.".to_owned();
        assert_eq!(chosen(&[list], 50), [["2. The pump KMS-7781 costs $500."]]);
        let said = "It was dark. She said \"take the 14 pumps. Leave the rest.\" The garden was quiet.".to_owned();
        assert_eq!(chosen(&[said], 60), [["She said \"take the 14 pumps.", "Leave the rest.\""]]);
    }
}
