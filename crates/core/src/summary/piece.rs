//! What one message says inside a text that tells several: whole where it is short, else its best units. Knows one
//! text at a time; refuses to know what is told around it.

use super::budget::{Style, budget_of};
use super::draft::Draft;
use super::packing::GAP;
use super::prose::{self, MAX_UNCUT, extract, is_uncut};
use super::spoken::{Keys, Spoken};
use crate::text::{CueKind, Span, Unit, UnitKind, announces, is_question, plain};

/// Shorter messages are told whole.
const MAX_WHOLE: usize = 120;
/// The sentence that an answer begins with may take this much, whatever the budget.
const MAX_LEAD: usize = 200;
/// With less left behind it nothing follows.
const MIN_REST: usize = 60;

/// Appends what a message says.
pub(super) fn tell(spoken: &Spoken<'_>, style: Style, shown: &mut Keys, out: &mut Draft) {
    if !tell_whole(spoken, MAX_WHOLE, style, shown, out) {
        extract(spoken, budget_of(spoken, style), shown, out);
    }
}

/// The same for what is answered outside, which must not be cut where it is not long.
pub(super) fn tell_question(spoken: &Spoken<'_>, style: Style, shown: &mut Keys, out: &mut Draft) {
    if !tell_whole(spoken, MAX_UNCUT, style, shown, out) {
        extract(spoken, budget_of(spoken, style), shown, out);
    }
}

/// The same for an answer, which mostly gives itself in its first sentence and explains it then.
pub(super) fn tell_answer(spoken: &Spoken<'_>, style: Style, shown: &mut Keys, out: &mut Draft) {
    if tell_whole(spoken, MAX_WHOLE, style, shown, out) {
        return;
    }
    let budget = budget_of(spoken, style);
    // Where the caller's scorer decides, no sentence comes first by its place.
    let is_free = spoken.hints.entropy.is_none() && !spoken.hints.by_clauses;
    let Some(at) = lead(spoken, budget.max(MAX_LEAD)).filter(|_| is_free) else {
        return extract(spoken, budget, shown, out);
    };
    let view = &spoken.view;
    let unit = &view.units[at];
    out.quote(&plain(unit.span.of(view.text)));
    shown.extend(view.facts_of(unit).iter().map(|fact| fact.key));
    out.shows(view, unit);
    let left = budget.saturating_sub(unit.n_chars as usize + 1);
    let rest = view.passage(Span { start: unit.span.end, end: view.text.len() as u32 });
    if left < MIN_REST || rest.units.is_empty() {
        return;
    }
    let mut more = Draft::default();
    extract(&Spoken { view: rest, ..*spoken }, left, shown, &mut more);
    // What only could be cut is left out: the answer stands already.
    if more.text.ends_with("...") {
        return;
    }
    let next =
        rest.units.first().map(|unit| plain(unit.span.of(view.text)).split_whitespace().collect::<Vec<_>>().join(" "));
    out.say(if next.is_some_and(|next| more.text.starts_with(&next)) { " " } else { GAP });
    out.append(&more);
}

/// The first sentence that says something and fits.
fn lead(spoken: &Spoken<'_>, budget: usize) -> Option<usize> {
    let view = &spoken.view;
    let says = |unit: &Unit| {
        let text = unit.span.of(view.text);
        let is_filler = view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler);
        !is_filler && unit.kind != UnitKind::Heading && !is_question(text) && !announces(text)
    };
    let at = view.units.iter().position(says)?;
    let unit = &view.units[at];
    let is_sentence =
        unit.kind == UnitKind::Sentence && !unit.span.of(view.text).trim_end_matches('*').ends_with([':', '：']);
    (is_sentence && unit.n_chars as usize <= budget).then_some(at)
}

/// Tells a text of up to `max_chars` characters whole, and one that could only be cut.
fn tell_whole(spoken: &Spoken<'_>, max_chars: usize, style: Style, shown: &mut Keys, out: &mut Draft) -> bool {
    let is_whole = spoken.view.counts.chars as usize <= max_chars || is_uncut(spoken, style);
    if is_whole {
        prose::tell(spoken, shown, out);
    }
    is_whole
}
