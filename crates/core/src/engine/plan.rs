//! Runs the stages in the documented order, so that every message ends in exactly one claim.

use std::sync::Arc;

use super::fill::chars_alone;
use crate::error::Result;
use crate::model::{EngineOptions, Reason};
use crate::stage::classify::{Depth, judge};
use crate::stage::{
    Adapt, Alone, Chain, Cluster, Dedup, Detect, Detector, GroupProse, KeepImportant, KeepPatterns, KeepReferenced,
    KeepWords, NearDedup, Plan, Prepass, Protect, Rule, SplitCode, Stage, Supersede,
};
use crate::summary::{Adapter, pays};
use crate::text::TextView;

/// The stages in order. The first claim on a message wins.
///
/// # Errors
/// Names a preserve pattern that is no regular expression.
pub(super) fn stages(options: &EngineOptions, adapters: &[Arc<dyn Adapter>]) -> Result<Vec<Box<dyn Stage>>> {
    let detector = |adapter: &Arc<dyn Adapter>| -> Detector {
        let adapter = Arc::clone(adapter);
        Box::new(move |text: &TextView<'_>| pays(&*adapter, text, &|piece| judge(piece, Depth::Decide).is_hard()))
    };
    let to_ask: Vec<Arc<dyn Adapter>> = adapters.to_vec();
    let alone = Alone::new(move |view, index| chars_alone(view, index, &to_ask));
    Ok(vec![
        Box::new(Protect),
        Box::new(KeepPatterns::new(&options.preserve_patterns)?),
        Box::new(KeepReferenced),
        Box::new(KeepWords),
        Box::new(Dedup(alone.clone())),
        Box::new(NearDedup(alone)),
        Box::new(Supersede),
        Box::new(KeepImportant),
        Box::new(Rule),
        Box::new(Prepass),
        Box::new(Adapt::new(adapters.iter().map(detector).collect())),
        Box::new(SplitCode),
        Box::new(Detect),
        Box::new(Chain),
        Box::new(Cluster),
        Box::new(GroupProse),
    ])
}

/// Every message kept for `reason`.
pub(super) fn keep_all(n_messages: usize, reason: Reason) -> Plan {
    let mut plan = Plan::new(n_messages);
    (0..n_messages).for_each(|index| plan.keep(index, reason));
    plan
}
