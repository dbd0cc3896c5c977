//! Neighbours that belong together become one: a question with its answer, a request with what was done, a correction
//! with what it corrects, a statement with its confirmation. Knows who says what to whom; refuses to know how a chain
//! is told.
//!
//! A chain is told in one message in the place and the role of its first one. Where speakers take turns, a question
//! and its answer alone would leave the user twice in a row; such a chain ends with the user's reaction: a
//! confirmation, a correction or a further question, which the message behind the chain answers.

use super::talk::{self, may_vanish};
use super::{GroupKind, Plan, Stage, View};
use crate::model::{FlowKind, Role};
use crate::text::similarity::Terms;
use crate::text::{CueKind, TextView, Unit, announces, ask, corrects, is_confirmation, is_question, reports_deed};

/// What is confirmed has more characters.
const MIN_SUBSTANCE: usize = 200;
/// A further question with fewer characters needs no common word: "And in Basel?"
const MAX_ELLIPSIS: usize = 40;
/// What is done is said within so many sentences.
const MAX_DEED_UNITS: usize = 3;
/// What a user says last with fewer characters is told whole.
const MAX_UNCUT: usize = 240;
/// What a chain adds: labels, arrows, brackets.
const FRAME_CHARS: usize = 50;
/// Share of its members that a chain may take by estimate; above, it would be taken back.
const MAX_SHARE: f64 = 0.8;

/// Claims chains of two to four neighbours.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chain;

impl Stage for Chain {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        // Only neighbours of one name become a chain: among many speakers that is hardly anybody.
        let name = |index: usize| view.conversation.messages.get(index).map(|message| &message.name);
        let may_chain = |index: usize| {
            name(index) == name(index + 1) || index.checked_sub(1).is_some_and(|before| name(index) == name(before))
        };
        let turn = |index: usize| {
            let text = if may_chain(index) { talk::text(view, plan, index) } else { None };
            Turn::of(view, plan, index, text?)
        };
        let turns: Vec<Option<Turn<'_>>> = (0..view.len()).map(turn).collect();
        let mut at = 0;
        while at + 1 < turns.len() {
            let found = chain_at(view, &turns, at);
            at += match found {
                Some((n_members, kind)) if plan.group((at..at + n_members).collect(), GroupKind::Flow(kind)) => {
                    n_members
                }
                _ => 1,
            };
        }
    }
}

/// What a message does in the talk.
struct Turn<'a> {
    text: TextView<'a>,
    is_user: bool,
    n_chars: usize,
    /// Stands for itself by any other stage.
    is_free: bool,
    /// Wants something of the other side.
    asks: bool,
    /// Its last sentence waits for an answer.
    waits: bool,
    confirms: bool,
    /// Nothing but courtesies: "You're welcome!"
    is_courtesy: bool,
    /// Says something that is no question and no mere announcement.
    answers: bool,
    /// Reports a deed.
    reports: bool,
}

impl<'a> Turn<'a> {
    fn of(view: &View<'a>, plan: &Plan, index: usize, text: TextView<'a>) -> Option<Self> {
        let is_user = match view.conversation.messages[index].role {
            Role::User => true,
            Role::Assistant => false,
            _ => return None,
        };
        let has = |unit: &Unit, kind: CueKind| text.cues_of(unit).iter().any(|cue| cue.kind == kind);
        let says = |unit: &&Unit| !has(unit, CueKind::Filler);
        let words = |unit: &Unit| unit.span.of(text.text);
        let confirms = is_confirmation(text.text);
        let statements = || text.units.iter().filter(says).filter(|unit| !is_question(words(unit)));
        let reports = |unit: &Unit| reports_deed(words(unit), has(unit, CueKind::Negation));
        let n_statements = statements().take(MAX_DEED_UNITS).count();
        let only_announces =
            n_statements < MAX_DEED_UNITS && statements().next().is_some_and(|unit| announces(words(unit)));
        let waits = text.units.iter().rfind(says).is_some_and(|unit| ask(words(unit)).is_some());
        Some(Self {
            text,
            is_user,
            n_chars: view.chars(index),
            is_free: plan.is_free(index),
            asks: !confirms && text.units.iter().filter(says).any(|unit| ask(words(unit)).is_some()),
            waits,
            confirms,
            is_courtesy: !text.units.is_empty() && text.units.iter().all(|unit| has(unit, CueKind::Filler)),
            answers: !confirms && !only_announces && n_statements > 0,
            // What waits for a word is not done yet.
            reports: !waits && statements().take(MAX_DEED_UNITS).any(reports),
        })
    }

