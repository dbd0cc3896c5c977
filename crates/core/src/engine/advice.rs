//! Asks the scorer and the classifier of the caller once per conversation about everything that may be summarised, and
//! keeps what they say text by text. Knows plans and views; refuses to know how a summary uses it.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

use crate::model::EntropyMode;
use crate::stage::{Claim, Plan, View};
use crate::summary::{
    Adapter, EntropyScorer, Hints, TokenClassifier, TokenDecision, UnitScores, decisions_of, scores_of,
};
use crate::text::TextView;

/// What the caller brought along.
#[derive(Debug, Default)]
pub(super) struct Plugins {
    pub(super) entropy: Option<Arc<dyn EntropyScorer>>,
    pub(super) tokens: Option<Arc<dyn TokenClassifier>>,
    /// What `GroupKind::Adapter` points into.
    pub(super) adapters: Vec<Arc<dyn Adapter>>,
}

/// A message and the place of the text in its content list.
type Place = (usize, usize);

/// What was said about the texts of a conversation.
#[derive(Debug)]
pub(super) struct Advice {
    by_clauses: bool,
    mode: EntropyMode,
    scores: HashMap<Place, UnitScores, FixedState>,
    tokens: HashMap<Place, Vec<TokenDecision>, FixedState>,
    /// Texts that the scorer or the classifier could not handle.
    pub(super) n_fallbacks: usize,
}

impl Advice {
    /// Asks about every text of `plan` that does not stay as it is.
    pub(super) fn ask(plugins: &Plugins, view: &View<'_>, plan: &Plan) -> Self {
        let mut advice = Self {
            by_clauses: view.options.discourse_aware,
            mode: view.options.entropy_scorer_mode,
            scores: HashMap::default(),
            tokens: HashMap::default(),
            n_fallbacks: 0,
        };
        // Clauses come before entropy: nobody would read the scores.
        let entropy = plugins.entropy.as_ref().filter(|_| !advice.by_clauses);
        if entropy.is_none() && plugins.tokens.is_none() {
            return advice;
        }
        let changes = |index: &usize| !matches!(plan.settled(*index), Claim::Keep(_));
        let of_message = |index| view.text_parts(index).map(move |(part, text)| ((index, part), text));
        let texts: Vec<(Place, TextView<'_>)> = (0..view.len()).filter(changes).flat_map(of_message).collect();
        if texts.is_empty() {
            return advice;
        }
        if let Some(classifier) = &plugins.tokens {
            advice.classify(&**classifier, &texts);
        }
        if let Some(scorer) = entropy {
            advice.score(&**scorer, &texts);
        }
        advice
    }

    fn classify(&mut self, classifier: &dyn TokenClassifier, texts: &[(Place, TextView<'_>)]) {
        let asked: Vec<&str> = texts.iter().map(|(_, view)| view.text).collect();
        let decisions = decisions_of(classifier, &asked).unwrap_or_else(|| vec![None; texts.len()]);
        for ((place, _), decisions) in texts.iter().zip(decisions) {
            match decisions {
                Some(decisions) => drop(self.tokens.insert(*place, decisions)),
                None => self.n_fallbacks += 1,
            }
        }
    }

    fn score(&mut self, scorer: &dyn EntropyScorer, texts: &[(Place, TextView<'_>)]) {
        let units = texts.iter().flat_map(|(_, view)| view.units.iter().map(|unit| unit.span.of(view.text)));
        let sentences: Vec<&str> = units.collect();
        if sentences.is_empty() {
            return;
        }
        let Some(scores) = scores_of(scorer, &sentences) else {
            self.n_fallbacks += texts.len();
            return;
        };
        let mut scores = scores.into_iter();
        for (place, view) in texts {
            self.scores.insert(*place, UnitScores::new(view, scores.by_ref().take(view.units.len())));
        }
    }

    /// What is known of the text at `part` of message `index`.
    pub(super) fn hints(&self, index: usize, part: usize) -> Hints<'_> {
        let place = (index, part);
        Hints {
            tokens: self.tokens.get(&place).map(Vec::as_slice),
            by_clauses: self.by_clauses,
            entropy: self.scores.get(&place).map(|scores| (scores, self.mode)),
            earlier: None,
            speaker: None,
            chosen: None,
        }
    }

    /// What holds for texts that nobody was asked about.
    pub(super) fn general(&self) -> Hints<'_> {
        Hints { by_clauses: self.by_clauses, ..Hints::default() }
    }
}
