//! What a plan says of the split that was made for it. Knows counts and hashes; refuses to know files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::verdict::{Excluded, Side, SplitVerdict};

/// A split that stands in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlannedSplit {
    /// BLAKE3 of `split/verdicts.bin`, in hex.
    pub blake3: String,
    /// BLAKE3 of `split/keys.bin`, in hex.
    pub keys_blake3: String,
    /// How many keys hold groups together.
    pub keys: u64,
    /// Conversations that are trained on.
    pub train: u64,
    /// Conversations that are evaluated on.
    pub eval: u64,
    /// Conversations that are left out since another says the same.
    pub duplicates: u64,
    /// Conversations that are left out since another says nearly the same, or goes on where they end.
    pub near_duplicates: u64,
    /// Conversations that are left out since an evaluation file holds a text of theirs.
    pub contaminated: u64,
    /// Tools that no record names, by the group of conversations that share them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Vec<Value>>,
}

impl PlannedSplit {
    /// How many conversations were looked at.
    #[must_use]
    pub fn conversations(&self) -> u64 {
        self.train + self.eval + self.duplicates + self.near_duplicates + self.contaminated
    }

    /// Counts a verdict.
    pub fn count(&mut self, verdict: &SplitVerdict) {
        let count = match (&verdict.excluded, verdict.side) {
            (Some(Excluded::DuplicateOf(_)), _) => &mut self.duplicates,
            (Some(Excluded::NearDuplicateOf(_)), _) => &mut self.near_duplicates,
            (Some(Excluded::ContaminatedBy(_)), _) => &mut self.contaminated,
            (None, Side::Train) => &mut self.train,
            (None, Side::Eval) => &mut self.eval,
        };
        *count += 1;
    }
}
