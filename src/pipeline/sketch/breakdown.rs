//! What falls to each name of some kind: languages, roles, tools, actions, reasons. Names come from transcripts, so there
//! is a bound on how many are told apart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pipeline::merge::{Merge, merges};

/// So many names are told apart; what is smaller falls to [`Breakdown::others`].
pub const MAX_NAMES: usize = 200;

/// What falls to a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Share {
    /// Conversations in which it occurs.
    pub conversations: u64,
    /// Input messages.
    pub messages: u64,
    /// Their characters.
    pub chars_in: u64,
    /// The characters that stand for them.
    pub chars_out: u64,
}

merges!(Share { conversations, messages, chars_in, chars_out });

/// Shares by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Breakdown {
    /// The shares.
    pub names: BTreeMap<String, Share>,
    /// What falls to names beyond [`MAX_NAMES`]; conversations may count more than once in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Share>,
}

impl Breakdown {
    /// True when nothing falls to anybody.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds to the share of a name.
    pub fn add(&mut self, name: &str, share: &Share) {
        if let Some(sum) = self.names.get_mut(name) {
            sum.absorb(share);
            return;
        }
        self.names.insert(name.to_owned(), *share);
        if self.names.len() > 2 * MAX_NAMES {
            self.trim();
        }
    }

    /// Leaves the [`MAX_NAMES`] names with the most characters.
    pub fn trim(&mut self) {
        if self.names.len() <= MAX_NAMES {
            return;
        }
        let mut by_size: Vec<(u64, String)> =
            self.names.iter().map(|(name, share)| (share.chars_in, name.clone())).collect();
        by_size.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, name) in by_size.into_iter().skip(MAX_NAMES) {
            if let Some(share) = self.names.remove(&name) {
                self.others.get_or_insert_default().absorb(&share);
            }
        }
    }
}

impl Merge for Breakdown {
    fn absorb(&mut self, other: &Self) {
        for (name, share) in &other.names {
            self.add(name, share);
        }
        self.others.absorb(&other.others);
        self.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::{Breakdown, MAX_NAMES, Merge, Share};

    #[test]
    fn the_largest_names_stay_and_nothing_is_lost() {
        let mut breakdown = Breakdown::default();
        for number in 0..10_000_u64 {
            let share = Share { conversations: 1, messages: 2, chars_in: number, chars_out: 1 };
            breakdown.add(&format!("name {number}"), &share);
        }
        breakdown.trim();
        assert_eq!(breakdown.names.len(), MAX_NAMES);
        assert!(breakdown.names.contains_key("name 9999") && !breakdown.names.contains_key("name 5"));
        let mut all = breakdown.others.expect("some");
        breakdown.names.values().for_each(|share| all.absorb(share));
        assert_eq!(all, Share { conversations: 10_000, messages: 20_000, chars_in: 49_995_000, chars_out: 10_000 });
    }
}
