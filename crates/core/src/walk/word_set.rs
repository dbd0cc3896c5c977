//! A set of words by their hashes, small and of one size. Knows hashes only.

/// Bits in which words are noted: of a few hundred, a few of a hundred others may seem to be there that are not.
const N_BITS: usize = 1 << 14;

/// A set of hashes that may have some that were not put into it.
#[derive(Debug)]
pub(super) struct WordSet(Box<[u64; N_BITS / 64]>);

impl Default for WordSet {
    fn default() -> Self {
        Self(Box::new([0; N_BITS / 64]))
    }
}

impl WordSet {
    /// What stands for a hash in the set, and may be put in and looked up in its place.
    pub(super) fn place_of(hash: u64) -> u16 {
        (hash % N_BITS as u64) as u16
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    pub(super) fn insert(&mut self, hash: u64) {
        let bit = hash as usize % N_BITS;
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        let bit = hash as usize % N_BITS;
        self.0[bit / 64] & 1 << (bit % 64) != 0
    }
}
