//! Intervals by resampling: the conversations of each class are drawn again, as many as there are, with replacement, and
//! every set is measured on the same draws, so that differences between sets have intervals too. Random numbers come from
//! a hash of a counter: the same sample gives the same intervals, on any number of threads. Knows numbers only.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use super::sums::{Addends, Mask, Measured, Statistics, Sums};

/// Resamples: the ends of a 95 % interval then stand on 25 draws each.
pub const RESAMPLES: usize = 1_000;
/// How often an interval holds the value of the whole corpus.
pub const CONFIDENCE: f64 = 0.95;
const SEED: u64 = 0x636F_6E64_656E_7365;

/// A value with its interval; without one where too little was measured for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The value on the sample.
    pub value: f64,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A part of a sample that is resampled on its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// Conversations; the rows of a class follow one another.
    pub(crate) n: usize,
    /// Conversations of the inputs that each stands for.
    pub(crate) weight: f64,
}

/// What every set came to in every resample, for all blocks together and for each of them.
#[derive(Debug)]
pub(crate) struct Resampled {
    /// By group (all, then each block), set, resample.
    statistics: Vec<Vec<Vec<Statistics>>>,
    /// By group and set, on the sample itself.
    values: Vec<Vec<Statistics>>,
}

impl Resampled {
    /// `rows` are the conversations of each set, block by block; `masks` say what is measured of a conversation.
    pub(crate) fn new(blocks: &[Block], rows: &[Vec<Measured>], masks: &[Mask], n_resamples: usize) -> Self {
        let terms = |set: &Vec<Measured>| set.iter().zip(masks).map(|(row, mask)| row.terms(mask)).collect();
        let rows: Vec<Vec<Addends>> = rows.iter().map(terms).collect();
        let ones = vec![1_u32; masks.len()];
        let values = transposed(vec![statistics_of(blocks, &rows, &ones)]);
        let draw = |resample: usize| statistics_of(blocks, &rows, &multiplicities(blocks, resample as u64));
        let drawn: Vec<Vec<Vec<Statistics>>> = (0..n_resamples).into_par_iter().map(draw).collect();
        let values = values.into_iter().map(|sets| sets.into_iter().flatten().collect()).collect();
        Self { statistics: transposed(drawn), values }
    }

    /// What `set` came to in `group`: 0 for all, then the blocks.
    pub(crate) fn value(&self, group: usize, set: usize) -> &Statistics {
        &self.values[group][set]
    }

    /// A statistic with its interval; `None` when it was not measured.
    pub(crate) fn interval(&self, group: usize, set: usize, at: usize) -> Option<Interval> {
        let drawn = self.statistics[group][set].iter().map(|statistics| statistics[at]).collect();
        interval(self.values[group][set][at], drawn)
    }

    /// How much `set` is above `other`, with its interval.
    pub(crate) fn difference(&self, group: usize, set: usize, other: usize, at: usize) -> Option<Interval> {
        let (of_set, of_other) = (&self.statistics[group][set], &self.statistics[group][other]);
        let drawn = of_set.iter().zip(of_other).map(|(a, b)| a[at] - b[at]).collect();
        interval(self.values[group][set][at] - self.values[group][other][at], drawn)
    }
}

/// From resample, group, set to group, set, resample.
fn transposed(drawn: Vec<Vec<Vec<Statistics>>>) -> Vec<Vec<Vec<Statistics>>> {
    let mut out: Vec<Vec<Vec<Statistics>>> = Vec::new();
    for resample in drawn {
        out.resize_with(resample.len(), Vec::new);
        for (group, sets) in out.iter_mut().zip(resample) {
            group.resize_with(sets.len(), Vec::new);
            group.iter_mut().zip(sets).for_each(|(all, statistics)| all.push(statistics));
        }
    }
    out
}

fn statistics_of(blocks: &[Block], rows: &[Vec<Addends>], times: &[u32]) -> Vec<Vec<Statistics>> {
    let mut groups = vec![Vec::with_capacity(rows.len()); blocks.len() + 1];
    for set in rows {
        let (mut all, mut at) = (Sums::NONE, 0);
        for (group, block) in groups.iter_mut().skip(1).zip(blocks) {
            let mut sums = Sums::NONE;
            for index in at..at + block.n {
                if times[index] > 0 {
                    sums.push(&set[index], block.weight * f64::from(times[index]));
                }
            }
            at += block.n;
            all.add(&sums);
            group.push(sums.statistics());
        }
        groups[0].push(all.statistics());
    }
    groups
}

