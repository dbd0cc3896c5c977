//! How many different things a stream has: a `HyperLogLog` sketch (Flajolet et al. 2007) with the estimator of Ertl, "New
//! cardinality estimation algorithms for `HyperLogLog` sketches" (2017). Our own, since what a commit holds must have the
//! same bytes after it was read and in whatever order it was merged: registers are written, nothing else.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::pipeline::merge::Merge;

/// 4,096 registers: a standard error of 1.6 %.
const LOG_REGISTERS: u32 = 12;
const N_REGISTERS: usize = 1 << LOG_REGISTERS;
/// The bits of a hash that are not the number of a register.
const RANK_BITS: u32 = u64::BITS - LOG_REGISTERS;
/// So many different things of a part are written as they are, so that small runs are counted exactly.
const MAX_EXACT: usize = 256;
/// So many are counted exactly when sketches are merged.
const MAX_MERGED: usize = 1 << 16;
/// What begins a text of hashes.
const HASHES: &str = "hashes ";
/// The signs of registers from 0 on.
const SIGNS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A sketch of the things that were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Distinct {
    /// The hashes themselves, while they are few.
    exact: Option<BTreeSet<u64>>,
    /// The longest run of zero bits at the end of a hash that fell to it, plus one; 0 while none did.
    registers: Vec<u8>,
}

impl Default for Distinct {
    fn default() -> Self {
        Self { exact: Some(BTreeSet::new()), registers: vec![0; N_REGISTERS] }
    }
}

impl Distinct {
    /// Sees a thing, by a hash that is the same on every machine and whose bits are all well mixed.
    pub fn push(&mut self, hash: u64) {
        if let Some(exact) = &mut self.exact {
            exact.insert(hash);
        }
        self.keep_exact(MAX_EXACT);
        self.count(hash);
    }

    /// Leaves what is written into a commit.
    pub fn trim(&mut self) {
        self.keep_exact(MAX_EXACT);
    }

    fn keep_exact(&mut self, most: usize) {
        self.exact = self.exact.take().filter(|exact| exact.len() <= most);
    }

    fn count(&mut self, hash: u64) {
        let rank = (hash.trailing_zeros().min(RANK_BITS) + 1) as u8;
        self.raise((hash >> RANK_BITS) as usize, rank);
    }

    fn raise(&mut self, register: usize, rank: u8) {
        if let Some(register) = self.registers.get_mut(register) {
            *register = rank.max(*register);
        }
    }

    /// About how many different things there were; exactly, when they were few.
    pub fn estimate(&self) -> u64 {
        if let Some(exact) = &self.exact {
            return exact.len() as u64;
        }
        let mut counts = [0.0_f64; RANK_BITS as usize + 2];
        for rank in &self.registers {
            counts[usize::from(*rank)] += 1.0;
        }
        let n = N_REGISTERS as f64;
        let [empty, ranks @ .., full] = &counts;
        let mut z = n * tau(1.0 - full / n);
        for count in ranks.iter().rev() {
            z = 0.5 * (z + count);
        }
        z += n * sigma(empty / n);
        (n * n / (2.0 * std::f64::consts::LN_2 * z)).round() as u64
    }
}

impl Merge for Distinct {
    fn absorb(&mut self, other: &Self) {
        self.exact = match (self.exact.take(), &other.exact) {
            (Some(mut exact), Some(others)) => {
                exact.extend(others);
                Some(exact)
            }
            _ => None,
        };
        self.keep_exact(MAX_MERGED);
        for (register, rank) in other.registers.iter().enumerate() {
            self.raise(register, *rank);
        }
    }
}

/// The part of the registers that are still empty.
fn sigma(share: f64) -> f64 {
    if share >= 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut weight, mut sum) = (share, 1.0, share);
    loop {
        power *= power;
        let before = sum;
        sum += power * weight;
        weight += weight;
        if sum <= before {
            return sum;
        }
    }
}

/// The part of the registers that cannot rise any more.
fn tau(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    let (mut root, mut weight, mut sum) = (share, 1.0, 1.0 - share);
    loop {
        root = root.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - root).powi(2) * weight;
        if sum >= before {
            return sum / 3.0;
        }
    }
}

impl From<Distinct> for String {
    fn from(distinct: Distinct) -> Self {
        match distinct.exact {
            Some(exact) => HASHES.to_owned() + &exact.iter().map(|hash| format!("{hash:016x}")).collect::<Self>(),
            None => distinct.registers.iter().map(|rank| char::from(SIGNS[usize::from(*rank)])).collect(),
        }
    }
}

impl TryFrom<String> for Distinct {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut sketch = Self::default();
        if let Some(hashes) = text.strip_prefix(HASHES) {
            let wrong = || "the sketch has a hash that is none".to_owned();
            if hashes.len() % 16 != 0 {
                return Err(wrong());
            }
            for hash in hashes.as_bytes().chunks(16) {
                let hash = std::str::from_utf8(hash).ok().and_then(|hash| u64::from_str_radix(hash, 16).ok());
                let hash = hash.ok_or_else(wrong)?;
                sketch.exact.get_or_insert_default().insert(hash);
                sketch.count(hash);
            }
            return Ok(sketch);
        }
        if text.len() != N_REGISTERS {
            return Err(format!("the sketch has {} registers", text.len()));
        }
        for (register, sign) in sketch.registers.iter_mut().zip(text.bytes()) {
            let rank = SIGNS.iter().position(|known| *known == sign).map(|rank| rank as u8);
            let rank = rank.filter(|rank| u32::from(*rank) <= RANK_BITS + 1);
            *register = rank.ok_or("the sketch has a sign that is no register")?;
        }
        sketch.exact = None;
        Ok(sketch)
    }
}

schema_of!(Distinct, {
    "description": "XXH3-64 hashes, up to 256 as they are behind `hashes `, 16 hexadecimal digits each; else a \
                    HyperLogLog sketch of 4,096 registers: the first 12 bits of a hash name its register, \
                    which holds one more than the zero bits at the end of the others, as a sign of 0 to 9, A \
                    to Z and a to z.",
    "type": "string"
});

#[cfg(test)]
mod tests {
    use twox_hash::XxHash3_64;

    use super::{Distinct, Merge};

    #[test]
    fn estimates_are_within_five_percent_also_merged_and_read_again() {
        for n in [0_u64, 1, 10, 250, 1_000, 5_000, 100_000] {
            let mut whole = Distinct::default();
            (0..n).for_each(|thing| whole.push(XxHash3_64::oneshot(&thing.to_le_bytes())));
            let mut merged = Distinct::default();
            for part in (0..5).rev() {
                let mut sketch = Distinct::default();
                // Every thing is in two parts.
                (0..n).filter(|thing| thing % 5 == part || (thing + 1) % 5 == part).for_each(|thing| {
                    sketch.push(XxHash3_64::oneshot(&thing.to_le_bytes()));
                });
                let text = serde_json::to_string(&sketch).expect("JSON");
                let read: Distinct = serde_json::from_str(&text).expect("the same");
                assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
                merged.absorb(&read);
            }
            assert_eq!(merged.registers, whole.registers);
            if n <= 250 {
                assert_eq!(merged.estimate(), n);
            }
            let error = merged.estimate().abs_diff(n) as f64 / n.max(1) as f64;
            assert!(error <= 0.05, "{n}: {}", merged.estimate());
        }
        for broken in ["\"hashes 12\"", "\"hashes xxxxxxxxxxxxxxxx\"", "\"x\""] {
            assert!(serde_json::from_str::<Distinct>(broken).is_err(), "{broken}");
        }
    }
}
