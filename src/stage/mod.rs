//! The steps that decide what happens to each message. No step knows another.

mod claim;
pub mod classify;

pub use claim::{Claim, Group, GroupKind, Plan, Profiles, Stage, View};
