//! How far two distributions are apart. Knows counts and sketches, not what they are of.

use std::collections::BTreeMap;

use super::{Ks, Psi};
use crate::pipeline::sketch::{Bin, Quantiles};

/// Bins of a figure beside those of exactly 0 and exactly 1: tenths of what was there before.
const TENTHS: u64 = 10;
/// Added to every count, so that an empty bin has a share: the prior of Jeffreys.
const PRIOR: f64 = 0.5;
/// Of the standard normal distribution, at 95 %.
const NORMAL_95: f64 = 1.644_853_626_951_472;
/// Of the Kolmogorov distribution, at 95 %.
const KOLMOGOROV_95: f64 = 1.358_098_6;
/// Of χ² with one, two and three degrees of freedom, at 95 %.
const CHI_SQUARED_95: [f64; 3] = [3.841_459, 5.991_465, 7.814_728];
/// Names with a smaller share on both sides count as one.
const SMALL_SHARE: f64 = 0.01;
/// The series of the Kolmogorov distribution has converged long before.
const MAX_TERMS: i32 = 100;

/// The population stability index of two sets of counts, bin by bin (N. Siddiqi, "Credit Risk Scorecards", Wiley 2006).
/// What chance explains comes from its distribution when nothing changed: `(1/n + 1/m) · χ²` with one degree of freedom
/// less than bins (B. Yurdakul, J. Naranjo, "Statistical properties of the population stability index", Journal of Risk
/// Model Validation 14(4), 2020). `n` and `m` are the independent observations of both sides: counts may be of messages,
/// which hang together within a conversation.
pub(super) fn psi(counts: &[(u64, u64)], (n, m): (u64, u64)) -> Option<Psi> {
    let bins: Vec<(u64, u64)> = counts.iter().copied().filter(|&(before, after)| before + after > 0).collect();
    let (before, after) = bins.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    if before == 0 || after == 0 || n == 0 || m == 0 {
        return None;
    }
    let share = |count: u64, all: u64| (count as f64 + PRIOR) / (all as f64 + PRIOR * bins.len() as f64);
    let value = bins.iter().map(|&(a, b)| {
        let (a, b) = (share(a, before), share(b, after));
        (b - a) * (b / a).ln()
    });
    let freedom = bins.len().saturating_sub(1) as f64;
    Some(Psi { value: value.sum(), by_chance: (1.0 / n as f64 + 1.0 / m as f64) * chi_squared_95(freedom) })
}

/// The 95th percentile of χ²: from tables for few degrees of freedom, else as approximated by E. B. Wilson and M. M.
/// Hilferty, "The distribution of chi-square", PNAS 17, 1931.
fn chi_squared_95(freedom: f64) -> f64 {
    if freedom < 1.0 {
        return 0.0;
    }
    if let Some(exact) = CHI_SQUARED_95.get(freedom as usize - 1) {
        return *exact;
    }
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + NORMAL_95 * spread.sqrt()).powi(3)
}

/// The index of a figure: bins of exactly 0 and exactly 1, and the tenths of what else was there before.
pub(super) fn psi_of_sketches(before: &Quantiles, after: &Quantiles) -> Option<Psi> {
    let ends = tenths(before);
    let mut counts = vec![(0, 0); ends.len() + 3];
    for bin in before.bins() {
        counts[place(&bin, &ends)].0 += bin.count;
    }
    for bin in after.bins() {
        counts[place(&bin, &ends)].1 += bin.count;
    }
    psi(&counts, (before.count(), after.count()))
}

fn is_point(bin: &Bin) -> bool {
    bin.from.to_bits() == bin.to.to_bits()
}

