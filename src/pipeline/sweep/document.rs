//! What a sweep found, as data: terminal, JSON and page show this one struct, so that they agree. Knows no layout.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::bootstrap::Interval;
use crate::model::Floor;

/// A sweep over option sets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "sweep"))]
pub struct SweepDocument {
    /// Version of condenser.
    pub engine_version: String,
    /// The inputs as given.
    pub inputs: Vec<String>,
    /// The recency window as given.
    pub recency_window: usize,
    /// What was measured.
    pub sample: SweepSample,
    /// How the sets were searched.
    pub search: SweepSearch,
    /// Sets that were measured, by ratio on the last round that they took part in, the highest first.
    pub sets: Vec<SweepSet>,
    /// What no figure may be below; on average for one set, in every conversation for a policy.
    pub floor: Vec<Floor>,
    /// What to take for the whole.
    pub recommendation: SweepChoice,
    /// What to take for each class.
    pub classes: Vec<SweepClass>,
    /// The recommendation on conversations that it was not found on.
    pub held_back: Option<SweepHeldBack>,
}

/// What was drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepSample {
    /// Conversations of the inputs.
    pub conversations: usize,
    /// Of these, those that were measured.
    pub drawn: usize,
    /// Bytes of their texts.
    pub bytes: usize,
    /// Of these, those that are too long for a sample.
    pub too_long: usize,
    /// Records that are no conversations.
    pub rejects: usize,
}

/// How the sets were searched.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepSearch {
    /// All sets on the whole sample, instead of halving.
    pub full_grid: bool,
    /// So many sets on so many conversations, round by round.
    pub rounds: Vec<SweepRound>,
    /// How often the sample was drawn again for the intervals.
    pub resamples: usize,
    /// Share of the intervals that hold the value of the whole.
    pub confidence: f64,
}

/// A round of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepRound {
    /// Sets that took part.
    pub sets: usize,
    /// Conversations that they were measured on.
    pub conversations: usize,
}

/// An option set and what it came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepSet {
    /// Its number in this sweep; 0 are the options as given.
    pub number: usize,
    /// What differs from the options as given, in a line.
    pub label: String,
    /// The same as keys of `[engine]`.
    pub changes: Map<String, Value>,
    /// Conversations that it was measured on.
    pub conversations: usize,
    /// What it came to; with intervals when that was the whole sample.
    pub figures: SweepFigures,
    /// It was measured on the whole sample, and is not below the floor.
    pub is_above_floor: bool,
    /// Figures with which no other set is better in both ratio and figure.
    pub front: Vec<String>,
}

/// What a set came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepFigures {
    /// Characters before over characters after, of all together.
    pub ratio: Interval,
    /// The same of tokens.
    pub token_ratio: Interval,
    /// Means over conversations by the name of the figure; a conversation in which another set had something to measure
    /// and this one had not counts as 1. Figures that no set had are not there.
    pub figures: BTreeMap<String, Interval>,
}

/// What to take.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepChoice {
    /// What it is.
    pub kind: SweepChoiceKind,
    /// Numbers of the sets: one, or those that the policy tries, from gentle to aggressive.
    pub sets: Vec<usize>,
    /// What it came to on the sample.
    pub figures: SweepFigures,
    /// How much that is above the options as given.
    pub above_given: SweepFigures,
}

/// What is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SweepChoiceKind {
    /// The options as given: nothing is better and above the floor.
    AsGiven,
    /// One option set for all.
    OneSet,
    /// A set for each conversation: `policy = "best-above-floor"`.
    Policy,
}

/// A class of conversations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepClass {
    /// Its name.
    pub class: String,
    /// Conversations of the inputs.
    pub conversations: usize,
    /// Of these, those that were measured.
    pub drawn: usize,
    /// The options as given.
    pub given: SweepFigures,
    /// The best set for the class alone; `null` when too few were measured.
    pub recommendation: Option<SweepChoice>,
}

/// The proof on conversations that were held back.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SweepHeldBack {
    /// Conversations.
    pub conversations: usize,
    /// The options as given.
    pub given: SweepFigures,
    /// What is recommended.
    pub recommended: SweepFigures,
    /// How much that is above the options as given.
    pub above_given: SweepFigures,
}
