//! From a record to the rows of a data set: its chats, on which side each is, compressed until it fits, or cut into windows. Knows
//! chats and engines; refuses to know columns and files.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::chat_template::{ChatTemplate, count};
use super::turns::turns_of;
use super::windows::{cut, window};
use super::wording;
use crate::chat::{self, Chat};
use crate::engine::Scratch;
use crate::error;
use crate::model::{Condensed, Role};
use crate::pipeline::split::Side;
use crate::pipeline::{Condense, DatasetOptions, Unfit};
use crate::shape::Decoded;
use crate::text::tokens::{Chars, TokenCounter};

/// How often a budget is made smaller until what a template makes of it fits.
const MAX_TRIES: usize = 4;
/// Windows in windows: halves of halves.
const MAX_DEPTH: usize = 12;

/// Makes an engine that meets a token budget, for one of the sides.
pub type WithinBudget = dyn Fn(Side, usize) -> error::Result<Arc<dyn Condense>> + Send + Sync;

/// What makes a data set of records.
pub struct Trainer {
    /// What decides about its rows.
    pub options: DatasetOptions,
    /// The engines for training and for evaluation.
    pub engines: [Arc<dyn Condense>; 2],
    /// An engine with a budget.
    pub within: Box<WithinBudget>,
    /// How a model reads a chat.
    pub template: Option<ChatTemplate>,
    /// What counts its tokens.
    pub counter: Option<Arc<dyn TokenCounter>>,
}

shows!(Trainer { options });

/// A row of the data set.
#[derive(Debug)]
pub(super) struct Fitted<'a> {
    pub(super) chat: Chat<'a>,
    pub(super) condensed: Condensed,
    pub(super) messages: Vec<Value>,
    pub(super) tools: Option<Value>,
    /// Of what a model reads; before it was compressed, about.
    pub(super) n_tokens: usize,
    pub(super) n_tokens_before: usize,
    /// Which window of how many, from 1.
    pub(super) window: Option<(usize, usize)>,
}

/// Why there is no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lacks {
    /// Nobody is the assistant.
    Assistant,
    /// It takes so many tokens, and no cut helps; which window of how many.
    Room { tokens: usize, window: Option<(usize, usize)> },
}

/// What came of a chat.
#[derive(Debug, Default)]
pub(super) struct Made<'a> {
    /// Its windows in order: their rows, or why they have none.
    pub(super) windows: Vec<Result<Fitted<'a>, Lacks>>,
    /// Tokens of all of it, before it was compressed.
    pub(super) tokens_before: usize,
}

impl Trainer {
    /// The rows of one chat, and what of it fits nowhere.
    pub(super) fn fit<'a>(
        &self,
        decoded: &Decoded<'_>,
        chat: &Chat<'a>,
        side: Side,
        scratch: &mut Scratch,
    ) -> Made<'a> {
        let mut made = Made::default();
        if !chat.conversation.messages.iter().any(|message| message.role == Role::Assistant) {
            made.windows.push(Err(Lacks::Assistant));
            return made;
        }
        let tools = chat::tools(decoded, &chat.conversation).and_then(|text| serde_json::from_str(&text).ok());
        self.fit_into(chat, None, tools.as_ref(), (side, MAX_DEPTH), scratch, &mut made);
        let n_windows = made.windows.len();
        for (at, piece) in made.windows.iter_mut().enumerate().filter(|_| n_windows > 1) {
            match piece {
                Ok(Fitted { window, .. }) | Err(Lacks::Room { window, .. }) => *window = Some((at + 1, n_windows)),
                Err(Lacks::Assistant) => {}
            }
        }
        made
    }

    fn fit_into<'a>(
        &self,
        whole: &Chat<'a>,
        range: Option<Range<usize>>,
        tools: Option<&Value>,
        (side, depth): (Side, usize),
        scratch: &mut Scratch,
        made: &mut Made<'a>,
    ) {
        let is_whole = range.is_none();
        let (chat, place) = window(whole, range);
        let mut fitted = self.compressed(&*self.engines[side as usize], chat, tools, scratch);
        if is_whole {
            made.tokens_before = fitted.n_tokens_before;
        }
        let Some(max_tokens) = self.options.max_tokens else { return made.windows.push(Ok(fitted)) };
        if fitted.n_tokens <= max_tokens {
            return made.windows.push(Ok(fitted));
        }
        let may_cut = depth > 0 && self.options.unfit == Unfit::Windows;
        let cuts = if may_cut { cut(&fitted.chat, &fitted.condensed, max_tokens) } else { Vec::new() };
        // A text that a template makes of it has tokens beside those of the messages.
        let mut budget = fitted.condensed.metrics.tokens_out;
        for _ in 0..MAX_TRIES {
            let excess = fitted.n_tokens.saturating_sub(max_tokens);
            let Some(less) = budget.checked_sub(excess).filter(|less| *less > 0) else { break };
            budget = less;
            let Ok(engine) = (self.within)(side, budget) else { break };
            let again = self.compressed(&*engine, fitted.chat, tools, scratch);
            let is_met = again.condensed.metrics.budget.as_ref().is_none_or(|outcome| outcome.fits);
            fitted = Fitted { n_tokens_before: fitted.n_tokens_before, ..again };
            if !is_met || fitted.n_tokens <= max_tokens {
                break;
            }
        }
        // Who learns to say what nothing before tells learns to invent.
        let is_grounded = fitted.condensed.metrics.grounding.is_none_or(|share| share >= self.options.min_grounding);
        if fitted.n_tokens <= max_tokens && (is_grounded || may_cut && cuts.is_empty()) {
            return made.windows.push(Ok(fitted));
        }
        if cuts.is_empty() {
            return made.windows.push(Err(Lacks::Room { tokens: fitted.n_tokens, window: None }));
        }
        for range in cuts {
            let range = Some(place.in_chat(&range));
            self.fit_into(whole, range, tools, (side, depth - 1), scratch, made);
        }
    }

    fn compressed<'a>(
        &self,
        engine: &dyn Condense,
        chat: Chat<'a>,
        tools: Option<&Value>,
        scratch: &mut Scratch,
    ) -> Fitted<'a> {
        let condensed = engine.condense(&chat.conversation, scratch);
        let messages = wording::messages(&turns_of(&chat, &condensed), &self.options);
        let counter = self.counter.as_deref().unwrap_or(&Chars);
        // A template that refuses a chat is no way to count it.
        let n_tokens = count(self.template.as_ref(), counter, &messages, tools)
            .or_else(|_| count(None, counter, &messages, tools))
            .unwrap_or_default();
        let n_hidden = condensed.metrics.tokens_in.saturating_sub(condensed.metrics.tokens_out);
        Fitted {
            chat,
            condensed,
            messages,
            tools: tools.cloned(),
            n_tokens,
            n_tokens_before: n_tokens + n_hidden,
            window: None,
        }
    }
}
