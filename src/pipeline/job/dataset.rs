//! What is written of a job about training-ready data, and what holds.

use serde::{Deserialize, Serialize};

use super::DatasetArgs;
use crate::error::{Error, Result};
use crate::model::LookAhead;
use crate::pipeline::split::Side;
use crate::pipeline::{
    Arguments, CallOrder, ChatTemplate, Compact, Empty, EvalLookAhead, GroupBy, RowForm, TargetName, Thinking, Twins,
    Unfit,
};

/// One in twenty is enough to see whether training goes well.
const DEFAULT_EVAL_SHARE: f64 = 0.05;
/// Nine of ten values that an answer uses stand before it; with less, a model learns to invent them.
const DEFAULT_MIN_GROUNDING: f64 = 0.9;
/// No more than half of a row is hidden so that it fits.
const DEFAULT_MAX_RATIO: f64 = 2.0;
const MOST_RATIO: f64 = 100.0;
/// So much of a window is for what led there.
const DEFAULT_OVERLAP: f64 = 0.3;
const MOST_OVERLAP: f64 = 0.9;

/// What decides about training-ready data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DatasetOptions {
    /// Who reads it.
    pub target: TargetName,
    /// What a row is.
    pub form: RowForm,
    /// How arguments of calls are written.
    pub arguments: Arguments,
    /// What stands where an assistant calls and says nothing.
    pub empty: Empty,
    /// What becomes of what an assistant thinks.
    pub thinking: Thinking,
    /// How calls that are made at once are written.
    pub calls: CallOrder,
    /// Share of the conversations that go to `eval`, 0 to 1.
    pub eval_share: f64,
    /// What may decide about what is hidden in rows for evaluation.
    pub eval_look_ahead: EvalLookAhead,
    /// Most tokens of a row.
    pub max_tokens: Option<usize>,
    /// Which rows are compressed.
    pub compact: Compact,
    /// A row is compressed so many times at most to fit; what takes more is cut into windows.
    pub max_ratio: f64,
    /// Share of a window that shows what stands before its turns, 0 to 0.9.
    pub overlap: f64,
    /// Least share of what the assistant used that still stands before its use, in a row that was compacted to `max_tokens`.
    pub min_grounding: f64,
    /// The file with the chat template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_template: Option<String>,
    /// BLAKE3 of that file, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_template_blake3: Option<String>,
    /// The same template where it marks what is learned: for a trainer, which then learns no turn whose `train` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_template: Option<String>,
    /// What becomes of conversations that take more.
    pub unfit: Unfit,
}

impl DatasetOptions {
    /// Takes what the file with the chat template holds.
    pub(super) fn know(&mut self, template: &ChatTemplate, bytes: &[u8]) {
        self.chat_template_blake3 = Some(blake3::hash(bytes).to_hex().to_string());
        if matches!(self.target, TargetName::Trl | TargetName::Unsloth) {
            self.training_template = template.minds_train().map(str::to_owned);
        }
    }

    /// How far an engine looks ahead on this side, where for training it looks as far as `train`.
    pub fn look_ahead(&self, side: Side, train: Option<LookAhead>) -> Option<LookAhead> {
        match (side, train, self.eval_look_ahead) {
            (Side::Eval, Some(LookAhead::Turns), EvalLookAhead::Strict) => Some(LookAhead::Strict),
            (Side::Eval, Some(LookAhead::Turns), EvalLookAhead::Off) => Some(LookAhead::Off),
            (_, train, _) => train,
        }
    }
}

/// How the conversations of training-ready data are split, and which are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SplitOptions {
    /// What conversations have in common that go to one side.
    pub group_by: GroupBy,
    /// Which are left out since another one is like them.
    pub dedup: Twins,
    /// Evaluation files whose texts no conversation may hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decontaminate: Vec<String>,
    /// Another seed, another split.
    #[serde(default)]
    pub seed: u64,
    /// Whether each class has its share of conversations to evaluate on.
    pub stratify: bool,
    /// The run whose sides are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_from: Option<String>,
}

