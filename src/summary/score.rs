//! What a sentence is worth. The weights are those of the documented scorer, extended to the kinds of facts
//! that it cannot see; every kind of cue counts once.

use crate::text::{CueKind, Fact, FactKind, TextView, Unit, UnitKind};

/// More facts than these points make a list, not a better sentence.
const MAX_FACT_POINTS: i32 = 16;
/// Only a unit that is nothing but filler gets this.
pub(super) const FILLER: i32 = -10;

/// What a text opens with is what it is about, when it is more than a salutation.
const FIRST: i32 = 1;
/// Scraps of talk ("Thanks!", "Herr Präsident!"): fewer bytes than this, and neither a fact nor a cue in them.
const SCRAP_BYTES: usize = 22;
const MIN_FIRST_CHARS: u32 = 40;

/// The score of a unit. `is_new` says whether a fact counts: facts that the summary shows already do not.
pub(super) fn score(view: &TextView<'_>, unit: &Unit, is_new: impl Fn(&Fact) -> bool) -> i32 {
    let facts: i32 = view.facts_of(unit).iter().filter(|fact| is_new(fact)).map(|fact| points(fact.kind)).sum();
    let mut seen = [false; CueKind::COUNT];
    let mut cues = 0;
    for cue in view.cues_of(unit) {
        if !std::mem::replace(&mut seen[cue.kind as usize], true) {
            cues += match cue.kind {
                CueKind::Correction => 6,
                CueKind::Emphasis | CueKind::Decision => 4,
                CueKind::Reasoning | CueKind::Obligation | CueKind::Status => 3,
                CueKind::Negation => 2,
                CueKind::Question => 1,
                CueKind::Filler => FILLER,
            };
        }
    }
    let length = i32::from((40..=120).contains(&unit.n_chars)) * 2;
    let heading = if unit.kind == UnitKind::Heading { -2 } else { 0 };
    let is_first = view.units.first().is_some_and(|first| first.span == unit.span);
    let first = if is_first && unit.kind != UnitKind::Heading && unit.n_chars >= MIN_FIRST_CHARS { FIRST } else { 0 };
    let tells = || view.facts_of(unit).iter().any(|fact| fact.kind.is_precise()) || cues > 1;
    let scrap = if unit.span.len() < SCRAP_BYTES && !tells() { FILLER } else { 0 };
    facts.min(MAX_FACT_POINTS) + cues + length + heading + first + scrap
}

fn points(kind: FactKind) -> i32 {
    match kind {
        FactKind::Camel
        | FactKind::Pascal
        | FactKind::Snake
        | FactKind::Screaming
        | FactKind::Path
        | FactKind::Ticket
        | FactKind::Money => 3,
        FactKind::Quantity
        | FactKind::Vowelless
        | FactKind::FileRef
        | FactKind::Host
        | FactKind::Ip
        | FactKind::Version
        | FactKind::Date
        | FactKind::Percent
        | FactKind::Hash
        | FactKind::Alphanumeric
        | FactKind::Kebab
        | FactKind::Email
        | FactKind::Phone => 2,
        FactKind::Number
        | FactKind::Time
        | FactKind::Url
        | FactKind::Quoted
        | FactKind::CodeSpan
        | FactKind::Name
        | FactKind::Acronym => 1,
    }
}
