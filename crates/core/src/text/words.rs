//! Word lists as tables built at compile time, with one look-up per word that touches no memory for most words. Knows
//! how to find a word; what the words are stands in `wordlist` and `bearing_words`.

use super::wordlist::LISTS;

/// Words that take the truth out of a statement.
pub(super) const NEGATION: u32 = 1;
pub(super) const OBLIGATION: u32 = 1 << 1;
pub(super) const EMPHASIS: u32 = 1 << 2;
pub(super) const REASONING: u32 = 1 << 3;
pub(super) const DECISION: u32 = 1 << 4;
/// A word that carries nothing: thanks, sure, okay.
pub(super) const FILLER: u32 = 1 << 5;
/// A word that may stand between fillers.
pub(super) const GLUE: u32 = 1 << 6;
/// Filler after "no": problem, worries.
pub(super) const AFTER_NO: u32 = 1 << 7;
/// Its full stop ends no sentence.
pub(super) const ABBREVIATION: u32 = 1 << 8;
/// Its full stop ends a sentence when a capital follows.
pub(super) const ABBREVIATION_LAST: u32 = 1 << 9;
/// Begins sentences, and is no name then.
pub(super) const OPENER: u32 = 1 << 10;
pub(super) const UNIT: u32 = 1 << 11;
pub(super) const MONTH: u32 = 1 << 12;
/// Frequent in German and in no other language.
pub(super) const GERMAN: u32 = 1 << 13;
/// A word of test and build reports.
pub(super) const REPORT: u32 = 1 << 14;
/// The rarest word of a phrase that is a cue.
pub(super) const PHRASE: u32 = 1 << 15;
/// PR, issue, ticket: a number after it belongs to it.
pub(super) const TICKET: u32 = 1 << 16;
pub(super) const CURRENCY: u32 = 1 << 17;
pub(super) const CLOCK: u32 = 1 << 18;
pub(super) const EXTENSION: u32 = 1 << 19;
pub(super) const DOMAIN: u32 = 1 << 20;
/// The, of, and: in no name and in no identifier.
pub(super) const FUNCTION: u32 = 1 << 21;
/// Interjections without vowels.
pub(super) const SOUND: u32 = 1 << 22;
/// Thousand, million.
pub(super) const SCALE: u32 = 1 << 23;
/// Begins lines of source code.
pub(super) const CODE: u32 = 1 << 24;
/// May begin a correction.
pub(super) const CORRECTION: u32 = 1 << 25;
/// Begins a log line or a status line.
pub(super) const LEVEL: u32 = 1 << 26;

/// Its full stop ends no sentence when a number follows.
pub(super) const BEFORE_NUMBER: u32 = 1 << 27;

/// How people are addressed: says nothing without the name behind it.
pub(super) const TITLE: u32 = 1 << 29;
/// Names a value that stands elsewhere: the ID, the price.
pub(super) const LABEL: u32 = 1 << 30;

/// Has a vowel; the table knows it, the lists do not.
pub(super) const VOWELS: u32 = 1 << 28;

const N_SLOTS: usize = 1 << 13;
const N_FILTER: usize = 512;
/// Of a word at most this many bytes are compared.
pub(super) const MAX_BYTES: usize = 16;

#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u64,
    flags: u32,
}

/// Words and what is known of each; `SLOTS` is a power of two and more than twice the number of words.
pub(super) struct Table<const SLOTS: usize> {
    /// One bit per word: most words of a text stop here.
    filter: [u64; N_FILTER],
    slots: [Slot; SLOTS],
}

static TABLE: Table<N_SLOTS> = Table::new(LISTS);

const FOLD: u64 = 0x2020_2020_2020_2020;

