//! What a data set came to, added up over batches and parts: rows, what was left out and why, tokens before and after. Knows numbers,
//! not how they are told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::trainer::Fitted;
use super::turns::turns_of;
use crate::chat::Chat;
use crate::pipeline::make_up::MakeUp;
use crate::pipeline::merge::merges;
use crate::pipeline::split::Side;

/// Contexts of models, in tokens.
pub const CONTEXTS: [u64; 4] = [4 << 10, 8 << 10, 32 << 10, 128 << 10];

/// What a data set came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TrainingTally {
    /// Conversations as an API saw them; a record may hold several.
    pub chats: u64,
    /// Those of which the data has a row.
    pub kept: u64,
    /// Rows for training.
    pub train_rows: u64,
    /// Rows for evaluation.
    pub eval_rows: u64,
    /// Rows that are a window of a longer conversation.
    pub windows: u64,
    /// What is not in the data, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// How often that was for want of room, of a template or of turns to be learned, of what was for evaluation.
    pub eval_left_out: u64,
    /// Turns that were to be learned and fit into no row.
    pub turns_left_out: u64,
    /// Rows by class.
    pub classes: BTreeMap<String, u64>,
    /// Rows by language.
    pub languages: BTreeMap<String, u64>,
    /// Turns of the assistant.
    pub targets: u64,
    /// Those that a model should not learn: they broke off, or the record says so.
    pub not_targets: u64,
    /// Messages of which something is hidden.
    pub compacted: u64,
    /// Calls without a result.
    pub no_result: u64,
    /// Messages that the user took back.
    pub taken_back: u64,
    /// Errors that a program wrote in the place of a reply.
    pub not_said: u64,
    /// Replies that broke off and were tried again.
    pub retried: u64,
    /// Tokens of all rows.
    pub tokens: u64,
    /// The same before compression.
    pub tokens_before: u64,
    /// Rows by the power of two that their tokens are below.
    pub by_tokens: BTreeMap<u32, u64>,
    /// Conversations that fit each of [`CONTEXTS`] as they were.
    pub fit_before: BTreeMap<u64, u64>,
    /// Those that fit compressed, in one row.
    pub fit_after: BTreeMap<u64, u64>,
}

merges!(TrainingTally {
    chats,
    kept,
    train_rows,
    eval_rows,
    windows,
    left_out,
    eval_left_out,
    turns_left_out,
    classes,
    languages,
    targets,
    not_targets,
    compacted,
    no_result,
    taken_back,
    not_said,
    retried,
    tokens,
    tokens_before,
    by_tokens,
    fit_before,
    fit_after
});

impl TrainingTally {
    /// Counts a conversation.
    pub(super) fn chat(&mut self, chat: &Chat<'_>) {
        self.chats += 1;
        self.taken_back += chat.left.taken_back as u64;
        self.not_said += chat.left.not_said as u64;
        self.retried += chat.left.retried as u64;
    }

    /// Counts a row.
    pub(super) fn row(&mut self, row: &Fitted<'_>, make_up: MakeUp, side: Side) {
        match side {
            Side::Train => self.train_rows += 1,
            Side::Eval => self.eval_rows += 1,
        }
        let (tokens, before) = (row.n_tokens as u64, row.n_tokens_before as u64);
        self.tokens += tokens;
        self.tokens_before += before;
        *self.by_tokens.entry(power(tokens)).or_default() += 1;
        self.windows += u64::from(row.window.is_some());
        for context in CONTEXTS.into_iter().filter(|_| row.window.is_none()) {
            *self.fit_after.entry(context).or_default() += u64::from(tokens <= context);
        }
        let lacks_result = |(message, note): (&crate::model::Message<'_>, &crate::chat::Note)| {
            note.is_filler && message.role == crate::model::Role::Tool
        };
        let n_without =
            row.chat.conversation.messages.iter().zip(&row.chat.notes).filter(|&it| lacks_result(it)).count();
        self.no_result += n_without as u64;
        *self.classes.entry(make_up.class.to_owned()).or_default() += 1;
        *self.languages.entry(make_up.language.unwrap_or("unknown").to_owned()).or_default() += 1;
        for turn in turns_of(&row.chat, &row.condensed) {
            let is_assistant = *turn.role == crate::model::Role::Assistant;
            self.targets += u64::from(is_assistant);
            self.not_targets += u64::from(is_assistant && !turn.is_target);
            self.compacted += u64::from(turn.is_compacted);
        }
    }

    /// Counts a conversation of which the data has rows, by the tokens that it had.
    pub(super) fn keep(&mut self, tokens_before: usize) {
        self.kept += 1;
        for context in CONTEXTS {
            *self.fit_before.entry(context).or_default() += u64::from(tokens_before as u64 <= context);
        }
    }

    /// Counts what is not in the data.
    pub(super) fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }
}

/// The least power of two that is not below `n`.
fn power(n: u64) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}
