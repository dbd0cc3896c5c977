//! How many different things a stream has: a `HyperLogLog` sketch (Flajolet et al. 2007, by Apache `DataSketches`).

use std::borrow::Cow;

use datasketches::hll::{HllSketch, HllType, HllUnion};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::pipeline::base64;

/// 4,096 registers: a standard error of 1.6 %.
const LOG_REGISTERS: u8 = 12;
/// Four bits each: 2 KiB once there are some hundred things.
const REGISTERS: HllType = HllType::Hll4;

/// A sketch of the things that were seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Distinct(HllSketch);

impl Default for Distinct {
    fn default() -> Self {
        Self(HllSketch::new(LOG_REGISTERS, REGISTERS).expect("the number of registers is one that there is"))
    }
}

impl PartialEq for Distinct {
    fn eq(&self, other: &Self) -> bool {
        self.0.serialize() == other.0.serialize()
    }
}

impl Distinct {
    /// Sees a thing, by a hash that is the same on every machine.
    pub fn push(&mut self, hash: u64) {
        self.0.update(hash);
    }

    /// Sees what another sketch saw.
    pub fn merge(&mut self, other: &Self) {
        let mut union = HllUnion::new(LOG_REGISTERS).expect("the number of registers is one that there is");
        union.update(&self.0);
        union.update(&other.0);
        self.0 = union.to_sketch(REGISTERS);
    }

    /// About how many different things there were.
    #[must_use]
    pub fn estimate(&self) -> u64 {
        self.0.estimate().round() as u64
    }
}

impl From<Distinct> for String {
    fn from(distinct: Distinct) -> Self {
        base64::encode(&distinct.0.serialize())
    }
}

impl TryFrom<String> for Distinct {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bytes = base64::decode(&text).ok_or("the sketch is no Base64")?;
        HllSketch::deserialize(&bytes).map(Self).map_err(|error| format!("the sketch cannot be read: {error}"))
    }
}

impl JsonSchema for Distinct {
    fn schema_name() -> Cow<'static, str> {
        "Distinct".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A HyperLogLog sketch in the format of Apache DataSketches, in Base64.",
            "type": "string",
            "contentEncoding": "base64"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Distinct;

    #[test]
    fn estimates_are_within_five_percent_also_merged_and_read_again() {
        for n in [0_u64, 1, 10, 1_000, 100_000] {
            let mut merged = Distinct::default();
            for part in 0..5 {
                let mut sketch = Distinct::default();
                // Every thing is in two parts.
                (0..n).filter(|thing| thing % 5 == part || (thing + 1) % 5 == part).for_each(|thing| {
                    sketch.push(thing.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                });
                let text = serde_json::to_string(&sketch).expect("JSON");
                merged.merge(&serde_json::from_str(&text).expect("the same"));
            }
            let error = merged.estimate().abs_diff(n) as f64 / n.max(1) as f64;
            assert!(error <= 0.05, "{n}: {}", merged.estimate());
        }
        assert!(serde_json::from_str::<Distinct>("\"AAAA\"").is_err());
    }
}
