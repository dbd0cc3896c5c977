//! Runs the stages in the documented order, so that every message ends in exactly one claim.

use std::sync::Arc;

use super::fill::chars_alone;
use crate::error::Result;
use crate::model::{EngineOptions, Reason};
use crate::stage::classify::{Depth, judge};
use crate::stage::{self, Alone, Detector, Plan, Stage};
use crate::summary::{Adapter, pays};
use crate::text::TextView;

/// The stages of an engine with these options and adapters.
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
    stage::stages(options, alone, adapters.iter().map(detector).collect())
}

/// Every message kept for `reason`.
pub(super) fn keep_all(n_messages: usize, reason: Reason) -> Plan {
    let mut plan = Plan::new(n_messages);
    (0..n_messages).for_each(|index| plan.keep(index, reason));
    plan
}
