//! Short values of JSON, `true`, `2`, `"gold"`: they stay where one of the next answers speaks of their key and value. Knows
//! words and members; refuses to know what else of a record stays.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::units::{Units, state};
use super::uses::{SaidBy, Texts};
use super::word_set::WordSet;

/// Messages behind a result in which it is spoken of, and answers among them.
const NEAR: u32 = 12;
const MAX_ANSWERS: usize = 2;
/// Bytes of a short value, without quotes, and digits of a short number.
const MAX_VALUE: usize = 25;
const MAX_DIGITS: usize = 2;
/// Letters of a key.
const KEY: std::ops::RangeInclusive<usize> = 3..=40;
/// Letters of a stem: words of a key are spoken of in any form.
const STEM: usize = 5;
/// Letters of a word of a key that has a stem, and of any other.
const LONG_WORD: usize = 4;
const WORD: usize = 3;
/// Records that show the same value under the same key although nothing else of them is used, and members of one that are
/// looked at.
const MAX_ALIKE: u32 = 8;
const MAX_MEMBERS: usize = 64;
/// Letters of a value that says by itself what it is: `basic_economy`.
const TELLING: usize = 8;

/// What answers speak of; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// By the index of the message: hashes of its words, and of the stems of those.
    words: HashMap<u32, WordSet, FixedState>,
    key: Vec<u64>,
    /// How many records show a value under a key.
    n_shown: HashMap<u64, u32, FixedState>,
    /// The records around a value.
    around: Vec<u32>,
}

impl Spoken {
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    /// Pins short values of the JSON of `message` of which one of the next answers speaks; `because` is told which unit, and
    /// which message.
    pub(super) fn pin(&mut self, units: &mut Units, texts: &Texts, message: u32, mut because: impl FnMut(u32, u32)) {
        if units.json.nodes.is_empty() {
            return;
        }
        let bytes = texts.bytes();
        let behind = texts.all().partition_point(|text| text.message <= message);
        let near = texts.all()[behind..].iter().take_while(|text| text.message <= message + NEAR);
        let is_answer = |text: &&super::uses::Text| {
            text.by == SaidBy::Assistant && !bytes[text.from..text.to].trim_ascii().is_empty()
        };
        let mut answers: Vec<u32> = Vec::with_capacity(MAX_ANSWERS);
        for text in near.filter(is_answer) {
            let is_known = answers.last() == Some(&text.message);
            if !is_known && answers.len() == MAX_ANSWERS {
                break;
            }
            if !is_known {
                answers.push(text.message);
            }
            self.words.entry(text.message).or_insert_with(|| words_of(&bytes[text.from..text.to]));
        }
        if answers.is_empty() {
            return;
        }
        self.n_shown.clear();
        self.around.clear();
        let Units { json, units, of_node, .. } = units;
        for (number, node) in json.nodes.iter().enumerate() {
            while self.around.last().is_some_and(|&record| json.node(record).to <= node.from) {
                self.around.pop();
            }
            if !node.kind.is_scalar() {
                self.around.push(number as u32);
            }
            let key = &bytes[node.key.0 as usize..node.key.1 as usize];
            if !node.kind.is_scalar() || !KEY.contains(&key.len()) {
                continue;
            }
            let value = &bytes[node.value as usize..node.to as usize];
            let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
            let unit = of_node[number];
            if !is_short(value) || units[unit as usize].state & state::PIN != 0 {
                continue;
            }
            stems(key, &mut self.key);
            let speaks = |&&answer: &&u32| speaks_of(&self.words[&answer], &self.key, value);
            if let Some(&answer) = answers.iter().find(speaks) {
                // What many records have tells something of those that are used otherwise, too; of others one is enough.
                let n_shown = self.n_shown.entry(hash(key).rotate_left(7) ^ hash(value)).or_default();
                *n_shown += 1;
                let is_used = |record: &u32| {
                    let (first, to) = (of_node[*record as usize] as usize, json.node(*record).to);
                    let within = units[first..].iter().take_while(|unit| unit.from < to);
                    within.take(MAX_MEMBERS).any(|unit| unit.state & state::PIN != 0)
                };
                if *n_shown > MAX_ALIKE && !self.around.last().is_some_and(is_used) {
                    continue;
                }
                units[unit as usize].state |= state::PIN;
                because(unit, answer);
            }
        }
    }
}

