//! Why a conversation comes out as it does: for every message what the classifier and the scorers see in it, which stage
//! claimed it, and what each stage would do if it were the only one. Looks at the same plan that compresses; writes no
//! sentence for people.

use serde::Serialize;

use super::compaction::Due;
use super::{Engine, Scratch, by_use};
use crate::model::{Answers, Condensed, Consult, Conversation, Decision, Reason, UnitNote};
use crate::stage::classify::{Depth, Verdict, judge};
use crate::stage::{About, Claim, GroupKind, ImportanceParts, Plan, Protect, Recompact, Stage, View, importance_parts};
use crate::summary::scores_of;
use crate::text::{CueKind, Severity, UnitKind};
use crate::walk::{Level, UsedText};

/// What the classifier makes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Structure that a summary would destroy: a hard reason.
    Hard,
    /// Prose with references that are only reported: a soft reason.
    Soft,
    /// Prose without any.
    Prose,
    /// There is no text.
    None,
}

/// What was counted in the texts of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TextFigures {
    /// Characters.
    pub chars: usize,
    /// Lines.
    pub lines: usize,
    /// Sentences, fragments and items of lists.
    pub sentences: usize,
    /// Fenced blocks.
    pub fences: usize,
    /// Facts: names, numbers, identifiers, places.
    pub facts: usize,
    /// Negated and obligatory statements, by their words.
    pub negations: usize,
    /// Lines that tell a failure.
    pub failures: usize,
    /// Share of the bytes that stand in sentences, fragments and items.
    pub prose_share: f64,
    /// Mean score of its sentences; `None` unless an entropy scorer is on.
    pub entropy: Option<f64>,
}

/// What a stage does with a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "claim", rename_all = "kebab-case")]
pub enum What {
    /// It stays.
    Keep {
        /// The rule.
        reason: &'static str,
    },
    /// It becomes a reference to an identical message.
    DuplicateOf {
        /// Index of that message.
        index: usize,
    },
    /// It becomes a reference to a similar message.
    SimilarTo {
        /// Index of that message.
        index: usize,
        /// Share of lines that both have.
        similarity: f64,
    },
    /// It becomes a reference to the message that corrects it.
    SupersededBy {
        /// Index of that message.
        index: usize,
        /// How it does.
        signal: &'static str,
    },
    /// It is replaced, alone or with others.
    Group {
        /// How the text is made.
        how: &'static str,
        /// Indices of all members.
        members: Vec<usize>,
    },
}

/// What one stage does with a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct StageSays {
    /// The stage.
    pub stage: &'static str,
    /// False when its option is off; then it does nothing.
    pub is_on: bool,
    /// What it does; `None` when it leaves the message to others.
    #[serde(flatten)]
    pub what: Option<What>,
}

/// Everything about one message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Index in the conversation.
    pub index: usize,
    /// The role.
    pub role: String,
    /// What is done.
    pub action: &'static str,
    /// The rule that decides in the end.
    pub reason: &'static str,
    /// Further reasons, as the decisions table has them.
    pub details: Vec<&'static str>,
    /// Index in the output of the message that shows or stands for it.
    pub position: usize,
    /// Characters before.
    pub chars_in: usize,
    /// Its share of the characters that stand for it.
    pub chars_out: usize,
    /// What the classifier makes of it, whoever claimed it.
    pub tier: Tier,
    /// Program output, which gets a digest.
    pub is_output: bool,
    /// All reasons of the classifier.
    pub reasons: Vec<&'static str>,
    /// What was counted.
    pub figures: TextFigures,
    /// How much later messages depend on it; computed whether or not `importance_scoring` is on.
    pub importance: ImportanceParts,
    /// The claim that holds and the stage that made it; `None` where the conversation is kept or compacted as a whole.
    pub claim: Option<StageSays>,
    /// Where something of it is hidden because nothing uses it: why each unit stays or goes.
    pub units: Vec<UnitNote>,
    /// What each stage does with it when no other has claimed anything, in the order of the stages.
    pub alone: Vec<StageSays>,
}

/// A conversation explained.
#[derive(Debug, Clone)]
pub struct Explained {
    /// What comes out.
    pub condensed: Condensed,
    /// Every message in order.
    pub messages: Vec<Explanation>,
}