impl SplitOptions {
    /// True when all conversations must be known before one has its side.
    #[must_use]
    pub fn needs_survey(&self) -> bool {
        let is_by_id = self.group_by == GroupBy::Id && self.dedup == Twins::None && self.decontaminate.is_empty();
        !is_by_id || self.split_from.is_some()
    }
}

impl DatasetArgs {
    pub(super) fn split(&mut self) -> SplitOptions {
        SplitOptions {
            group_by: *self.group_by.get_or_insert_default(),
            dedup: *self.dedup.get_or_insert_default(),
            decontaminate: self.decontaminate.clone(),
            seed: *self.seed.get_or_insert_default(),
            stratify: *self.stratify.get_or_insert(true),
            split_from: self.split_from.clone(),
        }
    }

    pub(super) fn settle(&mut self) -> Result<DatasetOptions> {
        let eval_share = *self.eval_share.get_or_insert(DEFAULT_EVAL_SHARE);
        if !(0.0..=1.0).contains(&eval_share) {
            return usage("dataset.eval_share", "expected a share from 0 to 1");
        }
        if self.max_tokens == Some(0) {
            return usage("dataset.max_tokens", "nothing fits into 0 tokens");
        }
        let target = *self.target.get_or_insert_default();
        let form = *self.form.get_or_insert_default();
        if form != RowForm::Messages && target != TargetName::Trl {
            return usage("dataset.form", "this is a form of target = \"trl\"; others read whole conversations");
        }
        let min_grounding = *self.min_grounding.get_or_insert(DEFAULT_MIN_GROUNDING);
        if !(0.0..=1.0).contains(&min_grounding) {
            return usage("dataset.min_grounding", "expected a share from 0 to 1");
        }
        let overlap = *self.overlap.get_or_insert(DEFAULT_OVERLAP);
        if !(0.0..=MOST_OVERLAP).contains(&overlap) {
            return usage("dataset.overlap", "expected a share from 0 to 0.9");
        }
        let max_ratio = *self.max_ratio.get_or_insert(DEFAULT_MAX_RATIO);
        if !(1.0..=MOST_RATIO).contains(&max_ratio) {
            return usage("dataset.max_ratio", "expected a number from 1 to 100");
        }
        // Where nothing asks for room, rows are compressed since that is what was asked for.
        let compact = if self.max_tokens.is_some() { Compact::ToFit } else { Compact::Always };
        let compact = *self.compact.get_or_insert(compact);
        if compact == Compact::ToFit && self.max_tokens.is_none() {
            return usage("dataset.compact", "to-fit asks what fits: give `max_tokens`");
        }
        let is_openai = target == TargetName::Openai;
        let arguments = if is_openai { Arguments::Text } else { Arguments::Json };
        if is_openai && self.arguments == Some(Arguments::Json) {
            return usage("dataset.arguments", "target = \"openai\" takes arguments as text only");
        }
        let thinking = match target {
            TargetName::Openai => Thinking::Drop,
            TargetName::Sharegpt | TargetName::LlamaFactory => Thinking::Content,
            TargetName::Trl | TargetName::Axolotl | TargetName::Unsloth => Thinking::Field,
        };
        let thinking = *self.thinking.get_or_insert(thinking);
        if thinking == Thinking::Field && (is_openai || target.is_sharegpt()) {
            return usage("dataset.thinking", "this target has no field for it; take content or drop");
        }
        Ok(DatasetOptions {
            target,
            form,
            arguments: *self.arguments.get_or_insert(arguments),
            empty: *self.empty.get_or_insert(if is_openai { Empty::Null } else { Empty::Text }),
            thinking,
            calls: *self.calls.get_or_insert_default(),
            eval_share,
            eval_look_ahead: *self.eval_look_ahead.get_or_insert_default(),
            max_tokens: self.max_tokens.map(|most| most as usize),
            compact,
            max_ratio,
            overlap,
            min_grounding,
            chat_template: self.chat_template.clone(),
            chat_template_blake3: None,
            training_template: None,
            unfit: *self.unfit.get_or_insert_default(),
        })
    }
}

fn usage<T>(place: &str, message: &str) -> Result<T> {
    Err(Error::usage(place, message))
}
