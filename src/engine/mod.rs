//! One conversation: profile → plan → fill → assemble, and its metrics. Knows nothing of records, files and
//! tables.

mod assemble;
mod fill;
mod ids;
mod metrics;
mod plan;

use crate::error::Result;
use crate::model::{Condensed, Conversation, EngineOptions, Reason};
use crate::stage::classify::Depth;
use crate::stage::{Claim, Plan, Profiles, Recompact, Stage, View};
use crate::text::Lexer;

use assemble::{Outcome, assemble};
use fill::{Filler, task_of};
use ids::Names;

/// The engine with its options; shared by all workers.
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
    stages: Vec<Box<dyn Stage>>,
    depth: Depth,
}

/// The memory that one worker reuses from conversation to conversation.
#[derive(Debug, Default)]
pub struct Scratch {
    profiles: Profiles,
    lexer: Lexer,
    meter: metrics::Meter,
}

impl Engine {
    /// Checks the options and compiles the preserve patterns.
    ///
    /// # Errors
    /// Names the option that cannot be used.
    pub fn new(options: EngineOptions) -> Result<Self> {
        let stages = plan::stages(&options)?;
        Ok(Self { options, stages, depth: Depth::Decide })
    }

    /// An engine with stages of your own. A message that no stage claims is kept.
    #[must_use]
    pub fn with_stages(options: EngineOptions, stages: Vec<Box<dyn Stage>>) -> Self {
        Self { options, stages, depth: Depth::Decide }
    }

    /// Names all reasons of the classifier in the decisions instead of the first hard one; costs time and changes
    /// nothing else.
    #[must_use]
    pub fn explaining(mut self, all_reasons: bool) -> Self {
        self.depth = if all_reasons { Depth::Explain } else { Depth::Decide };
        self
    }

    /// The options that hold.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Compresses one conversation. Cannot fail: what cannot be compressed stays.
    #[must_use]
    pub fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        let n_messages = conversation.messages.len();
        scratch.profiles.measure(conversation);
        let mut plan = Plan::new(n_messages);
        if plan::is_below_threshold(&self.view(conversation, &scratch.profiles)) {
            plan = plan::keep_all(n_messages, Reason::BelowThreshold);
        }
        for stage in &self.stages {
            if plan.free().next().is_none() {
                break;
            }
            if stage.needs_text() {
                scratch.profiles.lex(conversation);
            }
            stage.claim(&self.view(conversation, &scratch.profiles), &mut plan);
        }
        let view = self.view(conversation, &scratch.profiles);
        let outcome = fill(view, &mut plan, &mut scratch.lexer);
        let assembled = assemble(&view, &mut plan, outcome);
        let metrics = scratch.meter.measure(&view, &assembled, &mut scratch.lexer);
        Condensed { messages: assembled.messages, decisions: assembled.decisions, metrics }
    }

    fn view<'a>(&'a self, conversation: &'a Conversation<'a>, profiles: &'a Profiles) -> View<'a> {
        let recency_start = conversation.messages.len().saturating_sub(self.options.recency_window);
        View { conversation, profiles, options: &self.options, recency_start, depth: self.depth }
    }
}

/// Texts for all groups and references. When something new was summarised, earlier summaries may follow.
fn fill(view: View<'_>, plan: &mut Plan, lexer: &mut Lexer) -> Outcome {
    let is_reference =
        |index: &usize| matches!(plan.claim_of(*index), Some(Claim::DuplicateOf(_) | Claim::SimilarTo { .. }));
    let duplicates: Vec<usize> = (0..view.len()).filter(is_reference).collect();
    if plan.groups.is_empty() && duplicates.is_empty() {
        return Outcome { groups: Vec::new(), references: Vec::new() };
    }
    let task = task_of(view.conversation);
    let mut filler = Filler { view, names: Names::new(view.conversation), lexer, task };
    let mut groups: Vec<_> = plan.groups.iter().map(|group| filler.group(group, plan)).collect();
    if groups.iter().any(std::result::Result::is_ok) {
        Recompact.claim(&view, plan);
        groups.extend(plan.groups[groups.len()..].iter().map(|group| filler.group(group, plan)));
    }
    let references =
        duplicates.into_iter().map(|index| (index, filler.reference(index, plan::claim_of(plan, index)))).collect();
    Outcome { groups, references }
}
