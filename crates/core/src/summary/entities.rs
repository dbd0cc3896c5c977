//! The list of facts behind a summary that the summary itself does not show.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use memchr::memmem;

use super::harness;
use super::score::Spoken;
use crate::text::FactKind;

/// A fact longer than this says more than a list should.
pub(super) const MAX_ENTITY_CHARS: usize = 60;
/// The list takes at most this share of the text it stands for.
const MAX_SHARE: usize = 4;

struct Candidate<'a> {
    rank: u8,
    n_seen: usize,
    first: usize,
    text: &'a str,
}

/// The most telling facts of `texts` that `visible` does not contain: one per 200 characters of source, 3 to 15.
#[must_use]
pub fn entities(texts: &[Spoken<'_>], visible: &str) -> Vec<String> {
    let n_chars: usize = texts.iter().map(|text| text.view.counts.chars as usize).sum();
    let cap = ((n_chars + 100) / 200).clamp(3, 15);
    let mut budget = n_chars / MAX_SHARE;
    let mut picked: Vec<Candidate<'_>> = Vec::new();
    for candidate in ranked(texts) {
        let cost = candidate.text.chars().count() + 2;
        let known = memmem::find(visible.as_bytes(), candidate.text.as_bytes()).is_some()
            || picked.iter().any(|other| other.text.contains(candidate.text));
        if !known && cost <= budget {
            budget -= cost;
            picked.push(candidate);
            if picked.len() == cap {
                break;
            }
        }
    }
    picked.sort_by_key(|candidate| candidate.first);
    picked.into_iter().map(|candidate| candidate.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The `n` most telling facts of `texts` in their order, each once.
pub(super) fn most_telling(texts: &[Spoken<'_>], n: usize) -> Vec<String> {
    let mut picked: Vec<Candidate<'_>> = Vec::new();
    for candidate in ranked(texts) {
        if picked.len() < n && !picked.iter().any(|other| other.text.contains(candidate.text)) {
            picked.push(candidate);
        }
    }
    picked.sort_by_key(|candidate| candidate.first);
    picked.into_iter().map(|candidate| candidate.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn ranked<'a>(texts: &[Spoken<'a>]) -> Vec<Candidate<'a>> {
    let mut by_key: HashMap<u64, usize, FixedState> = HashMap::default();
    let mut found: Vec<Candidate<'a>> = Vec::new();
    for Spoken { view, voice, .. } in texts {
        let noise = if voice.may_be_injected() { harness::noise(view) } else { Vec::new() };
        for fact in view.facts {
            let next_noise = noise.partition_point(|span| span.end <= fact.span.start);
            if noise.get(next_noise).is_some_and(|span| span.start <= fact.span.start) {
                continue;
            }
            let rank = rank(fact.kind);
            let text = fact.span.of(view.text);
            if rank == 0 || text.len() > 4 * MAX_ENTITY_CHARS || text.chars().count() > MAX_ENTITY_CHARS {
                continue;
            }
            let next = found.len();
            let slot = *by_key.entry(fact.key).or_insert(next);
            if slot == next {
                found.push(Candidate { rank, n_seen: 0, first: next, text });
            }
            found[slot].n_seen += 1;
        }
    }
    found.sort_by_key(|candidate| {
        (std::cmp::Reverse(candidate.rank), std::cmp::Reverse(candidate.n_seen.min(4)), candidate.first)
    });
    found
}

/// How much a fact tells without its sentence; 0 keeps it out of the list.
fn rank(kind: FactKind) -> u8 {
    match kind {
        FactKind::Ticket | FactKind::Money => 9,
        FactKind::FileRef | FactKind::Path | FactKind::Host | FactKind::Ip => 8,
        FactKind::Version | FactKind::Camel | FactKind::Pascal | FactKind::Snake | FactKind::Screaming => 7,
        FactKind::Date | FactKind::Email | FactKind::Phone | FactKind::Alphanumeric | FactKind::Hash => 6,
        FactKind::Url | FactKind::Kebab | FactKind::Quantity | FactKind::Percent => 5,
        FactKind::Name | FactKind::Time => 4,
        FactKind::Acronym => 3,
        FactKind::Vowelless => 2,
        FactKind::Number | FactKind::Quoted | FactKind::CodeSpan => 0,
    }
}
