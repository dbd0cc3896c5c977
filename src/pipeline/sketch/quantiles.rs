//! Quantiles of a stream of numbers: counts in bins whose ends have the same ratio everywhere, as in `DDSketch` (Masson,
//! Rim, Lee: "`DDSketch`: a fast and fully-mergeable quantile sketch with relative-error guarantees", VLDB 2019). Merging
//! adds counts, so that neither the order nor the cut of the stream shows. 0 and 1 have bins of their own: a share that
//! is whole is answered as 1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::packed;
use crate::pipeline::merge::Merge;

/// A quantile is off by at most this share of its value.
pub const RELATIVE_ERROR: f64 = 0.005;
/// The upper end of a bin over its lower end: the middle is off by `(GROWTH - 1) / (GROWTH + 1)` at most.
const GROWTH: f64 = 1.01;
/// Smaller numbers count as 0, larger ones as this.
const SMALLEST: f64 = 1e-4;
const LARGEST: f64 = 1e9;
/// The bin of 0. The other bins are even, and bin 1, between them, holds nothing but 1.
const ZERO: i32 = i32::MIN;
const ONE: i32 = 1;

/// A sketch that answers quantiles.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Quantiles {
    bins: BTreeMap<i32, u64>,
    n: u64,
    sum: f64,
    min: f64,
    max: f64,
}

/// Some of the numbers: those from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Nothing in it is smaller.
    pub from: f64,
    /// Nothing in it is larger.
    pub to: f64,
    /// How many there are.
    pub count: u64,
}

impl Bin {
    /// The number that stands for the bin.
    pub fn middle(&self) -> f64 {
        2.0 * self.from * self.to / (self.from + self.to).max(f64::MIN_POSITIVE)
    }
}

impl Quantiles {
    /// Takes a number; NaN is passed over.
    pub fn push(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        let value = value.clamp(0.0, LARGEST);
        *self.bins.entry(bin_of(value)).or_default() += 1;
        (self.min, self.max) = if self.n == 0 { (value, value) } else { (self.min.min(value), self.max.max(value)) };
        self.n += 1;
        self.sum += value;
    }

    /// How many numbers were taken.
    pub fn count(&self) -> u64 {
        self.n
    }

    /// Their mean; `None` when there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }

    /// The smallest and the largest; `None` when there are none.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.n > 0).then_some((self.min, self.max))
    }

    /// The smallest number that at least the share `q` (0 to 1) of all numbers do not exceed, to within
    /// [`RELATIVE_ERROR`]; `None` when there are none.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((self.n as f64 * q).ceil() as u64).clamp(1, self.n.max(1));
        let mut seen = 0;
        self.bins().find_map(|bin| {
            seen += bin.count;
            (seen >= rank).then(|| bin.middle().clamp(self.min, self.max))
        })
    }

    /// The bins that hold something, from the smallest numbers on.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        self.bins.iter().map(|(&bin, &count)| {
            let (from, to) = ends(bin);
            Bin { from, to, count }
        })
    }
}

impl Merge for Quantiles {
    fn absorb(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        self.bins.absorb(&other.bins);
        (self.min, self.max) =
            if self.n == 0 { (other.min, other.max) } else { (self.min.min(other.min), self.max.max(other.max)) };
        self.n = self.n.saturating_add(other.n);
        self.sum += other.sum;
    }
}

fn bin_of(value: f64) -> i32 {
    if value < SMALLEST {
        ZERO
    } else if value.to_bits() == 1.0_f64.to_bits() {
        ONE
    } else {
        2 * (value.ln() / GROWTH.ln()).ceil() as i32
    }
}

/// The ends of a bin.
fn ends(bin: i32) -> (f64, f64) {
    match bin {
        ZERO => (0.0, 0.0),
        ONE => (1.0, 1.0),
        _ => (GROWTH.powi(bin / 2 - 1), GROWTH.powi(bin / 2)),
    }
}

/// A sketch as it is written: its bins as one text, since there are hundreds of them.
#[derive(Serialize, Deserialize)]
struct Written {
    n: u64,
    sum: f64,
    min: f64,
    max: f64,
    bins: String,
}

