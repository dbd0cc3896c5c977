//! Tokens of messages before and after: texts, arguments of calls, and what the chat format adds. Knows how to add,
//! not how a tokenizer works.

use std::sync::Arc;

use super::unit::Filled;
use crate::model::{EngineOptions, NewBody};
use crate::stage::View;
use crate::text::tokens::{self, TokenCounter};

/// Counts for one engine.
#[derive(Debug, Clone)]
pub(super) struct Count {
    /// `None` for the estimate by characters, which needs no texts.
    counter: Option<Arc<dyn TokenCounter>>,
    overhead: usize,
}

impl Count {
    pub(super) fn new(options: &EngineOptions, counter: Option<Arc<dyn TokenCounter>>) -> Self {
        Self { counter, overhead: options.message_overhead }
    }

    /// True when a text with fewer characters cannot have more tokens.
    pub(super) fn is_by_chars(&self) -> bool {
        self.counter.is_none()
    }

    /// Tokens of every message as it stands.
    pub(super) fn messages(&self, view: &View<'_>) -> Vec<usize> {
        (0..view.len()).map(|index| self.message(view, index)).collect()
    }

    /// What the chat format adds to a message.
    pub(super) fn overhead(&self) -> usize {
        self.overhead
    }

    fn message(&self, view: &View<'_>, index: usize) -> usize {
        let message = &view.conversation.messages[index];
        self.overhead
            + match &self.counter {
                None => tokens::estimate(view.chars(index) + view.chars_beside(index)),
                Some(counter) => {
                    let calls = message.tool_calls.iter().map(|call| call.arguments.as_ref());
                    let thoughts = view.thoughts(index).map(|thought| thought.text.as_ref());
                    message.texts().chain(thoughts).chain(calls).map(|text| counter.count(text)).sum()
                }
            }
    }

    /// Tokens of the message that stands with `filled` in the place of message `first`.
    pub(super) fn filled(&self, view: &View<'_>, first: usize, filled: &Filled) -> usize {
        let Some(counter) = &self.counter else {
            return self.overhead + tokens::estimate(filled.chars_out + filled.chars_beside(view, first));
        };
        let metadata = filled.metadata.as_deref().map_or(0, |json| counter.count(json));
        let texts: usize = match &filled.body {
            NewBody::Text(text) => counter.count(text),
            NewBody::Parts(replaced) => view.conversation.messages[first]
                .text_parts()
                .map(|(part, text)| {
                    let new = replaced.iter().find(|(at, _)| *at == part).map(|(_, text)| text.as_str());
                    counter.count(new.unwrap_or(text))
                })
                .sum(),
        };
        let beside: usize = filled.beside(view, first).map(|text| counter.count(text)).sum();
        self.overhead + metadata + texts + beside
    }
}