/// Upper ends of the tenths of all numbers that are neither 0 nor 1; the last tenth has none.
fn tenths(sketch: &Quantiles) -> Vec<f64> {
    let rest = || sketch.bins().filter(|bin| !is_point(bin));
    let all: u64 = rest().map(|bin| bin.count).sum();
    let (mut ends, mut seen, mut next) = (Vec::new(), 0, 1);
    for bin in rest() {
        seen += bin.count;
        if seen * TENTHS >= next * all && next < TENTHS {
            ends.push(bin.to);
            next = seen * TENTHS / all + 1;
        }
    }
    ends
}

fn place(bin: &Bin, ends: &[f64]) -> usize {
    match is_point(bin) {
        true if bin.to < 0.5 => 0,
        true => 1,
        false => 2 + ends.partition_point(|end| *end < bin.to),
    }
}

/// The index of shares by name; small ones count together. `n` and `m` as in [`psi`].
pub(super) fn psi_of_names(counts: &BTreeMap<Option<&str>, (u64, u64)>, conversations: (u64, u64)) -> Option<Psi> {
    let (before, after) = counts.values().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    let is_small =
        |&(a, b): &(u64, u64)| (a as f64) < SMALL_SHARE * before as f64 && (b as f64) < SMALL_SHARE * after as f64;
    let mut bins: Vec<(u64, u64)> = counts.values().copied().filter(|count| !is_small(count)).collect();
    let small = counts.values().filter(|count| is_small(count));
    bins.push(small.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1)));
    psi(&bins, conversations)
}

/// The two-sample test of Kolmogorov and Smirnov. The p-value is that of the limit, with the correction for small samples
/// of M. A. Stephens ("Use of the Kolmogorov–Smirnov, Cramér–von Mises and related statistics without extensive tables",
/// Journal of the Royal Statistical Society B 32, 1970). Equal numbers make it too large, never too small.
pub(super) fn ks(before: &Quantiles, after: &Quantiles) -> Option<Ks> {
    let (n, m) = (before.count() as f64, after.count() as f64);
    if n < 1.0 || m < 1.0 {
        return None;
    }
    // Both sketches have the same bins: a bin is told by its ends. The bin of 1 comes behind those that end at 1.
    let key = |bin: &Bin| (bin.to.to_bits(), bin.from.to_bits());
    let mut counts: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    before.bins().for_each(|bin| counts.entry(key(&bin)).or_default().0 += bin.count);
    after.bins().for_each(|bin| counts.entry(key(&bin)).or_default().1 += bin.count);
    let (mut a, mut b, mut statistic) = (0, 0, 0.0_f64);
    for (n_before, n_after) in counts.values() {
        a += n_before;
        b += n_after;
        statistic = statistic.max((a as f64 / n - b as f64 / m).abs());
    }
    let root = (n * m / (n + m)).sqrt();
    let corrected = root + 0.12 + 0.11 / root;
    Some(Ks { statistic, critical: (KOLMOGOROV_95 / corrected).min(1.0), p_value: kolmogorov(corrected * statistic) })
}

