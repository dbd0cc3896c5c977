//! What was measured of one conversation with one option set, and weighted sums of it. A figure that had nothing to
//! measure with one set, but had with another, counts as 1: nothing was lost, and all sets are held against each other
//! over the same conversations. Knows numbers only.

use crate::model::{Figure, Metrics};

/// Number of figures.
pub(crate) const N_FIGURES: usize = Figure::ALL.len();
/// Number of statistics: ratio, token ratio, and the figures.
pub(crate) const N_STATISTICS: usize = 2 + N_FIGURES;
/// A statistic that was not measured is NaN.
pub(crate) type Statistics = [f64; N_STATISTICS];

/// Where a figure stands among the statistics.
pub(crate) fn place_of(figure: Figure) -> usize {
    2 + Figure::ALL.iter().position(|&other| other == figure).expect("all figures are listed")
}

/// One conversation with one option set.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Characters before and after.
    pub chars: (usize, usize),
    /// Tokens before and after.
    pub tokens: (usize, usize),
    /// In the order of [`Figure::ALL`].
    pub figures: [Option<f64>; N_FIGURES],
}

impl Measured {
    /// What `metrics` say.
    #[must_use]
    pub fn of(metrics: &Metrics) -> Self {
        Self {
            chars: (metrics.chars_in, metrics.chars_out),
            tokens: (metrics.tokens_in, metrics.tokens_out),
            figures: Figure::ALL.map(|figure| figure.of(metrics)),
        }
    }

    /// The conversation as it was.
    #[must_use]
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

/// Weighted sums over conversations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    chars: (f64, f64),
    tokens: (f64, f64),
    /// Values and weights.
    figures: [(f64, f64); N_FIGURES],
}

impl Sums {
    pub(crate) fn push(&mut self, row: &Measured, mask: &Mask, weight: f64) {
        let add = |sum: &mut (f64, f64), (before, after): (usize, usize)| {
            sum.0 += weight * before as f64;
            sum.1 += weight * after as f64;
        };
        add(&mut self.chars, row.chars);
        add(&mut self.tokens, row.tokens);
        for ((sum, value), is_there) in self.figures.iter_mut().zip(row.figures).zip(mask) {
            if *is_there {
                sum.0 += weight * value.unwrap_or(1.0);
                sum.1 += weight;
            }
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let add = |sum: &mut (f64, f64), other: (f64, f64)| {
            sum.0 += other.0;
            sum.1 += other.1;
        };
        add(&mut self.chars, other.chars);
        add(&mut self.tokens, other.tokens);
        self.figures.iter_mut().zip(other.figures).for_each(|(sum, other)| add(sum, other));
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let ratio = |(before, after): (f64, f64)| if after > 0.0 { before / after } else { 1.0 };
        let mut statistics = [f64::NAN; N_STATISTICS];
        statistics[RATIO] = ratio(self.chars);
        statistics[TOKEN_RATIO] = ratio(self.tokens);
        for (value, (sum, weight)) in statistics.iter_mut().skip(2).zip(self.figures) {
            *value = if weight > 0.0 { sum / weight } else { f64::NAN };
        }
        statistics
    }
}

/// Where the ratio of characters stands among the statistics.
pub(crate) const RATIO: usize = 0;
/// Where the ratio of tokens stands.
pub(crate) const TOKEN_RATIO: usize = 1;
