//! A chain of neighbours told as one: `Q: … → A: …`. Takes the best units of each message, short ones whole. Knows the
//! kind of the chain and who speaks; refuses to know why the messages are one.

use super::budget::{Style, budget_of};
use super::draft::{Draft, Proposal, Wrap};
use super::entities::entities;
use super::packing::Keys;
use super::prose::{extract, shorten, shows_best_unit, summarize};
use super::score::{Spoken, Voice};
use crate::model::{CompressionDepth, FlowKind, marker};
use crate::text::{Ask, CueKind, Unit, ask, is_confirmation, plain};

const ARROW: &str = " → ";
/// Shorter messages are told whole.
const MAX_WHOLE: usize = 120;
/// A longer one whose best unit would not fit is told whole as well.
const MAX_UNCUT: usize = 240;
/// What was corrected is told in so many characters.
const MAX_CORRECTED: usize = 160;

/// The chain of `texts` as one summary: `[summary: <chain> (<n> messages, <kind>)]`. `None` for fewer than two texts.
#[must_use]
pub fn chain(kind: FlowKind, texts: &[Spoken<'_>], wrap: &Wrap, style: Style) -> Option<Proposal> {
    let [first, second, rest @ ..] = texts else { return None };
    if style.depth == CompressionDepth::Aggressive {
        return Some(summarize(texts, wrap, style, None));
    }
    let mut telling = Telling { body: Draft::default(), shown: Keys::default(), style };
    match kind {
        FlowKind::Qa => {
            telling.piece("Q: ", first);
            telling.piece(" → A: ", second);
        }
        FlowKind::Request => {
            telling.piece("Request: ", first);
            telling.piece(ARROW, second);
        }
        FlowKind::Correction => {
            telling.piece("Correction: ", second);
            telling.corrected(first);
        }
        FlowKind::Acknowledgment => {
            telling.piece("", first);
            if !adds_nothing(second) {
                telling.piece(ARROW, second);
            }
        }
    }
    rest.iter().filter(|text| !adds_nothing(text)).for_each(|text| telling.piece(label(text), text));
    let confirms = |text: &Spoken<'_>| is_confirmation(text.view.covered());
    if kind == FlowKind::Acknowledgment {
        telling.body.say(" (acknowledged)");
    } else if rest.iter().any(confirms) {
        telling.body.say(if kind == FlowKind::Request { " → confirmed" } else { " (confirmed)" });
    }
    let entities = entities(texts, &telling.body.text);
    telling.body.say(&marker::chain_suffix(texts.len(), kind));
    let wrap = Wrap { n_messages: 1, ..wrap.clone() };
    Some(Proposal::summary(telling.body, &wrap, entities))
}

/// Nothing but a confirmation or courtesies.
fn adds_nothing(spoken: &Spoken<'_>) -> bool {
    let view = &spoken.view;
    let is_filler = |unit: &Unit| view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler);
    is_confirmation(view.covered()) || !view.units.is_empty() && view.units.iter().all(is_filler)
}

/// What a later member of a chain is.
fn label(spoken: &Spoken<'_>) -> &'static str {
    let view = &spoken.view;
    let corrects = |unit: &Unit| view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Correction);
    if view.units.first().is_some_and(corrects) {
        return " → Correction: ";
    }
    let asked = || view.units.iter().rev().find_map(|unit| ask(unit.span.of(view.text)));
    match (spoken.voice, asked()) {
        (Voice::Task | Voice::User, Some(Ask::Question)) => " → Q: ",
        (Voice::Task | Voice::User, Some(Ask::Request)) => " → Request: ",
        _ => ARROW,
    }
}

struct Telling {
    body: Draft,
    shown: Keys,
    style: Style,
}

impl Telling {
    /// Appends what one message says.
    fn piece(&mut self, label: &str, spoken: &Spoken<'_>) {
        self.body.say(label);
        let n_chars = spoken.view.counts.chars as usize;
        if n_chars <= MAX_WHOLE || n_chars < MAX_UNCUT && !shows_best_unit(spoken, self.style) {
            let facts = spoken.view.facts.iter().map(|fact| fact.key);
            self.shown.extend(facts);
            self.body.quote(&plain(spoken.view.covered()));
        } else {
            extract(spoken, budget_of(spoken, self.style), &mut self.shown, &mut self.body);
        }
    }

    /// Appends what was corrected, briefly: facts of the correction itself are shown already.
    fn corrected(&mut self, spoken: &Spoken<'_>) {
        self.body.say(" (corrects: ");
        if spoken.view.counts.chars as usize <= MAX_CORRECTED {
            shorten(&plain(spoken.view.covered()), MAX_CORRECTED, &mut self.body);
        } else {
            extract(spoken, MAX_CORRECTED.min(budget_of(spoken, self.style)), &mut self.shown, &mut self.body);
        }
        self.body.say(")");
    }
}
