//! The widest recency window with which a conversation meets its budget. Every unit inside the window stands as it was,
//! so that the tokens only grow with the window: adding up from the end finds the best one.

use super::{Attempt, restore};
use crate::engine::fill::Filler;
use crate::engine::unit::Unit;
use crate::model::{CompressionDepth, Reason};

/// Opens as many units from the end as fit. A unit is in the window when its last message is.
pub(super) fn widest(filler: &Filler<'_>, mut units: Vec<Unit>, max_tokens: usize, depth: CompressionDepth) -> Attempt {
    let n_messages = filler.view.len();
    let mut n_tokens: usize = units.iter().map(|unit| unit.n_tokens).sum();
    units.sort_by_key(|unit| std::cmp::Reverse(unit.last()));
    let closed = units.iter().position(|unit| {
        let opened = if unit.filled().is_some() { filler.before(&unit.members) } else { unit.n_tokens };
        let with_it = n_tokens - unit.n_tokens + opened;
        let fits = with_it <= max_tokens;
        n_tokens = if fits { with_it } else { n_tokens };
        !fits
    });
    let n_open = closed.unwrap_or(units.len());
    let first_closed = units.get(n_open).map(Unit::last);
    let rest = units.split_off(n_open);
    let mut out: Vec<Unit> = units.into_iter().flat_map(|unit| restore(filler, unit, Reason::RecencyWindow)).collect();
    out.extend(rest);
    let widest = first_closed.map_or(n_messages, |last| n_messages - last - 1);
    let recency_window = widest.max(filler.view.options.min_recency_window.min(n_messages));
    Attempt { units: out, recency_window, depth, is_open: false }
}
