//! Byte pair encoding: of how many tokens a piece of text is, when neighbours become one token, those of the lowest rank
//! first. Knows ranks; refuses to know where a text is cut into pieces.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use foldhash::fast::FixedState;

/// Up to here a look at all neighbours for each merge is quicker than keeping them in order.
const MAX_SCANNED: usize = 64;
/// In place of a rank: what stands there is no token.
const NONE: u32 = u32::MAX;

/// The rank of every token.
pub(super) struct Merges {
    ranks: HashMap<&'static [u8], u32, FixedState>,
    max_bytes: usize,
}

impl Merges {
    /// All `tokens`, by rank; every byte is one.
    pub(super) fn new(tokens: &[&'static [u8]]) -> Self {
        let ranks = tokens.iter().zip(0..).map(|(&token, rank)| (token, rank)).collect();
        Self { ranks, max_bytes: tokens.iter().map(|token| token.len()).max().unwrap_or(0) }
    }

    /// Tokens of `piece`, in time in proportion to its length and the logarithm of it.
    pub(super) fn count(&self, piece: &[u8]) -> usize {
        match piece.len() {
            0 => 0,
            _ if self.rank(piece) != NONE => 1,
            1..=MAX_SCANNED => self.scan(piece),
            _ => self.sort(piece),
        }
    }

    fn rank(&self, bytes: &[u8]) -> u32 {
        if bytes.len() > self.max_bytes { NONE } else { self.ranks.get(bytes).copied().unwrap_or(NONE) }
    }

    /// Looks at all neighbours for each merge.
    fn scan(&self, piece: &[u8]) -> usize {
        // Where each token begins, and what it and the next one are together.
        let mut tokens = [(0_usize, NONE); MAX_SCANNED + 1];
        let mut n_tokens = piece.len();
        for (at, token) in tokens.iter_mut().enumerate().take(n_tokens + 1) {
            *token = (at, piece.get(at..at + 2).map_or(NONE, |pair| self.rank(pair)));
        }
        loop {
            let mut lowest = (NONE, 0);
            for (at, &(_, rank)) in tokens[..n_tokens].iter().enumerate() {
                if rank < lowest.0 {
                    lowest = (rank, at);
                }
            }
            let (rank, at) = lowest;
            if rank == NONE {
                return n_tokens;
            }
            tokens.copy_within(at + 2..=n_tokens, at + 1);
            n_tokens -= 1;
            for at in at.saturating_sub(1)..=at {
                let end = tokens[..=n_tokens].get(at + 2).map(|&(end, _)| end);
                tokens[at].1 = end.map_or(NONE, |end| self.rank(&piece[tokens[at].0..end]));
            }
        }
    }

    /// Keeps neighbours in the order of their ranks. Places are 32 bits: no message is longer.
    fn sort(&self, piece: &[u8]) -> usize {
        let end = piece.len() as u32;
        // Where the token before each begins, and where it ends itself; of what is no token's beginning any more the end
        // is 0.
        let mut before: Vec<u32> = (0..=end).map(|at| at.saturating_sub(1)).collect();
        let mut ends: Vec<u32> = (1..=end).collect();
        let pair = |start: u32, ends: &[u32]| {
            let &end = ends.get(ends[start as usize] as usize)?;
            let rank = self.rank(&piece[start as usize..end as usize]);
            (rank != NONE).then_some(Reverse((rank, start, end)))
        };
        let mut pairs: BinaryHeap<_> = (0..end).filter_map(|start| pair(start, &ends)).collect();
        let mut n_tokens = piece.len();
        while let Some(Reverse((_, start, pair_end))) = pairs.pop() {
            let second = ends[start as usize];
            // A pair of which one became part of another token is none any more.
            if second == 0 || ends.get(second as usize) != Some(&pair_end) {
                continue;
            }
            (ends[start as usize], ends[second as usize]) = (pair_end, 0);
            before[pair_end as usize] = start;
            n_tokens -= 1;
            pairs.extend(pair(start, &ends));
            if start > 0 {
                pairs.extend(pair(before[start as usize], &ends));
            }
        }
        n_tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merges() -> Merges {
        let bytes: Vec<&'static [u8]> = (0..=255).map(|byte| &*Box::leak(vec![byte].into_boxed_slice())).collect();
        let words = ["ab", "bc", "aa", "abc", "cab", "aaaa", "bcab", "ca", "abab"];
        Merges::new(&bytes.into_iter().chain(words.map(str::as_bytes)).collect::<Vec<_>>())
    }

    #[test]
    fn the_lowest_rank_goes_first() {
        let merges = merges();
        for (piece, n_tokens) in
            [("", 0), ("x", 1), ("ab", 1), ("abc", 1), ("bca", 2), ("aab", 2), ("aaaaa", 2), ("abcab", 2), ("bcbc", 2)]
        {
            assert_eq!(merges.count(piece.as_bytes()), n_tokens, "{piece}");
        }
    }

    #[test]
    fn both_ways_count_the_same() {
        let merges = merges();
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let n = 1 + (seed >> 40) as usize % MAX_SCANNED;
            let piece: Vec<u8> =
                (0..n).map(|at| b"abcd"[(seed.rotate_left(at as u32 * 5) >> 61) as usize % 4]).collect();
            assert_eq!(merges.scan(&piece), merges.sort(&piece), "{piece:?}");
        }
    }
}
