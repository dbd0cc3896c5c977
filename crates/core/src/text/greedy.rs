//! The lazily greedy order: what gains most for what it costs is taken first, where that falls as others are taken. Knows keys;
//! refuses to know what they stand for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is chosen among.
pub trait Candidates {
    /// How many there are.
    fn len(&self) -> usize;

    /// True when there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What candidate `number` is worth now; 0 is never taken.
    fn key(&self, number: usize) -> u64;

    /// Takes candidate `number`; false when the order ends before it.
    fn take(&mut self, number: usize) -> bool;
}

/// Takes candidates in their order until one ends it; of equal ones the first.
pub fn greedy(all: &mut impl Candidates) {
    let keyed = |number: usize| (all.key(number), Reverse(number));
    let mut heap: BinaryHeap<(u64, Reverse<usize>)> = (0..all.len()).map(keyed).filter(|(key, _)| *key > 0).collect();
    while let Some((known, Reverse(number))) = heap.pop() {
        let now = all.key(number);
        if now < known {
            if now > 0 {
                heap.push((now, Reverse(number)));
            }
        } else if !all.take(number) {
            return;
        }
    }
}
