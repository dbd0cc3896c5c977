//! Which conversations belong together, and how many places of the line from 0 to 1 are for evaluation, class by class. Knows
//! conversations by their numbers; refuses to know what they have in common.

use super::notes::N_CLASSES;

/// Sets of conversations that grow together; four bytes each.
#[derive(Debug)]
pub struct Unions {
    parents: Vec<u32>,
}

impl Unions {
    /// Each of `n` by itself.
    pub fn new(n: u32) -> Self {
        Self { parents: (0..n).collect() }
    }

    /// The first of those that belong together with this one.
    pub fn first(&mut self, of: u32) -> u32 {
        let mut at = of;
        while let Some(&parent) = self.parents.get(at as usize).filter(|&&parent| parent != at) {
            let above = self.parents.get(parent as usize).copied().unwrap_or(parent);
            if let Some(slot) = self.parents.get_mut(at as usize) {
                *slot = above;
            }
            at = above;
        }
        at
    }

    /// Puts two together; false when they were.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.first(a), self.first(b));
        if let Some(slot) = self.parents.get_mut(a.max(b) as usize) {
            *slot = a.min(b);
        }
        a != b
    }
}

/// Places of the line that are counted by themselves.
const N_STRETCHES: usize = 1 << 16;
/// A class whose part for evaluation is less than this share of what it should be, or more than this beyond it, is set right.
const TOLERATED: f64 = 0.5;

/// How much of each class stands where on the line.
#[derive(Debug)]
pub struct Strata {
    counts: Vec<u32>,
}

impl Default for Strata {
    fn default() -> Self {
        Self { counts: vec![0; N_STRETCHES * N_CLASSES] }
    }
}

impl Strata {
    fn stretch(at: f64) -> usize {
        ((at * N_STRETCHES as f64) as usize).min(N_STRETCHES - 1)
    }

    /// Counts conversations of a group at this place whose class this is.
    pub fn add(&mut self, class: u8, at: f64, n: u32) {
        if let Some(count) = self.counts.get_mut(usize::from(class) * N_STRETCHES + Self::stretch(at)) {
            *count = count.saturating_add(n);
        }
    }

    /// Below which place groups of each class are for evaluation. It is `share` itself, so that data that is added moves nothing, but
    /// for a class that would come to less than half or more than one and a half times of it although it is large enough to have a
    /// conversation there: then the place that comes nearest.
    pub fn limits(&self, share: f64) -> [f64; N_CLASSES] {
        std::array::from_fn(|class| {
            let counts = self.counts.chunks(N_STRETCHES).nth(class).unwrap_or_default();
            let total: f64 = counts.iter().copied().map(f64::from).sum();
            let wanted = total * share;
            if wanted < 1.0 || share >= 1.0 {
                return share;
            }
            let below = |end: usize| -> f64 { counts.iter().take(end).copied().map(f64::from).sum() };
            let plain = below((share * N_STRETCHES as f64) as usize);
            if (plain - wanted).abs() <= TOLERATED * wanted {
                return share;
            }
            let (mut sum, mut best, mut end) = (0.0, (wanted, 0_u32), 0);
            for &count in counts {
                sum += f64::from(count);
                end += 1;
                // One group that is all of a class is for training.
                if count > 0 && sum < total && (sum - wanted).abs() < best.0 {
                    best = ((sum - wanted).abs(), end);
                }
            }
            f64::from(best.1) / N_STRETCHES as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Strata, Unions};

    #[test]
    fn what_belongs_together_has_one_first() {
        let mut unions = Unions::new(6);
        assert!(unions.join(4, 2) && unions.join(5, 4) && !unions.join(2, 5));
        let firsts: Vec<u32> = (0..6).map(|n| unions.first(n)).collect();
        assert_eq!(firsts, [0, 1, 2, 3, 2, 2]);
    }

    #[test]
    fn only_classes_that_are_far_off_are_set_right() {
        let mut strata = Strata::default();
        // Class 0: a hundred spread evenly. Class 1: all far behind. Class 2: too small. Class 3: one group.
        (0..100).for_each(|n| strata.add(0, f64::from(n) / 100.0, 1));
        (0..20).for_each(|n| strata.add(1, 0.5 + f64::from(n) / 50.0, 1));
        strata.add(2, 0.9, 3);
        strata.add(3, 0.01, 50);
        let limits = strata.limits(0.1);
        assert_eq!((limits[0], limits[2], limits[4]), (0.1, 0.1, 0.1));
        assert!((0.52..0.54).contains(&limits[1]), "{}", limits[1]);
        assert!(limits[3].abs() < f64::EPSILON, "all of a class is not for evaluation");
    }
}
