//! What was found out about a text beforehand, for the summary of it: the scores of its units, the tokens that can go,
//! whether clauses may be left out. Knows where a unit stands; refuses to know who found it out.

use super::packing::Keys;
use super::plugins::{TokenDecision, deciding_scores};
use crate::model::EntropyMode;
use crate::text::{TextView, Unit};

/// What is known of a text. Whichever comes first here decides how units are chosen: tokens, clauses, entropy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'a> {
    /// Decisions over its tokens, spans of the whole text.
    pub tokens: Option<&'a [TokenDecision]>,
    /// Clauses that add nothing may be left out, and sentences bring along what they depend on.
    pub by_clauses: bool,
    /// How much its units tell, and how that is used.
    pub entropy: Option<(&'a UnitScores, EntropyMode)>,
    /// What the conversation shows before it.
    pub earlier: Option<&'a Keys>,
}

/// Scores of the units of one text, found by where a unit stands, so that passages of the text have them too.
#[derive(Debug, Clone, Default)]
pub struct UnitScores {
    starts: Vec<u32>,
    scores: Vec<f64>,
}

impl UnitScores {
    /// The scores of all units of `view`, in their order.
    #[must_use]
    pub fn new(view: &TextView<'_>, scores: impl Iterator<Item = f64>) -> Self {
        let (starts, scores) = view.units.iter().map(|unit| unit.span.start).zip(scores).unzip();
        Self { starts, scores }
    }

    /// The score of a unit; 0 for one that is not of this text.
    #[must_use]
    pub fn of(&self, unit: &Unit) -> f64 {
        let at = self.starts.binary_search(&unit.span.start).ok();
        at.and_then(|at| self.scores.get(at)).copied().unwrap_or_default()
    }
}

/// What decides in which order the units of `view` are shown: `points` itself, or with the entropy of those that have
/// any; the others come last.
pub(super) fn ranks(view: &TextView<'_>, points: &[i32], hints: &Hints<'_>) -> Vec<f64> {
    let Some((scores, mode)) = hints.entropy.filter(|_| !hints.by_clauses) else {
        return points.iter().copied().map(f64::from).collect();
    };
    let candidates: Vec<usize> = (0..points.len()).filter(|&index| points[index] >= 0).collect();
    let heuristic: Vec<f64> = candidates.iter().map(|&index| f64::from(points[index])).collect();
    let entropy: Vec<f64> = candidates.iter().map(|&index| scores.of(&view.units[index])).collect();
    let mut ranks = vec![f64::MIN; points.len()];
    for (index, rank) in candidates.into_iter().zip(deciding_scores(&heuristic, &entropy, mode)) {
        ranks[index] = rank;
    }
    ranks
}
