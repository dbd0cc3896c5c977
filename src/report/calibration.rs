//! How surely each metric finds damage that was planted. Plain data; `condenser calibrate` measures it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a calibration found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "calibration")]
pub struct Calibration {
    /// Version of condenser that measured.
    pub engine_version: String,
    /// Conversations that were looked at.
    pub conversations: u64,
    /// By kind of damage and metric.
    pub rates: Vec<DetectionRate>,
}

/// How often a metric falls when a kind of damage is planted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectionRate {
    /// What was done, such as `numbers_changed`.
    pub damage: String,
    /// It takes nothing from the reader: a metric that falls gives a false alarm.
    pub is_harmless: bool,
    /// The metric.
    pub metric: String,
    /// Conversations that were damaged so and have the metric.
    pub conversations: u64,
    /// The share of them in which the metric fell.
    pub rate: f64,
    /// By how much it fell on average, over all of them.
    pub mean_fall: f64,
}
