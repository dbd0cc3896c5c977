//! A chain of neighbours told as one: `Q: … → A: …`. Takes the best units of each message, short ones whole. Knows the
//! kind of the chain and who speaks; refuses to know why the messages are one.

use super::budget::{Style, budget_of};
use super::draft::{Draft, Proposal, Wrap, shorten};
use super::entities::entities;
use super::piece::{tell, tell_answer, tell_question};
use super::prose::{extract, summarize};
use super::spoken::{Keys, Spoken, Voice};
use crate::model::{CompressionDepth, FlowKind, marker};
use crate::text::similarity::Terms;
use crate::text::{Ask, CueKind, Unit, ask, begins_confirming, corrects, is_confirmation, plain};

const ARROW: &str = " → ";
/// What was corrected is told in so many characters.
const MAX_CORRECTED: usize = 160;

/// The chain of `texts` as one summary: `[summary: <chain> (<n> messages, <kind>)]`, with the facts alone at the
/// aggressive depth. `None` for fewer than two texts.
#[must_use]
pub fn chain(kind: FlowKind, texts: &[Spoken<'_>], wrap: &Wrap, style: Style) -> Option<Proposal> {
    let [first, second, rest @ ..] = texts else { return None };
    if style.depth == CompressionDepth::Aggressive {
        return Some(summarize(texts, wrap, style, None));
    }
    let mut telling = Telling { body: Draft::default(), shown: Keys::default(), style };
    match kind {
        FlowKind::Qa => {
            telling.say("Q: ", first, tell);
            telling.say(" → A: ", second, tell_answer);
        }
        FlowKind::Request => {
            telling.say("Request: ", first, tell);
            telling.say(ARROW, second, tell_answer);
        }
        FlowKind::Correction => {
            telling.say("Correction: ", second, tell_question);
            telling.corrected(first, second);
        }
        FlowKind::Acknowledgment => {
            telling.say("", first, tell);
            if !adds_nothing(second) {
                telling.say(ARROW, second, tell_answer);
            }
        }
    }
    for pair in texts.windows(2).skip(1).filter(|pair| !adds_nothing(&pair[1])) {
        let (label, how) = continuation(&pair[0], &pair[1]);
        telling.say(label, &pair[1], how);
    }
    let mut body = telling.body;
    if kind == FlowKind::Acknowledgment {
        body.say(" (acknowledged)");
    } else if rest.iter().any(|text| is_confirmation(text.view.covered())) {
        body.say(if kind == FlowKind::Request { " → confirmed" } else { " (confirmed)" });
    }
    let entities = entities(texts, &body.text);
    Some(Proposal::summary(body, wrap, entities).counted(marker::chain_suffix(texts.len(), kind)))
}

/// A way to tell a message.
type How = fn(&Spoken<'_>, Style, &mut Keys, &mut Draft);

/// Nothing but a confirmation or courtesies.
fn adds_nothing(spoken: &Spoken<'_>) -> bool {
    let view = &spoken.view;
    let is_filler = |unit: &Unit| view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler);
    is_confirmation(view.covered()) || !view.units.is_empty() && view.units.iter().all(is_filler)
}

/// What a later member of a chain is, and how it is told.
fn continuation(before: &Spoken<'_>, spoken: &Spoken<'_>) -> (&'static str, How) {
    let view = &spoken.view;
    if !matches!(spoken.voice, Voice::Task | Voice::User) {
        return (ARROW, tell_answer);
    }
    if corrects(view, &before.view) {
        return (" → Correction: ", tell_question);
    }
    let asked = || view.units.iter().rev().find_map(|unit| ask(unit.span.of(view.text)));
    match asked().filter(|_| !begins_confirming(view.covered())) {
        Some(Ask::Question) => (" → Q: ", tell_question),
        Some(Ask::Request) => (" → Request: ", tell_question),
        None => (ARROW, tell_question),
    }
}

struct Telling {
    body: Draft,
    shown: Keys,
    style: Style,
}

impl Telling {
    fn say(&mut self, label: &str, spoken: &Spoken<'_>, how: How) {
        self.body.say(label);
        how(spoken, self.style, &mut self.shown, &mut self.body);
    }

    /// Appends the sentence of `spoken` that `correction` is about, or the best ones.
    fn corrected(&mut self, spoken: &Spoken<'_>, correction: &Spoken<'_>) {
        self.body.say(" (corrects: ");
        let view = &spoken.view;
        let terms = Terms::of([correction.view]);
        let in_common = |index: &usize| Terms::of([view.passage(view.units[*index].span)]).in_common(&terms);
        let meant = (0..view.units.len()).rev().max_by_key(in_common).filter(|index| in_common(index) > 0);
        if view.counts.chars as usize <= MAX_CORRECTED {
            shorten(&plain(view.covered()), MAX_CORRECTED, &mut self.body);
        } else if let Some(index) = meant {
            shorten(&plain(view.units[index].span.of(view.text)), MAX_CORRECTED, &mut self.body);
        } else {
            extract(spoken, MAX_CORRECTED.min(budget_of(spoken, self.style)), &mut self.shown, &mut self.body);
        }
        self.body.say(")");
    }
}