/// How often the limit of the scaled distance is above `at`.
fn kolmogorov(at: f64) -> f64 {
    // Below, the series converges slowly and the answer is 1 to ten digits.
    if at < 0.2 {
        return 1.0;
    }
    let term = |k: i32| (if k % 2 == 1 { 2.0 } else { -2.0 }) * (-2.0 * f64::from(k * k) * at * at).exp();
    (1..=MAX_TERMS).map(term).sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{chi_squared_95, kolmogorov, ks, psi, psi_of_names, psi_of_sketches};
    use crate::pipeline::sketch::Quantiles;

    fn sketch(values: impl IntoIterator<Item = f64>) -> Quantiles {
        let mut sketch = Quantiles::default();
        values.into_iter().for_each(|value| sketch.push(value));
        sketch
    }

    fn near(found: f64, exact: f64, by: f64) {
        assert!((found - exact).abs() <= by, "{found} is not {exact}");
    }

    #[test]
    fn the_index_is_that_of_its_formula() {
        // Shares of 20 % and 80 % against half and half: 0.3 ln 2.5 + 0.3 ln 1.6.
        let found = psi(&[(200_000, 500_000), (800_000, 500_000)], (1_000_000, 1_000_000)).expect("some");
        near(found.value, 0.3 * 2.5_f64.ln() + 0.3 * 1.6_f64.ln(), 1e-4);
        // One degree of freedom: 3.84.
        near(found.by_chance, 2e-6 * 3.84, 1e-7);
        assert_eq!(psi(&[(5, 0), (0, 0)], (5, 0)), None);
        near(psi(&[(7, 7), (3, 3)], (10, 10)).expect("some").value, 0.0, 1e-12);
        // An empty bin is smoothed, not infinite.
        assert!(psi(&[(10, 0), (10, 20)], (20, 20)).expect("some").value.is_finite());
    }

    #[test]
    fn tabulated_percentiles_are_met() {
        for (freedom, exact) in [(1.0, 3.841), (4.0, 9.488), (11.0, 19.675), (30.0, 43.773)] {
            near(chi_squared_95(freedom), exact, exact * 0.03);
        }
        for (at, exact) in [(0.3, 1.0), (1.0, 0.27), (1.358, 0.05), (1.628, 0.01), (5.0, 0.0)] {
            near(kolmogorov(at), exact, 1e-3);
        }
    }

    #[test]
    fn equal_figures_are_not_apart_and_shifted_ones_are() {
        let shares = || (1..=1_000).map(|n| f64::from(n) / 1_000.0);
        let (a, b) = (sketch(shares()), sketch(shares()));
        near(psi_of_sketches(&a, &b).expect("some").value, 0.0, 1e-12);
        let test = ks(&a, &b).expect("some");
        assert_eq!((test.statistic, test.p_value), (0.0, 1.0));
        // A third of the whole shares falls to a half: a third of the mass moves.
        let ones = sketch((0..300).map(|_| 1.0));
        let mixed = sketch((0..300).map(|n| if n % 3 == 0 { 0.5 } else { 1.0 }));
        let test = ks(&ones, &mixed).expect("some");
        near(test.statistic, 1.0 / 3.0, 1e-12);
        assert!(test.p_value < 1e-9 && test.statistic > test.critical);
        let drift = psi_of_sketches(&ones, &mixed).expect("some");
        assert!(drift.value > 1.0 && drift.value > drift.by_chance);
        // Few conversations: what chance explains is large.
        let few = psi_of_sketches(&sketch([0.5, 0.6, 0.9]), &sketch([0.4, 0.7, 1.0])).expect("some");
        assert!(few.by_chance > few.value, "{few:?}");
        assert!(ks(&a, &sketch([])).is_none() && psi_of_sketches(&sketch([]), &a).is_none());
    }

    #[test]
    fn the_distance_is_that_of_the_sorted_values() {
        let (a, b): (Vec<f64>, Vec<f64>) = (
            (0..200).map(|n| 1.0 + f64::from(n * n % 97)).collect(),
            (0..150).map(|n| 3.0 + f64::from(n * n % 89)).collect(),
        );
        let up_to =
            |values: &[f64], at: f64| values.iter().filter(|&&value| value <= at).count() as f64 / values.len() as f64;
        let exact = a.iter().chain(&b).map(|&at| (up_to(&a, at) - up_to(&b, at)).abs()).fold(0.0, f64::max);
        near(ks(&sketch(a), &sketch(b)).expect("some").statistic, exact, 1e-12);
    }

    #[test]
    fn small_names_count_together() {
        let names: Vec<String> = (0..500).map(|n| format!("tool {n}")).collect();
        let mut counts: BTreeMap<Option<&str>, (u64, u64)> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            counts.insert(Some(name), if at % 2 == 0 { (1, 0) } else { (0, 1) });
        }
        counts.insert(Some("shell"), (10_000, 10_000));
        let found = psi_of_names(&counts, (1_000, 1_000)).expect("some");
        near(found.value, 0.0, 1e-6);
    }
}
