//! The list of facts behind a summary that the summary itself does not show.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use memchr::memmem;

use super::harness;
use super::spoken::Spoken;
use crate::text::{FactKind, is_label};

/// A fact longer than this says more than a list should.
pub(super) const MAX_ENTITY_CHARS: usize = 60;
/// The list takes at most this share of the text it stands for.
const MAX_SHARE: usize = 4;

/// A fact that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    pub(super) text: String,
    /// Its place among the facts of the source: they are listed in this order.
    pub(super) place: usize,
}

struct Candidate<'a> {
    rank: u8,
    n_seen: usize,
    first: usize,
    text: &'a str,
}

impl Candidate<'_> {
    fn entity(&self) -> Entity {
        Entity { text: self.text.split_whitespace().collect::<Vec<_>>().join(" "), place: self.first }
    }
}

/// The facts of `texts` that `visible` does not contain, the most telling first: one per 200 characters of source, 3 to 15.
#[must_use]
pub fn entities(texts: &[Spoken<'_>], visible: &str) -> Vec<Entity> {
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
    picked.iter().map(Candidate::entity).collect()
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
    picked.iter().map(|candidate| candidate.entity().text).collect()
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
            let rank = worth(fact.kind).1;
            let text = fact.span.of(view.text);
            let is_label = || matches!(fact.kind, FactKind::Name | FactKind::Acronym) && is_label(view.text, fact.span);
            let is_long = || text.len() > 4 * MAX_ENTITY_CHARS || text.chars().count() > MAX_ENTITY_CHARS;
            if rank == 0 || is_long() || is_label() {
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

/// What a fact is worth in its sentence, and how much it tells without it; 0 keeps it out of the list.
pub(super) fn worth(kind: FactKind) -> (i32, u8) {
    match kind {
        FactKind::Ticket | FactKind::Money => (3, 9),
        FactKind::Path => (3, 8),
        FactKind::FileRef | FactKind::Host | FactKind::Ip => (2, 8),
        FactKind::Camel | FactKind::Pascal | FactKind::Snake | FactKind::Screaming => (3, 7),
        FactKind::Version => (2, 7),
        FactKind::Date | FactKind::Email | FactKind::Phone | FactKind::Alphanumeric | FactKind::Hash => (2, 6),
        FactKind::Kebab | FactKind::Quantity | FactKind::Percent => (2, 5),
        FactKind::Url => (1, 5),
        FactKind::Name | FactKind::Time => (1, 4),
        FactKind::Acronym => (1, 3),
        FactKind::Vowelless => (2, 2),
        FactKind::Number | FactKind::Quoted | FactKind::CodeSpan => (1, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::entities;
    use crate::summary::{Hints, Spoken, Voice};
    use crate::text::Lexer;

    fn listed(text: &str) -> Vec<String> {
        // As long as it takes for all of them.
        let text = format!("{text} {}", ".".repeat(900));
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(&text);
        let spoken = Spoken { view: lexer.view(&text, &lexed), voice: Voice::Other, hints: Hints::default() };
        let mut found = entities(&[spoken], "");
        found.sort_by_key(|entity| entity.place);
        found.into_iter().map(|entity| entity.text).collect()
    }

    #[test]
    fn contractions_titles_and_salutations_are_no_entities() {
        for text in [
            "and I'd say that I’d go, as She'd and We’ve said, and They’ll see, Don’t they",
            "but Mr and Mrs and the President were there, and so was Herr Präsident",
            "wir sagen Liebe Kolleginnen und Kollegen, Meine Damen und Herren, Sehr geehrter Herr Präsident, es ist gut",
            "alors Chers collègues, et Mesdames et Messieurs, et C’est tout, et J’ai dit, et Qu'il soit",
            "pues Estimados señores, y Queridos colegas",
            "wir danken für Ihre Rede und Ihrem Mann und Unser Land und das ist gut",
        ] {
            assert_eq!(listed(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(listed("and so Dear Anna Berger met Carla’s dog"), ["Anna Berger", "Carla"]);
        assert_eq!(listed("and so Mr Smith met Frau Anna Berger"), ["Mr Smith", "Frau Anna Berger"]);
    }

    #[test]
    fn a_label_without_its_value_is_no_entity() {
        assert_eq!(listed("please give me your Order ID and the Total Price of it"), Vec::<String>::new());
        assert_eq!(listed("the ticket is:\n- **Cabin Deck**: upper\n- Round Trip: yes"), Vec::<String>::new());
        assert_eq!(listed("and so the Round Trip to Fort Worth"), ["Round Trip", "Fort Worth"]);
    }
}
