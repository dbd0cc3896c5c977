//! Messages about one topic told as one: what they share in front, then the best of each. Knows texts and who says
//! them; refuses to know where they stood and why they are about one topic.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::budget::Style;
use super::draft::{Draft, Proposal, Wrap};
use super::entities::{MAX_ENTITY_CHARS, entities};
use super::piece::{tell, tell_answer};
use super::prose::summarize;
use super::spoken::{Keys, Spoken, Voice};
use crate::model::{CompressionDepth, marker};
use crate::text::{Fact, FactKind, fold_key};

const ARROW: &str = " → ";
/// Shared facts in the label.
const MAX_LABEL: usize = 3;

/// A summary of a topic: `[summary: [<shared>] <extract> → <extract> (<n> messages)]`, each text with its own budget.
/// Where several sides speak, each change of the speaker is named.
#[must_use]
pub fn topic(texts: &[Spoken<'_>], wrap: &Wrap, style: Style) -> Proposal {
    if style.depth == CompressionDepth::Aggressive {
        return summarize(texts, wrap, style, None);
    }
    let mut body = Draft::default();
    let mut shown = Keys::default();
    let shared = shared(texts);
    if !shared.is_empty() {
        body.say("[");
        let start = body.text.len();
        body.say(&shared.join(", "));
        body.entities.push(start..body.text.len());
        body.say("] ");
    }
    let several = texts.windows(2).any(|pair| side(pair[0].voice) != side(pair[1].voice));
    let mut speaker = None;
    let mut told = Keys::default();
    for (at, spoken) in texts.iter().enumerate() {
        if at > 0 {
            body.say(ARROW);
        }
        if several && speaker != side(spoken.voice) {
            speaker = side(spoken.voice);
            body.say(speaker.unwrap_or_default());
        }
        if !told.insert(fold_key(spoken.view.covered().trim())) {
            body.say("(the same again)");
        } else if several && spoken.voice == Voice::Assistant {
            tell_answer(spoken, style, &mut shown, &mut body);
        } else {
            tell(spoken, style, &mut shown, &mut body);
        }
    }
    let entities = entities(texts, &body.text);
    Proposal::summary(body, wrap, entities).counted(marker::topic_suffix(texts.len()))
}

/// How a speaker is named.
fn side(voice: Voice) -> Option<&'static str> {
    match voice {
        Voice::Task | Voice::User => Some("user: "),
        Voice::Assistant => Some("assistant: "),
        Voice::Other | Voice::Program => None,
    }
}

/// Amounts, dates and quotations say something about a topic and do not name it.
fn names_a_topic(kind: FactKind) -> bool {
    !matches!(
        kind,
        FactKind::Number
            | FactKind::Quantity
            | FactKind::Money
            | FactKind::Percent
            | FactKind::Date
            | FactKind::Time
            | FactKind::Phone
            | FactKind::Quoted
            | FactKind::CodeSpan
            | FactKind::Vowelless
    )
}

/// The facts that two or more of the texts have, those of the most texts first.
fn shared(texts: &[Spoken<'_>]) -> Vec<String> {
    struct Shared<'a> {
        text: &'a str,
        n_texts: usize,
        last: usize,
    }
    let mut slots: HashMap<u64, usize, FixedState> = HashMap::default();
    let mut found: Vec<Shared<'_>> = Vec::new();
    for (at, Spoken { view, .. }) in texts.iter().enumerate() {
        let text = |fact: &Fact| fact.span.of(view.text);
        let tells = |fact: &&Fact| names_a_topic(fact.kind) && fact.span.len() <= MAX_ENTITY_CHARS;
        for fact in view.facts.iter().filter(tells) {
            let next = found.len();
            let slot = *slots.entry(fact.key).or_insert(next);
            if slot == next {
                found.push(Shared { text: text(fact), n_texts: 1, last: at });
            } else if found[slot].last != at {
                found[slot].n_texts += 1;
                found[slot].last = at;
            }
        }
    }
    found.retain(|shared| shared.n_texts > 1);
    found.sort_by_key(|shared| std::cmp::Reverse(shared.n_texts));
    let mut label: Vec<&str> = Vec::new();
    for shared in found {
        let is_part = |known: &&str| known.contains(shared.text) || shared.text.contains(*known);
        if label.len() < MAX_LABEL && !label.iter().any(is_part) {
            label.push(shared.text);
        }
    }
    label.into_iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
