//! Clauses with what they depend on (elementary discourse units): cuts the units of a text at clauses, finds what a
//! clause says nothing without. Knows one text; refuses to know what is shown of it.

use std::ops::Range;

use super::clauses;
use super::tokens::joined;
use crate::text::words::word_list;
use crate::text::{Cue, CueKind, Fact, Span, TextView, Unit, UnitKind};

/// What a clause depends on brings in turn what it depends on, so deep.
const MAX_DEPTH: usize = 2;
/// Shorter clauses are not worth leaving out.
const MIN_DROPPED_CHARS: u32 = 20;
/// Words that pass judgement: what they say of the sentence before is not left out.
const VERDICTS: &[&str] = word_list!("discourse", VERDICTS);
/// What begins with one of these speaks of what was said before.
const REFERRING: &[&str] = word_list!("discourse", REFERRING);
/// What begins with one of these comes after something, or because of it.
const FOLLOWING: &[&str] = word_list!("discourse", FOLLOWING);
const PHRASES: &[&str] = word_list!("discourse", PHRASES);
const WIDE_REFERRING: &[&str] = word_list!("discourse", WIDE_REFERRING);
const WIDE_FOLLOWING: &[&str] = word_list!("discourse", WIDE_FOLLOWING);

/// A clause, or a whole unit that has no clauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edu {
    /// Where it stands, trimmed.
    pub(super) span: Span,
    /// Characters in `span`.
    pub(super) n_chars: u32,
    /// Index of its unit in the view.
    unit: usize,
    /// The earlier EDU without which it cannot be understood.
    depends_on: Option<usize>,
    /// The first one of its unit, which the others depend on.
    is_head: bool,
    /// Its sentence is true and whole without it, and it holds no fact.
    pub(super) is_spare: bool,
}

/// Cuts the units of `view` into EDUs. They cover every unit from its first character to its last; a clause that the
/// sentence would say something else without ("…, unless …") is never cut off, and no fact is cut in two.
fn segment(view: &TextView<'_>) -> Vec<Edu> {
    let mut edus: Vec<Edu> = Vec::new();
    let mut last_head: Option<(usize, &Unit)> = None;
    for (index, unit) in view.units.iter().enumerate() {
        let text = unit.span.of(view.text);
        let has_clauses = !matches!(unit.kind, UnitKind::Heading | UnitKind::Line);
        let facts = joined(view.facts_of(unit).iter().map(|fact| fact.span));
        let is_whole = |at: usize| {
            let at = unit.span.start + at as u32;
            facts.get(facts.partition_point(|fact| fact.end <= at)).is_some_and(|fact| fact.start < at)
        };
        let starts = if has_clauses { clauses::starts(text, is_whole) } else { Vec::new() };
        let pieces = if starts.is_empty() { vec![unit.span] } else { clauses::pieces(view.text, unit.span, &starts) };
        let head = edus.len();
        let before =
            last_head.filter(|(_, other)| other.paragraph == unit.paragraph && other.kind != UnitKind::Heading);
        let needs = before.filter(|_| has_clauses && link_of(text) != Link::None).map(|(head, _)| head);
        for (place, span) in pieces.into_iter().enumerate() {
            let is_head = place == 0;
            let n_chars = span.of(view.text).chars().count() as u32;
            let depends_on = if is_head { needs } else { Some(head) };
            let edu = Edu { span, n_chars, unit: index, depends_on, is_head, is_spare: false };
            edus.push(Edu { is_spare: is_spare(view, &edu), ..edu });
        }
        last_head = Some((head, unit));
    }
    edus
}

/// How a sentence hangs on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    None,
    /// By a word that stands for something there.
    Reference,
    /// In time, or as its consequence.
    Sequence,
}

/// What the beginning of `text` says.
fn link_of(text: &str) -> Link {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    if !text.is_ascii() && WIDE_FOLLOWING.iter().any(|word| text.starts_with(word)) {
        return Link::Sequence;
    }
    if !text.is_ascii() && WIDE_REFERRING.iter().any(|word| text.starts_with(word)) {
        return Link::Reference;
    }
    let Some(word) = text.split(|c: char| !c.is_alphanumeric()).next().filter(|word| word.len() <= 14) else {
        return Link::None;
    };
    let word = word.to_lowercase();
    let is_phrase = |phrase: &&str| {
        let head = text.get(..phrase.len()).unwrap_or_default();
        head.to_lowercase() == **phrase
    };
    if REFERRING.contains(&word.as_str()) {
        Link::Reference
    } else if FOLLOWING.contains(&word.as_str()) || PHRASES.iter().any(is_phrase) {
        Link::Sequence
    } else {
        Link::None
    }
}

fn facts_in<'a>(view: &TextView<'a>, edu: &Edu) -> impl Iterator<Item = &'a Fact> {
    let Span { start, end } = edu.span;
    let facts = view.units.get(edu.unit).map(|unit| view.facts_of(unit)).unwrap_or_default();
    let first = facts.partition_point(|fact| fact.span.start < start);
    facts.iter().skip(first).take_while(move |fact| fact.span.start < end)
}

