//! What is written of a job about training-ready data, and what holds.

use serde::{Deserialize, Serialize};

use super::DatasetArgs;
use crate::error::{Error, Result};
use crate::pipeline::{DatasetShape, GroupBy, Twins};

/// One in twenty is enough to see whether training goes well.
const DEFAULT_EVAL_SHARE: f64 = 0.05;

/// What decides about training-ready data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DatasetOptions {
    /// How a conversation is written.
    pub shape: DatasetShape,
    /// Share of the conversations that go to `eval`, 0 to 1.
    pub eval_share: f64,
    /// Conversations with more tokens are left out of the data.
    pub drop_over: Option<u64>,
}

/// How the conversations of training-ready data are split, and which are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SplitOptions {
    /// What conversations have in common that go to one side.
    pub group_by: GroupBy,
    /// Which are left out since another one is like them.
    pub dedup: Twins,
    /// Evaluation files whose texts no conversation may hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decontaminate: Vec<String>,
    /// Another seed, another split.
    #[serde(default)]
    pub seed: u64,
    /// Whether each class has its share of conversations to evaluate on.
    pub stratify: bool,
    /// The run whose sides are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_from: Option<String>,
}

impl SplitOptions {
    /// True when all conversations must be known before one has its side.
    #[must_use]
    pub fn needs_survey(&self) -> bool {
        let is_by_id = self.group_by == GroupBy::Id && self.dedup == Twins::None && self.decontaminate.is_empty();
        !is_by_id || self.split_from.is_some()
    }
}

impl DatasetArgs {
    pub(super) fn split(&mut self) -> SplitOptions {
        SplitOptions {
            group_by: *self.group_by.get_or_insert_default(),
            dedup: *self.dedup.get_or_insert_default(),
            decontaminate: self.decontaminate.clone(),
            seed: *self.seed.get_or_insert_default(),
            stratify: *self.stratify.get_or_insert(true),
            split_from: self.split_from.clone(),
        }
    }

    pub(super) fn settle(&mut self) -> Result<DatasetOptions> {
        let eval_share = *self.eval_share.get_or_insert(DEFAULT_EVAL_SHARE);
        if !(0.0..=1.0).contains(&eval_share) {
            return usage("dataset.eval_share", "expected a share from 0 to 1");
        }
        match (self.max_tokens, *self.drop_unfit.get_or_insert_default()) {
            (Some(_), false) => usage("dataset.max_tokens", "max_tokens does nothing without drop_unfit = true"),
            (None, true) => usage("dataset.drop_unfit", "drop_unfit needs max_tokens: what is too much?"),
            (drop_over, _) => Ok(DatasetOptions { shape: *self.shape.get_or_insert_default(), eval_share, drop_over }),
        }
    }
}

fn usage<T>(place: &str, message: &str) -> Result<T> {
    Err(Error::usage(place, message))
}
