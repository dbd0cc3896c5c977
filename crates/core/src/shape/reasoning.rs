//! What an assistant thinks: blocks and keys of a message that hold it, under the names of several APIs. Knows where it
//! stands, and where nothing else may stand; refuses to know what it says, and what programs hide of it.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::json::{Kind, Raw, items, members};
use super::member::Member;
use crate::model::Thought;

/// Keys of a message beside its content, as written.
const KEYS: [&str; 6] =
    ["\"reasoning_content\"", "\"reasoning\"", "\"reasoningText\"", "\"thinking\"", "\"thought\"", "\"thoughts\""];
/// Parts of a content list.
pub(super) const PARTS: [&str; 2] = ["thinking", "reasoning"];
/// What of an object is text; all else is a kind, a signature, or sealed.
const TEXTS: [&str; 7] = ["thinking", "reasoning", "text", "value", "summary", "subject", "description"];
/// What a key says of a value that proves what was thought, or that only its program can read: an API refuses it beside any other text.
const SEALS: [&str; 3] = ["signature", "encrypted", "opaque"];
/// A part that holds nothing but what only its program can read.
const SEALED_PART: &str = "redacted_thinking";
/// Objects and lists in each other that are looked into.
const MAX_DEPTH: usize = 4;

/// True for the key of a message that holds what its speaker thinks.
pub(super) fn is_key(key: &str) -> bool {
    KEYS.contains(&key)
}

/// The texts of `values`: strings, lists of them, or objects that have some. What stands twice has two places.
pub(super) fn read<'r>(values: &[Raw<'r>]) -> Vec<Thought<'r>> {
    let mut texts = Texts::default();
    for value in values {
        texts.read_at(*value, MAX_DEPTH);
    }
    texts.thoughts
}

/// Thoughts, and where each stands among them by the hash of its text.
#[derive(Default)]
struct Texts<'r> {
    thoughts: Vec<Thought<'r>>,
    by_hash: HashMap<u64, usize, FixedState>,
}

/// True where a member seals what its message thinks: then all of that stays.
pub(super) fn is_sealed_by(member: &Member<'_>) -> bool {
    says_sealed(member.key, member.value) || holds_seal(member.value)
}

/// The same of a value: a block of a content list, or what a member holds.
pub(super) fn holds_seal(value: Raw<'_>) -> bool {
    holds_seal_at(value, MAX_DEPTH)
}

/// True for a key that seals what stands beside it, unless nothing stands there.
fn says_sealed(key: &str, value: Raw<'_>) -> bool {
    let is_there = value.kind != Kind::Null && value.text != "\"\"";
    let begins = |text: &str, at: usize, seal: &str| {
        text.get(at..at + seal.len()).is_some_and(|word| word.eq_ignore_ascii_case(seal))
    };
    let names_seal = |text: &str| SEALS.iter().any(|seal| (0..text.len()).any(|at| begins(text, at, seal)));
    is_there && (names_seal(key) || key == "type" && (names_seal(value.text) || value.text.contains(SEALED_PART)))
}

fn holds_seal_at(value: Raw<'_>, depth: usize) -> bool {
    let mut is_sealed = false;
    match value.kind {
        Kind::List if depth > 0 => items(value.text, |item| is_sealed = is_sealed || holds_seal_at(item, depth - 1)),
        Kind::Object if depth > 0 => members(value.text, |key, value| {
            is_sealed = is_sealed || says_sealed(&key.name, value) || holds_seal_at(value, depth - 1);
        }),
        _ => {}
    }
    is_sealed
}

impl<'r> Texts<'r> {
    fn read_at(&mut self, value: Raw<'r>, depth: usize) {
        match value.kind {
            Kind::Text => {
                let Some(text) = value.string().filter(|text| !text.is_empty()) else { return };
                let at = *self.by_hash.entry(FixedState::default().hash_one(&text)).or_insert(self.thoughts.len());
                match self.thoughts.get_mut(at).filter(|thought| thought.text == text) {
                    Some(thought) => thought.places.push(value.text),
                    None => self.thoughts.push(Thought { text, places: vec![value.text] }),
                }
            }
            Kind::List if depth > 0 => items(value.text, |item| self.read_at(item, depth - 1)),
            Kind::Object if depth > 0 => members(value.text, |key, value| {
                if TEXTS.contains(&key.name.as_ref()) {
                    self.read_at(value, depth - 1);
                }
            }),
            _ => {}
        }
    }
}
