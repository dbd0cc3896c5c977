//! From a record to the rows of a data set: its chats, on which side each is, compressed until it fits, or cut into windows. Knows
//! chats and engines; refuses to know columns and files.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::again::{blind, show_copied, show_little, show_most};
use super::chat_template::{ChatTemplate, count};
use super::preference::Pair;
use super::turns::turns_of;
use super::windows::{Long, costs, ended, lengths};
use super::wording;
use crate::chat::{Alternative, Chat};
use crate::engine::Scratch;
use crate::error;
use crate::model::{Condensed, EngineOptions, Reason, Role};
use crate::pipeline::condense::Keeper;
use crate::pipeline::split::Side;
use crate::pipeline::{Compact, Condense, DatasetOptions, TargetName, Unfit};
use crate::text::tokens::{Chars, TokenCounter};

/// How often a budget is made smaller until what a template makes of it fits.
const MAX_TRIES: usize = 4;
/// A row of which nothing must be hidden is compressed where that saves at least a tenth.
const MIN_GAIN: f64 = 0.9;
/// Tools that others call take at most one part in so many of a row.
const MOST_LISTED: usize = 8;

/// What an engine is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineWish {
    /// The side of the split.
    pub side: Side,
    /// What a user says stays as a whole.
    pub keeps_users: bool,
    /// A budget in tokens.
    pub within: Option<usize>,
}

/// Makes an engine for a wish.
pub type Engines = dyn Fn(EngineWish) -> error::Result<Arc<dyn Condense>> + Send + Sync;

/// What makes a data set of records.
pub struct Trainer {
    options: DatasetOptions,
    engines: Box<Engines>,
    keeper: Keeper,
    template: Option<ChatTemplate>,
    counter: Arc<dyn TokenCounter>,
}

shows!(Trainer { options });

/// A row of the data set.
#[derive(Debug)]
pub(super) struct Fitted<'a> {
    pub(super) chat: Chat<'a>,
    pub(super) condensed: Condensed,
    pub(super) messages: Vec<Value>,
    pub(super) tools: Option<Value>,
    /// What the job's template says against it.
    refusal: Option<String>,
    /// Of what a model reads, and before it was compressed.
    pub(super) n_tokens: usize,
    pub(super) n_tokens_before: usize,
    /// Which window of how many, from 1.
    pub(super) window: Option<(usize, usize)>,
}

/// Why there is no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lacks {
    /// Nobody is the assistant.
    Assistant,
    /// Nothing in it is to be learned; which window of how many.
    Targets { window: Option<(usize, usize)> },
    /// The chat template of the job refuses it, and says so; which window of how many.
    Template { why: String, window: Option<(usize, usize)> },
    /// It takes so many tokens, and no cut helps, since what stands before all turns takes most of the room, or a turn does; which window
    /// of how many, and how many turns that are to be learned are left out with it.
    Room { tokens: usize, turns: usize, is_prompt: bool, window: Option<(usize, usize)> },
}

/// What came of a chat.
#[derive(Debug, Default)]
pub(super) struct Made<'a> {
    /// Its windows in order: their rows, or why they have none.
    pub(super) windows: Vec<Result<Fitted<'a>, Lacks>>,
    /// Tokens of all of it, before it was compressed.
    pub(super) tokens_before: usize,
}

/// What rows of one chat have in common.
#[derive(Clone, Copy)]
struct Of<'t> {
    tools: Option<&'t Value>,
    side: Side,
    /// The answers that a row ends with, in the place of its last turn.
    pair: Option<&'t Pair>,
    /// What a user says stays: it is no result of a tool, and leaves room for them.
    keeps_users: bool,
}

impl Trainer {
    /// Makes rows with `engines`; `template` is how a model reads them, `counter` counts its tokens.
    pub fn new(
        options: DatasetOptions,
        engine: &EngineOptions,
        engines: Box<Engines>,
        template: Option<ChatTemplate>,
        counter: Option<Arc<dyn TokenCounter>>,
    ) -> Self {
        let keeper = Keeper::new(engine, counter.as_ref());
        Self { options, engines, keeper, template, counter: counter.unwrap_or_else(|| Arc::new(Chars)) }
    }

    /// What decides about the rows.
    pub fn options(&self) -> &DatasetOptions {
        &self.options
    }

