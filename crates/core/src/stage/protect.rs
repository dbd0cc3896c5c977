//! Rules 1 to 6: what is never looked at further, because of who says it, when, or how little.

use super::group::has_like_neighbour;
use super::who::{has_own_user, is_agreed_to, is_own_words, may_be_own_words, task_of};
use super::{Plan, Stage, View};
use crate::model::{AssistantText, Content, Reason, Role, marker};

/// Shorter messages are kept: a summary with its brackets would not be shorter.
const MIN_CHARS: usize = 120;
/// An answer of an assistant up to here is no burden.
const MAX_SHORT_ANSWER: usize = 800;

/// Keeps preserved roles, the recency window, tool calls, short messages, earlier summaries, and the words of the user.
#[derive(Debug, Clone, Copy, Default)]
pub struct Protect;

impl Stage for Protect {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        // What comes later tells nothing then, not even whether somebody answers.
        let is_strict = view.options.decides_once();
        let keeps_words = view.options.keep_first_user && (is_strict || has_own_user(view.conversation));
        let task = if keeps_words { task_of(view.conversation) } else { None };
        for index in 0..view.len() {
            let words = || {
                let (messages, n_chars) = (&view.conversation.messages, view.chars(index));
                let is_said =
                    is_own_words(&messages[index], n_chars) || is_agreed_to(messages, index, n_chars, is_strict);
                (keeps_words && is_said).then_some(Reason::UserWords)
            };
            let first = (task == Some(index)).then_some(Reason::FirstUser);
            if let Some(reason) = rule(view, index).or(first).or_else(words) {
                plan.keep(index, reason);
            }
        }
    }
}

/// Keeps what the user of an assistant typed, which takes a look at whether a program wrote it.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeepWords;

impl Stage for KeepWords {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        if !has_own_user(view.conversation) {
            return;
        }
        for index in plan.free().collect::<Vec<_>>() {
            let is_typed = || view.decided(index).all(|text| !text.is_output);
            if may_be_own_words(&view.conversation.messages[index], view.chars(index)) && is_typed() {
                plan.keep(index, Reason::UserWords);
            }
        }
    }
}

/// Keeps what an assistant says: all of it where tools do the talking, short answers elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeepAnswers;

impl Stage for KeepAnswers {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let messages = &view.conversation.messages;
        let keeps_all = match view.options.assistant {
            AssistantText::Keep => true,
            AssistantText::Auto => view.options.decides_once() || view.profiles.has_tools(view.conversation),
            AssistantText::Old => false,
        };
        for index in plan.free().collect::<Vec<_>>() {
            let is_answer = messages[index].role == Role::Assistant && messages[index].name.is_none();
            if is_answer && (keeps_all || view.chars(index) <= MAX_SHORT_ANSWER) {
                plan.keep(index, Reason::Answer);
            }
        }
    }
}

fn rule(view: &View<'_>, index: usize) -> Option<Reason> {
    let message = &view.conversation.messages[index];
    let large = view.is_large(index);
    if view.options.preserve.iter().any(|role| role == message.role.as_str()) {
        Some(Reason::PreservedRole)
    } else if !large && index >= view.recency_start {
        Some(Reason::RecencyWindow)
    } else if !message.tool_calls.is_empty() {
        Some(Reason::ToolCalls)
    } else if message.texts().next().is_none() {
        Some(if message.content == Content::Absent { Reason::ShortContent } else { Reason::NoText })
    } else if !large && view.chars(index) < MIN_CHARS {
        Some(Reason::ShortContent)
    } else if message.provenance.is_some() || message.texts().all(marker::stands_for_others) {
        Some(Reason::AlreadyCompressed)
    } else if !large && cannot_pay(view, index) {
        Some(Reason::ShortContent)
    } else {
        None
    }
}

/// True for a message that saves too little whatever stands in its place, unless it is told together with others, for which
/// short ones may be asked.
fn cannot_pay(view: &View<'_>, index: usize) -> bool {
    let options = view.options;
    let is_less_enough = options.token_budget.is_some() || options.guesses() || options.contradiction_detection;
    view.chars(index) + view.chars_beside(index) < options.min_saving
        && !is_less_enough
        && !has_like_neighbour(view, index)
}
