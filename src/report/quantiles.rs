//! Quantiles of a stream of numbers in fixed memory: a histogram whose bins are narrow enough for the error that is
//! promised. Equal numbers in any order give equal answers.

/// A quantile of ratios is off by at most this share of its value.
pub const RELATIVE_ERROR: f64 = 0.005;
/// A quantile of shares is off by at most this much.
pub const SHARE_STEP: f64 = 0.001;
/// Ratios below and above are counted as these.
const SMALLEST: f64 = 1e-3;
const LARGEST: f64 = 1e6;

/// How numbers are put into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// Bins of equal width over 0 to 1.
    Shares,
    /// Bins whose ends have the same ratio everywhere.
    Ratios,
}

/// A histogram that answers quantiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantiles {
    scale: Scale,
    /// Count and sum per bin: a bin of equal numbers answers exactly.
    bins: Vec<(u64, f64)>,
    n: u64,
    sum: f64,
}

impl Quantiles {
    /// For numbers from 0 to 1, to within [`SHARE_STEP`].
    #[must_use]
    pub fn of_shares() -> Self {
        Self::new(Scale::Shares)
    }

    /// For positive numbers, to within [`RELATIVE_ERROR`].
    #[must_use]
    pub fn of_ratios() -> Self {
        Self::new(Scale::Ratios)
    }

    fn new(scale: Scale) -> Self {
        let n_bins = match scale {
            Scale::Shares => bin_of(scale, 1.0) + 1,
            Scale::Ratios => bin_of(scale, LARGEST) + 1,
        };
        Self { scale, bins: vec![(0, 0.0); n_bins], n: 0, sum: 0.0 }
    }

    /// Takes a number; NaN is passed over.
    pub fn push(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        if let Some((count, sum)) = self.bins.get_mut(bin_of(self.scale, value)) {
            *count += 1;
            *sum += value;
            self.n += 1;
            self.sum += value;
        }
    }

    /// How many numbers were taken.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.n
    }

    /// Their mean; `None` when there are none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }

    /// The smallest number that at least the share `q` (0 to 1) of all numbers do not exceed; `None` when there are
    /// none.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((self.n as f64 * q).ceil() as u64).clamp(1, self.n.max(1));
        let mut seen = 0;
        self.bins.iter().find_map(|&(count, sum)| {
            seen += count;
            (count > 0 && seen >= rank).then(|| sum / count as f64)
        })
    }
}

fn bin_of(scale: Scale, value: f64) -> usize {
    match scale {
        Scale::Shares => (value.clamp(0.0, 1.0) / SHARE_STEP) as usize,
        Scale::Ratios => ((value.clamp(SMALLEST, LARGEST) / SMALLEST).ln() / RELATIVE_ERROR) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::{Quantiles, RELATIVE_ERROR, SHARE_STEP};

    /// The exact answer.
    fn sorted(values: &[f64], q: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = ((values.len() as f64 * q).ceil() as usize).clamp(1, values.len());
        sorted[rank - 1]
    }

    #[test]
    fn quantiles_are_within_their_error_of_the_exact_ones() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        for n in [1, 2, 3, 10, 997] {
            let shares: Vec<f64> = (0..n).map(|_| next()).collect();
            let ratios: Vec<f64> = shares.iter().map(|share| (share * 9.0).exp()).collect();
            let (mut of_shares, mut of_ratios) = (Quantiles::of_shares(), Quantiles::of_ratios());
            for (&share, &ratio) in shares.iter().zip(&ratios) {
                of_shares.push(share);
                of_ratios.push(ratio);
            }
            for q in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let (found, exact) = (of_shares.quantile(q).expect("some"), sorted(&shares, q));
                assert!((found - exact).abs() <= SHARE_STEP, "{n} {q}: {found} {exact}");
                let (found, exact) = (of_ratios.quantile(q).expect("some"), sorted(&ratios, q));
                assert!((found / exact - 1.0).abs() <= RELATIVE_ERROR * 1.01, "{n} {q}: {found} {exact}");
            }
        }
    }

    #[test]
    fn equal_numbers_answer_exactly_and_nothing_answers_nothing() {
        let mut ratios = Quantiles::of_ratios();
        assert_eq!((ratios.quantile(0.5), ratios.mean()), (None, None));
        for value in [1.0, 1.0, 1.0, f64::NAN] {
            ratios.push(value);
        }
        assert_eq!((ratios.quantile(0.1), ratios.quantile(0.9), ratios.count()), (Some(1.0), Some(1.0), 3));
        ratios.push(f64::INFINITY);
        ratios.push(0.0);
        assert_eq!(ratios.count(), 5);
    }
}
