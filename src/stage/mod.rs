//! The steps that decide what happens to each message. No step knows another.

mod adapt;
mod claim;
pub mod classify;
mod dedup;
mod detect;
mod group;
mod near_dedup;
mod prepass;
mod protect;
mod recompact;
mod referenced;
mod split_code;

pub use adapt::{Adapt, Detector};
pub use claim::{Claim, FlowKind, Group, GroupKind, Plan, Profiles, Signal, Stage, View};
pub use dedup::Dedup;
pub use detect::Detect;
pub use group::GroupProse;
pub use near_dedup::{NearDedup, line_changes};
pub use prepass::Prepass;
pub use protect::Protect;
pub use recompact::Recompact;
pub use referenced::KeepReferenced;
pub use split_code::SplitCode;