/// True when an answer with these words speaks of a value under a key with these stems.
fn speaks_of(words: &WordSet, key: &[u64], value: &[u8]) -> bool {
    if [&b"true"[..], b"false", b"null"].contains(&value) {
        return !key.is_empty() && key.iter().all(|stem| words.contains(*stem));
    }
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.').filter(|part| !part.is_empty());
    if !parts.all(|part| words.contains(hash(part))) {
        return false;
    }
    let n_letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let tells = n_letters >= TELLING && !value.iter().any(u8::is_ascii_digit);
    tells || key.iter().any(|stem| words.contains(*stem))
}

/// True for a short number, a word or a few of them.
fn is_short(value: &[u8]) -> bool {
    let number = value.strip_prefix(b"-").unwrap_or(value);
    if number.first().is_some_and(u8::is_ascii_digit)
        && number.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        return number.iter().take_while(|byte| byte.is_ascii_digit()).count() <= MAX_DIGITS;
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_ -".contains(byte);
    (1..=MAX_VALUE).contains(&value.len()) && value[0].is_ascii_alphanumeric() && value.iter().all(is_part)
}

/// The stems of the words of a key: `roamingEnabled`, `is_roaming`.
fn stems(key: &[u8], found: &mut Vec<u64>) {
    found.clear();
    for at_least in [LONG_WORD, WORD] {
        let mut rest = key;
        while let Some(first) = rest.iter().position(u8::is_ascii_alphabetic) {
            rest = &rest[first..];
            let n_upper = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
            let n_lower = rest[n_upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
            // Of `HTTPServer` the last capital is the first letter of the next word.
            let n = if n_upper > 1 && n_lower > 0 { n_upper - 1 } else { n_upper + n_lower };
            if n >= at_least {
                let len = if at_least == LONG_WORD { n.min(STEM) } else { n };
                found.push(hash(&rest[..len]));
            }
            rest = &rest[n..];
        }
        if !found.is_empty() {
            return;
        }
    }
}

/// The words of an answer, the numbers, and the stems of the words.
fn words_of(text: &[u8]) -> WordSet {
    let mut found = WordSet::default();
    let (mut word, mut len) = (SEED, 0);
    for (at, &byte) in text.iter().enumerate() {
        let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
        if byte.is_ascii_alphanumeric() || byte == b'.' && len > 0 && is_digit(at - 1) && is_digit(at + 1) {
            word = step(word, byte);
            len += 1;
            if len == STEM {
                found.insert(word);
            }
        } else if len > 0 {
            found.insert(word);
            (word, len) = (SEED, 0);
        }
    }
    found.insert(word);
    found
}

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0xD1B5_4A32_D192_ED03).rotate_left(23)
}

/// Without case.
fn hash(word: &[u8]) -> u64 {
    word.iter().fold(SEED, |hash, &byte| step(hash, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_speak_of_values_with_their_keys() {
        let speaks = |answer: &str, key: &str, value: &str| {
            let mut found = Vec::new();
            stems(key.as_bytes(), &mut found);
            is_short(value.as_bytes()) && speaks_of(&words_of(answer.as_bytes()), &found, value.as_bytes())
        };
        for (answer, key, value, says) in [
            ("You booked basic economy.", "cabin", "basic_economy", true),
            ("You booked economy.", "cabin", "basic_economy", false),
            ("Roaming is on.", "is_roaming", "true", true),
            ("The line is on.", "is_roaming", "true", false),
            ("Data roaming is on.", "dataRoamingEnabled", "true", false),
            ("Data roaming is enabled.", "dataRoamingEnabled", "true", true),
            ("You have 2 bags.", "total_baggages", "2", false),
            ("You have 2 pieces of baggage.", "total_baggages", "2", true),
            ("It costs 1.5 in baggage.", "baggage", "1.5", true),
            ("A gold member.", "membership", "gold", true),
            ("A gold ring.", "membership", "gold", false),
            ("The baggage is 12345.", "baggage", "12345", false),
        ] {
            assert_eq!(speaks(answer, key, value), says, "{answer} {key}: {value}");
        }
    }
}
