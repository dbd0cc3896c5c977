//! Rule 8: what a later message corrects becomes a reference to it, and the correction stays. Time and memory are
//! near-linear: the earlier message is found by an index of words, of which each looks back a bounded way.
//!
//! Only talk corrects and is corrected: never what tools print, never what a summary would destroy. Who speaks for
//! himself corrects himself; a user also corrects the assistant.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use super::classify::{Depth, judge};
use super::{Claim, Plan, Stage, View};
use crate::model::{Message, Reason, Role, marker};
use crate::text::similarity::push_words;
use crate::text::{Correction, CueKind, FoundCorrection, TextView, Unit, correction, fold_key, is_question};

/// Shorter messages say too little to be about something.
const MIN_CHARS: usize = 50;
/// With fewer messages all words weigh the same.
const MIN_MESSAGES: usize = 3;
/// A user who corrects an assistant has to share more words with it.
const ACROSS_ROLES: f64 = 1.5;
/// So many words of the correcting sentences must be in what they correct.
const MIN_SHARED: usize = 2;
/// Units from the signal on that must be about the corrected message.
const N_LEAD: usize = 2;
/// A message with more distinct words is no correction.
const MAX_TERMS: usize = 400;
/// So many of the messages before a correction that share a word are looked at.
const MAX_BACK: usize = 64;
/// Units at the end of a message in which a question waits for an answer.
const N_ASKING: usize = 2;

/// Words that only say that something is corrected.
static SIGNALS: LazyLock<[u64; 8]> =
    LazyLock::new(|| ["actually", "correction", "instead", "sorry", "wait", "ignore", "forget", "meant"].map(fold_key));

/// Claims messages that a later one corrects, and the corrections. Runs after duplicates were found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Supersede;

impl Stage for Supersede {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let corrections = corrections(view);
        if corrections.is_empty() {
            return;
        }
        let keeps_all = has_earlier_references(view);
        let mut topics = Topics::of(view);
        // From the end: a reference points at the last word on the matter, which stays.
        for &(index, found) in corrections.iter().rev() {
            if keeps_all {
                plan.pin(index, Reason::Correction);
            }
            let Some(visible) = visible(plan, index) else { continue };
            let Some(corrected) = topics.corrected_by(view, index, found) else { continue };
            plan.pin(index, Reason::Correction);
            if plan.is_free(corrected) && may_go(view, corrected) && !waits(view, corrected) {
                plan.set(corrected, Claim::SupersededBy { target: visible, signal: found.kind });
            }
        }
    }
}

/// Messages that open with a correction, in order.
fn corrections(view: &View<'_>) -> Vec<(usize, FoundCorrection)> {
    let found = |index: usize| {
        let text = said(view, index)?;
        let found = correction(&text, view.speaker(index))?;
        (!(found.may_answer && answers(view, index))).then_some((index, found))
    };
    (1..view.len()).filter_map(found).collect()
}

/// The first text of a message of talk; `None` for tools, systems and what stands for others.
fn said<'a>(view: &View<'a>, index: usize) -> Option<TextView<'a>> {
    let message = &view.conversation.messages[index];
    let is_talk = !matches!(message.role, Role::Tool | Role::Function | Role::System | Role::Developer)
        && message.tool_call_id.is_none()
        && message.provenance.is_none();
    let text = view.texts(index).next().filter(|_| is_talk)?;
    (!marker::stands_for_others(text.text)).then_some(text)
}

/// True when somebody else asked something just before.
fn answers(view: &View<'_>, index: usize) -> bool {
    let role = &view.conversation.messages[index].role;
    let before = (0..index).rev().filter_map(|before| Some((before, said(view, before)?)));
    before.take(1).any(|(before, text)| {
        let asks = text.units.iter().rev().take(N_ASKING).any(|unit| is_question(unit.span.of(text.text)));
        view.conversation.messages[before].role != *role && asks
    })
}

