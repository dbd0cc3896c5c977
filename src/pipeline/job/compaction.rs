//! What a compaction says of its nights: their names, and when conversations are at rest. Knows no store.

use serde::{Deserialize, Serialize};

use super::values::TimeSpan;
use crate::error::{Error, Result};
use crate::pipeline::Ages;
use crate::pipeline::ages::parse_time;

/// A conversation is at rest after so many seconds, three days: most that go on do so within one or two.
const DEFAULT_RESTED_AFTER: TimeSpan = TimeSpan(3 * 24 * 60 * 60);
/// Stands behind the number in the name of a run that takes the place of others.
pub const MERGED: &str = "merged";

/// Nightly compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CompactionArgs {
    /// Stands behind the number in the name of the night's run, such as a date; letters, digits, `.`, `_` and `-`.
    pub run_name: Option<String>,
    /// Conversations that were written to within this span, such as `6h`, stay as they are [default: 0].
    pub keep_open: Option<TimeSpan>,
    /// Conversations that were not written to for this span are at rest, and compacted with look-ahead; before that they are compacted without; 0: all
    /// are [default: 3d].
    pub rested_after: Option<TimeSpan>,
    /// The moment as of which conversations are so old, as RFC 3339 writes it [default: now].
    pub as_of: Option<String>,
}

/// When conversations are at rest, and as of when, in milliseconds since 1970; `None` is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgeRules {
    keep_open: TimeSpan,
    rested_after: TimeSpan,
    as_of: Option<u64>,
}

impl AgeRules {
    /// The ages as of the moment that was named, or `now`; `None` where all conversations are at rest.
    pub fn at(&self, now: u64) -> Option<Ages> {
        let Self { keep_open: TimeSpan(keep_open), rested_after: TimeSpan(rested_after), as_of } = *self;
        (rested_after > 0).then(|| Ages { as_of: as_of.unwrap_or(now), keep_open, rested_after })
    }
}

impl CompactionArgs {
    pub(super) fn check(&self) -> Result<()> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let is_good = |name: &String| !name.is_empty() && name.len() <= 100 && name.chars().all(fits);
        match &self.run_name {
            Some(name) if !is_good(name) => {
                usage("compaction.run_name", "expected letters, digits, `.`, `_` and `-`, at most 100 of them")
            }
            Some(name) if name.ends_with(MERGED) => usage(
                "compaction.run_name",
                "a name that ends in `merged` is that of a run that took the place of nights",
            ),
            _ => Ok(()),
        }
    }

    /// When conversations are at rest; fills in the defaults.
    pub(super) fn ages(&mut self) -> Result<AgeRules> {
        let rested_after = *self.rested_after.get_or_insert(DEFAULT_RESTED_AFTER);
        let keep_open = *self.keep_open.get_or_insert(TimeSpan(0));
        if keep_open > rested_after {
            return usage(
                "compaction.keep_open",
                "a conversation is left alone for longer than it takes to be at rest",
            );
        }
        let wrong = || Error::usage("compaction.as_of", "expected a time such as 2031-05-06T00:00:00Z");
        let as_of = self.as_of.as_deref().map(|text| parse_time(text).ok_or_else(wrong)).transpose()?;
        Ok(AgeRules { keep_open, rested_after, as_of })
    }
}

fn usage<T>(place: &str, message: &str) -> Result<T> {
    Err(Error::usage(place, message))
}
