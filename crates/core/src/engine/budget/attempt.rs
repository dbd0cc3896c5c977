//! One way to meet a budget, what gives way in it first and what never does, and the widest recency window with which a
//! conversation meets its budget. Every unit inside the window stands as it was, so that the tokens only grow with the
//! window: adding up from the end finds the best one. Writes no text.

use crate::engine::fill::Filler;
use crate::engine::unit::{State, Unit};
use crate::model::{AssistantText, BudgetStrategy, CompressionDepth, Content, EngineOptions, HideBy, Reason, Role};
use crate::stage::{Claim, GroupKind, Plan, View};

/// Messages whose importance differs by less are equally important.
const RANK_STEP: f64 = 0.05;
/// Beyond every importance.
const WANTED: u32 = 1_000;

/// One way to meet the budget.
pub(super) struct Attempt {
    pub(super) units: Vec<Unit>,
    pub(super) recency_window: usize,
    pub(super) depth: CompressionDepth,
    /// Something may still give way at this depth.
    pub(super) is_open: bool,
}

impl Attempt {
    pub(super) fn n_tokens(&self) -> usize {
        self.units.iter().map(|unit| unit.n_tokens).sum()
    }
}

/// Number of last messages that no stage may touch.
pub(in crate::engine) fn window(options: &EngineOptions) -> usize {
    match (options.token_budget, options.budget_strategy) {
        (None, _) => options.recency_window,
        (Some(_), BudgetStrategy::BinarySearch) => options.min_recency_window,
        (Some(_), BudgetStrategy::Tiered) => options.recency_window.max(options.min_recency_window),
    }
}

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

/// True for messages that no budget takes: preserved roles, the recency window, calls of tools, what matches a preserve
/// pattern, content that is no text, and answers that are kept.
pub(super) fn is_protected(view: &View<'_>, plan: &Plan, index: usize, recency_window: usize) -> bool {
    let message = &view.conversation.messages[index];
    let keeps_answers = view.options.hide_by == HideBy::Use && view.options.assistant == AssistantText::Keep;
    keeps_answers && message.role == Role::Assistant && message.name.is_none()
        || index + recency_window >= view.len()
        || view.options.preserve.iter().any(|role| role == message.role.as_str())
        || !message.tool_calls.is_empty()
        || message.texts().next().is_none()
        || matches!(plan.claim_of(index), Some(Claim::Keep(Reason::Pattern)))
}

/// The higher, the later a unit gives way: corrections, the user's words and what was kept for its importance, then by
/// importance in steps too small to matter.
pub(super) fn rank(plan: &Plan, unit: &Unit) -> u32 {
    let is_wanted = matches!(
        unit.state,
        State::Kept(Reason::Importance | Reason::Correction | Reason::FirstUser | Reason::UserWords)
    );
    let importance = unit.members.iter().filter_map(|&index| plan.importance.get(index));
    let steps = (importance.fold(0.0_f64, |most, &value| most.max(value)) / RANK_STEP) as u32;
    steps + if is_wanted { WANTED } else { 0 }
}

pub(super) fn protected_tokens(filler: &Filler<'_>, plan: &Plan, recency_window: usize) -> usize {
    let view = &filler.view;
    (0..view.len())
        .map(|index| {
            if is_protected(view, plan, index, recency_window) {
                filler.n_tokens[index]
            } else {
                filler.count.overhead()
            }
        })
        .sum()
}

/// The message as it was, in units of its own.
fn restore(filler: &Filler<'_>, unit: Unit, reason: Reason) -> impl Iterator<Item = Unit> {
    let n_tokens = filler.n_tokens;
    let reason = move |state: &State| if let State::Kept(reason) = state { *reason } else { reason };
    let reason = reason(&unit.state);
    unit.members.into_iter().map(move |index| Unit::kept(index, reason, n_tokens[index]))
}

/// How message `index` becomes shorter as prose; `None` where it has a structure that prose does not keep.
pub(in crate::engine) fn prose_kind(view: &View<'_>, index: usize) -> Option<GroupKind> {
    if is_plain(view, index) && view.texts(index).any(|text| !text.fences.is_empty()) {
        return Some(GroupKind::CodeSplit);
    }
    view.decided(index).all(|text| !text.is_hard).then_some(GroupKind::Summary)
}

/// True when the content is nothing but one text.
pub(super) fn is_plain(view: &View<'_>, index: usize) -> bool {
    matches!(view.conversation.messages[index].content, Content::Text(_))
}
