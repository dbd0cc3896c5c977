//! The ratio that a run is to reach, and what was settled for it. Knows what goes with it; refuses to know how it is settled.

use serde::{Deserialize, Serialize};

use super::JobArgs;
use crate::error::{Error, Result};
use crate::model::{EngineOptions, HideBy};

/// A ratio is missed by less than this share of it.
const MISSED: f64 = 0.98;

/// What a threshold comes to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Settled {
    /// The ratio of the sample, the last messages of each conversation left out.
    pub ratio: f64,
    /// Whether the sample was all that there is.
    pub of_all: bool,
}

impl Settled {
    /// True when nothing reaches the ratio that was asked for.
    #[must_use]
    pub fn misses(&self, asked: f64) -> bool {
        self.ratio < MISSED * asked
    }
}

impl JobArgs {
    /// The ratio that is asked for, however it is said.
    pub(super) fn target_ratio(&mut self, engine: &EngineOptions, has_policy: bool) -> Result<Option<f64>> {
        let ratio = match (self.target_ratio, self.keep.take()) {
            (Some(_), Some(_)) => return usage("keep", "`keep` says the same as `target_ratio`: a share of 1 / ratio"),
            (None, Some(keep)) if keep > 0.0 && keep <= 1.0 => Some(1.0 / keep),
            (None, Some(keep)) => {
                return usage("keep", format!("{keep} is no share; write a number from 0 to 1, not 0"));
            }
            (ratio, None) => ratio,
        };
        self.target_ratio = ratio;
        match ratio {
            Some(ratio) if !ratio.is_finite() || ratio < 1.0 => {
                usage("target_ratio", format!("{ratio} is no ratio; write a number from 1 on, 2 for half as long"))
            }
            Some(_) if engine.hide_by != HideBy::Use => {
                usage("target_ratio", "it needs hide_by = \"use\": looks have no order in which things give way")
            }
            Some(_) if engine.worth_threshold.is_some() => {
                usage("worth_threshold", "a target_ratio settles it; leave one of them out")
            }
            Some(_) if has_policy => {
                usage("target_ratio", "a policy chooses an option set for each conversation; leave one of them out")
            }
            ratio => Ok(ratio),
        }
    }
}

fn usage<T>(place: &str, message: impl Into<String>) -> Result<T> {
    Err(Error::usage(place, message))
}
