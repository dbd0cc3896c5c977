//! How many different things a stream has: a `HyperLogLog` sketch (Flajolet et al. 2007) with the estimator of Ertl, "New
//! cardinality estimation algorithms for `HyperLogLog` sketches" (2017). Our own, since what a commit holds must have the
//! same bytes after it was read and in whatever order it was merged: registers are written, nothing else.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::packed;

/// 4,096 registers: a standard error of 1.6 %.
const LOG_REGISTERS: u32 = 12;
const N_REGISTERS: usize = 1 << LOG_REGISTERS;
/// The bits of a hash that are not the number of a register.
const RANK_BITS: u32 = u64::BITS - LOG_REGISTERS;
/// With fewer registers in use they are written one by one.
const SPARSE: usize = 512;
/// The signs of registers from 0 on.
const SIGNS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A sketch of the things that were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Distinct {
    /// The longest run of zero bits at the end of a hash that fell to it, plus one; 0 while none did.
    registers: Vec<u8>,
}

impl Default for Distinct {
    fn default() -> Self {
        Self { registers: vec![0; N_REGISTERS] }
    }
}

impl Distinct {
    /// Sees a thing, by a hash that is the same on every machine and whose bits are all well mixed.
    pub fn push(&mut self, hash: u64) {
        let rank = (hash.trailing_zeros().min(RANK_BITS) + 1) as u8;
        self.raise((hash >> RANK_BITS) as usize, rank);
    }

    /// Sees what another sketch saw.
    pub fn merge(&mut self, other: &Self) {
        for (register, rank) in other.registers.iter().enumerate() {
            self.raise(register, *rank);
        }
    }

    fn raise(&mut self, register: usize, rank: u8) {
        if let Some(register) = self.registers.get_mut(register) {
            *register = rank.max(*register);
        }
    }

    /// About how many different things there were.
    #[must_use]
    pub fn estimate(&self) -> u64 {
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
        let used = distinct.registers.iter().filter(|rank| **rank > 0).count();
        if used < SPARSE {
            let used = (0_i64..).zip(&distinct.registers).filter(|(_, rank)| **rank > 0);
            return packed::write(used.map(|(register, rank)| (register, u64::from(*rank))));
        }
        distinct.registers.iter().map(|rank| char::from(SIGNS[usize::from(*rank)])).collect()
    }
}

impl TryFrom<String> for Distinct {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut sketch = Self::default();
        let highest = RANK_BITS as u8 + 1;
        if text.len() == N_REGISTERS && !text.contains(':') {
            for (register, sign) in sketch.registers.iter_mut().zip(text.bytes()) {
                let rank = SIGNS.iter().position(|known| *known == sign).map(|rank| rank as u8);
                *register = rank.filter(|rank| *rank <= highest).ok_or("the sketch has a sign that is no register")?;
            }
            return Ok(sketch);
        }
        for (register, rank) in packed::read(&text)? {
            let register = usize::try_from(register).ok().and_then(|register| sketch.registers.get_mut(register));
            let rank = u8::try_from(rank).ok().filter(|rank| *rank <= highest);
            let (Some(register), Some(rank)) = (register, rank) else {
                return Err("the sketch has a register that there is not".to_owned());
            };
            *register = rank;
        }
        Ok(sketch)
    }
}

impl JsonSchema for Distinct {
    fn schema_name() -> Cow<'static, str> {
        "Distinct".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A HyperLogLog sketch of 4,096 registers over XXH3-64 hashes: the first 12 bits of a hash \
                            name its register, which holds one more than the zero bits at the end of the others. \
                            `register:value` pairs where few are in use, else a sign for each, of 0 to 9, A to Z and a to z.",
            "type": "string"
        })
    }
}

#[cfg(test)]
mod tests {
    use twox_hash::XxHash3_64;

    use super::Distinct;

    #[test]
    fn estimates_are_within_five_percent_also_merged_and_read_again() {
        for n in [0_u64, 1, 10, 1_000, 5_000, 100_000] {
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
                merged.merge(&read);
            }
            assert_eq!(merged, whole);
            let error = merged.estimate().abs_diff(n) as f64 / n.max(1) as f64;
            assert!(error <= 0.05, "{n}: {}", merged.estimate());
        }
        for broken in ["\"1:99\"", "\"5000:1\"", "\"x\""] {
            assert!(serde_json::from_str::<Distinct>(broken).is_err(), "{broken}");
        }
    }
}
