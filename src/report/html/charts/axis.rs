//! Axes: where a value stands and which values are named.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

use crate::report::{Distribution, numbers};

/// Named values of a decade, from many to few.
const DECADES: [&[f64]; 5] = [
    &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.2, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    &[1.0, 2.0, 5.0],
    &[1.0],
];

/// How values lie along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// From 0 to 1.
    Share,
    /// Over the logarithm: twice as much is as far anywhere.
    Ratio,
}

impl Scale {
    /// The scale of a column of the metrics table.
    pub(super) fn of(figure: &str) -> Self {
        if figure.ends_with("ratio") { Self::Ratio } else { Self::Share }
    }

    /// Where `value` stands.
    pub(super) fn place(self, value: f64) -> f64 {
        match self {
            Self::Share => value.clamp(0.0, 1.0),
            Self::Ratio => value.clamp(1e-3, 1e9).log10(),
        }
    }

    /// Places from the smallest to the largest of `values`, with some room when they are one.
    pub(super) fn range(self, values: impl IntoIterator<Item = f64>) -> (f64, f64) {
        if self == Self::Share {
            return (0.0, 1.0);
        }
        let places = || f64::INFINITY..f64::NEG_INFINITY;
        let range = values
            .into_iter()
            .filter(|value| !value.is_nan())
            .fold(places(), |range, value| range.start.min(self.place(value))..range.end.max(self.place(value)));
        let (from, to) = if range.start > range.end { (0.0, 0.0) } else { (range.start, range.end) };
        // A tenth of a decade is from 1 to 1.26.
        (from, to.max(from + 0.1))
    }

    /// The places that are named between two.
    pub(super) fn ticks(self, (from, to): (f64, f64), max: usize) -> Vec<f64> {
        match self {
            Self::Share => vec![0.0, 0.25, 0.5, 0.75, 1.0],
            Self::Ratio => {
                let named = |decade: &[f64]| -> Vec<f64> {
                    (-3..=9)
                        .flat_map(|power| decade.iter().map(move |value| value.log10() + f64::from(power)))
                        .filter(|place| (from - 1e-9..=to + 1e-9).contains(place))
                        .collect()
                };
                let apart = (to - from) / max as f64 * 0.7;
                let fits =
                    |ticks: &Vec<f64>| ticks.len() <= max && ticks.windows(2).all(|two| two[1] - two[0] >= apart);
                DECADES.iter().map(|decade| named(decade)).find(fits).unwrap_or_else(|| {
                    let powers = named(&[1.0]);
                    let every = powers.len().div_ceil(max.max(1)).max(1);
                    powers.into_iter().step_by(every).collect()
                })
            }
        }
    }

    /// The name of a place.
    pub(super) fn name(self, place: f64) -> String {
        let value = match self {
            Self::Share => place,
            Self::Ratio => 10_f64.powf(place),
        };
        format!("{}", (value * 100.0).round() / 100.0)
    }
}

/// An axis that names exactly the places that it is told to.
#[derive(Clone)]
pub(super) struct Axis {
    places: RangedCoordf64,
    named: Vec<f64>,
}

impl Axis {
    /// From one place to another.
    pub(super) fn new(places: Range<f64>, named: Vec<f64>) -> Self {
        Self { places: places.into(), named }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.places.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.named.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.places.range()
    }
}

/// Counts that are named from 0 to `max`.
pub(super) fn count_ticks(max: f64, n: usize) -> Vec<f64> {
    let rough = (max / n as f64).max(1.0);
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    (0..=n).map(|at| at as f64 * step).filter(|tick| *tick <= max * 1.001).collect()
}

/// How high counts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heights {
    /// Twice as many are twice as high.
    Linear,
    /// Over the logarithm, so that one high bar does not hide all others.
    Logarithmic,
}

impl Heights {
    /// Those that let the bars be seen: logarithmic when one is far above what the others are in the middle.
    pub(super) fn of_bars(distribution: &Distribution) -> Self {
        let mut counts: Vec<u64> = distribution.bars.iter().map(|bar| bar.count).filter(|count| *count > 0).collect();
        counts.sort_unstable();
        let (most, middle) = (counts.last().copied().unwrap_or(0), counts.get(counts.len() / 2).copied().unwrap_or(0));
        if counts.len() > 2 && most > middle.saturating_mul(20) { Self::Logarithmic } else { Self::Linear }
    }

    /// Where a count stands.
    pub(super) fn place(self, count: f64) -> f64 {
        match self {
            Self::Linear => count,
            // One is seen as well: it stands a bit above the ground.
            Self::Logarithmic if count > 0.0 => (count.log10() + 0.15).max(0.0),
            Self::Logarithmic => 0.0,
        }
    }

    /// The counts that are named up to `max`.
    pub(super) fn ticks(self, max: f64) -> Vec<f64> {
        match self {
            Self::Linear => count_ticks(max, 4),
            Self::Logarithmic => (0..=15).map(|power| 10_f64.powi(power)).filter(|tick| *tick <= max * 1.001).collect(),
        }
    }
}

/// The name of a count.
pub(super) fn count_name(count: f64) -> String {
    // `numbers::short` gives three digits, of which the last are zeros here.
    let short = numbers::short(count.max(0.0) as u64);
    match short.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => short,
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, count_name, count_ticks};

    #[test]
    fn ticks_are_few_and_apart() {
        for (from, to) in [(1.0, 1.0), (1.0, 1.4), (1.0, 3.0), (0.8, 12.0), (1.0, 150.0), (0.01, 1e6)] {
            let range = Scale::Ratio.range([to, f64::NAN, from]);
            let ticks = Scale::Ratio.ticks(range, 8);
            assert!((2..=8).contains(&ticks.len()), "{from} {to}: {ticks:?}");
        }
        let names = |to| -> Vec<String> {
            let range = Scale::Ratio.range([1.0, to]);
            Scale::Ratio.ticks(range, 8).into_iter().map(|tick| Scale::Ratio.name(tick)).collect()
        };
        assert_eq!(names(10.0), ["1", "1.5", "2", "3", "5", "7", "10"]);
        assert_eq!(names(1000.0), ["1", "10", "100", "1000"]);
    }

    #[test]
    fn counts_are_round() {
        assert_eq!(count_ticks(437.0, 4), [0.0, 200.0, 400.0]);
        assert_eq!(count_ticks(2.0, 4), [0.0, 1.0, 2.0]);
        assert_eq!([0.0, 200.0, 1500.0, 2e6].map(count_name), ["0", "200", "1.5 k", "2 M"]);
    }
}
