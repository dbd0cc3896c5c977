//! Coreference: where a kept message uses an identifier that only a summarised one introduced, the summary gets the
//! sentence that introduced it. Knows facts and units; writes one prefix per summary.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::fill::Filler;
use super::unit::{Filled, State, Unit};
use crate::model::{Action, NewBody};
use crate::summary::Draft;
use crate::text::{Fact, FactKind, cut};

/// Definitions in front of one summary.
const MAX_DEFINITIONS: usize = 5;
/// Sentences that are looked at for them: some are shown already.
const MAX_CANDIDATES: usize = 40;
/// Characters of a definition; longer sentences are cut.
const MAX_CHARS: usize = 80;

/// Puts `[context: …]` in front of the summaries that need it and stay short enough.
pub(super) fn define(filler: &mut Filler<'_>, units: &mut [Unit]) {
    if !filler.view.options.coreference || units.iter().all(|unit| unit.filled().is_none()) {
        return;
    }
    let wanted = wanted(filler, units);
    for (at, definitions) in wanted {
        let members = units[at].members.clone();
        let State::Replaced(filled) = &units[at].state else { continue };
        if let Some(longer) = with_context(filler, filled, &members, &definitions) {
            units[at] = filler.unit(members, State::Replaced(longer));
        }
    }
}

/// Per unit the sentences that introduce what kept messages use later, in text order, each once.
fn wanted(filler: &mut Filler<'_>, units: &[Unit]) -> Vec<(usize, Vec<String>)> {
    let view = filler.view;
    let mut unit_of: Vec<usize> = vec![0; view.len()];
    for (at, unit) in units.iter().enumerate() {
        unit.members.iter().for_each(|&index| unit_of[index] = at);
    }
    let is_kept = |index: usize| units[unit_of[index]].filled().is_none();
    // Where each identifier stands first; `None` once a definition was asked for.
    let mut first: HashMap<u64, Option<(usize, u32)>, FixedState> = HashMap::default();
    let mut wanted: Vec<(usize, u32)> = Vec::new();
    for index in 0..view.len() {
        for text in view.texts(index) {
            for fact in text.facts.iter().filter(|fact| is_identifier(fact)) {
                use_of(fact, index, is_kept(index), &mut first, &mut wanted);
            }
        }
        for call in &view.conversation.messages[index].tool_calls {
            filler.lexer.clear();
            let lexed = filler.lexer.lex_facts(&call.arguments);
            let text = filler.lexer.view(&call.arguments, &lexed);
            for fact in text.facts.iter().filter(|fact| is_identifier(fact)) {
                use_of(fact, index, true, &mut first, &mut wanted);
            }
        }
    }
    wanted.retain(|&(index, _)| !is_kept(index));
    wanted.sort_by_key(|&(index, at)| (unit_of[index], index, at));
    let mut by_unit: Vec<(usize, Vec<String>)> = Vec::new();
    for (index, at) in wanted {
        let unit = unit_of[index];
        if by_unit.last().is_none_or(|(last, _)| *last != unit) {
            by_unit.push((unit, Vec::new()));
        }
        if let Some((_, sentences)) = by_unit.last_mut()
            && sentences.len() < MAX_CANDIDATES
            && let Some(sentence) = sentence(filler, index, at)
            && !sentences.contains(&sentence)
        {
            sentences.push(sentence);
        }
    }
    by_unit
}

fn use_of(
    fact: &Fact,
    index: usize,
    is_kept: bool,
    first: &mut HashMap<u64, Option<(usize, u32)>, FixedState>,
    wanted: &mut Vec<(usize, u32)>,
) {
    let slot = first.entry(fact.key).or_insert(Some((index, fact.span.start)));
    if let Some((defined, at)) = *slot
        && is_kept
        && defined < index
    {
        wanted.push((defined, at));
        *slot = None;
    }
}

fn is_identifier(fact: &Fact) -> bool {
    matches!(fact.kind, FactKind::Camel | FactKind::Pascal | FactKind::Snake | FactKind::Screaming)
}

/// The sentence of the only text of message `index` around the identifier at byte `at`; `None` where the identifier is
/// not in the part of it that can be shown.
fn sentence(filler: &Filler<'_>, index: usize, at: u32) -> Option<String> {
    let text = filler.view.text(index)?;
    let unit = text.units.get(text.units.partition_point(|unit| unit.span.end <= at))?;
    let first = text.facts.partition_point(|fact| fact.span.start < at);
    let identifier = text.facts.get(first).filter(|_| unit.span.start <= at)?.span.of(text.text);
    let mut flat = String::new();
    if cut::push_collapsed(&mut flat, beginning(unit.span.of(text.text))) > MAX_CHARS {
        flat = format!("{}...", cut::prefix(&flat, MAX_CHARS - 3));
    }
    flat.contains(identifier).then(|| flat.replace("] ", ") "))
}

/// As much of a sentence as tells how it begins and that it goes on.
fn beginning(sentence: &str) -> &str {
    let mut n_chars = 0;
    let mut is_long = |c: char| {
        n_chars += usize::from(!c.is_whitespace());
        n_chars > MAX_CHARS
    };
    match sentence.char_indices().find(|&(_, c)| is_long(c)) {
        Some((at, c)) => sentence.get(..at + c.len_utf8()).unwrap_or(sentence),
        None => sentence,
    }
}

/// The summary with as many definitions as leave it shorter than what it stands for.
fn with_context(filler: &Filler<'_>, filled: &Filled, members: &[usize], definitions: &[String]) -> Option<Filled> {
    let NewBody::Text(text) = &filled.body else { return None };
    let old = filled.drafts.first().filter(|_| filled.action == Action::Compressed && text.starts_with("[summary"))?;
    let unseen: Vec<&String> = definitions
        .iter()
        .filter(|words| !text.contains(words.trim_end_matches("...")))
        .take(MAX_DEFINITIONS)
        .collect();
    let is_shorter = |filled: &Filled| {
        let n_chars: usize = members.iter().map(|&index| filler.view.chars(index)).sum();
        filled.chars_out < n_chars && filler.saves_tokens(filled, members)
    };
    (1..=unseen.len()).rev().find_map(|n| {
        let mut draft = Draft::default();
        draft.say("[context: ");
        for (i, words) in unseen[..n].iter().enumerate() {
            draft.say(if i > 0 { " | " } else { "" });
            draft.quote(words);
        }
        draft.say("] ");
        draft.lead(old);
        Some(filler.filled(draft, filled.action, filled.reason, filled.provenance.clone())).filter(is_shorter)
    })
}
