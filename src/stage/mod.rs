//! The steps that decide what happens to each message. No step knows another.

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
mod protect;
mod recompact;
mod referenced;
mod split_code;
mod talk;

pub use crate::model::FlowKind;
pub use adapt::{Adapt, Detector};
pub use claim::{Claim, Group, GroupKind, Plan, Profiles, Signal, Stage, View};
pub use cluster::Cluster;
pub use contradict::Supersede;
pub use dedup::Dedup;
pub use detect::Detect;
pub use flow::Chain;
pub use group::GroupProse;
pub use importance::{KeepImportant, compute_importance, score_content_signals};
pub use near_dedup::{NearDedup, line_changes};
pub use patterns::KeepPatterns;
pub use prepass::Prepass;
pub use protect::Protect;
pub use recompact::Recompact;
pub use referenced::KeepReferenced;
pub use split_code::SplitCode;
