//! The conversations that somebody will want to look at: which gained most, and which lost most from view.

use serde::{Deserialize, Serialize};

/// So many are kept of each.
pub const MAX_EXTREMES: usize = 20;

/// A conversation with its figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Extreme {
    /// Its id.
    pub conversation_id: String,
    /// The input that it came from.
    pub source: String,
    /// Its row there.
    pub source_row: u64,
    /// Its class.
    pub class: String,
    /// Characters before.
    pub chars_in: u64,
    /// Characters after.
    pub chars_out: u64,
    /// `chars_in / chars_out`.
    pub ratio: f64,
    /// Values, edits, facts and lines that somebody used and that are hidden where they stood; see docs/reports.md.
    #[serde(default)]
    pub used_hidden: u64,
    /// See docs/reports.md.
    pub quality_score: Option<f64>,
    /// See docs/reports.md.
    #[serde(default)]
    pub grounding: Option<f64>,
    /// See docs/reports.md.
    #[serde(default)]
    pub edit_grounding: Option<f64>,
    /// See docs/reports.md.
    #[serde(default)]
    pub fact_grounding: Option<f64>,
    /// See docs/reports.md.
    #[serde(default)]
    pub next_turn_recall: Option<f64>,
    /// See docs/reports.md.
    #[serde(default)]
    pub next_turn_lines_recall: Option<f64>,
    /// See docs/reports.md.
    pub fact_retention: Option<f64>,
    /// See docs/reports.md.
    pub forward_recall: Option<f64>,
    /// See docs/reports.md.
    pub negation_retention: Option<f64>,
    /// See docs/reports.md.
    pub error_retention: Option<f64>,
}

impl Extreme {
    /// Characters that are gone from view.
    pub fn saved(&self) -> u64 {
        self.chars_in.saturating_sub(self.chars_out)
    }

    /// The share of what matters that left the view, 0 to 1: one minus the mean of the three groundings and of what the
    /// next turns needed, where they were measured, and otherwise of fact retention, forward recall, negation retention
    /// and error retention, over those that were; `None` when none was.
    pub fn loss(&self) -> Option<f64> {
        let ahead = [self.next_turn_recall, self.next_turn_lines_recall];
        let used = [self.grounding, self.edit_grounding, self.fact_grounding, ahead[0], ahead[1]];
        let seen = [self.fact_retention, self.forward_recall, self.negation_retention, self.error_retention];
        let of = |figures: &[Option<f64>]| figures.iter().flatten().copied().collect::<Vec<f64>>();
        let measured = Some(of(&used)).filter(|used| !used.is_empty()).unwrap_or_else(|| of(&seen));
        (!measured.is_empty()).then(|| 1.0 - measured.iter().sum::<f64>() / measured.len() as f64)
    }

    /// What its loss matters: what was used and is hidden, then the characters that are gone from view times the loss,
    /// so that a short chat that lost one sentence stands behind a long one that lost many.
    pub fn lost(&self) -> (f64, f64) {
        (self.used_hidden as f64, self.loss().unwrap_or_default() * self.saved() as f64)
    }
}

/// By what conversations are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    /// Most characters saved.
    Saved,
    /// Most content lost.
    Lost,
}

impl Rank {
    /// The measure and the tie-breaker.
    fn of(self, extreme: &Extreme) -> (f64, f64) {
        match self {
            Self::Saved => (extreme.saved() as f64, 0.0),
            Self::Lost => extreme.lost(),
        }
    }

    fn compare(self, a: &Extreme, b: &Extreme) -> std::cmp::Ordering {
        let (a_rank, b_rank) = (self.of(a), self.of(b));
        b_rank.0.total_cmp(&a_rank.0).then(b_rank.1.total_cmp(&a_rank.1)).then_with(|| {
            (&a.source, a.source_row, &a.conversation_id).cmp(&(&b.source, b.source_row, &b.conversation_id))
        })
    }

    /// Whether a conversation may be among the first; cheap, before it is copied.
    pub(super) fn admits(self, ranked: &[Extreme], extreme: &Extreme) -> bool {
        let counts = match self {
            Self::Saved => extreme.saved() > 0,
            Self::Lost => extreme.loss().is_some_and(|loss| loss > 0.0),
        };
        counts
            && (ranked.len() < MAX_EXTREMES
                || ranked.last().is_some_and(|last| self.compare(extreme, last) == std::cmp::Ordering::Less))
    }

    /// Puts a conversation in its place.
    pub(super) fn insert(self, ranked: &mut Vec<Extreme>, extreme: Extreme) {
        let at = ranked.partition_point(|other| self.compare(other, &extreme) == std::cmp::Ordering::Less);
        ranked.insert(at, extreme);
        ranked.truncate(MAX_EXTREMES);
    }

    /// Puts all conversations of another ranking in their places.
    pub(super) fn merge(self, ranked: &mut Vec<Extreme>, other: &[Extreme]) {
        for extreme in other {
            if self.admits(ranked, extreme) {
                self.insert(ranked, extreme.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Extreme, MAX_EXTREMES, Rank};

    #[test]
    fn the_first_are_the_first_of_a_sort_in_whatever_order_they_come() {
        let all: Vec<Extreme> = (0..200_u64)
            .map(|row| Extreme {
                source_row: row,
                chars_in: 1_000 + row * 7 % 90,
                chars_out: 900,
                fact_retention: Some((row * 13 % 50) as f64 / 50.0),
                ..Extreme::default()
            })
            .collect();
        for rank in [Rank::Saved, Rank::Lost] {
            let (mut forward, mut merged) = (Vec::new(), Vec::new());
            rank.merge(&mut forward, &all);
            for piece in all.chunks(30).rev() {
                let mut part = Vec::new();
                rank.merge(&mut part, piece);
                rank.merge(&mut merged, &part);
            }
            let mut sorted = all.clone();
            sorted.sort_by(|a, b| rank.compare(a, b));
            sorted.truncate(MAX_EXTREMES);
            assert_eq!(forward, sorted);
            assert_eq!(merged, sorted);
        }
    }
}
