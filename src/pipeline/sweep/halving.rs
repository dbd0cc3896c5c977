//! Which option sets go on to a larger share of the sample: those that fewest others beat in ratio and in every figure
//! that is looked at, in the whole or in some class. Knows numbers only.

use super::sums::{RATIO, Statistics};

/// Below so many conversations a class is not looked at on its own.
pub(crate) const MIN_CLASS: usize = 16;

/// True when `a` is nowhere below `b` and somewhere above. What was not measured says nothing.
pub(crate) fn dominates(a: &Statistics, b: &Statistics, objectives: &[usize]) -> bool {
    let is_below = |&at: &usize| a[at] < b[at];
    let is_above = |&at: &usize| a[at] > b[at];
    !objectives.iter().any(is_below) && objectives.iter().any(is_above)
}

/// The places in `sets` of those that no other dominates; of equal ones the first.
pub(crate) fn front(sets: &[Statistics], objectives: &[usize]) -> Vec<usize> {
    let equal = |a: &Statistics, b: &Statistics| objectives.iter().all(|&at| a[at].total_cmp(&b[at]).is_eq());
    let is_on = |&at: &usize| {
        let set = &sets[at];
        !sets.iter().any(|other| dominates(other, set, objectives)) && !sets[..at].iter().any(|other| equal(other, set))
    };
    (0..sets.len()).filter(is_on).collect()
}

/// The places of the best `n` in `groups`, each of which has the same sets in the same order: the whole first, then its
/// classes. The first set always stays, since the others are held against it.
pub(crate) fn survivors(groups: &[Vec<Statistics>], objectives: &[usize], n: usize) -> Vec<usize> {
    let Some(whole) = groups.first() else { return Vec::new() };
    let beaten =
        |sets: &[Statistics], at: usize| sets.iter().filter(|other| dominates(other, &sets[at], objectives)).count();
    let mut ranked: Vec<(usize, usize, f64, usize)> = (0..whole.len())
        .map(|at| {
            let least = groups.iter().map(|sets| beaten(sets, at)).min().unwrap_or(0);
            (least, beaten(whole, at), whole[at][RATIO], at)
        })
        .collect();
    ranked
        .sort_by(|a, b| (a.3 != 0, a.0, a.1).cmp(&(b.3 != 0, b.0, b.1)).then(b.2.total_cmp(&a.2)).then(a.3.cmp(&b.3)));
    let mut kept: Vec<usize> = ranked.into_iter().take(n.max(1)).map(|(.., at)| at).collect();
    kept.sort_unstable();
    kept
}

/// The shares of a sample of `n` that are measured one after the other: an eighth, a quarter, a half, all; the first one
/// is no smaller than `MIN_ROUND`.
pub(crate) fn rounds(n: usize) -> Vec<usize> {
    let mut sizes = vec![n];
    while let Some(&first) = sizes.first()
        && sizes.len() < MAX_ROUNDS
        && first / 2 >= MIN_ROUND
    {
        sizes.insert(0, first.div_ceil(2));
    }
    sizes
}

const MAX_ROUNDS: usize = 4;
const MIN_ROUND: usize = 24;

#[cfg(test)]
mod tests {
    use super::{Statistics, dominates, front, rounds, survivors};
    use crate::pipeline::sweep::sums::N_STATISTICS;

    const OBJECTIVES: [usize; 2] = [0, 2];

    fn sets(pairs: &[(f64, f64)]) -> Vec<Statistics> {
        let mut statistics = [f64::NAN; N_STATISTICS];
        let mut with = |&(ratio, quality): &(f64, f64)| {
            (statistics[0], statistics[2]) = (ratio, quality);
            statistics
        };
        pairs.iter().map(&mut with).collect()
    }

    #[test]
    fn the_front_has_no_dominated_member_and_misses_none() {
        let sets = sets(&[(1.0, 1.0), (1.2, 0.9), (1.1, 0.8), (1.2, 0.9), (2.0, 0.1), (1.0, 0.99)]);
        let front = front(&sets, &OBJECTIVES);
        assert_eq!(front, [0, 1, 4]);
        for (at, set) in sets.iter().enumerate() {
            let is_beaten = sets.iter().any(|other| dominates(other, set, &OBJECTIVES));
            assert_eq!(front.contains(&at), !is_beaten && at != 3, "{at}");
        }
    }

    #[test]
    fn what_is_best_in_one_class_stays() {
        let whole = sets(&[(1.0, 1.0), (1.5, 1.0), (1.4, 0.9), (1.3, 0.8)]);
        let class = sets(&[(1.0, 1.0), (1.1, 1.0), (1.1, 0.9), (2.0, 0.8)]);
        assert_eq!(survivors(std::slice::from_ref(&whole), &OBJECTIVES, 2), [0, 1]);
        assert_eq!(survivors(&[whole, class], &OBJECTIVES, 3), [0, 1, 3]);
    }

    #[test]
    fn rounds_double() {
        assert_eq!(rounds(400), [50, 100, 200, 400]);
        assert_eq!(rounds(60), [30, 60]);
        assert_eq!(rounds(3), [3]);
    }
}
