//! Keys of facts and texts: hashes that are the same on every machine. Knows bytes only.

use super::bytes::trim;

/// A 64-bit hash of `text` with ASCII case folded; the same on every machine.
#[must_use]
pub fn fold_key(text: &str) -> u64 {
    fold_bytes(text.as_bytes())
}

/// [`fold_key`] of bytes.
pub(super) fn fold_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let key = words.iter().fold(START, |key, word| mix(key, fold(u64::from_le_bytes(*word))));
    finish(key, fold(tail(rest)), bytes.len())
}

/// True for a text of which all white space is single blanks, if it says so: of a text with signs it may say no.
pub(super) fn is_even(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let (mut odd, mut before) = (0, 0);
    // Behind the end stands what is no white space.
    let filled = tail(rest) | (ONES * u64::from(b'a')) << (8 * rest.len());
    for word in words.iter().map(|word| u64::from_le_bytes(*word)).chain([filled]) {
        let blanks = zeros(word ^ (ONES * 0x20));
        // Control characters, and what may begin white space beyond ASCII.
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        odd |= controls | blanks & (blanks << 8 | before >> 56);
        if word & HIGHS != 0 {
            odd |= zeros((word | (ONES * 3)) ^ (ONES * 0xe3)) | zeros(word ^ (ONES * 0xc2));
        }
        before = blanks;
    }
    odd == 0
}

/// True where two blanks follow each other.
pub(super) fn has_double_blank(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let (mut double, mut before) = (0, 0);
    for word in words.iter().map(|word| u64::from_le_bytes(*word)).chain([tail(rest)]) {
        let blanks = zeros(word ^ (ONES * 0x20));
        double |= blanks & (blanks << 8 | before >> 56);
        before = blanks;
    }
    double != 0
}

/// The high bits of the bytes of `word` that are zero.
fn zeros(word: u64) -> u64 {
    !(((word & !HIGHS) + !HIGHS) | word) & HIGHS
}

/// [`fold_key`] of words, in which any white space is one blank.
#[must_use]
pub fn spaced_key(words: &str) -> u64 {
    let words = trim(words);
    if is_even(words.as_bytes()) { fold_key(words) } else { key_of_words(words) }
}

/// [`fold_key`] of a fact, in which any white space is one blank: "22 Prozent" is the same with a blank that does not break.
pub(super) fn fact_key(bytes: &[u8]) -> u64 {
    let is_plain = |byte: &u8| !matches!(byte, b'\n' | b'\r' | b'\t' | 0xc2 | 0xe2);
    if bytes.iter().all(is_plain) {
        return fold_bytes(bytes);
    }
    key_of_words(std::str::from_utf8(bytes).unwrap_or_default())
}

fn key_of_words(text: &str) -> u64 {
    let mut key = Key::new();
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            key.push(b' ');
        }
        word.bytes().for_each(|byte| key.push(byte));
    }
    key.finish()
}

/// [`fold_key`] of bytes that come one by one.
#[derive(Debug)]
pub(super) struct Key {
    state: u64,
    word: u64,
    n_bytes: usize,
}

impl Key {
    /// The key of nothing.
    pub(super) fn new() -> Self {
        Self { state: START, word: 0, n_bytes: 0 }
    }
    /// Takes one more byte.
    pub(super) fn push(&mut self, byte: u8) {
        self.word |= u64::from(byte) << (8 * (self.n_bytes % 8));
        self.n_bytes += 1;
        if self.n_bytes.is_multiple_of(8) {
            self.state = mix(self.state, fold(self.word));
            self.word = 0;
        }
    }
    /// The key of all bytes taken.
    pub(super) fn finish(self) -> u64 {
        finish(self.state, fold(self.word), self.n_bytes)
    }
}

const START: u64 = 0xcbf2_9ce4_8422_2325;
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

fn mix(key: u64, word: u64) -> u64 {
    (key.rotate_left(26) ^ word).wrapping_mul(ODD)
}

fn finish(key: u64, word: u64, n_bytes: usize) -> u64 {
    let key = mix(mix(key, word), n_bytes as u64);
    key ^ key >> 32
}

/// Up to seven bytes as one number, the first the lowest.
fn tail(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Eight bytes with the case of ASCII letters folded.
fn fold(word: u64) -> u64 {
    let low = word & !HIGHS;
    let from_a = low + ONES * u64::from(0x80 - b'A');
    let behind_z = low + ONES * u64::from(0x80 - b'Z' - 1);
    word | (from_a & !behind_z & !word & HIGHS) >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_of_any_kind_is_a_blank_in_a_fact() {
        for text in ["3\u{a0}May 2024", "3\nMay\t2024", "3\u{202f}may\u{a0}2024"] {
            assert_eq!(fact_key(text.as_bytes()), fact_key(b"3 May 2024"), "{text:?}");
        }
    }

    #[test]
    fn two_blanks_are_found_wherever_they_stand() {
        for at in 0..20 {
            let text = format!("{} {}", "a b".repeat(3).get(..at.min(9)).unwrap_or_default(), "cd ".repeat(at));
            for text in [text.clone(), format!("{text} "), format!(" {text}"), text.replace(' ', "x")] {
                assert_eq!(has_double_blank(text.as_bytes()), text.contains("  "), "{text:?}");
            }
        }
    }

    #[test]
    fn words_are_the_same_however_they_are_spaced() {
        let text = "We met  on 3\u{a0}May, at the gate\n of the old mill.\t And left ";
        let even = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(spaced_key(text), spaced_key(&even));
        assert_eq!(spaced_key(&even), fold_key(&even));
        for at in 1..even.len() {
            if even.as_bytes()[at] == b' ' {
                let (start, end) = even.split_at(at);
                assert_eq!(spaced_key(&format!("{start} {end}")), spaced_key(&even), "{at}");
            }
        }
    }

    #[test]
    fn only_case_makes_no_difference() {
        let text = "The Quick [BROWN] fox @ 12 — Österreich z{|}";
        for (end, _) in text.char_indices() {
            let part = &text.as_bytes()[..end];
            assert_eq!(fold_bytes(part), fold_bytes(&part.to_ascii_lowercase()));
            let mut key = Key::new();
            for &byte in part {
                key.push(byte);
            }
            assert_eq!(key.finish(), fold_bytes(part));
        }
        assert_ne!(fold_key("a"), fold_key("a\0"));
        assert_ne!(fold_key("[abcdefgh"), fold_key("{abcdefgh"));
    }
}
