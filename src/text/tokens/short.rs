//! Which texts of at most fifteen bytes are tokens: a table that is made once and only read. Knows no patterns.

use std::ops::Range;

/// Longest token in the table: with its length it fits into 128 bits.
const MAX_BYTES: usize = 15;
/// An odd number with bits all over (the golden ratio): spreads keys over the table.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A set of short tokens with open addressing. A key is the bytes of a token below its length; no key is 0.
pub(super) struct ShortTokens {
    slots: Vec<u128>,
    /// To shift a hash to a slot.
    shift: u32,
}

impl ShortTokens {
    pub(super) fn new<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let short: Vec<&[u8]> = tokens.filter(|token| (1..=MAX_BYTES).contains(&token.len())).collect();
        // At most half full: a search that finds nothing ends soon.
        let n_slots = (short.len() * 2).next_power_of_two().max(2);
        let mut set = Self { slots: vec![0; n_slots], shift: 64 - n_slots.trailing_zeros() };
        for token in short {
            let key = key_of(token, 0..token.len());
            let slot = set.slot(key);
            set.slots[slot] = key;
        }
        set
    }

    /// True when `bytes[range]` is a token of the table.
    pub(super) fn contains(&self, bytes: &[u8], range: Range<usize>) -> bool {
        if range.len() > MAX_BYTES {
            return false;
        }
        let key = key_of(bytes, range);
        key != 0 && self.slots[self.slot(key)] == key
    }

    /// The slot of `key`, or the empty one where it would stand.
    fn slot(&self, key: u128) -> usize {
        let folded = (key as u64).wrapping_mul(SPREAD) ^ (key >> 64) as u64;
        let mut slot = (folded.wrapping_mul(SPREAD) >> self.shift) as usize;
        while self.slots[slot] != 0 && self.slots[slot] != key {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }
}

fn key_of(bytes: &[u8], range: Range<usize>) -> u128 {
    let n = range.len();
    let wide = bytes.get(range.start..range.start + 16).and_then(|wide| <[u8; 16]>::try_from(wide).ok());
    let value = wide.map_or_else(
        || {
            // Near the end of the text there are no sixteen bytes to take at once.
            let mut padded = [0; 16];
            padded[..n].copy_from_slice(&bytes[range]);
            u128::from_le_bytes(padded)
        },
        u128::from_le_bytes,
    );
    let mask = (1_u128 << (n * 8)) - 1;
    value & mask | (n as u128) << (MAX_BYTES * 8)
}

#[cfg(test)]
mod tests {
    use super::ShortTokens;

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
            assert_eq!(set.contains(text, at..at + piece.len()), is_token, "{piece:?}");
        }
        assert!(!set.contains(text, 0..0) && !set.contains(text, 0..16));
    }
}
