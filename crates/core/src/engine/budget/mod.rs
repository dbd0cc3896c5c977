//! Meets a token budget by moving units along their levels: as it is, summary, tight summary, left out, truncated. Which
//! units move first is the strategy. Knows tokens and order; every text comes from the filler, and nothing is planned
//! twice.

mod converge;
mod runs;
mod tiered;
mod window;

use super::assemble::assemble;
use super::context;
use super::fill::Filler;
use super::metrics::{Meter, documented_quality};
use super::unit::{State, Unit};
use crate::model::{BudgetOutcome, BudgetStrategy, CompressionDepth, Content, EngineOptions, Reason};
use crate::stage::{Claim, Plan, View};
use crate::summary::Style;

/// With `auto`, a depth whose quality is lower is not taken unless nothing else meets the budget.
const MIN_QUALITY: f64 = 0.60;

/// Messages whose importance differs by less are equally important.
const RANK_STEP: f64 = 0.05;
/// Beyond every importance.
const WANTED: u32 = 1_000;

/// Number of last messages that no stage may touch.
pub(super) fn window(options: &EngineOptions) -> usize {
    match (options.token_budget, options.budget_strategy) {
        (None, _) => options.recency_window,
        (Some(_), BudgetStrategy::BinarySearch) => options.min_recency_window,
        (Some(_), BudgetStrategy::Tiered) => options.recency_window.max(options.min_recency_window),
    }
}

/// The units of a conversation without a budget, by `plan` or by `other` where that takes fewer characters.
pub(super) fn unlimited(filler: &mut Filler<'_>, plan: &mut Plan, other: Option<Plan>) -> Vec<Unit> {
    let style = Style::new(filler.view.options.compression_depth);
    let mut write = |plan: &mut Plan| {
        filler.earlier.clear();
        let mut units = filler.units(plan, style);
        context::define(filler, &mut units);
        let n_chars: usize = units
            .iter()
            .map(|unit| unit.filled().map_or(filler.view.chars(unit.first()), |filled| filled.chars_out))
            .sum();
        (units, n_chars)
    };
    let (units, n_chars) = write(plan);
    let Some(mut other) = other else { return units };
    let (other_units, other_chars) = write(&mut other);
    if other_chars >= n_chars {
        return units;
    }
    *plan = other;
    other_units
}

/// One way to meet the budget.
struct Attempt {
    units: Vec<Unit>,
    recency_window: usize,
    depth: CompressionDepth,
    /// Something may still give way at this depth.
    is_open: bool,
}

impl Attempt {
    fn n_tokens(&self) -> usize {
        self.units.iter().map(|unit| unit.n_tokens).sum()
    }
}

/// The units of a conversation with at most `max_tokens` tokens where that is possible.
pub(super) fn meet(
    filler: &mut Filler<'_>,
    plan: &mut Plan,
    max_tokens: usize,
    meter: &mut Meter,
) -> (Vec<Unit>, BudgetOutcome) {
    let mut attempt = best_attempt(filler, plan, max_tokens, meter);
    if attempt.n_tokens() > max_tokens && filler.min_saving > 1 {
        // Before anything is cut, also what saves little is summarised.
        let min_saving = std::mem::replace(&mut filler.min_saving, 1);
        let smaller = best_attempt(filler, plan, max_tokens, meter);
        if smaller.n_tokens() < attempt.n_tokens() {
            attempt = smaller;
        } else {
            filler.min_saving = min_saving;
        }
    }
    let is_left_alone = matches!(plan.claims().next(), Some(Claim::Keep(Reason::BelowThreshold)));
    if attempt.n_tokens() > max_tokens && filler.view.options.force_converge && !is_left_alone {
        converge::force(filler, plan, &mut attempt, max_tokens);
    }
    let token_count = attempt.n_tokens();
    let outcome = BudgetOutcome {
        fits: token_count <= max_tokens,
        token_count,
        recency_window: attempt.recency_window,
        protected_tokens: protected_tokens(filler, plan, attempt.recency_window),
        depth: attempt.depth,
    };
    (attempt.units, outcome)
}

/// The first depth with which the budget is met; else the last one that the quality gate lets pass.
fn best_attempt(filler: &mut Filler<'_>, plan: &mut Plan, max_tokens: usize, meter: &mut Meter) -> Attempt {
    let asked = filler.view.options.compression_depth;
    if asked != CompressionDepth::Auto {
        let attempt = at_depth(filler, plan, max_tokens, asked);
        return tiered::finish(filler, plan, attempt, max_tokens);
    }
    let mut best = at_depth(filler, plan, max_tokens, CompressionDepth::Gentle);
    for depth in [CompressionDepth::Moderate, CompressionDepth::Aggressive] {
        if best.n_tokens() <= max_tokens {
            break;
        }
        let next = at_depth(filler, plan, max_tokens, depth);
        let is_last_resort = next.n_tokens() <= max_tokens || filler.view.options.force_converge;
        if !is_last_resort && quality(filler, plan, &next, meter) < MIN_QUALITY {
            break;
        }
        best = next;
    }
    tiered::finish(filler, plan, best, max_tokens)
}

fn at_depth(filler: &mut Filler<'_>, plan: &mut Plan, max_tokens: usize, depth: CompressionDepth) -> Attempt {
    let mut units = filler.units(plan, Style::new(depth));
    context::define(filler, &mut units);
    match filler.view.options.budget_strategy {
        BudgetStrategy::BinarySearch => window::widest(filler, units, max_tokens, depth),
        BudgetStrategy::Tiered => tiered::tighten(filler, plan, units, max_tokens, depth),
    }
}

/// The documented quality; the share of facts that are left where it has nothing to measure.
fn quality(filler: &mut Filler<'_>, plan: &Plan, attempt: &Attempt, meter: &mut Meter) -> f64 {
    let assembled = assemble(&filler.view, plan, attempt.units.clone());
    let metrics = meter.measure(&filler.view, &assembled, 0, filler.lexer);
    documented_quality(&metrics).or(metrics.fact_retention_with_entities).unwrap_or(1.0)
}

/// True for messages that no budget takes: preserved roles, the recency window, calls of tools, what matches a preserve
/// pattern, and content that is no text.
fn is_protected(view: &View<'_>, plan: &Plan, index: usize, recency_window: usize) -> bool {
    let message = &view.conversation.messages[index];
    index + recency_window >= view.len()
        || view.options.preserve.iter().any(|role| role == message.role.as_str())
        || !message.tool_calls.is_empty()
        || message.texts().next().is_none()
        || matches!(plan.claim_of(index), Some(Claim::Keep(Reason::Pattern)))
}

/// The higher, the later a unit gives way: corrections, the user's words and what was kept for its importance, then by
/// importance in steps too small to matter.
fn rank(plan: &Plan, unit: &Unit) -> u32 {
    let is_wanted = matches!(
        unit.state,
        State::Kept(Reason::Importance | Reason::Correction | Reason::FirstUser | Reason::UserWords)
    );
    let importance = unit.members.iter().filter_map(|&index| plan.importance.get(index));
    let steps = (importance.fold(0.0_f64, |most, &value| most.max(value)) / RANK_STEP) as u32;
    steps + if is_wanted { WANTED } else { 0 }
}

fn protected_tokens(filler: &Filler<'_>, plan: &Plan, recency_window: usize) -> usize {
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

/// True when the content is nothing but one text.
fn is_plain(view: &View<'_>, index: usize) -> bool {
    matches!(view.conversation.messages[index].content, Content::Text(_))
}
