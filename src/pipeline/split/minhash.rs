//! Fingerprints of texts: bands of a `MinHash`, by which texts that say nearly the same find each other, and the lowest hashes
//! of their pairs of words, by which they are compared. Knows hashes of words; refuses to know whose they are.

use super::words::{Grams, mixed};

/// Bands of a fingerprint, and hashes of each: of two texts that share 0.82 of their pairs of words, as after one word in twenty was
/// exchanged, a band is the same with a probability of 0.45, and no band is with one of 1 to 2 million; of texts that share 0.2,
/// one in thirty is looked at in vain.
pub const N_BANDS: usize = 24;
const ROWS: usize = 4;
/// Texts of fewer words are near to nothing but themselves: one word is too much of them.
const MIN_WORDS: usize = 8;
/// So many of a text's pairs, those with the lowest hashes, stand for all in its bands: the cost of a long text does not grow.
const MOST_SAMPLED: usize = 512;
/// So many of them are kept to compare: exact for texts with fewer, else within 0.035 of it in two of three cases.
const MOST_KEPT: usize = 128;
/// Texts are near of which one has so much of the other's different pairs of words. Not the share of all that both have: where a text
/// says the same again and again, each word that is exchanged somewhere adds pairs and takes none away.
const NEAR: f64 = 0.8;
/// … and so many of its words.
const AS_LONG: f64 = 0.8;

/// What is kept of a text to find those that are near.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Those of two near texts are equal in some places.
    pub bands: [u64; N_BANDS],
    /// How many words it has.
    pub n_words: u32,
    /// How many different pairs of them.
    pub n_pairs: u32,
    /// The lowest hashes of these, ascending.
    pub lowest: Vec<u32>,
}

impl Fingerprint {
    /// The fingerprint of a text with these words; `None` for one that is too short.
    pub(super) fn of(words: &[u64]) -> Option<Self> {
        if words.len() < MIN_WORDS {
            return None;
        }
        let mut pairs: Vec<u64> = Grams::of(words).runs(2).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let n_pairs = pairs.len() as u32;
        pairs.truncate(MOST_SAMPLED);
        let lowest = pairs.iter().take(MOST_KEPT).map(|&pair| (pair >> 32) as u32).collect();
        let mut least = [u32::MAX; N_BANDS * ROWS];
        let factors: [(u64, u64); N_BANDS * ROWS] =
            std::array::from_fn(|at| (mixed(2 * at as u64 + 1) | 1, mixed(2 * at as u64 + 2)));
        // The order of the pairs is that of their hashes, which must not be that of the minima.
        for pair in pairs.into_iter().map(mixed) {
            for (least, &(factor, addend)) in least.iter_mut().zip(&factors) {
                *least = (*least).min((pair.wrapping_mul(factor).wrapping_add(addend) >> 32) as u32);
            }
        }
        let band = |at: usize| {
            let rows = least.iter().skip(at * ROWS).take(ROWS);
            rows.fold(mixed(at as u64 + 1), |hash, &row| mixed(hash ^ u64::from(row)).wrapping_add(hash << 7))
        };
        Some(Self { bands: std::array::from_fn(band), n_words: words.len() as u32, n_pairs, lowest })
    }

    /// The share of their pairs of words that both have, as far as the lowest tell.
    pub fn similarity(&self, other: &Self) -> f64 {
        let (mut mine, mut its) = (self.lowest.iter().peekable(), other.lowest.iter().peekable());
        let (mut n_both, mut n_all) = (0_u32, 0_u32);
        while n_all < MOST_KEPT as u32 {
            let order = match (mine.peek(), its.peek()) {
                (Some(mine), Some(its)) => mine.cmp(its),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            n_both += u32::from(order.is_eq());
            n_all += 1;
            if order.is_le() {
                mine.next();
            }
            if order.is_ge() {
                its.next();
            }
        }
        f64::from(n_both) / f64::from(n_all.max(1))
    }

    /// True when one text is the other with a few words exchanged: one in a short text, about one in ten of a longer one.
    pub fn is_near(&self, other: &Self) -> bool {
        let is_as_long = |mine: u32, its: u32| f64::from(mine.min(its)) >= AS_LONG * f64::from(mine.max(its));
        if !is_as_long(self.n_words, other.n_words) {
            return false;
        }
        let similarity = self.similarity(other);
        let both = similarity / (1.0 + similarity) * (f64::from(self.n_pairs) + f64::from(other.n_pairs));
        let least = f64::from(self.n_pairs.min(other.n_pairs));
        // A word is in two pairs: so many are left of a short text of which one differs.
        both >= (NEAR * least).min(least - 2.0) - 1e-6
    }
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, mixed};

    fn text(n: usize, seed: u64) -> Vec<u64> {
        (0..n as u64).map(|at| mixed(at + (seed << 32))).collect()
    }

    fn of(words: &[u64]) -> Fingerprint {
        Fingerprint::of(words).expect("long enough")
    }

    fn meet(a: &Fingerprint, b: &Fingerprint) -> bool {
        a.bands.iter().zip(&b.bands).any(|(a, b)| a == b)
    }

    #[test]
    fn a_word_in_twenty_makes_no_other_text() {
        for n in [10, 12, 20, 40, 200, 2_000] {
            let mut n_found = 0;
            for seed in 0..200 {
                let (words, mut changed) = (text(n, seed), text(n, seed));
                let n_edits = (n + 10) / 20;
                for edit in 0..n_edits {
                    let at = (mixed(seed * 100 + edit as u64) % n as u64) as usize;
                    changed[at] = mixed(!changed[at]);
                }
                let (a, b) = (of(&words), of(&changed));
                n_found += usize::from(meet(&a, &b) && a.is_near(&b));
            }
            assert!(n_found >= 194, "{n_found} of 200 texts of {n} words");
        }
    }

    #[test]
    fn texts_with_half_of_their_words_in_common_are_not_near() {
        for n in [16, 200, 2_000] {
            for seed in 0..100 {
                let (mine, mut its) = (text(n, seed), text(n, seed));
                its[n / 2..].iter_mut().for_each(|word| *word = mixed(!*word));
                assert!(!of(&mine).is_near(&of(&its)));
            }
        }
        assert_eq!(Fingerprint::of(&text(7, 1)), None);
    }

    #[test]
    fn what_the_lowest_tell_is_close_to_what_there_is() {
        let all = text(4_000, 9);
        let (a, b) = (of(&all[..3_000]), of(&all[1_000..]));
        assert!((a.similarity(&b) - 0.5).abs() < 0.12, "{}", a.similarity(&b));
        assert!((a.similarity(&a) - 1.0).abs() < 1e-9);
    }
}