impl Engine {
    /// Compresses a conversation as [`Engine::condense`] does and says why; the decisions are the same. Takes a few times
    /// as long. No model is asked.
    #[must_use]
    pub fn explain(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Explained {
        let (assembled, mut metrics) =
            self.consult_assembled(conversation, scratch, &mut Consult::new(&Answers::default(), &mut Vec::new()));
        self.look_at_next_turn(conversation, scratch, &mut metrics);
        let level = assembled.level;
        let condensed = Condensed { messages: assembled.messages, decisions: assembled.decisions, metrics };
        scratch.profiles.measure(conversation);
        scratch.profiles.lex(conversation);
        let (plan, by_stage, used) = self.traced(conversation, scratch, level, !condensed.is_unchanged());
        let view = self.explaining_view(conversation, scratch);
        let importance = importance_parts(&view);
        let verdicts = verdicts(&view);
        // A compaction that did not pay leaves no plan behind.
        let is_due = Due::of(conversation, &self.options, &self.count.messages(&view)).is_some();
        let is_planned =
            !is_due && condensed.metrics.compaction.is_none() && !condensed.decisions.iter().any(is_of_all);
        let alone = self.alone(&view, &verdicts);
        let mut messages = Vec::with_capacity(view.len());
        for decision in &condensed.decisions {
            let index = decision.index;
            let verdict = &verdicts[index];
            let claim = by_stage[index].filter(|_| is_planned).map(|stage| StageSays {
                stage,
                is_on: true,
                what: plan.claim_of(index).map(|claim| what(&plan, claim)),
            });
            messages.push(Explanation {
                index,
                role: conversation.messages[index].role.as_str().to_owned(),
                action: decision.action.as_str(),
                reason: decision.reason.as_str(),
                details: decision.details.iter().map(|reason| reason.as_str()).collect(),
                position: decision.position,
                chars_in: decision.chars_in,
                chars_out: decision.chars_out,
                tier: tier(&view, index, &verdict.reasons),
                is_output: verdict.is_output,
                reasons: verdict.reasons.iter().map(|reason| reason.as_str()).collect(),
                figures: self.figures(&view, index),
                importance: importance[index],
                claim,
                units: decision.units.map(|_| notes_of(&used, index)).unwrap_or_default(),
                alone: alone.iter().map(|(stage, is_on, plan)| says(stage, *is_on, plan, index)).collect(),
            });
        }
        Explained { condensed, messages }
    }

    fn explaining_view<'a>(&'a self, conversation: &'a Conversation<'a>, scratch: &'a Scratch) -> View<'a> {
        View { depth: Depth::Explain, ..self.view(conversation, &scratch.profiles) }
    }

    /// The plan with the name of the stage that made each claim, and what the walk made. When something was replaced, earlier
    /// summaries followed.
    fn traced(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        level: Level,
        was_replaced: bool,
    ) -> (Plan, Vec<Option<&'static str>>, Vec<UsedText>) {
        let n_messages = conversation.messages.len();
        let mut plan = Plan::new(n_messages);
        let mut by_stage: Vec<Option<&'static str>> = vec![None; n_messages];
        let mut note = |plan: &Plan, before: &[Option<Claim>], name| {
            for (index, before) in before.iter().enumerate() {
                if plan.claim_of(index) != before.as_ref() {
                    by_stage[index] = Some(name);
                }
            }
        };
        let (answers, mut asks) = (Answers::default(), Vec::new());
        let mut consult = Consult::new(&answers, &mut asks);
        for stage in &self.stages {
            if !self.is_asked(&**stage, &self.explaining_view(conversation, scratch)) {
                continue;
            }
            if !self.has_work(&**stage, conversation, scratch, &plan) {
                continue;
            }
            let before = claims(&plan, n_messages);
            self.ask(&**stage, &self.explaining_view(conversation, scratch), &mut plan, &mut consult);
            note(&plan, &before, stage.name());
        }
        let before = claims(&plan, n_messages);
        let used = self.walk(conversation, scratch, &mut plan, level, true);
        note(&plan, &before, by_use::NAME);
        if was_replaced && Recompact.is_on(&self.options) {
            let before = claims(&plan, n_messages);
            Recompact.claim(&self.explaining_view(conversation, scratch), &mut plan);
            note(&plan, &before, Recompact.name());
        }
        (plan, by_stage, used)
    }

    /// What each stage makes of an empty plan.
    fn alone(&self, view: &View<'_>, verdicts: &[Verdict]) -> Vec<(&'static str, bool, Plan)> {
        let empty = || {
            let mut plan = Plan::new(view.len());
            plan.verdicts = verdicts.to_vec();
            plan
        };
        let stages = self.stages.iter().map(|stage| {
            let mut plan = empty();
            let is_on = stage.is_on(view.options);
            if is_on {
                stage.claim(view, &mut plan);
            }
            (stage.name(), is_on, plan)
        });
        let mut all: Vec<_> = stages.collect();
        // It takes up what was kept as a summary of an earlier round.
        let mut plan = empty();
        Protect.claim(view, &mut plan);
        let before = claims(&plan, view.len());
        let is_on = Recompact.is_on(view.options);
        if is_on {
            Recompact.claim(view, &mut plan);
        }
        let mut only = Plan::new(view.len());
        only.groups.clone_from(&plan.groups);
        for (index, before) in before.iter().enumerate() {
            if let Some(claim) = plan.claim_of(index).filter(|claim| Some(*claim) != before.as_ref()) {
                only.set(index, claim.clone());
            }
        }
        all.push((Recompact.name(), is_on, only));
        all
    }

    fn figures(&self, view: &View<'_>, index: usize) -> TextFigures {
        let mut figures = TextFigures { chars: view.chars(index), ..TextFigures::default() };
        let (mut prose, mut bytes, mut sentences) = (0, 0, Vec::new());
        for text in view.texts(index) {
            figures.lines += text.lines.len();
            figures.fences += text.fences.len();
            figures.facts += text.facts.len();
            figures.failures += text.lines.iter().filter(|line| line.severity == Severity::Failure).count();
            let binds = |kind: CueKind| matches!(kind, CueKind::Negation | CueKind::Obligation);
            figures.negations += text.cues.iter().filter(|cue| binds(cue.kind)).count();
            let is_said = |kind| matches!(kind, UnitKind::Sentence | UnitKind::Fragment | UnitKind::ListItem);
            for unit in text.units.iter().filter(|unit| is_said(unit.kind)) {
                figures.sentences += 1;
                prose += unit.span.len();
                sentences.push(unit.span.of(text.text));
            }
            bytes += text.text.len();
        }
        figures.prose_share = if bytes == 0 { 0.0 } else { prose as f64 / bytes as f64 };
        let scores = self.plugins.entropy.as_ref().filter(|_| !sentences.is_empty());
        let scores = scores.and_then(|scorer| scores_of(&**scorer, &sentences));
        figures.entropy = scores.map(|scores| scores.iter().sum::<f64>() / scores.len() as f64);
        figures
    }
}

/// Why each unit of message `index` stays or goes.
fn notes_of(used: &[UsedText], index: usize) -> Vec<UnitNote> {
    let first = used.partition_point(|text| text.message < index);
    used[first..].iter().take_while(|text| text.message == index).flat_map(|text| text.notes.clone()).collect()
}

/// What the classifier says of every message, all its texts together.
fn verdicts(view: &View<'_>) -> Vec<Verdict> {
    let verdict = |index| {
        let mut verdict = Verdict::default();
        for text in view.texts(index) {
            let found = judge(&text, Depth::Explain);
            verdict.is_output |= found.is_output;
            for reason in found.reasons {
                if !verdict.reasons.contains(&reason) {
                    verdict.reasons.push(reason);
                }
            }
        }
        verdict
    };
    (0..view.len()).map(verdict).collect()
}

/// Reasons of a conversation that no stage looked at.
fn is_of_all(decision: &Decision) -> bool {
    matches!(decision.reason, Reason::BelowThreshold | Reason::WithinBudget)
}

fn claims(plan: &Plan, n_messages: usize) -> Vec<Option<Claim>> {
    (0..n_messages).map(|index| plan.claim_of(index).cloned()).collect()
}

fn tier(view: &View<'_>, index: usize, reasons: &[Reason]) -> Tier {
    if view.chars(index) == 0 {
        Tier::None
    } else if reasons.iter().any(|reason| reason.is_hard()) {
        Tier::Hard
    } else if reasons.iter().any(|reason| reason.is_soft()) {
        Tier::Soft
    } else {
        Tier::Prose
    }
}

fn says(stage: &'static str, is_on: bool, plan: &Plan, index: usize) -> StageSays {
    StageSays { stage, is_on, what: plan.claim_of(index).map(|claim| what(plan, claim)) }
}

fn what(plan: &Plan, claim: &Claim) -> What {
    match claim {
        Claim::Keep(reason) => What::Keep { reason: reason.as_str() },
        Claim::DuplicateOf(index) => What::DuplicateOf { index: *index },
        Claim::SimilarTo { target, similarity } => What::SimilarTo { index: *target, similarity: *similarity },
        Claim::SupersededBy { target, signal } => What::SupersededBy { index: *target, signal: signal.as_str() },
        Claim::Group(group) => {
            let group = plan.groups.get(*group);
            let members = group.map(|group| group.members.clone()).unwrap_or_default();
            What::Group { how: group.map_or("summary", |group| how(group.kind)), members }
        }
    }
}

fn how(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Summary => "summary",
        GroupKind::CodeSplit => "code_split",
        GroupKind::Recompact => "recompact",
        GroupKind::ToolPrepass => "tool_prepass",
        GroupKind::Adapter(_) => "adapter",
        GroupKind::Flow(kind) => kind.as_str(),
        GroupKind::Cluster => "cluster",
        GroupKind::Talk => "talk",
        GroupKind::Used => "used",
    }
}
