//! The steps that decide what happens to each message, and their order. No step knows another.

mod adapt;
mod claim;
pub mod classify;
mod cluster;
mod contradict;
mod dedup;
mod detect;
mod flow;
mod group;
mod importance;
mod near_dedup;
mod patterns;
mod prepass;
mod profiles;
mod protect;
mod recompact;
mod referenced;
mod ruling;
mod split_code;
mod talk;
mod turns;
mod who;

use crate::error::Result;
use crate::model::{ClassifierSource, EngineOptions, HideBy};

pub use crate::model::FlowKind;
pub use adapt::{Adapt, Detector};
pub use claim::{About, Claim, Group, GroupKind, Plan, Stage, View};
pub use cluster::Cluster;
pub use contradict::Supersede;
pub use dedup::{Alone, Dedup};
pub use detect::{Detect, is_json};
pub use flow::Chain;
pub use group::{GroupProse, may_merge_referring};
pub use importance::{ImportanceParts, KeepImportant, importance_parts};
pub use near_dedup::{NearDedup, line_changes};
pub use patterns::KeepPatterns;
pub use prepass::Prepass;
pub use profiles::Profiles;
pub use protect::{KeepAnswers, KeepWords, Protect};
pub use recompact::Recompact;
pub use referenced::KeepReferenced;
pub use ruling::Rule;
pub use split_code::SplitCode;
pub use who::{calls_tools, first_call, first_with_tools, has_tools, is_consent, task_of};

/// What is known of each stage before it runs: its name, what else differs from the usual, and when it is on.
macro_rules! steps {
    ($($stage:ident = $name:literal $([$fact:ident = $value:literal])* $(, on: $is_on:expr)?;)*) => {$(
        impl About for $stage {
            fn name(&self) -> &'static str {
                $name
            }
            $(fn $fact(&self) -> bool {
                $value
            })*
            $(fn is_on(&self, options: &EngineOptions) -> bool {
                let is_on: fn(&Self, &EngineOptions) -> bool = $is_on;
                is_on(self, options)
            })?
        }
    )*};
}

steps! {
    Protect = "protect" [needs_text = false];
    KeepPatterns = "keep-patterns" [needs_text = false], on: |_, options| !options.preserve_patterns.is_empty();
    KeepReferenced = "keep-referenced" [needs_text = false];
    KeepAnswers = "keep-answers" [needs_text = false], on: |_, options| options.hide_by == HideBy::Use;
    KeepWords = "keep-words" [goes_by_looks = true], on: |_, options| options.keep_first_user;
    Dedup = "dedup" [refers = true] [goes_by_looks = true], on: |_, options| options.dedup;
    NearDedup = "near-dedup" [refers = true] [reads_claimed = true], on: |_, options| options.fuzzy_dedup;
    Supersede = "supersede" [reads_claimed = true], on: |_, options| options.contradiction_detection;
    KeepImportant = "keep-important" [reads_claimed = true], on: |_, options| options.importance_scoring;
    Rule = "rule" [reads_claimed = true], on: |_, options| options.classifier != ClassifierSource::None;
    Prepass = "prepass" [reads_claimed = true], on: |_, options| options.agent_tool_prepass;
    Adapt = "adapt", on: |adapt, _| adapt.has_detectors();
    SplitCode = "split-code" [goes_by_looks = true];
    Detect = "detect" [goes_by_looks = true];
    Chain = "chain" [reads_claimed = true], on: |_, options| options.conversation_flow;
    Cluster = "cluster" [reads_claimed = true], on: |_, options| options.semantic_clustering;
    GroupProse = "group" [goes_by_looks = true];
    Recompact = "recompact" [reads_claimed = true], on: |_, options| options.resummarize_after > 0;
}

/// The stages in order; the first claim on a message wins. What a stage may not know is brought: what a message costs
/// `alone`, and the `detectors` of formats.
///
/// # Errors
/// Names a preserve pattern that is no regular expression.
pub fn stages(options: &EngineOptions, alone: Alone, detectors: Vec<Detector>) -> Result<Vec<Box<dyn Stage>>> {
    Ok(vec![
        Box::new(Protect),
        Box::new(KeepPatterns::new(&options.preserve_patterns)?),
        Box::new(KeepReferenced),
        Box::new(KeepAnswers),
        Box::new(KeepWords),
        Box::new(Dedup(alone.clone())),
        Box::new(NearDedup(alone)),
        Box::new(Supersede),
        Box::new(KeepImportant),
        Box::new(Rule),
        Box::new(Prepass),
        Box::new(Adapt::new(detectors)),
        Box::new(SplitCode),
        Box::new(Detect),
        Box::new(Chain),
        Box::new(Cluster),
        Box::new(GroupProse),
    ])
}
