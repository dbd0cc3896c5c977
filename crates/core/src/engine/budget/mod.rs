//! Meets a token budget by moving units along their levels: as it is, summary, tight summary, left out, truncated. Which
//! units move first is the strategy; where use decides it is the order of [`by_use`]. Knows tokens and order; every text
//! comes from the filler, and no stage is asked twice.

mod attempt;
mod by_use;
mod converge;
mod tiered;

use super::assemble::assemble;
use super::context;
use super::fill::Filler;
use super::metrics::{Meter, documented_quality};
use super::unit::Unit;
use crate::model::{BudgetOutcome, BudgetStrategy, CompressionDepth, Reason};
use crate::stage::{Claim, Plan};
use crate::summary::Style;

use attempt::{Attempt, protected_tokens, widest};
pub(super) use attempt::{prose_kind, window};
pub(super) use by_use::meet_by_use;

/// With `auto`, a depth whose quality is lower is not taken unless nothing else meets the budget.
const MIN_QUALITY: f64 = 0.60;

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
    if attempt.n_tokens() > max_tokens && filler.view.options.force_converge && !is_left_alone(plan) {
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

/// True for a conversation that is too short, or within its budget as it is.
pub(super) fn is_left_alone(plan: &Plan) -> bool {
    matches!(plan.claims().next(), Some(Claim::Keep(Reason::BelowThreshold | Reason::WithinBudget)))
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
        BudgetStrategy::BinarySearch => widest(filler, units, max_tokens, depth),
        BudgetStrategy::Tiered => tiered::tighten(filler, plan, units, max_tokens, depth),
    }
}

/// The documented quality; the share of facts that are left where it has nothing to measure.
fn quality(filler: &mut Filler<'_>, plan: &Plan, attempt: &Attempt, meter: &mut Meter) -> f64 {
    let assembled = assemble(&filler.view, plan, attempt.units.clone());
    let metrics = meter.measure(&filler.view, &assembled, 0, filler.lexer);
    documented_quality(&metrics).or(metrics.fact_retention_with_entities).unwrap_or(1.0)
}