    /// True when tools that are only listed leave room for what is said.
    pub(super) fn has_room_for(&self, tools: &[Value]) -> bool {
        let n_tokens = || tools.iter().map(|tool| self.counter.count(&tool.to_string())).sum::<usize>();
        self.options.max_tokens.is_none_or(|max_tokens| n_tokens() * MOST_LISTED <= max_tokens)
    }

    /// The rows of one chat, and what of it fits nowhere.
    pub(super) fn fit<'a>(
        &self,
        chat: &Chat<'a>,
        pair: Option<&Pair>,
        tools: Option<Vec<Value>>,
        side: Side,
        scratch: &mut Scratch,
    ) -> Made<'a> {
        let messages = &chat.conversation.messages;
        let is = |role: Role<'_>| messages.iter().any(|message| message.role == role);
        if !is(Role::Assistant) {
            return Made { windows: vec![Err(Lacks::Assistant)], tokens_before: 0 };
        }
        let tools = tools.map(Value::Array);
        let mut of = Of { tools: tools.as_ref(), side, pair, keeps_users: false };
        let mut whole = self.whole(ended(chat), of, scratch);
        let said = whole.chat.conversation.messages.iter().zip(costs(&whole.chat.conversation, whole.n_tokens));
        let task: usize = said.take_while(|(message, _)| message.role != Role::Assistant).map(|(_, cost)| cost).sum();
        of.keeps_users = is(Role::Tool) && self.options.max_tokens.is_none_or(|max_tokens| task * 2 <= max_tokens);
        let tokens_before = whole.n_tokens;
        let mut windows = match whole.refusal.take() {
            Some(why) => vec![Err(Lacks::Template { why, window: None })],
            None => self.fitted(whole, of, scratch),
        };
        for row in &mut windows {
            let Ok(Fitted { chat, condensed, window, refusal, .. }) = row else { continue };
            if let Some(why) = refusal.take() {
                *row = Err(Lacks::Template { why, window: *window });
            } else if !turns_of(chat, condensed).iter().any(|turn| turn.is_target) {
                *row = Err(Lacks::Targets { window: *window });
            }
        }
        Made { windows, tokens_before }
    }

    /// The rows of a chat of which nothing is hidden yet.
    fn fitted<'a>(&self, whole: Fitted<'a>, of: Of<'_>, scratch: &mut Scratch) -> Vec<Result<Fitted<'a>, Lacks>> {
        let max_tokens = self.options.max_tokens.unwrap_or(usize::MAX);
        if whole.n_tokens <= max_tokens {
            return vec![Ok(match self.options.compact {
                Compact::ToFit => whole,
                Compact::Always => self.denser(whole, of, scratch),
            })];
        }
        if let Some(row) = self.squeezed(&whole, max_tokens, self.options.min_grounding, of, scratch) {
            return vec![Ok(row)];
        }
        let mut windows = match self.options.unfit {
            Unfit::Windows => self.windows(&whole, max_tokens, of, scratch),
            Unfit::LeaveOut => Vec::new(),
        };
        if windows.is_empty() {
            windows.push(Err(no_room(&whole)));
        }
        let n_windows = windows.len();
        for (at, row) in windows.iter_mut().enumerate().filter(|_| n_windows > 1) {
            match row {
                Ok(Fitted { window, .. }) | Err(Lacks::Room { window, .. }) => *window = Some((at + 1, n_windows)),
                Err(Lacks::Assistant | Lacks::Targets { .. } | Lacks::Template { .. }) => {}
            }
        }
        windows
    }

    /// The row compressed, where that is worth it.
    fn denser<'a>(&self, whole: Fitted<'a>, of: Of<'_>, scratch: &mut Scratch) -> Fitted<'a> {
        let wish = EngineWish { side: of.side, keeps_users: of.keeps_users, within: None };
        let Ok(engine) = (self.engines)(wish) else { return whole };
        let mut condensed = engine.condense(&whole.chat.conversation, scratch);
        show_little(&mut condensed, &whole.chat.conversation);
        let dense = self.row(whole.chat.clone(), condensed, of);
        if dense.n_tokens as f64 > whole.n_tokens as f64 * MIN_GAIN {
            return whole;
        }
        self.masked(dense, &whole, of)
    }

    /// The row compressed to so many tokens; `None` where that cannot be, or only by hiding more than `max_ratio` allows, or what answers
    /// use: who learns to say what nothing before tells learns to invent.
    fn squeezed<'a>(
        &self,
        whole: &Fitted<'a>,
        max_tokens: usize,
        min_grounding: f64,
        of: Of<'_>,
        scratch: &mut Scratch,
    ) -> Option<Fitted<'a>> {
        if whole.n_tokens as f64 > max_tokens as f64 * self.options.max_ratio {
            return None;
        }
        let conversation = &whole.chat.conversation;
        let is_grounded =
            |condensed: &Condensed| condensed.metrics.grounding.is_none_or(|share| share >= min_grounding);
        let asks = |within| EngineWish { side: of.side, keeps_users: of.keeps_users, within };
        let condensed = (self.engines)(asks(None)).ok()?.condense(conversation, scratch);
        let row = self.row(whole.chat.clone(), condensed, of);
        if row.n_tokens <= max_tokens && is_grounded(&row.condensed) {
            return Some(self.masked(self.fuller(row, whole, max_tokens, of), whole, of));
        }
        // A text that a template makes of it has tokens beside those of the messages.
        let (mut n_tokens, mut budget) = (whole.n_tokens, whole.condensed.metrics.tokens_out);
        for _ in 0..MAX_TRIES {
            budget = budget.checked_sub(n_tokens - max_tokens).filter(|budget| *budget > 0)?;
            let condensed = (self.engines)(asks(Some(budget))).ok()?.condense(conversation, scratch);
            let is_met = condensed.metrics.budget.as_ref().is_none_or(|outcome| outcome.fits);
            if !is_met || !is_grounded(&condensed) {
                return None;
            }
            let row = self.row(whole.chat.clone(), condensed, of);
            if row.n_tokens <= max_tokens {
                return Some(self.masked(self.fuller(row, whole, max_tokens, of), whole, of));
            }
            n_tokens = row.n_tokens;
        }
        None
    }

    /// The row that fits, with as much shown again as fits.
    fn fuller<'a>(&self, row: Fitted<'a>, whole: &Fitted<'a>, max_tokens: usize, of: Of<'_>) -> Fitted<'a> {
        let mut row = row;
        let n_bytes = lengths(&whole.chat.conversation).into_iter().sum::<usize>();
        let room = (max_tokens - row.n_tokens) as f64 * n_bytes as f64 / whole.n_tokens.max(1) as f64;
        // What it takes is estimated.
        for share in [0.98, 0.9, 0.7] {
            let (mut condensed, conversation) = (row.condensed.clone(), &whole.chat.conversation);
            let is_learned = |at: usize| !whole.chat.notes[at].is_masked;
            let left = show_copied(&mut condensed, conversation, is_learned, (room * share) as usize);
            show_most(&mut condensed, conversation, left);
            let fuller = self.row(whole.chat.clone(), condensed, of);
            if fuller.n_tokens <= max_tokens {
                row = fuller;
                break;
            }
        }
        row
    }

    /// The row in which turns are not learned whose edits copy what is hidden.
    fn masked<'a>(&self, mut row: Fitted<'a>, whole: &Fitted<'a>, of: Of<'_>) -> Fitted<'a> {
        let blind = blind(&row.condensed, &row.chat.conversation);
        if !blind.is_empty() {
            for at in blind {
                row.chat.notes[at].is_masked = true;
            }
            row = self.row(row.chat, row.condensed, of);
        }
        Fitted { n_tokens_before: whole.n_tokens, ..row }
    }

    /// The windows of a chat; none where it has one turn.
    fn windows<'a>(
        &self,
        whole: &Fitted<'a>,
        max_tokens: usize,
        of: Of<'_>,
        scratch: &mut Scratch,
    ) -> Vec<Result<Fitted<'a>, Lacks>> {
        let long = Long::new(&whole.chat, costs(&whole.chat.conversation, whole.n_tokens));
        let tools: usize = of.tools.map_or(0, |tools| self.counter.count(&tools.to_string()));
        let fixed = tools + long.cost(0..long.behind().start);
        let room = (max_tokens.saturating_sub(fixed).max(max_tokens / 2) as f64 * self.options.max_ratio) as usize;
        let own_room = (room as f64 * (1.0 - self.options.overlap)) as usize;
        let mut rows = Vec::new();
        for own in long.cut(long.behind(), own_room) {
            self.window(&long, own, (room, max_tokens), of, scratch, &mut rows);
        }
        for row in &mut rows {
            if let Err(Lacks::Room { is_prompt, .. }) = row {
                *is_prompt = fixed * 2 > max_tokens;
            }
        }
        rows
    }

    /// The window in which the `own` turns are learned, with as much before them as fits; two where one does not.
    fn window<'a>(
        &self,
        long: &Long<'_, 'a>,
        own: Range<usize>,
        (room, max_tokens): (usize, usize),
        of: Of<'_>,
        scratch: &mut Scratch,
        rows: &mut Vec<Result<Fitted<'a>, Lacks>>,
    ) {
        let cost = long.cost(own.clone());
        let uncompressed = (room as f64 / self.options.max_ratio) as usize;
        // What leads to turns is no longer than they are, unless they are few.
        let context = cost.max((uncompressed as f64 * self.options.overlap) as usize);
        // Who learns all turns would learn these again.
        let context = if self.options.target == TargetName::LlamaFactory { 0 } else { context };
        let left = room.saturating_sub(cost).min(context);
        let halves = long.cut(own.clone(), cost.div_ceil(2));
        // Fewer turns and what led to them are better than more without.
        let is_cut = halves.len() > 1 && cost as f64 > uncompressed as f64 * (1.0 - self.options.overlap);
        let uncompressed = uncompressed.saturating_sub(cost);
        let fewer = [uncompressed.min(left), uncompressed.min(left) / 2, 0];
        let mut last: Option<Fitted<'a>> = None;
        for room in [left, left / 2].into_iter().chain(fewer.into_iter().filter(|_| !is_cut)) {
            let chat = long.window(&own, room);
            let n_messages = chat.conversation.messages.len();
            if last.as_ref().is_some_and(|last| last.chat.conversation.messages.len() <= n_messages) {
                continue;
            }
            let row = self.whole(chat, of, scratch);
            if row.n_tokens <= max_tokens {
                return rows.push(Ok(row));
            }
            if let Some(row) = self.squeezed(&row, max_tokens, self.options.min_grounding, of, scratch) {
                return rows.push(Ok(row));
            }
            last = Some(row);
        }
        if halves.len() > 1 {
            for half in halves {
                self.window(long, half, (room, max_tokens), of, scratch, rows);
            }
            return;
        }
        // One turn, however much it is grounded.
        rows.extend(last.map(|row| self.squeezed(&row, max_tokens, 0.0, of, scratch).ok_or_else(|| no_room(&row))));
    }

    /// The row of which nothing is hidden.
    fn whole<'a>(&self, chat: Chat<'a>, of: Of<'_>, scratch: &mut Scratch) -> Fitted<'a> {
        let condensed = self.keeper.keep(&chat.conversation, scratch, Reason::WithinBudget);
        self.row(chat, condensed, of)
    }

    fn row<'a>(&self, chat: Chat<'a>, condensed: Condensed, of: Of<'_>) -> Fitted<'a> {
        let turns = turns_of(&chat, &condensed);
        let messages = wording::messages(&turns, &self.options);
        // Templates know roles and contents.
        let renamed = (self.options.target.is_sharegpt() && self.template.is_some())
            .then(|| wording::messages(&turns, &DatasetOptions { target: TargetName::Trl, ..self.options.clone() }));
        let read = renamed.as_ref().unwrap_or(&messages);
        let count = |messages: &[Value]| count(self.template.as_ref(), &*self.counter, messages, of.tools);
        let counted = match (of.pair, read.split_last()) {
            // Trainers read the prompt with each answer by itself.
            (Some(pair), Some((_, prompt))) => {
                let with = |it: &Alternative| count(&[prompt, &[wording::answer(it, &self.options)]].concat());
                with(&pair.chosen).and_then(|n_tokens| Ok(n_tokens.max(with(&pair.rejected)?)))
            }
            _ => count(read),
        };
        drop(turns);
        let (n_tokens, refusal) = match counted {
            Ok(n_tokens) => (n_tokens, None),
            Err(why) => (0, Some(why)),
        };
        let tools = of.tools.cloned();
        Fitted { chat, condensed, messages, tools, refusal, n_tokens, n_tokens_before: n_tokens, window: None }
    }
}

/// A row that fits nowhere.
fn no_room(row: &Fitted<'_>) -> Lacks {
    let turns = turns_of(&row.chat, &row.condensed).iter().filter(|turn| turn.is_target).count();
    Lacks::Room { tokens: row.n_tokens, turns, is_prompt: false, window: None }
}
