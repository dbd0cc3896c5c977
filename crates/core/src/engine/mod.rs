//! One conversation: profile → plan → fill → assemble, and its metrics. Knows nothing of records, files and
//! tables.

mod advice;
mod assemble;
mod budget;
mod by_use;
mod checks;
mod compaction;
mod context;
mod count;
mod explain;
mod fill;
mod ids;
mod laps;
mod metrics;
mod next_turn;
mod plan;
mod reading;
mod summaries;
mod together;
mod told;
mod unit;

use std::sync::Arc;

use crate::error::Result;
use crate::model::{
    Answers, ClassifierSource, Condensed, Consult, Conversation, EngineOptions, HideBy, Metrics, Reason, Tokenizer,
};
use crate::stage::classify::Depth;
use crate::stage::{Plan, Profiles, Stage, View, may_merge_referring, task_of};
use crate::summary::{Adapter, EntropyScorer, Keys, TokenClassifier, adapters};
use crate::text::Lexer;
use crate::text::tokens::{self, TokenCounter};
use crate::walk::{UseModel, Walker};

use advice::{Advice, Plugins};
use assemble::{Assembled, assemble};
use compaction::Due;
use count::Count;
pub use explain::{Explained, Explanation, StageSays, TextFigures, Tier, What};
use fill::{ChosenOf, Filler};
use ids::Names;
pub use laps::Laps;
pub use next_turn::{TurnCut, extent};
pub use reading::{Excerpt, ExcerptKind, ReadMessage, ReadReplacement, Reading};

/// The engine with its options; shared by all workers.
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
    stages: Vec<Box<dyn Stage>>,
    depth: Depth,
    count: Count,
    plugins: Plugins,
    /// What is likely to be used, where that is guessed.
    uses: Option<Arc<UseModel>>,
}

/// The memory that one worker reuses from conversation to conversation.
#[derive(Debug, Default)]
pub struct Scratch {
    profiles: Profiles,
    lexer: Lexer,
    walker: Walker,
    meter: metrics::Meter,
    laps: Option<Box<dyn Laps>>,
}

impl Scratch {
    /// Tells `laps` from now on when a step ends; nobody with `None`.
    pub fn tell(&mut self, laps: Option<Box<dyn Laps>>) {
        self.laps = laps;
    }

    /// A step of the caller's has ended.
    pub fn ended(&mut self, step: &'static str) {
        laps::ended(&mut self.laps, step);
    }

    /// Gives all memory back; who listens goes on listening.
    pub fn forget(&mut self) {
        *self = Self { laps: self.laps.take(), ..Self::default() };
    }
}

impl Engine {
    /// Checks the options and compiles the preserve patterns.
    ///
    /// # Errors
    /// Names the option that cannot be used, also a `tokenizer.json`, which [`Engine::counting`] takes.
    pub fn new(options: EngineOptions) -> Result<Self> {
        let counter = match &options.tokenizer {
            Tokenizer::Chars => None,
            named => Some(tokens::counter(named)?),
        };
        Self::of(options, counter)
    }

    /// Like [`Engine::new`], counting tokens with `counter`, whatever the option `tokenizer` names.
    ///
    /// # Errors
    /// Names the option that cannot be used.
    pub fn counting(options: EngineOptions, counter: Arc<dyn TokenCounter>) -> Result<Self> {
        Self::of(options, Some(counter))
    }

    fn of(options: EngineOptions, counter: Option<Arc<dyn TokenCounter>>) -> Result<Self> {
        options.check()?;
        let adapters = adapters(&options.adapters);
        let stages = plan::stages(&options, &adapters)?;
        let count = Count::new(&options, counter);
        let plugins = Plugins { adapters, ..Plugins::default() };
        let uses = (options.guesses() || options.worth_threshold.is_some()).then(UseModel::built_in);
        Ok(Self { options, stages, depth: Depth::Decide, count, plugins, uses })
    }

    /// An engine with stages of your own. A message that no stage claims is kept: use hides nothing.
    #[must_use]
    pub fn with_stages(options: EngineOptions, stages: Vec<Box<dyn Stage>>) -> Self {
        let options = EngineOptions { hide_by: HideBy::Look, ..options };
        let count = Count::new(&options, None);
        Self { options, stages, depth: Depth::Decide, count, plugins: Plugins::default(), uses: None }
    }

    /// Names all reasons of the classifier in the decisions instead of the first hard one; costs time and changes
    /// nothing else.
    #[must_use]
    pub fn explaining(mut self, all_reasons: bool) -> Self {
        self.depth = if all_reasons { Depth::Explain } else { Depth::Decide };
        self
    }