impl From<Quantiles> for Written {
    fn from(sketch: Quantiles) -> Self {
        let Quantiles { bins, n, sum, min, max } = sketch;
        Self { n, sum, min, max, bins: packed::write(bins.into_iter().map(|(bin, count)| (i64::from(bin), count))) }
    }
}

impl TryFrom<Written> for Quantiles {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { n, sum, min, max, bins } = written;
        let bins = packed::read(&bins)?
            .into_iter()
            .map(|(bin, count)| Ok((i32::try_from(bin).map_err(|_| format!("there is no bin {bin}"))?, count)))
            .collect::<Result<BTreeMap<i32, u64>, String>>()?;
        if bins.values().sum::<u64>() != n {
            return Err("the bins do not add up".to_owned());
        }
        Ok(Self { bins, n, sum, min, max })
    }
}

schema_of!(Quantiles, {
    "description": "A sketch of numbers: how many, their sum, smallest and largest, and `bin:count` pairs in \
                    which even bin 2i holds the numbers above 1.01^(i-1) up to 1.01^i, bin 1 those that are 1, \
                    and bin -2147483648 those that are 0.",
    "type": "object",
    "properties": {
        "n": { "type": "integer", "minimum": 0 },
        "sum": { "type": "number" },
        "min": { "type": "number" },
        "max": { "type": "number" },
        "bins": { "type": "string", "pattern": "^(-?[0-9]+:[0-9]+( -?[0-9]+:[0-9]+)*)?$" }
    },
    "required": ["n", "sum", "min", "max", "bins"]
});

#[cfg(test)]
mod tests {
    use super::{Merge, Quantiles, RELATIVE_ERROR};

    /// The exact answer.
    fn sorted(values: &[f64], q: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = ((values.len() as f64 * q).ceil() as usize).clamp(1, values.len());
        sorted[rank - 1]
    }

    fn numbers(n: usize) -> Vec<f64> {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn quantiles_are_within_their_error_of_the_exact_ones() {
        for n in [1, 2, 3, 10, 997] {
            let shares = numbers(n);
            let ratios: Vec<f64> = shares.iter().map(|share| (share * 9.0).exp()).collect();
            for values in [&shares, &ratios] {
                let mut sketch = Quantiles::default();
                for &value in values {
                    sketch.push(value);
                }
                for q in [0.0, 0.05, 0.1, 0.5, 0.9, 0.95, 1.0] {
                    let (found, exact) = (sketch.quantile(q).expect("some"), sorted(values, q));
                    assert!((found / exact - 1.0).abs() <= RELATIVE_ERROR, "{n} {q}: {found} {exact}");
                }
            }
        }
    }

    #[test]
    fn zeros_and_ones_answer_exactly_and_nothing_answers_nothing() {
        let mut sketch = Quantiles::default();
        assert_eq!((sketch.quantile(0.5), sketch.mean(), sketch.range()), (None, None, None));
        for value in [1.0, 0.0, 1.0, f64::NAN, 1.0, 0.999_999_9] {
            sketch.push(value);
        }
        assert_eq!(sketch.count(), 5);
        assert_eq!([0.2, 0.6, 1.0].map(|q| sketch.quantile(q)), [Some(0.0), Some(1.0), Some(1.0)]);
        assert!(sketch.quantile(0.4).expect("some") < 1.0);
        sketch.push(f64::INFINITY);
        sketch.push(-1.0);
        assert_eq!(sketch.count(), 7);
    }

    #[test]
    fn merged_in_any_order_and_written_and_read_it_is_the_same_sketch() {
        let values = numbers(500);
        let mut whole = Quantiles::default();
        for &value in &values {
            whole.push(value);
        }
        let mut merged = Quantiles::default();
        for piece in values.chunks(7).rev() {
            let mut part = Quantiles::default();
            for &value in piece {
                part.push(value);
            }
            let text = serde_json::to_string(&part).expect("JSON");
            merged.absorb(&serde_json::from_str(&text).expect("the same"));
        }
        assert_eq!((&merged.bins, merged.n, merged.range()), (&whole.bins, whole.n, whole.range()));
        assert!((merged.sum - whole.sum).abs() < 1e-9);
        assert!(serde_json::from_str::<Quantiles>(r#"{"n":2,"sum":1,"min":0,"max":1,"bins":"2:1"}"#).is_err());
    }
}
