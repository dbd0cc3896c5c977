//! One row of figures per conversation. Every share is between 0 and 1, and `None` when there was nothing to
//! measure.

use serde::Serialize;

use super::{Age, CompressionDepth};

/// What compression brought for one conversation and what it took from view.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// How old the conversation was, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<Age>,
    /// When it was last written to, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at: Option<u64>,
    /// Number of input messages.
    pub messages_in: usize,
    /// Number of output messages.
    pub messages_out: usize,
    /// Characters that the consumer pays for: texts, tool-call arguments, and metadata when it is written.
    pub chars_in: usize,
    /// The same of the output.
    pub chars_out: usize,
    /// Tokens of the same texts as the tokenizer counts them, plus the overhead of the chat format; by default
    /// `ceil(chars / 3.5)` per message.
    pub tokens_in: usize,
    /// The same of the output.
    pub tokens_out: usize,
    /// `chars_in / chars_out`; 1 for an empty output.
    pub ratio: f64,
    /// `tokens_in / tokens_out`; 1 for an empty output.
    pub token_ratio: f64,
    /// Input messages per action.
    pub counts: ActionCounts,
    /// What became of the token budget; `None` without one.
    pub budget: Option<BudgetOutcome>,
    /// What became of the conversation as a whole; `None` unless it was compacted.
    pub compaction: Option<CompactionOutcome>,
    /// What of all that the assistant used still stands where it was; `None` where nobody looked, see `all_figures`.
    #[serde(flatten)]
    pub uses: Option<Grounding>,
    /// `used_in_place / used`.
    pub grounding: Option<f64>,
    /// `edits_whole / edits`.
    pub edit_grounding: Option<f64>,
    /// `facts_held / facts`.
    pub fact_grounding: Option<f64>,
    /// What the next turns of a cut needed, and what of that is there; `None` where nobody looked, see docs/reports.md.
    pub next_turn: Option<NextTurn>,
    /// `in_place / needed`.
    pub next_turn_recall: Option<f64>,
    /// `lines_shown / lines`.
    pub next_turn_lines_recall: Option<f64>,
    /// Share of distinct technical identifiers of the input that occur in the output, entity suffixes included.
    pub entity_retention: Option<f64>,
    /// Share of fences, JSON blocks and tables still there.
    pub structural_integrity: Option<f64>,
    /// Share of the output's entities for which a message that had them still stands under its id.
    pub reference_coherence: Option<f64>,
    /// `0.4 entity_retention + 0.4 structural_integrity + 0.2 reference_coherence` over those that are present.
    pub quality_score: Option<f64>,
    /// Share of distinct facts of the input visible in the output, entity suffixes left out.
    pub fact_retention: Option<f64>,
    /// The same with entity suffixes.
    pub fact_retention_with_entities: Option<f64>,
    /// Of the facts in replaced messages that a later kept message uses again, the share visible before that use.
    pub forward_recall: Option<f64>,
    /// Share of negated and obligatory statements still visible.
    pub negation_retention: Option<f64>,
    /// Share of error, failure and exit-status lines still visible.
    pub error_retention: Option<f64>,
    /// The option set that a policy chose for the conversation; `None` without one.
    pub policy_choice: Option<String>,
}

/// How much of what an assistant used a reader can still find where it came from: counts over its messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Grounding {
    /// Values that stood in an earlier source, per message that uses them.
    pub used: usize,
    /// Of these, values that an earlier source still shows in their surroundings.
    pub used_in_place: usize,
    /// Texts that edits replace and that sources or arguments before had shown.
    pub edits: usize,
    /// Of these, texts of which every line is still shown before the edit.
    pub edits_whole: usize,
    /// Numbers and states with what they belong to, that a source before had held, per message that tells them.
    pub facts: usize,
    /// Of these, facts that a source before still holds.
    pub facts_held: usize,
}

/// What the next turns of a finished conversation needed of what stood before a cut, and what of it is there when the part
/// before is compressed by itself: sums over cuts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct NextTurn {
    /// Values that the messages behind the cut use, that stood before it and not in the last messages.
    pub needed: usize,
    /// Those that still stand in their own surroundings.
    pub in_place: usize,
    /// Lines that the calls behind the cut repeat, that stood before it and not in the last messages.
    pub lines: usize,
    /// Those that are still shown as lines.
    pub lines_shown: usize,
    /// Characters before the last messages: contents, reasoning and leaves of arguments.
    pub before: usize,
    /// Those of them that are shown.
    pub after: usize,
}

