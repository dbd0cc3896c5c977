//! What is written of a job about training-ready data, and what holds.

use serde::{Deserialize, Serialize};

use super::DatasetArgs;
use crate::error::{Error, Result};
use crate::pipeline::DatasetShape;

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

impl DatasetArgs {
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