/// References of earlier rounds may point at corrections under names that nobody knows any more.
fn has_earlier_references(view: &View<'_>) -> bool {
    let is_reference = |text: &str| text.starts_with(marker::SUPERSEDED) && marker::stands_for_others(text);
    view.conversation.messages.iter().flat_map(Message::texts).any(is_reference)
}

/// The message that shows what correction `index` says.
fn visible(plan: &Plan, index: usize) -> Option<usize> {
    match plan.claim_of(index) {
        None | Some(Claim::Keep(_)) => Some(index),
        Some(Claim::SupersededBy { target, .. }) => Some(*target),
        Some(Claim::DuplicateOf(target)) => Some(*target).filter(|target| *target > index),
        Some(Claim::SimilarTo { .. } | Claim::Group(_)) => None,
    }
}

/// True for a message that ends with a question: a question is answered, not corrected. "Could you …?" of a user asks
/// for a deed.
fn waits(view: &View<'_>, index: usize) -> bool {
    const MODALS: [&str; 6] = ["can", "could", "would", "will", "please", "may"];
    let Some(text) = view.text(index) else { return false };
    let is_filler = |unit: &&Unit| text.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler);
    let last = text.units.iter().rev().find(|unit| !is_filler(unit)).map_or("", |unit| unit.span.of(text.text));
    let is_assistant = view.conversation.messages[index].role == Role::Assistant;
    let first = last.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()).unwrap_or_default();
    is_question(last) && (is_assistant || !MODALS.iter().any(|modal| first.eq_ignore_ascii_case(modal)))
}

/// Prose, or prose around fenced code: nothing that must stay as it is.
fn may_go(view: &View<'_>, index: usize) -> bool {
    let Some(text) = view.text(index) else { return false };
    let is_prose = |passage: &TextView<'_>| {
        let verdict = judge(passage, Depth::Decide);
        !verdict.is_hard() && !verdict.is_output
    };
    if text.fences.is_empty() {
        return is_prose(&text);
    }
    let mut passages =
        text.between_fences().map(|(_, prose)| text.passage(prose)).filter(|one| !one.covered().is_empty());
    let mut is_any = false;
    passages.all(|passage| {
        is_any = true;
        is_prose(&passage)
    }) && is_any
}

/// How much more the correction has to share with the message, or `None` when it cannot be one of it.
fn factor(view: &View<'_>, correction: usize, earlier: usize) -> Option<f64> {
    let (by, of) = (&view.conversation.messages[correction], &view.conversation.messages[earlier]);
    let is_unknown = by.role == Role::Missing || of.role == Role::Missing;
    match (&by.role, &of.role) {
        (by_role, of_role) if by_role == of_role => (by.name == of.name).then_some(1.0),
        (Role::User, Role::Assistant) if by.name.is_none() => Some(ACROSS_ROLES),
        _ => (is_unknown && by.name == of.name).then_some(1.0),
    }
}

/// The words of some units, but for those that only say that something is corrected; there are none of fenced blocks.
fn push_terms<'u>(text: &TextView<'_>, units: impl IntoIterator<Item = &'u Unit>, keys: &mut Vec<u64>) {
    let first = keys.len();
    units.into_iter().for_each(|unit| push_words(unit.span.of(text.text), keys));
    let mut own = keys.split_off(first);
    own.retain(|key| !SIGNALS.contains(key));
    keys.append(&mut own);
}

/// The words of the messages and where they stand.
struct Topics {
    ids: HashMap<u64, u32, FixedState>,
    /// Distinct words per message, sorted; `bounds[i]..bounds[i + 1]` are those of message `i`.
    terms: Vec<u32>,
    bounds: Vec<usize>,
    /// Eligible messages per word, ascending.
    postings: Vec<Vec<u32>>,
    weights: Vec<f64>,
    /// Sum of the weights per message.
    totals: Vec<f64>,
    /// What a correction shares with each message.
    shared: Vec<f64>,
    touched: Vec<u32>,
}