/// How often each conversation is drawn.
fn multiplicities(blocks: &[Block], resample: u64) -> Vec<u32> {
    let mut times = Vec::new();
    for block in blocks {
        let start = times.len();
        times.resize(start + block.n, 0);
        for draw in 0..block.n {
            let number = hash(SEED ^ hash(resample ^ hash((start + draw) as u64)));
            // The upper bits of a product: every index alike to within 2⁻⁶⁴ of its share.
            let index = ((u128::from(number) * block.n as u128) >> 64) as usize;
            times[start + index] += 1;
        }
    }
    times
}

/// The mixing step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn hash(counter: u64) -> u64 {
    let mut z = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The value between the quantiles of what was drawn (the percentile method); draws without the statistic are left out.
fn interval(value: f64, drawn: Vec<f64>) -> Option<Interval> {
    if value.is_nan() {
        return None;
    }
    let mut drawn: Vec<f64> = drawn.into_iter().filter(|value| !value.is_nan()).collect();
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let mut at = |share: f64| {
        let place = share * drawn.len().checked_sub(1)? as f64;
        let (_, &mut below, others) = drawn.select_nth_unstable_by(place as usize, f64::total_cmp);
        let above = others.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
        Some(below + (above - below) * place.fract())
    };
    Some(Interval { value, low: at(tail), high: at(1.0 - tail) })
}

#[cfg(test)]
mod tests {
    use super::{Block, Resampled, hash};
    use crate::pipeline::sweep::sums::{Measured, N_FIGURES, N_STATISTICS, RATIO};

    /// A share from a counter.
    fn share(counter: u64) -> f64 {
        (hash(counter) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Two classes of different size and ratio; the whole has a known ratio and a known mean.
    fn population() -> Vec<Vec<Measured>> {
        let one = |class: u64, at: u64| {
            let length = 500 + (share(class * 1_000_003 + at) * 4_000.0) as usize;
            let kept = if class == 0 { 0.5 } else { 0.8 } + 0.2 * (share(class + at * 77) - 0.5);
            let mut figures = [None; N_FIGURES];
            figures[0] = Some(share(at * 31 + class));
            let after = (length as f64 * kept) as usize;
            Measured { chars: (length, after), tokens: (length, after), figures }
        };
        vec![(0..6_000).map(|at| one(0, at)).collect(), (0..2_000).map(|at| one(1, at)).collect()]
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        let classes = population();
        let mask = std::array::from_fn(|at| at == 0);
        let weight = |class: usize, n: usize| classes[class].len() as f64 / n as f64;
        let whole: Vec<Measured> = classes.concat();
        let blocks: Vec<Block> = classes.iter().map(|class| Block { n: class.len(), weight: 1.0 }).collect();
        let truth = Resampled::new(&blocks, &[whole], &vec![mask; 8_000], 0);
        let truth = truth.value(0, 0);
        let (mut hits, n_trials) = ([0; N_STATISTICS], 300);
        for trial in 0..n_trials {
            let drawn = |class: usize, n: usize| -> Vec<Measured> {
                let pick = |at: usize| {
                    let counter = (trial * 1_000 + at * 2 + class) as u64;
                    classes[class][(share(hash(counter)) * classes[class].len() as f64) as usize]
                };
                (0..n).map(pick).collect()
            };
            let rows = [drawn(0, 60), drawn(1, 40)].concat();
            let blocks = [Block { n: 60, weight: weight(0, 60) }, Block { n: 40, weight: weight(1, 40) }];
            let resampled = Resampled::new(&blocks, &[rows], &[mask; 100], 200);
            for at in [RATIO, 2] {
                let interval = resampled.interval(0, 0, at).expect("it was measured");
                let (low, high) = (interval.low.expect("drawn"), interval.high.expect("drawn"));
                hits[at] += usize::from(low <= truth[at] && truth[at] <= high);
            }
        }
        for at in [RATIO, 2] {
            let rate = hits[at] as f64 / f64::from(n_trials as u32);
            assert!((0.90..=0.985).contains(&rate), "statistic {at} was held in {rate} of the trials");
        }
    }

    #[test]
    fn a_set_is_not_above_itself() {
        let rows = population().remove(1);
        let masks = vec![std::array::from_fn(|at| at == 0); rows.len()];
        let blocks = [Block { n: rows.len(), weight: 2.0 }];
        let resampled = Resampled::new(&blocks, &[rows.clone(), rows], &masks, 50);
        let difference = resampled.difference(0, 1, 0, RATIO).expect("it was measured");
        assert_eq!((difference.value, difference.low, difference.high), (0.0, Some(0.0), Some(0.0)));
        assert!(resampled.interval(0, 0, N_STATISTICS - 1).is_none(), "nothing was measured");
    }
}
