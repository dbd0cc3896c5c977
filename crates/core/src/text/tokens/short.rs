//! What is known of texts of at most fifteen bytes: which of them are tokens, in a table that is made once and only
//! read, and how many tokens others have, in a table that forgets. Knows no patterns.

use std::ops::Range;

/// Longest text in the tables: with its length it fits into 128 bits.
const MAX_BYTES: usize = 15;
/// An odd number with bits all over (the golden ratio): spreads keys over a table.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Slots for counts: most of the words that a corpus repeats, in half a megabyte.
const COUNT_SLOTS: usize = 1 << 14;

/// A short text in one number: its bytes below its length; never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u128);

impl Key {
    /// `bytes[range]`; `None` when it is empty or long.
    pub(super) fn new(bytes: &[u8], range: Range<usize>) -> Option<Self> {
        let n = range.len();
        if !(1..=MAX_BYTES).contains(&n) {
            return None;
        }
        let wide = bytes.get(range.start..range.start + 16).and_then(|wide| <[u8; 16]>::try_from(wide).ok());
        // Near the end of the text there are no sixteen bytes to take at once.
        let wide = wide.unwrap_or_else(|| {
            let mut padded = [0; 16];
            padded[..n].copy_from_slice(&bytes[range]);
            padded
        });
        let mask = (1_u128 << (n * 8)) - 1;
        Some(Self(u128::from_le_bytes(wide) & mask | (n as u128) << (MAX_BYTES * 8)))
    }

    /// A number below `1 << bits`.
    fn slot(self, bits: u32) -> usize {
        let folded = (self.0 as u64).wrapping_mul(SPREAD) ^ (self.0 >> 64) as u64;
        (folded.wrapping_mul(SPREAD) >> (64 - bits)) as usize
    }
}

/// A set of short tokens with open addressing.
pub(super) struct ShortTokens {
    /// Keys; 0 for an empty slot.
    slots: Vec<u128>,
    bits: u32,
}

impl ShortTokens {
    pub(super) fn new<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let keys: Vec<Key> = tokens.filter_map(|token| Key::new(token, 0..token.len())).collect();
        // At most half full: a search that finds nothing ends soon.
        let n_slots = (keys.len() * 2).next_power_of_two().max(2);
        let mut set = Self { slots: vec![0; n_slots], bits: n_slots.trailing_zeros() };
        for key in keys {
            let slot = set.slot(key);
            set.slots[slot] = key.0;
        }
        set
    }

    pub(super) fn contains(&self, key: Key) -> bool {
        self.slots[self.slot(key)] == key.0
    }

    /// The slot of `key`, or the empty one where it would stand.
    fn slot(&self, key: Key) -> usize {
        let mut slot = key.slot(self.bits);
        while self.slots[slot] != 0 && self.slots[slot] != key.0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }
}

/// Counts of short texts; a new one takes the place of an old one.
pub(super) struct Counts {
    slots: Vec<(u128, u32)>,
}

impl Counts {
    pub(super) fn new() -> Self {
        Self { slots: vec![(0, 0); COUNT_SLOTS] }
    }

    /// The count of `key`, made by `count` when it is not known.
    pub(super) fn get(&mut self, key: Key, count: impl FnOnce() -> usize) -> usize {
        let slot = &mut self.slots[key.slot(COUNT_SLOTS.trailing_zeros())];
        if slot.0 != key.0 {
            *slot = (key.0, count() as u32);
        }
        slot.1 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Key, ShortTokens};

    #[test]
    fn finds_what_it_holds_and_nothing_else() {
        let tokens: Vec<Vec<u8>> = (0..2000_u32).map(|n| n.to_string().into_bytes()).collect();
        let set = ShortTokens::new(tokens.iter().map(Vec::as_slice).chain([&b"a\0"[..], b"fifteen letters", b""]));
        let text = b"1999 a\0 a fifteen letters sixteen  letters 2000";
        let find = |piece: &[u8]| text.windows(piece.len()).position(|window| window == piece).expect("it is there");
        for (piece, is_token) in
            [(&b"1999"[..], true), (b"a\0", true), (b"a", false), (b"fifteen letters", true), (b"2000", false)]
        {
            let at = find(piece);
            let key = Key::new(text, at..at + piece.len()).expect("it is short");
            assert_eq!(set.contains(key), is_token, "{piece:?}");
        }
        assert!(Key::new(text, 0..0).is_none() && Key::new(text, 0..16).is_none());
    }

    #[test]
    fn a_count_is_made_once_and_never_taken_for_another() {
        let mut counts = Counts::new();
        let words: Vec<String> = (0..40_000).map(|n| format!("w{n}")).collect();
        for _ in 0..2 {
            for (n, word) in words.iter().enumerate() {
                let key = Key::new(word.as_bytes(), 0..word.len()).expect("it is short");
                assert_eq!(counts.get(key, || n), n);
                assert_eq!(counts.get(key, || usize::MAX), n);
            }
        }
    }
}
