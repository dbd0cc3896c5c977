//! The recency window stays; before it the unimportant and the old give way first: tighter summaries, then messages
//! of little value are left out. Structure, code, calls and protected messages are never touched.

use super::attempt::{Attempt, is_protected, rank, window};
use crate::engine::fill::Filler;
use crate::engine::unit::{State, Unit};
use crate::model::{Action, CompressionDepth, Reason, marker};
use crate::stage::{Claim, Group, GroupKind, Plan};
use crate::summary::{Draft, Style, is_general};

/// A tightened summary gets this share of its budget.
const TIGHT_SHARE: f64 = 0.40;
/// No more than this share of what may give way is ever gained.
const MAX_GAIN: f64 = 0.80;
/// Shorter texts are not worth tightening.
const MIN_CHARS: usize = 80;
/// Messages in which no sentence scores as much are left out.
const MIN_SCORE: f64 = 3.0;

/// Tightens, then leaves out, until `max_tokens` are met or nothing is left to do. Where even that cannot meet them it
/// is left to [`finish`]: a smaller depth may come before.
pub(super) fn tighten(
    filler: &mut Filler<'_>,
    plan: &Plan,
    units: Vec<Unit>,
    max_tokens: usize,
    depth: CompressionDepth,
) -> Attempt {
    let recency_window = window(filler.view.options).min(filler.view.len());
    let attempt = Attempt { units, recency_window, depth, is_open: true };
    let n_tokens = attempt.n_tokens();
    let soft = |unit: &&Unit| may_give_way(filler, plan, unit, recency_window);
    let n_soft: usize = attempt.units.iter().filter(soft).map(|unit| unit.n_tokens).sum();
    let least = n_tokens - (n_soft as f64 * MAX_GAIN) as usize;
    if n_tokens > max_tokens && least <= max_tokens { finish(filler, plan, attempt, max_tokens) } else { attempt }
}

/// Does what [`tighten`] left undone.
pub(super) fn finish(filler: &mut Filler<'_>, plan: &Plan, mut attempt: Attempt, max_tokens: usize) -> Attempt {
    let mut n_tokens = attempt.n_tokens();
    if n_tokens <= max_tokens || !std::mem::take(&mut attempt.is_open) {
        return attempt;
    }
    let units = &mut attempt.units;
    let mut order: Vec<usize> =
        (0..units.len()).filter(|&at| may_give_way(filler, plan, &units[at], attempt.recency_window)).collect();
    order.sort_by_cached_key(|&at| (rank(plan, &units[at]), units[at].first()));
    for give_way in [tighter, left_out] {
        for &at in &order {
            if n_tokens <= max_tokens {
                break;
            }
            if let Some(shorter) = give_way(filler, plan, &units[at], attempt.depth)
                && shorter.n_tokens < units[at].n_tokens
                && filler.chars_of(&shorter) < filler.chars_of(&units[at])
            {
                n_tokens -= units[at].n_tokens - shorter.n_tokens;
                units[at] = shorter;
            }
        }
    }
    attempt
}

/// Prose that was summarised, or stayed only because it is short or a summary would not have been shorter.
fn may_give_way(filler: &Filler<'_>, plan: &Plan, unit: &Unit, recency_window: usize) -> bool {
    let view = &filler.view;
    if unit.members.iter().any(|&index| is_protected(view, plan, index, recency_window)) {
        return false;
    }
    match &unit.state {
        State::Replaced(filled) => matches!(filled.action, Action::Compressed | Action::CodeSplit),
        State::Kept(reason) => {
            let is_soft = matches!(
                reason,
                Reason::ShortContent | Reason::SingleReverted | Reason::MergeReverted | Reason::CompressibleProse
            );
            is_soft && view.text(unit.first()).is_some() && view.decided(unit.first()).all(|text| !text.is_hard)
        }
    }
}

fn tighter(filler: &mut Filler<'_>, plan: &Plan, unit: &Unit, depth: CompressionDepth) -> Option<Unit> {
    let style = Style { depth, share: TIGHT_SHARE };
    let n_chars: usize = unit.members.iter().map(|&index| filler.view.chars(index)).sum();
    if n_chars < MIN_CHARS {
        return None;
    }
    // A chain or topic may have fallen apart into its messages.
    let planned = match plan.claim_of(unit.first()) {
        Some(Claim::Group(group)) => Some(&plan.groups[*group]).filter(|group| group.members == unit.members),
        _ => None,
    };
    let group = match planned {
        Some(group) => group.clone(),
        None if unit.members.len() == 1 => Group { members: unit.members.clone(), kind: GroupKind::Summary },
        None => return None,
    };
    let mut filled = filler.group(&group, plan, style).ok()?;
    filled.reason = Reason::BudgetTightened;
    Some(filler.unit(unit.members.clone(), State::Replaced(filled)))
}

fn left_out(filler: &mut Filler<'_>, _: &Plan, unit: &Unit, _: CompressionDepth) -> Option<Unit> {
    let spoken = filler.spoken(&unit.members);
    if spoken.len() < unit.members.len() || !spoken.iter().all(|spoken| is_general(spoken, MIN_SCORE)) {
        return None;
    }
    let mut draft = Draft::default();
    draft.say(marker::MESSAGE_OMITTED);
    Some(filler.replaced(unit.members.clone(), draft, Action::Compressed, Reason::BudgetOmitted))
}