fn cues_in<'a>(view: &TextView<'a>, edu: &Edu) -> impl Iterator<Item = &'a Cue> {
    let Span { start, end } = edu.span;
    let cues = view.units.get(edu.unit).map(|unit| view.cues_of(unit)).unwrap_or_default();
    let first = cues.partition_point(|cue| cue.at < start);
    cues.iter().skip(first).take_while(move |cue| cue.at < end)
}

/// The EDUs of a text, unit by unit.
#[derive(Debug)]
pub(super) struct Discourse {
    edus: Vec<Edu>,
    /// Of every unit: its EDUs.
    of_unit: Vec<Range<usize>>,
    /// Of every unit: it begins with a word that stands for something.
    refers: Vec<bool>,
}

impl Discourse {
    pub(super) fn of(view: &TextView<'_>) -> Self {
        let edus = segment(view);
        let mut of_unit = vec![0..0; view.units.len()];
        for (index, edu) in edus.iter().enumerate() {
            if edu.is_head {
                of_unit[edu.unit].start = index;
            }
            of_unit[edu.unit].end = index + 1;
        }
        let refers = view.units.iter().map(|unit| link_of(unit.span.of(view.text)) == Link::Reference).collect();
        Self { edus, of_unit, refers }
    }

    /// The EDUs of a unit.
    pub(super) fn clauses(&self, unit: usize) -> impl Iterator<Item = (usize, &Edu)> {
        let range = self.of_unit.get(unit).cloned().unwrap_or_default();
        range.filter_map(|index| Some((index, self.edus.get(index)?)))
    }

    /// The units that `unit` refers to, the nearest first. What merely follows in time or for a reason can be read alone.
    pub(super) fn needed_by(&self, unit: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = self.of_unit.get(unit).map_or(0, |range| range.start);
        while let Some(parent) = self.edus.get(at).and_then(|edu| edu.depends_on)
            && found.len() < MAX_DEPTH
            && self.refers.get(self.edus[at].unit) == Some(&true)
        {
            found.extend(self.edus.get(parent).map(|edu| edu.unit));
            at = parent;
        }
        found
    }
}

/// True for a clause that adds nothing. A sentence that denies or obliges stays whole.
fn is_spare(view: &TextView<'_>, edu: &Edu) -> bool {
    let says = |cue: &Cue| !matches!(cue.kind, CueKind::Reasoning | CueKind::Filler);
    let binds = |cue: &Cue| matches!(cue.kind, CueKind::Negation | CueKind::Obligation);
    let cues = view.units.get(edu.unit).map(|unit| view.cues_of(unit)).unwrap_or_default();
    let judges = || {
        let text = edu.span.of(view.text).to_lowercase();
        VERDICTS.iter().any(|word| text.contains(word))
    };
    !edu.is_head
        && edu.n_chars >= MIN_DROPPED_CHARS
        && facts_in(view, edu).next().is_none()
        && !cues.iter().any(binds)
        && !cues_in(view, edu).any(says)
        && !judges()
}

#[cfg(test)]
mod tests {
    use super::{Discourse, Edu, segment};
    use crate::text::{Lexer, TextView};

    fn with<T>(text: &str, check: impl FnOnce(&TextView<'_>, &[Edu]) -> T) -> T {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        let view = lexer.view(text, &lexed);
        check(&view, &segment(&view))
    }

    #[test]
    fn edus_cover_every_unit_and_know_what_they_need() {
        let text = "# Plan\n\nUse pg, and then run it daily for a week. It fails, because the cache is cold. \
                    Therefore we warm it first.\n\nThe garden was quiet.";
        with(text, |view, edus| {
            let texts: Vec<&str> = edus.iter().map(|edu| edu.span.of(text)).collect();
            assert_eq!(texts[1..3], ["Use pg,", "and then run it daily for a week."]);
            assert_eq!(texts[3..5], ["It fails,", "because the cache is cold."]);
            let needs: Vec<Option<usize>> = edus.iter().map(|edu| edu.depends_on).collect();
            assert_eq!(needs, [None, None, Some(1), Some(1), Some(3), Some(3), None]);
            for (index, unit) in view.units.iter().enumerate() {
                let own: Vec<&Edu> = edus.iter().filter(|edu| edu.unit == index).collect();
                assert_eq!(own[0].span.start, unit.span.start);
                assert_eq!(own[own.len() - 1].span.end, unit.span.end);
            }
        });
    }

    #[test]
    fn only_clauses_that_add_nothing_are_spare() {
        let spare = |text: &str| {
            with(text, |view, _| {
                let discourse = Discourse::of(view);
                discourse.clauses(0).filter(|(_, edu)| edu.is_spare).count()
            })
        };
        assert_eq!(spare("Restart KMS-7781, because the garden is rather quiet today."), 1);
        assert_eq!(spare("Restart the pool, because KMS-7781 is rather quiet today."), 0);
        assert_eq!(spare("Restart the pool, because it does not answer any more."), 0);
        assert_eq!(spare("He said it holds, which turned out to be wrong in the end."), 0);
    }
}