    /// Counts tokens with `counter`, for an engine with stages of its own.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.count = Count::new(&self.options, Some(counter));
        self
    }

    /// Asks `adapters` first, in their order, then those that the option `adapters` names.
    ///
    /// # Errors
    /// None that [`Engine::new`] did not have.
    pub fn with_adapters(mut self, mut adapters: Vec<Arc<dyn Adapter>>) -> Result<Self> {
        adapters.append(&mut self.plugins.adapters);
        self.stages = plan::stages(&self.options, &adapters)?;
        self.plugins.adapters = adapters;
        Ok(self)
    }

    /// Guesses with `model` what is used later, where nobody may look ahead.
    #[must_use]
    pub fn with_use_model(mut self, model: Arc<UseModel>) -> Self {
        self.uses = Some(model);
        self
    }

    /// Asks `scorer` which sentences tell most; how its scores are used says the option `entropy_scorer_mode`.
    #[must_use]
    pub fn with_entropy(mut self, scorer: Arc<dyn EntropyScorer>) -> Self {
        self.plugins.entropy = Some(scorer);
        self
    }

    /// Asks `classifier` which tokens of prose can go. It comes before clauses, entropy and the scorer of facts.
    #[must_use]
    pub fn with_token_classifier(mut self, classifier: Arc<dyn TokenClassifier>) -> Self {
        self.plugins.tokens = Some(classifier);
        self
    }

    /// The options that hold.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Compresses one conversation. Cannot fail: what cannot be compressed stays. No model is asked.
    #[must_use]
    pub fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        self.consult(conversation, scratch, &mut Consult::new(&Answers::default(), &mut Vec::new()))
    }

    /// Compresses one conversation with the answers of a model. What is still to be asked is open in `consult`, and until
    /// there are answers the engine's own texts stand there. Answers lead to further questions at most three times: a
    /// ruling, a summary, and a shorter one.
    #[must_use]
    pub fn consult(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        consult: &mut Consult<'_>,
    ) -> Condensed {
        let (assembled, mut metrics) = self.consult_assembled(conversation, scratch, consult);
        self.look_at_next_turn(conversation, scratch, &mut metrics);
        Condensed { messages: assembled.messages, decisions: assembled.decisions, metrics }
    }

    /// The same with the texts as the metrics read them.
    fn consult_assembled(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        consult: &mut Consult<'_>,
    ) -> (Assembled, Metrics) {
        scratch.profiles.measure(conversation);
        let n_tokens = self.count.messages(&self.view(conversation, &scratch.profiles));
        scratch.ended("profile");
        if let Some(due) = Due::of(conversation, &self.options, &n_tokens) {
            if due.is_now() {
                scratch.profiles.lex(conversation);
            }
            let view = self.view(conversation, &scratch.profiles);
            let tools = (&mut scratch.lexer, &mut scratch.meter);
            let compacted = due.compact(&view, &self.count, &n_tokens, tools, consult);
            scratch.ended("compaction");
            return compacted;
        }
        let total: usize = n_tokens.iter().sum();
        let mut plan = self.plan(conversation, scratch, total, &self.stages, consult);
        let is_walked_to_fit = self.gives_way() && self.goes_by_use(conversation) && !budget::is_left_alone(&plan);
        let planned = is_walked_to_fit.then(|| plan.clone());
        let mut level = self.level(conversation.messages.len());
        let used = self.walk(conversation, scratch, &mut plan, level, false);
        let recent = self.recent(conversation, &scratch.profiles);
        let plain = self.without_references(conversation, scratch, total, &plan);
        let view = self.view(conversation, &scratch.profiles);
        let names = Names::new(conversation);
        let task = task_of(conversation);
        let advice = Advice::ask(&self.plugins, &view, &plan);
        let (laps, walker) = (&mut scratch.laps, &mut scratch.walker);
        laps::ended(laps, "advice");
        let (lexer, count) = (&mut scratch.lexer, &self.count);
        let mut filler = Filler {
            view,
            names: &names,
            lexer,
            task,
            count,
            advice: &advice,
            adapters: &self.plugins.adapters,
            n_tokens: &n_tokens,
            min_saving: self.min_saving(),
            used,
            earlier: Keys::default(),
            chosen: ChosenOf::default(),
        };
        let (mut units, mut budget) = match (self.options.token_budget, planned) {
            (max_tokens, Some(planned)) => {
                let mut walk = |plan: &mut Plan, level| self.walk_at(&view, walker, plan, (level, &recent), false);
                let limits = (max_tokens, self.window(conversation));
                budget::meet_by_use(&mut filler, (&mut plan, &mut level), &planned, limits, &mut walk)
            }
            (None, None) => (budget::unlimited(&mut filler, &mut plan, plain), None),
            (Some(max_tokens), None) => {
                let (units, outcome) = budget::meet(&mut filler, &mut plan, max_tokens, &mut scratch.meter);
                (units, Some(outcome))
            }
        };
        laps::ended(laps, if budget.is_some() { "budget" } else { "fill" });
        summaries::fill(&mut filler, &mut plan, &mut units, consult);
        laps::ended(laps, "model");
        plan.file_notes();
        if let Some(outcome) = &mut budget {
            // A model's texts are no longer, and may be shorter.
            outcome.token_count = units.iter().map(|unit| unit.n_tokens).sum();
            outcome.fits = self.options.token_budget.is_none_or(|max_tokens| outcome.token_count <= max_tokens);
        }
        let used = filler.used;
        let mut assembled = assemble(&view, &plan, units);
        assembled.level = level;
        for text in &used {
            let decision = &mut assembled.decisions[text.message];
            if decision.reason == Reason::Unused {
                *decision.units.get_or_insert_default() += text.units;
            }
        }
        laps::ended(laps, "assemble");
        let mut metrics = if self.measures_texts(&view) {
            scratch.meter.measure(&view, &assembled, total, &mut scratch.lexer)
        } else {
            metrics::sizes(&view, &assembled, total)
        };
        if let Some(uses) = self.grounding(&view, &mut scratch.walker, &plan, &used, &assembled) {
            metrics.set_uses(uses);
        }
        laps::ended(laps, "metrics");
        metrics.budget = budget;
        metrics.counts.scorer_fallbacks = advice.n_fallbacks;
        metrics.counts.llm_classified = consult.n_rulings;
        metrics.counts.llm_summaries = consult.n_summaries;
        metrics.counts.llm_fallbacks = consult.n_fallbacks;
        (assembled, metrics)
    }

    /// The plan without references where equal messages may take less when they are merged with their neighbours. A
    /// budget looks for what fits by itself, and a model is asked about one plan.
    fn without_references(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        n_tokens: usize,
        plan: &Plan,
    ) -> Option<Plan> {
        let is_asked = self.options.classifier == ClassifierSource::Model;
        if is_asked
            || self.options.token_budget.is_some()
            || self.is_by_use(&self.view(conversation, &scratch.profiles))
            || !may_merge_referring(&self.view(conversation, &scratch.profiles), plan)
        {
            return None;
        }
        let stages = self.stages.iter().filter(|stage| !stage.refers());
        let (answers, mut asks) = (Answers::default(), Vec::new());
        Some(self.plan(conversation, scratch, n_tokens, stages, &mut Consult::new(&answers, &mut asks)))
    }

    /// A claim of `stages` on every message.
    fn plan<'s>(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        n_tokens: usize,
        stages: impl IntoIterator<Item = &'s Box<dyn Stage>>,
        consult: &mut Consult<'_>,
    ) -> Plan {
        let n_messages = conversation.messages.len();
        if n_tokens < self.options.compression_threshold {
            return plan::keep_all(n_messages, Reason::BelowThreshold);
        }
        if self.options.token_budget.is_some_and(|budget| n_tokens <= budget) {
            return plan::keep_all(n_messages, Reason::WithinBudget);
        }
        let mut plan = Plan::new(n_messages);
        if self.options.token_budget.is_some() {
            scratch.profiles.lex(conversation);
            scratch.ended("lex");
        }
        for stage in stages {
            let is_asked = self.is_asked(&**stage, &self.view(conversation, &scratch.profiles));
            if !is_asked || !self.has_work(&**stage, conversation, scratch, &plan) {
                continue;
            }
            if stage.needs_text() {
                self.lex(conversation, scratch, &plan);
                scratch.ended("lex");
            }
            self.ask(&**stage, &self.view(conversation, &scratch.profiles), &mut plan, consult);
            scratch.ended(stage.name());
        }
        self.keep_undecided(conversation, &mut plan);
        plan
    }

    /// Lexes what the stages read: all texts where one reads what others claimed, else those that may still be claimed.
    fn lex(&self, conversation: &Conversation<'_>, scratch: &mut Scratch, plan: &Plan) {
        if scratch.profiles.is_lexed() {
            return;
        }
        let options = &self.options;
        let view = self.view(conversation, &scratch.profiles);
        let is_read = |stage: &dyn Stage| stage.reads_claimed() && self.is_asked(stage, &view);
        if options.hide_by == HideBy::Look || self.stages.iter().any(|stage| is_read(&**stage)) {
            return scratch.profiles.lex(conversation);
        }
        let takes_short = self.stages.iter().any(|stage| stage.takes_short(&view));
        let may_be_claimed = |index: usize| plan.claim_of(index).is_none_or(|claim| takes_short && claim.is_soft());
        scratch.profiles.lex_some(conversation, may_be_claimed);
    }

    /// True while there is something that `stage` may claim. What was kept for its shortness a pattern may, without a look at its words,
    /// and whoever takes it.
    fn has_work(&self, stage: &dyn Stage, conversation: &Conversation<'_>, scratch: &Scratch, plan: &Plan) -> bool {
        plan.free().next().is_some()
            || !stage.needs_text()
            || stage.takes_short(&self.view(conversation, &scratch.profiles))
    }

    fn view<'a>(&'a self, conversation: &'a Conversation<'a>, profiles: &'a Profiles) -> View<'a> {
        let window = self.window(conversation);
        let recency_start = conversation.messages.len().saturating_sub(window);
        View { conversation, profiles, options: &self.options, recency_start, depth: self.depth }
    }
}
