//! What a caller can bring along to say which sentences tell something and which tokens can go: two traits, and the
//! arithmetic of scores. Knows texts and numbers; refuses to know messages and summaries.

use std::fmt::Debug;

use crate::error::Result;
use crate::model::EntropyMode;
use crate::text::Span;

/// A decision with less confidence is none: the token is kept.
const MIN_CONFIDENCE: f64 = 0.5;
/// Share of the entropy in a combined score; the rest is that of the scorer of facts.
const ENTROPY_WEIGHT: f64 = 0.6;
/// What scaled scores are multiplied with, to weigh about as much as the points of facts.
const SCALE: f64 = 20.0;
/// What all get when all are equal.
const MIDDLE: f64 = 0.5;

/// Says how much each of many sentences tells.
pub trait EntropyScorer: Debug + Send + Sync {
    /// A score for every sentence of a conversation, in their order: the more, the more it tells. Called once per
    /// conversation, from any worker; the same sentences must get the same scores. When the number of scores is
    /// another, or one is not finite, the scorer of facts alone decides, as after an error.
    ///
    /// # Errors
    /// When there are no scores; the conversation is compressed without them, and that is counted.
    fn score(&self, sentences: &[&str]) -> Result<Vec<f64>>;
}

/// Says which tokens of a text can go.
pub trait TokenClassifier: Debug + Send + Sync {
    /// The decisions for every text of a conversation, in their order. Called once per conversation, from any worker;
    /// the same texts must get the same decisions. What no decision covers is kept.
    ///
    /// # Errors
    /// When there are no decisions; the conversation is compressed without them, and that is counted.
    fn classify(&self, texts: &[&str]) -> Result<Vec<Vec<TokenDecision>>>;
}

/// Whether a token can go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenDecision {
    /// Where it stands in its text, in bytes.
    pub span: Span,
    /// False when it can go.
    pub keep: bool,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
}

impl TokenDecision {
    /// True unless the token can go for sure.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.keep || self.confidence.is_nan() || self.confidence < MIN_CONFIDENCE
    }
}

/// The scores of `scorer` for `sentences`; `None` when it has none that can be used.
#[must_use]
pub fn scores_of(scorer: &dyn EntropyScorer, sentences: &[&str]) -> Option<Vec<f64>> {
    let scores = scorer.score(sentences).ok()?;
    (scores.len() == sentences.len() && scores.iter().all(|score| score.is_finite())).then_some(scores)
}

/// The decisions of `classifier` for `texts`; `None` when it has none. A text has none when its decisions are not of it,
/// or nothing of it would stay.
#[must_use]
pub fn decisions_of(classifier: &dyn TokenClassifier, texts: &[&str]) -> Option<Vec<Option<Vec<TokenDecision>>>> {
    let all = classifier.classify(texts).ok().filter(|all| all.len() == texts.len())?;
    let is_usable = |all: &Vec<TokenDecision>, text: &str| are_of(all, text) && leaves_something(all, text);
    Some(all.into_iter().zip(texts).map(|(all, text)| Some(all).filter(|all| is_usable(all, text))).collect())
}

/// True when the tokens stand in `text`, in order, on whole characters, and none in another.
fn are_of(decisions: &[TokenDecision], text: &str) -> bool {
    let mut end = 0;
    decisions.iter().all(|decision| {
        let span = decision.span;
        let follows = end <= span.start && span.start < span.end;
        end = span.end;
        follows && text.get(span.start as usize..span.end as usize).is_some()
    })
}

/// True when a token is kept, or stands between those that go.
fn leaves_something(decisions: &[TokenDecision], text: &str) -> bool {
    let end = Span { start: text.len() as u32, end: text.len() as u32 };
    let spans = decisions.iter().map(|decision| decision.span).chain([end]);
    let mut covered = 0;
    decisions.iter().any(TokenDecision::is_kept)
        || spans.into_iter().any(|span| {
            let between = Span { start: std::mem::replace(&mut covered, span.end), end: span.start };
            !between.of(text).trim().is_empty()
        })
}

/// The scores that decide, as `mode` says: the entropy itself, or both, scaled, at 0.4 and 0.6 on a scale of 0 to 20. The
/// lists have the same length.
pub(super) fn deciding_scores(heuristic: &[f64], entropy: &[f64], mode: EntropyMode) -> Vec<f64> {
    match mode {
        EntropyMode::Replace => entropy.to_vec(),
        EntropyMode::Augment => {
            let both = normalized(heuristic).into_iter().zip(normalized(entropy));
            both.map(|(h, e)| ((1.0 - ENTROPY_WEIGHT) * h + ENTROPY_WEIGHT * e) * SCALE).collect()
        }
    }
}

/// `scores` scaled to 0 to 1; all 0.5 when they are equal. What is no number counts as the least.
fn normalized(scores: &[f64]) -> Vec<f64> {
    let finite = || scores.iter().copied().filter(|score| score.is_finite());
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let range = most - least;
    let scale = |score: f64| if score.is_nan() { 0.0 } else { ((score - least) / range).clamp(0.0, 1.0) };
    scores.iter().map(|&score| if range > 0.0 { scale(score) } else { MIDDLE }).collect()
}

#[cfg(test)]
mod tests {
    use super::{SCALE, TokenDecision, are_of, deciding_scores, normalized};
    use crate::model::EntropyMode;
    use crate::text::Span;

    #[test]
    fn scores_are_scaled_and_added_up() {
        assert_eq!(normalized(&[2.0, 4.0, 3.0]), [0.0, 1.0, 0.5]);
        assert_eq!(normalized(&[7.0, 7.0]), [0.5, 0.5]);
        assert_eq!(normalized(&[f64::NAN, 1.0, f64::INFINITY, 3.0]), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(normalized(&[]), Vec::<f64>::new());
        assert_eq!(deciding_scores(&[0.0, 10.0], &[5.0, 1.0], EntropyMode::Augment), [12.0, 8.0]);
        let many: Vec<f64> = (0..200_000).map(f64::from).collect();
        assert!((deciding_scores(&many, &many, EntropyMode::Augment)[199_999] - SCALE).abs() < 1e-9, "no stack");
    }

    #[test]
    fn decisions_are_of_their_text_when_their_spans_are() {
        let text = " a  größer\nb ";
        let at = |start, end| TokenDecision { span: Span { start, end }, keep: true, confidence: 1.0 };
        assert!(are_of(&[at(1, 2), at(4, 12), at(13, 14)], text));
        assert!(!are_of(&[at(4, 12)], "short"));
        assert!(!are_of(&[at(0, 3), at(2, 4)], text), "they overlap");
        assert!(!are_of(&[at(4, 7)], text), "half a character");
    }

    #[test]
    fn uncertain_means_kept() {
        let is_kept = |keep, confidence| TokenDecision { span: Span::default(), keep, confidence }.is_kept();
        assert!(is_kept(true, 0.3) && is_kept(false, 0.3) && is_kept(true, 0.9) && is_kept(false, f64::NAN));
        assert!(!is_kept(false, 0.5) && !is_kept(false, 0.9));
    }
}
