//! A token budget where use decides: the conversation is walked again at levels of the order in which things give way, until
//! the least of them is found that fits. What the walk does not write, answers and words, gives way here, in the same order.
//! Knows levels, units and tokens; refuses to know what a level takes from a text.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::attempt::{Attempt, is_protected, prose_kind, protected_tokens};
use super::converge;
use crate::engine::context;
use crate::engine::fill::Filler;
use crate::engine::unit::{State, Unit};
use crate::model::{AssistantText, BudgetOutcome, CompressionDepth, Reason, Role};
use crate::stage::{Group, Plan, calls_tools};
use crate::summary::Style;
use crate::walk::{Level, UsedText, Yield};

/// Characters of an answer, and of what a person says, from which they give way.
const MIN_ANSWER: usize = 800;
const MIN_WORDS: usize = 400;

/// Walks at a level, with the plan that the stages made; puts what it hides into that plan.
pub(in crate::engine) type Walk<'w> = dyn FnMut(&mut Plan, Level) -> Vec<UsedText> + 'w;

/// What comes out at one level.
struct Tried {
    level: Level,
    plan: Plan,
    used: Vec<UsedText>,
    units: Vec<Unit>,
    n_tokens: usize,
}

/// The units of a conversation at the first level with at most `max_tokens` tokens; at the last level when none has, then
/// truncated where that was asked for. `plan` was walked at `first`, which the filler uses, and becomes the plan of the level that
/// stands there then; `planned` is what the stages made. The last `window` messages stay until all else has given way.
pub(in crate::engine) fn meet_by_use(
    filler: &mut Filler<'_>,
    (plan, first): (&mut Plan, &mut Level),
    planned: &Plan,
    (max_tokens, window): (Option<usize>, usize),
    walk: &mut Walk<'_>,
) -> (Vec<Unit>, Option<BudgetOutcome>) {
    let n_messages = filler.view.len();
    let mut ladder = Ladder { filler, planned, window, walk, shorter: HashMap::default() };
    let mut tried = ladder.written(std::mem::take(plan), *first);
    if let Some(max_tokens) = max_tokens.filter(|&max_tokens| tried.n_tokens > max_tokens) {
        // The first level does not fit. Two budgets ask the same levels until the larger one fits where the smaller does
        // not, so that the larger never ends at a later one.
        let (mut low, mut high) = (0, first.count_behind(n_messages));
        let nth = |number: usize| first.nth_behind(number, n_messages);
        tried = ladder.at(nth(high));
        while tried.n_tokens <= max_tokens && high - low > 1 {
            let middle = low + (high - low) / 2;
            let next = ladder.at(nth(middle));
            if next.n_tokens <= max_tokens {
                (high, tried) = (middle, next);
            } else {
                low = middle;
            }
        }
    }
    let Tried { level, plan: its_plan, used, units, .. } = tried;
    (*plan, *first) = (its_plan, level);
    filler.used = used;
    let Some(max_tokens) = max_tokens else { return (units, None) };
    let options = filler.view.options;
    let is_kept = |index: &usize| !level.takes(Yield::Recent, *index);
    let n_recent = (n_messages.saturating_sub(window)..n_messages).filter(is_kept).count();
    let is_whole = units.iter().all(|unit| unit.filled().is_none());
    let recency_window = if is_whole { n_messages } else { n_recent.max(options.min_recency_window.min(n_messages)) };
    let depth = match options.compression_depth {
        _ if level.takes(Yield::Fillers, n_messages.saturating_sub(1)) => CompressionDepth::Aggressive,
        CompressionDepth::Auto => CompressionDepth::Moderate,
        asked => asked,
    };
    let mut attempt = Attempt { units, recency_window, depth, is_open: false };
    if attempt.n_tokens() > max_tokens && options.force_converge {
        converge::force(filler, plan, &mut attempt, max_tokens);
    }
    let token_count = attempt.n_tokens();
    let outcome = BudgetOutcome {
        fits: token_count <= max_tokens,
        token_count,
        recency_window,
        protected_tokens: protected_tokens(filler, plan, recency_window),
        depth,
    };
    (attempt.units, Some(outcome))
}

/// The levels of a conversation.
struct Ladder<'l, 'f, 'w> {
    filler: &'l mut Filler<'f>,
    planned: &'l Plan,
    window: usize,
    walk: &'l mut Walk<'w>,
    /// What stands for an answer or for words, by message; `None` where nothing shorter does.
    shorter: HashMap<usize, Option<Unit>, FixedState>,
}

impl Ladder<'_, '_, '_> {
    fn at(&mut self, level: Level) -> Tried {
        let mut plan = self.planned.clone();
        self.filler.used = (self.walk)(&mut plan, level);
        self.written(plan, level)
    }

    fn written(&mut self, mut plan: Plan, level: Level) -> Tried {
        // What saves little gives way first, and the level says how little.
        let min_saving = self.filler.view.options.min_saving;
        self.filler.min_saving = if level.is_first() { min_saving } else { min_saving.min(1) };
        let style = Style::new(self.filler.view.options.compression_depth);
        let mut units = self.filler.units(&mut plan, style);
        context::define(self.filler, &mut units);
        for unit in &mut units {
            if self.gives_way(&plan, unit, level)
                && let Some(shorter) = self.shorter(&plan, unit.first(), style)
                && shorter.n_tokens < unit.n_tokens
                && self.filler.chars_of(&shorter) < self.filler.chars_of(unit)
            {
                *unit = shorter;
            }
        }
        let n_tokens = units.iter().map(|unit| unit.n_tokens).sum();
        Tried { level, plan, used: std::mem::take(&mut self.filler.used), units, n_tokens }
    }

    /// True for a long answer and for long words that still stand, when the level takes them; the task is the last of the words.
    fn gives_way(&self, plan: &Plan, unit: &Unit, level: Level) -> bool {
        let view = &self.filler.view;
        let index = unit.first();
        let message = &view.conversation.messages[index];
        let is_task = self.filler.task == Some(index);
        let is_whole = matches!(unit.state, State::Kept(reason) if reason != Reason::AlreadyCompressed);
        let n_chars = view.chars(index);
        let takes = match message.role {
            Role::Assistant => {
                let may_take = view.options.assistant != AssistantText::Keep && n_chars > MIN_ANSWER;
                may_take && level.takes(Yield::Answers, index)
            }
            Role::User | Role::Missing => {
                let at = if is_task { view.len() - 1 } else { index };
                n_chars > MIN_WORDS && level.takes(Yield::Words, at) && (is_task || calls_tools(view.conversation))
            }
            _ => false,
        };
        takes && is_whole && !is_protected(view, plan, index, self.window)
    }

    /// What stands for message `index` as prose; nothing where it has a structure that prose does not keep.
    fn shorter(&mut self, plan: &Plan, index: usize, style: Style) -> Option<Unit> {
        if let Some(known) = self.shorter.get(&index) {
            return known.clone();
        }
        let group = prose_kind(&self.filler.view, index).map(|kind| Group { members: vec![index], kind });
        let filled = group.and_then(|group| self.filler.group(&group, plan, style).ok());
        let unit = filled.map(|mut filled| {
            filled.reason = Reason::BudgetTightened;
            self.filler.unit(vec![index], State::Replaced(filled))
        });
        self.shorter.insert(index, unit.clone());
        unit
    }
}