    /// Says something about the same.
    fn meets(&self, other: &Self) -> bool {
        Terms::of([self.text]).in_common(&Terms::of([other.text])) > 0
    }
}

/// The number of members and the kind of the longest chain that begins at `at`.
fn chain_at(view: &View<'_>, turns: &[Option<Turn<'_>>], at: usize) -> Option<(usize, FlowKind)> {
    let name = |index: usize| &view.conversation.messages[index].name;
    let turn = |index: usize| turns.get(index)?.as_ref().filter(|_| name(index) == name(at));
    let (first, second) = (turn(at)?, turn(at + 1)?);
    let (kind, is_whole) = pair(first, second)?;
    let mut members = vec![first, second];
    if let Some(third) = turn(at + 2).filter(|third| follows(kind, &members, third)) {
        members.push(third);
        let fourth =
            turn(at + 3).filter(|fourth| third.confirms && third.is_user && !fourth.is_user && fourth.is_courtesy);
        members.extend(fourth);
    }
    let shortest = if is_whole { 2 } else { 3 };
    (shortest..=members.len())
        .rev()
        .find(|&n_members| may_vanish(view, at, at + n_members - 1) && saves(&members[..n_members]))
        .map(|n_members| (n_members, kind))
}

/// What two neighbours are together, and whether that needs no third.
fn pair(first: &Turn<'_>, second: &Turn<'_>) -> Option<(FlowKind, bool)> {
    if !first.confirms && corrects(&second.text, &first.text) && first.meets(second) {
        return Some((FlowKind::Correction, true));
    }
    let is_substance = first.n_chars > MIN_SUBSTANCE;
    match (first.is_user, second.is_user) {
        (true, false) if first.asks && second.reports => Some((FlowKind::Request, true)),
        (true, false) if first.asks && second.answers => Some((FlowKind::Qa, true)),
        (true, false) | (false, true) if is_substance && second.confirms && !first.waits => {
            Some((FlowKind::Acknowledgment, true))
        }
        // A statement and what it gets for an answer are a chain when that is confirmed.
        (true, false) if second.answers && second.n_chars > MIN_SUBSTANCE => Some((FlowKind::Acknowledgment, false)),
        _ => None,
    }
}

/// True when `third` goes on with what the two before it say.
fn follows(kind: FlowKind, before: &[&Turn<'_>], third: &Turn<'_>) -> bool {
    let (first, second) = (before[0], before[1]);
    match (kind, first.is_user, second.is_user) {
        // The reply to a confirmation or to a correction.
        (FlowKind::Acknowledgment, false, true) => !third.is_user && third.is_courtesy,
        (FlowKind::Correction, false, true) => !third.is_user && (third.answers || third.confirms || third.is_courtesy),
        (FlowKind::Acknowledgment, true, false) if second.confirms => false,
        (FlowKind::Acknowledgment | FlowKind::Correction, true, false) => {
            third.is_user && third.confirms && !second.waits
        }
        (FlowKind::Qa | FlowKind::Request, ..) => {
            let goes_on = || third.n_chars <= MAX_ELLIPSIS || third.meets(second) || third.meets(first);
            // What was waited for comes.
            let replies = second.waits || third.confirms;
            third.is_user && (replies || (third.asks || corrects(&third.text, &second.text)) && goes_on())
        }
        _ => false,
    }
}

/// True when telling the members together is likely to save enough: short ones are told whole.
fn saves(members: &[&Turn<'_>]) -> bool {
    let last = members.len() - 1;
    let told: usize = members.iter().enumerate().map(|(at, turn)| told_chars(turn, at == last)).sum();
    let n_chars: usize = members.iter().map(|turn| turn.n_chars).sum();
    ((told + FRAME_CHARS) as f64) < n_chars as f64 * MAX_SHARE
}

fn told_chars(turn: &Turn<'_>, is_last: bool) -> usize {
    match turn.n_chars {
        _ if turn.confirms || turn.is_courtesy => 0,
        n_chars if !turn.is_free || is_last && turn.is_user && n_chars < MAX_UNCUT => n_chars,
        n_chars => (n_chars * 2 / 5).max((n_chars * 3 / 5).min(200)).min(800),
    }
}