impl std::ops::AddAssign for NextTurn {
    fn add_assign(&mut self, other: Self) {
        self.needed += other.needed;
        self.in_place += other.in_place;
        self.lines += other.lines;
        self.lines_shown += other.lines_shown;
        self.before += other.before;
        self.after += other.after;
    }
}

impl NextTurn {
    /// Share of what was needed that stands in its place; `None` when nothing was needed.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        share(self.in_place, self.needed)
    }

    /// Share of the lines that are still shown; `None` when none was repeated.
    #[must_use]
    pub fn lines_recall(&self) -> Option<f64> {
        share(self.lines_shown, self.lines)
    }

    /// Characters before over after.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.before as f64 / self.after.max(1) as f64
    }
}

fn share(kept: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| kept as f64 / of as f64)
}

impl Metrics {
    /// Takes counts of what the next turns needed, and their shares.
    pub fn set_next_turn(&mut self, next_turn: NextTurn) {
        self.next_turn = Some(next_turn);
        self.next_turn_recall = next_turn.recall();
        self.next_turn_lines_recall = next_turn.lines_recall();
    }

    /// Takes counts of what was used, and their shares.
    pub fn set_uses(&mut self, uses: Grounding) {
        self.uses = Some(uses);
        self.grounding = share(uses.used_in_place, uses.used);
        self.edit_grounding = share(uses.edits_whole, uses.edits);
        self.fact_grounding = share(uses.facts_held, uses.facts);
    }
}

/// How a token budget was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BudgetOutcome {
    /// The output has no more tokens than the budget.
    pub fits: bool,
    /// Tokens of the output, with the overhead of the chat format.
    pub token_count: usize,
    /// Number of last messages that were left as they are.
    pub recency_window: usize,
    /// Tokens that no budget takes: protected messages and the overhead.
    pub protected_tokens: usize,
    /// How short summaries are.
    pub depth: CompressionDepth,
}

/// How a conversation was compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompactionOutcome {
    /// How often it was, this time included.
    pub level: usize,
    /// The chunk of its archive that the messages went to.
    pub chunk: usize,
    /// Why it was.
    pub trigger: CompactionTrigger,
    /// Messages in the summary.
    pub n_archived: usize,
    /// Last messages that stay, without those that were pulled back.
    pub n_recent: usize,
    /// Messages before these that stay since the question was too long for the model with them.
    pub n_pulled_back: usize,
    /// What the archived messages are about: phrases separated by commas.
    pub topics: Option<String>,
    /// The chunk is one of an earlier round, which goes on.
    pub continues: bool,
    /// A model wrote the summary.
    pub by_model: bool,
}

/// Why a conversation was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionTrigger {
    /// It has at least `compaction_tokens` tokens.
    Tokens,
    /// It has at least `compaction_messages` messages.
    Count,
    /// `compaction_forced` is on.
    Forced,
}

impl CompactionTrigger {
    /// Its name in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Count => "count",
            Self::Forced => "forced",
        }
    }
}

/// Number of input messages per action; they add up to `messages_in`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ActionCounts {
    /// Unchanged.
    pub preserved: usize,
    /// In a summary.
    pub compressed: usize,
    /// References to identical messages.
    pub deduped: usize,
    /// References to similar messages.
    pub fuzzy_deduped: usize,
    /// Code split.
    pub code_split: usize,
    /// References to a later correction.
    pub contradicted: usize,
    /// Truncated to meet a token budget.
    pub truncated: usize,
    /// Of the preserved ones: kept by a preserve pattern.
    pub pattern_preserved: usize,
    /// Of the preserved ones: kept for their importance.
    pub importance_preserved: usize,
    /// Of the compressed ones: left out as general discussion.
    pub relevance_dropped: usize,
    /// Of the compressed ones: output of tools without its noise.
    pub tool_prepass_trimmed: usize,
    /// Texts that a scorer or token classifier could not handle, so that the built-in one did.
    pub scorer_fallbacks: usize,
    /// Messages that a model ruled on.
    pub llm_classified: usize,
    /// Texts of the output that a model wrote.
    pub llm_summaries: usize,
    /// Questions to a model that had no usable answer, so that the engine decided or wrote.
    pub llm_fallbacks: usize,
}
