//! The threshold with which a run reaches a ratio, settled on a sample before its first part. Knows what a threshold takes and
//! that a higher one never takes less; refuses to know files.

use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::Condense;
use super::bridge::Bridge;
use super::task::SCRATCH;
use crate::engine::extent;
use crate::error::Result;
use crate::model::{Conversation, NextTurn};
use crate::walk::LAST_THRESHOLD;

/// A ratio is reached by this share more at most.
const CLOSE: f64 = 0.005;
/// The threshold with which `sample` becomes so many times shorter, and how many times it then does; the last one when none
/// reaches that. `engine` makes engines with a threshold.
///
/// # Errors
/// Those of `engine`.
pub fn threshold_for(
    ratio: f64,
    sample: &[Conversation<'_>],
    engine: &dyn Fn(u32) -> Result<Arc<dyn Condense>>,
    bridge: &Bridge,
) -> Result<(u32, f64)> {
    let at = |threshold: u32| {
        let engine = engine(threshold)?;
        let window = engine.options().recency_window;
        let of = |conversation: &Conversation<'_>| {
            SCRATCH
                .with(|scratch| extent(conversation, &engine.condense(conversation, &mut scratch.borrow_mut()), window))
        };
        let add = |mut sum: NextTurn, other: NextTurn| {
            sum += other;
            sum
        };
        Ok::<f64, crate::error::Error>(
            bridge.install(|| sample.par_iter().map(of).reduce(NextTurn::default, add)).ratio(),
        )
    };
    let (mut low, mut high) = ((1, at(1)?), (LAST_THRESHOLD, at(LAST_THRESHOLD)?));
    if low.1 >= ratio {
        return Ok(low);
    }
    let mut turn = 0;
    while high.1 > ratio * (1.0 + CLOSE) && high.0 - low.0 > 1 {
        // Where a straight line between what is known would meet it; every third time the middle, which always gets there.
        let share = |of: f64| 1.0 / of;
        let straight = (share(low.1) - share(ratio)) / (share(low.1) - share(high.1));
        let part = if turn % 3 == 2 { 0.5 } else { straight.clamp(0.02, 0.98) };
        let middle = (low.0 + (f64::from(high.0 - low.0) * part) as u32).clamp(low.0 + 1, high.0 - 1);
        let reached = at(middle)?;
        if reached >= ratio {
            high = (middle, reached);
        } else {
            low = (middle, reached);
        }
        turn += 1;
    }
    Ok(high)
}
