//! Seconds of work by stage: what a job measures when it is told to. They are the only clock times that a run holds, stand
//! apart from its tables and commits, and decide about nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a call, or several, spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// Parts that were done.
    pub parts: u64,
    /// Seconds of all workers together, by stage.
    pub stages: BTreeMap<String, f64>,
    /// Seconds from the beginning of the call to its end.
    pub elapsed: f64,
}