impl Topics {
    fn of(view: &View<'_>) -> Self {
        let mut ids: HashMap<u64, u32, FixedState> = HashMap::default();
        let (mut terms, mut bounds) = (Vec::new(), vec![0]);
        let mut postings: Vec<Vec<u32>> = Vec::new();
        let mut n_eligible = 0;
        let mut keys = Vec::new();
        for index in 0..view.len() {
            keys.clear();
            if let Some(text) = said(view, index) {
                push_terms(&text, text.units, &mut keys);
            }
            let first = terms.len();
            for &key in &keys {
                let next = ids.len() as u32;
                terms.push(*ids.entry(key).or_insert(next));
            }
            let mut own = terms.split_off(first);
            own.sort_unstable();
            own.dedup();
            terms.append(&mut own);
            bounds.push(terms.len());
            postings.resize(ids.len(), Vec::new());
            if !keys.is_empty() && view.chars(index) >= MIN_CHARS {
                n_eligible += 1;
                for &term in &terms[first..] {
                    postings[term as usize].push(index as u32);
                }
            }
        }
        let weight = |posting: &Vec<u32>| {
            if n_eligible < MIN_MESSAGES {
                1.0
            } else {
                (1.0 + f64::from(n_eligible as u32) / posting.len().max(1) as f64).ln()
            }
        };
        let weights: Vec<f64> = postings.iter().map(weight).collect();
        let total = |range: &[usize]| terms[range[0]..range[1]].iter().map(|&term| weights[term as usize]).sum();
        let totals: Vec<f64> = bounds.windows(2).map(total).collect();
        let shared = vec![0.0; view.len()];
        Self { ids, terms, bounds, postings, weights, totals, shared, touched: Vec::new() }
    }

    fn terms_of(&self, index: usize) -> &[u32] {
        &self.terms[self.bounds[index]..self.bounds[index + 1]]
    }

    /// The earlier message that `index` corrects: the one most about the same, the nearest of several, and only when
    /// the correcting sentences themselves speak of it.
    fn corrected_by(&mut self, view: &View<'_>, index: usize, found: FoundCorrection) -> Option<usize> {
        let (start, end) = (self.bounds[index], self.bounds[index + 1]);
        if end - start > MAX_TERMS {
            return None;
        }
        for at in start..end {
            let term = self.terms[at] as usize;
            let posting = &self.postings[term];
            let n_before = posting.partition_point(|&other| (other as usize) < index);
            for &other in &posting[n_before.saturating_sub(MAX_BACK)..n_before] {
                let shared = &mut self.shared[other as usize];
                if *shared == 0.0 {
                    self.touched.push(other);
                }
                *shared += self.weights[term];
            }
        }
        let mut best: Option<(f64, usize)> = None;
        for other in self.touched.drain(..) {
            let other = other as usize;
            let shared = std::mem::take(&mut self.shared[other]);
            let similarity = 2.0 * shared / (self.totals[index] + self.totals[other]);
            let is_better = best.is_none_or(|best| (similarity, other) > best);
            if is_better
                && let Some(factor) = factor(view, index, other)
                && similarity >= view.options.contradiction_topic_threshold * factor
            {
                best = Some((similarity, other));
            }
        }
        let (_, corrected) = best?;
        let is_about =
            found.kind == Correction::Retraction || self.n_in_lead(view, index, found, corrected) >= MIN_SHARED;
        is_about.then_some(corrected)
    }

    /// Distinct words of the correcting sentences that are in `corrected`.
    fn n_in_lead(&self, view: &View<'_>, index: usize, found: FoundCorrection, corrected: usize) -> usize {
        let Some(text) = said(view, index) else { return 0 };
        let mut keys = Vec::new();
        let lead = text.units.iter().skip(found.unit).take(N_LEAD);
        push_terms(&text, lead, &mut keys);
        keys.sort_unstable();
        keys.dedup();
        let other = self.terms_of(corrected);
        keys.iter().filter_map(|key| self.ids.get(key)).filter(|term| other.binary_search(term).is_ok()).count()
    }
}
