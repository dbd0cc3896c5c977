//! What the lexer found in the texts of a conversation: of all of them, or of those that somebody reads. Knows texts and how
//! many characters they have; refuses to know what becomes of a message.

use std::cell::OnceCell;
use std::ops::Range;

use super::who::has_tools;
use crate::model::Conversation;
use crate::text::{Lexed, Lexer, n_chars};

/// What of a verdict is known before its reasons are.
#[derive(Debug, Clone, Copy)]
pub struct Decided {
    /// Something in the text must stay as it is.
    pub is_hard: bool,
    /// A program put it out.
    pub is_output: bool,
}

/// How much of a conversation was lexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Lexing {
    #[default]
    Nothing,
    Some,
    All,
}

/// The lexed texts of a conversation.
#[derive(Debug, Default)]
pub struct Profiles {
    pub(super) lexer: Lexer,
    lexed: Lexing,
    texts: Vec<Lexed>,
    /// Of each text.
    decided: Vec<OnceCell<Decided>>,
    /// `bounds[i]..bounds[i + 1]` are the texts of message `i`; empty before `lex`.
    bounds: Vec<usize>,
    /// Found out the first time that somebody asks.
    has_tools: OnceCell<bool>,
    /// Of the texts of each message.
    pub(super) chars: Vec<usize>,
    /// Of the arguments of its calls.
    pub(super) argument_chars: Vec<usize>,
}

impl Profiles {
    /// Counts the characters of a new conversation, reusing the memory of the last one.
    pub fn measure(&mut self, conversation: &Conversation<'_>) {
        self.forget_texts();
        self.has_tools.take();
        self.chars.clear();
        self.argument_chars.clear();
        for message in &conversation.messages {
            self.chars.push(message.texts().map(n_chars).sum());
            self.argument_chars.push(message.tool_calls.iter().map(|call| n_chars(&call.arguments)).sum());
        }
    }

    /// [`has_tools`] of the conversation that was measured last.
    pub fn has_tools(&self, conversation: &Conversation<'_>) -> bool {
        *self.has_tools.get_or_init(|| has_tools(conversation))
    }

    /// True when texts of the conversation that was measured last are lexed.
    #[must_use]
    pub fn is_lexed(&self) -> bool {
        self.lexed != Lexing::Nothing
    }

    /// Lexes every text of the conversation that was measured last, once.
    pub fn lex(&mut self, conversation: &Conversation<'_>) {
        if self.lexed != Lexing::All {
            self.lex_by(conversation, |_| true);
            self.lexed = Lexing::All;
        }
    }

    /// The same for the messages that somebody `reads`; of the others the facts alone are found, unless all was lexed before.
    pub fn lex_some(&mut self, conversation: &Conversation<'_>, reads: impl Fn(usize) -> bool) {
        if self.lexed == Lexing::Nothing {
            self.lex_by(conversation, reads);
            self.lexed = Lexing::Some;
        }
    }

    fn lex_by(&mut self, conversation: &Conversation<'_>, reads: impl Fn(usize) -> bool) {
        self.forget_texts();
        self.bounds.push(0);
        for (index, message) in conversation.messages.iter().enumerate() {
            let is_read = reads(index);
            for text in message.texts() {
                let lexed = if is_read { self.lexer.lex(text) } else { self.lexer.lex_kept(text) };
                self.texts.push(lexed);
            }
            self.bounds.push(self.texts.len());
        }
        self.decided.resize_with(self.texts.len(), OnceCell::new);
    }

    fn forget_texts(&mut self) {
        self.lexed = Lexing::Nothing;
        self.lexer.clear();
        self.texts.clear();
        self.decided.clear();
        self.bounds.clear();
    }

    pub(super) fn of(&self, index: usize) -> &[Lexed] {
        self.texts.get(self.range(index)).unwrap_or_default()
    }

    pub(super) fn decided_of(&self, index: usize) -> &[OnceCell<Decided>] {
        self.decided.get(self.range(index)).unwrap_or_default()
    }

    fn range(&self, index: usize) -> Range<usize> {
        match (self.bounds.get(index), self.bounds.get(index + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }
}