const fn hash(low: u64, high: u64) -> u64 {
    (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<const SLOTS: usize> Table<SLOTS> {
    /// The words of `lists`, separated by blanks, each with the flags of all its lists.
    pub(super) const fn new(lists: &[(u32, &str)]) -> Self {
        let mut table = Self { filter: [0; N_FILTER], slots: [const { Slot { low: 0, high: 0, flags: 0 } }; SLOTS] };
        let mut list = 0;
        while list < lists.len() {
            let (flags, text) = lists[list];
            let text = text.as_bytes();
            let (mut low, mut high, mut len, mut at, mut has_vowel) = (0_u64, 0_u64, 0, 0, false);
            while at <= text.len() {
                if at == text.len() || text[at] <= b' ' {
                    if len > 0 {
                        table.insert(low, high, flags | if has_vowel { VOWELS } else { 0 });
                    }
                    (low, high, len, has_vowel) = (0, 0, 0, false);
                } else {
                    let byte = (text[at] | 0x20) as u64;
                    has_vowel |= matches!(text[at] | 0x20, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
                    if len < 8 {
                        low |= byte << (8 * len);
                    } else if len < MAX_BYTES {
                        high |= byte << (8 * (len - 8));
                    }
                    len += 1;
                }
                at += 1;
            }
            list += 1;
        }
        table
    }

    const fn insert(&mut self, low: u64, high: u64, flags: u32) {
        let hash = hash(low, high);
        let bit = (hash >> 49) as usize;
        self.filter[bit >> 6] |= 1 << (bit & 63);
        let mut slot = Self::slot(hash);
        while self.slots[slot].flags != 0 && (self.slots[slot].low != low || self.slots[slot].high != high) {
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = Slot { low, high, flags: self.slots[slot].flags | flags };
    }

    const fn slot(hash: u64) -> usize {
        (hash >> (64 - SLOTS.trailing_zeros())) as usize
    }

    /// Flags of the word `bytes[start..end]` by its first [`MAX_BYTES`] bytes, case folded (ASCII and the Latin letters
    /// with accents), with `VOWELS`; 0 when it is not in the lists.
    #[inline]
    pub(super) fn find(&self, bytes: &[u8], start: usize, end: usize) -> u32 {
        let len = end.saturating_sub(start).min(MAX_BYTES);
        if len == 0 {
            return 0;
        }
        let low = load(bytes, start, len.min(8));
        let high = if len > 8 { load(bytes, start + 8, len - 8) } else { 0 };
        self.flags(low, high)
    }

    #[inline]
    fn flags(&self, low: u64, high: u64) -> u32 {
        let hash = hash(low, high);
        let bit = (hash >> 49) as usize;
        if self.filter[bit >> 6] & (1 << (bit & 63)) == 0 { 0 } else { self.find_slot(low, high, hash) }
    }

    fn find_slot(&self, low: u64, high: u64, hash: u64) -> u32 {
        let mut slot = Self::slot(hash);
        loop {
            let found = &self.slots[slot];
            if found.flags == 0 || (found.low == low && found.high == high) {
                return found.flags;
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

/// Flags of the word `bytes[start..end]`, case folded (ASCII and the Latin letters with accents); 0 when it is
/// not in the list.
#[inline]
pub(super) fn find(bytes: &[u8], start: usize, end: usize) -> u32 {
    if end.saturating_sub(start) > MAX_BYTES { 0 } else { TABLE.find(bytes, start, end) & !VOWELS }
}

/// Flags of a word of up to eight bytes, given as one number, case folded and filled up with zeros; with `VOWELS`.
#[inline]
pub(super) fn find_short(low: u64) -> u32 {
    TABLE.flags(low, 0)
}

/// Flags of a word of nine to sixteen bytes, given as two numbers, case folded and filled up with zeros.
#[inline]
pub(super) fn find_long(low: u64, high: u64) -> u32 {
    TABLE.flags(low, high) & !VOWELS
}

/// The eight bytes at `start` as one number, the first the lowest.
#[inline]
pub(super) fn eight_bytes(bytes: &[u8], start: usize) -> Option<u64> {
    bytes.get(start..start + 8).and_then(|part| part.try_into().ok()).map(u64::from_le_bytes)
}

/// Eight bytes with their case folded.
#[inline]
pub(super) fn fold(word: u64) -> u64 {
    word | FOLD
}

/// Flags of a whole word.
pub(super) fn flags_of(word: &[u8]) -> u32 {
    find(word, 0, word.len())
}

/// The first `len` (1 to 8) bytes at `start`, case folded, the rest zero.
#[inline]
fn load(bytes: &[u8], start: usize, len: usize) -> u64 {
    let keep = u64::MAX >> (64 - 8 * len);
    let word = match eight_bytes(bytes, start) {
        Some(word) => word,
        None => bytes.iter().skip(start).take(len).rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    (word | FOLD) & keep
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_parts_are_not() {
        assert_eq!(flags_of(b"Not") & NEGATION, NEGATION);
        assert_eq!(flags_of("FÜR".as_bytes()), flags_of("für".as_bytes()));
        assert_eq!(flags_of(b"nots"), 0);
        assert_eq!(flags_of(b"notwithstanding-and-more"), 0);
        assert_eq!(find(b"is not", 3, 6) & NEGATION, NEGATION);
    }

    #[test]
    fn every_listed_word_fits_and_is_found() {
        let mut n_words = 0;
        for (flags, list) in LISTS {
            for word in list.split_whitespace() {
                assert!(word.len() <= MAX_BYTES, "{word} is too long");
                assert_eq!(flags_of(word.as_bytes()) & flags, *flags, "{word}");
                n_words += 1;
            }
        }
        assert!(n_words < N_SLOTS / 2, "the table gets full");
    }
}
