//! What to take: the set with the best ratio among those that are above the floor, or sets for a policy that chooses by
//! conversation. Knows what was measured, not what an option does.

use super::bootstrap::{Interval, Resampled};
use super::document::{SweepChoice, SweepChoiceKind, SweepFigures};
use super::sums::{Measured, N_STATISTICS, RATIO, TOKEN_RATIO};
use crate::model::{EngineOptions, Figure, Floor, Least};

/// Sets that a policy tries beside the options as given; each costs a pass over every conversation.
const MAX_TRIES: usize = 4;
/// A further set must bring so much.
const TRY_GAIN: f64 = 1.005;
/// A set must bring so much over the options as given, and a policy over one set: less is not worth a change.
const MIN_GAIN: f64 = 1.005;
/// What rounding does to a difference of zero.
const ROUNDING: f64 = 1e-9;

/// What no figure may be below when nothing was said: nothing that is looked at gets worse. Where nobody looks ahead
/// nothing counts as used, and what the next turns needed stands for it.
pub(crate) fn default_floor(base: &EngineOptions) -> Vec<Floor> {
    let counts = |figure: &Figure| !(base.guesses() && figure.is_of_uses());
    Figure::FIRST.into_iter().filter(counts).map(|figure| Floor { figure, least: Least::Gentlest(0.0) }).collect()
}

/// True when the means of `set` are above the floor in `group`: the lower ends of their intervals, so that chance does not
/// choose.
pub(crate) fn is_above(floor: &[Floor], resampled: &Resampled, group: usize, set: usize) -> bool {
    floor.iter().all(|floor| {
        let at = floor.figure as usize;
        let (found, least) = match floor.least {
            Least::Share(share) => (resampled.interval(group, set, at), share),
            Least::Gentlest(slack) => (resampled.difference(group, set, 0, at), -slack),
        };
        found.is_none_or(|interval| interval.low.unwrap_or(interval.value) >= least - ROUNDING)
    })
}

/// The set with the best ratio among the first `n_sets` that are above the floor in `group`; of equal ones the first, and
/// the options as given unless it brings something over them.
pub(crate) fn best_set(floor: &[Floor], resampled: &Resampled, group: usize, n_sets: usize) -> Option<usize> {
    let ratio = |set: usize| resampled.value(group, set)[RATIO];
    let above = (0..n_sets).filter(|&set| is_above(floor, resampled, group, set));
    let gain = |best: usize| if best == 0 { MIN_GAIN } else { 1.0 + ROUNDING };
    above.reduce(|best, set| if ratio(set) > ratio(best) * gain(best) { set } else { best })
}

/// True when the policy is worth its time beside the best set.
pub(crate) fn is_worth(resampled: &Resampled, policy: usize, set: Option<usize>) -> bool {
    let ratio = |set: usize| resampled.value(0, set)[RATIO];
    set.is_none_or(|set| ratio(policy) >= ratio(set) * MIN_GAIN)
}

/// The sets that a policy should try, the options as given first and then from gentle to aggressive, and what the
/// policy comes to. Taken one by one: each time the set with which the whole gets shortest.
pub(crate) fn ladder(floor: &[Floor], rows: &[Vec<Measured>], weights: &[f64]) -> (Vec<usize>, Vec<Measured>) {
    let mut tries = vec![0];
    let mut best = size_of(&by_conversation(floor, rows, &tries), weights);
    while tries.len() <= MAX_TRIES {
        let with = |set: usize| {
            let tries: Vec<usize> = tries.iter().copied().chain([set]).collect();
            size_of(&by_conversation(floor, rows, &tries), weights)
        };
        let others = (1..rows.len()).filter(|set| !tries.contains(set));
        let Some((set, size)) = others.map(|set| (set, with(set))).min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        if size * TRY_GAIN > best {
            break;
        }
        tries.push(set);
        best = size;
    }
    // The gentler of two sets is the one that saves less.
    let size = |set: usize| size_of(&rows[set], weights);
    tries.get_mut(1..).unwrap_or_default().sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
    let chosen = by_conversation(floor, rows, &tries);
    (tries, chosen)
}

fn size_of(rows: &[Measured], weights: &[f64]) -> f64 {
    rows.iter().zip(weights).map(|(row, weight)| weight * row.chars.1 as f64).sum()
}

/// What `policy = "best-above-floor"` does with these sets.
pub(crate) fn by_conversation(floor: &[Floor], rows: &[Vec<Measured>], tries: &[usize]) -> Vec<Measured> {
    let n = rows.first().map_or(0, Vec::len);
    let choose = |at: usize| {
        let gentlest = rows[tries[0]][at];
        let above =
            tries.iter().map(|&set| rows[set][at]).filter(|row| floor.iter().all(|floor| holds(floor, row, &gentlest)));
        let shortest = above.reduce(|best, row| if size(&row) < size(&best) { row } else { best });
        shortest.unwrap_or_else(|| gentlest.unchanged())
    };
    (0..n).map(choose).collect()
}

fn size(row: &Measured) -> (usize, usize) {
    (row.tokens.1, row.chars.1)
}

fn holds(floor: &Floor, row: &Measured, gentlest: &Measured) -> bool {
    let at = floor.figure as usize - 2;
    let least = floor.least(gentlest.figures[at]);
    row.figures[at].is_none_or(|value| value >= least)
}

/// A choice with its figures; `tries` are the numbers of its sets.
pub(crate) fn choice(
    resampled: &Resampled,
    group: usize,
    set: usize,
    tries: Vec<usize>,
    is_policy: bool,
) -> SweepChoice {
    let kind = match set {
        _ if is_policy => SweepChoiceKind::Policy,
        0 => SweepChoiceKind::AsGiven,
        _ => SweepChoiceKind::OneSet,
    };
    let above_given = figures(|at| resampled.difference(group, set, 0, at));
    SweepChoice { kind, sets: tries, figures: figures(|at| resampled.interval(group, set, at)), above_given }
}

/// The statistics that `of` gives, by name.
pub(crate) fn figures(of: impl Fn(usize) -> Option<Interval>) -> SweepFigures {
    let ratio = |at: usize| of(at).expect("a ratio is always measured");
    let named = |figure: Figure| Some((figure.as_str().to_owned(), of(figure as usize)?));
    SweepFigures {
        ratio: ratio(RATIO),
        token_ratio: ratio(TOKEN_RATIO),
        figures: Figure::SHARES.into_iter().filter_map(named).collect(),
    }
}

/// Statistics without intervals.
pub(crate) fn point(statistics: &[f64; N_STATISTICS], at: usize) -> Option<Interval> {
    let value = statistics[at];
    (!value.is_nan()).then_some(Interval { value, low: None, high: None })
}
