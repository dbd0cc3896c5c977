//! What was measured of one conversation with one option set, and weighted sums of it. A figure that had nothing to
//! measure with one set, but had with another, counts as 1: nothing was lost, and all sets are held against each other
//! over the same conversations. Knows numbers only.

use crate::model::{Figure, Metrics};

/// Number of figures that are no ratios.
pub(crate) const N_FIGURES: usize = Figure::SHARES.len();
/// Number of statistics.
pub(crate) const N_STATISTICS: usize = Figure::ALL.len();
/// In the order of [`Figure::ALL`]; one that was not measured is NaN.
pub(crate) type Statistics = [f64; N_STATISTICS];

/// One conversation with one option set.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Characters before and after.
    pub chars: (usize, usize),
    /// Tokens before and after.
    pub tokens: (usize, usize),
    /// In the order of [`Figure::SHARES`].
    pub figures: [Option<f64>; N_FIGURES],
}

impl Measured {
    /// What `metrics` say.
    pub fn of(metrics: &Metrics) -> Self {
        Self {
            chars: (metrics.chars_in, metrics.chars_out),
            tokens: (metrics.tokens_in, metrics.tokens_out),
            figures: Figure::SHARES.map(|figure| figure.of(metrics)),
        }
    }

    /// The conversation as it was.
    pub fn unchanged(&self) -> Self {
        Self { chars: (self.chars.0, self.chars.0), tokens: (self.tokens.0, self.tokens.0), figures: [None; N_FIGURES] }
    }
}

/// Which figures some set had something to measure for.
pub(crate) type Mask = [bool; N_FIGURES];

/// The figures that any of `rows` has.
pub(crate) fn mask_of<'m>(rows: impl Iterator<Item = &'m Measured>) -> Mask {
    rows.fold([false; N_FIGURES], |mut mask, row| {
        mask.iter_mut().zip(&row.figures).for_each(|(is_there, figure)| *is_there |= figure.is_some());
        mask
    })
}

/// Number of sums: characters and tokens before and after, and a value with its weight per figure.
const N_SUMS: usize = 4 + 2 * N_FIGURES;

/// What one conversation adds to the sums: laid out flat, since a resample adds thousands of them.
pub(crate) type Addends = [f64; N_SUMS];

impl Measured {
    /// What it adds where the figures of `mask` are measured.
    pub(crate) fn terms(&self, mask: &Mask) -> Addends {
        let mut terms = [0.0; N_SUMS];
        let ((chars_in, chars_out), (tokens_in, tokens_out)) = (self.chars, self.tokens);
        for (term, count) in terms.iter_mut().zip([chars_in, chars_out, tokens_in, tokens_out]) {
            *term = count as f64;
        }
        for (at, value) in self.figures.iter().enumerate().filter(|&(at, _)| mask[at]) {
            terms[4 + 2 * at] = value.unwrap_or(1.0);
            terms[5 + 2 * at] = 1.0;
        }
        terms
    }
}

/// Weighted sums over conversations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums(Addends);

impl Sums {
    pub(crate) const NONE: Self = Self([0.0; N_SUMS]);

    #[expect(
        clippy::needless_range_loop,
        reason = "iterators take three times as long in a build without optimisation"
    )]
    pub(crate) fn push(&mut self, terms: &Addends, weight: f64) {
        for at in 0..N_SUMS {
            self.0[at] += weight * terms[at];
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.push(&other.0, 1.0);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let ratio = |(before, after): (f64, f64)| if after > 0.0 { before / after } else { 1.0 };
        let mut statistics = [f64::NAN; N_STATISTICS];
        statistics[RATIO] = ratio((self.0[0], self.0[1]));
        statistics[TOKEN_RATIO] = ratio((self.0[2], self.0[3]));
        for at in 0..N_FIGURES {
            let (sum, weight) = (self.0[4 + 2 * at], self.0[5 + 2 * at]);
            statistics[2 + at] = if weight > 0.0 { sum / weight } else { f64::NAN };
        }
        statistics
    }
}

/// Where the ratio of characters stands among the statistics.
pub(crate) const RATIO: usize = Figure::Ratio as usize;
/// Where the ratio of tokens stands.
pub(crate) const TOKEN_RATIO: usize = Figure::TokenRatio as usize;
