//! Runs the stages in the documented order, so that every message ends in exactly one claim.

use crate::error::Result;
use crate::model::{EngineOptions, Reason};
use crate::stage::{
    Chain, Claim, Cluster, Dedup, Detect, GroupProse, KeepImportant, KeepReferenced, NearDedup, Plan, Protect,
    SplitCode, Stage, Supersede,
};

/// The stages in order. The first claim on a message wins.
///
/// # Errors
/// Names a preserve pattern that is no regular expression.
pub(super) fn stages(options: &EngineOptions) -> Result<Vec<Box<dyn Stage>>> {
    Ok(vec![
        Box::new(Protect),
        Box::new(KeepReferenced),
        Box::new(Dedup),
        Box::new(NearDedup),
        Box::new(Supersede),
        Box::new(KeepImportant),
        Box::new(SplitCode),
        Box::new(Detect::new(&options.preserve_patterns)?),
        Box::new(Chain::new(&options.preserve_patterns)?),
        Box::new(Cluster::new(&options.preserve_patterns)?),
        Box::new(GroupProse),
    ])
}

/// Every message kept for `reason`.
pub(super) fn keep_all(n_messages: usize, reason: Reason) -> Plan {
    let mut plan = Plan::new(n_messages);
    (0..n_messages).for_each(|index| plan.keep(index, reason));
    plan
}

/// The claim on a message of a finished plan.
pub(super) fn claim_of(plan: &Plan, index: usize) -> &Claim {
    // A message that no stage wanted is prose that cannot be summarised: it stays.
    const UNCLAIMED: &Claim = &Claim::Keep(Reason::CompressibleProse);
    plan.claim_of(index).unwrap_or(UNCLAIMED)
}
