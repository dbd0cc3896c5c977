//! What the lexer found in the texts of a conversation: of all of them, or of those that somebody reads. Knows texts and how
//! many characters they have; refuses to know what becomes of a message.

use std::cell::{OnceCell, RefCell};
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

/// Texts with what was found in them.
#[derive(Debug, Default)]
struct Texts {
    lexer: Lexer,
    lexed: Vec<Lexed>,
}

impl Texts {
    fn clear(&mut self) {
        self.lexer.clear();
        self.lexed.clear();
    }
}

/// The lexed texts of a conversation.
#[derive(Debug, Default)]
pub struct Profiles {
    lexed: Lexing,
    texts: Texts,
    /// Of each message whether somebody reads it.
    is_read: Vec<bool>,
    /// Of the others the facts, which nobody needs where nothing is replaced; found the first time that somebody asks.
    kept: OnceCell<Texts>,
    /// Their memory while they are not there.
    spare: RefCell<Texts>,
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
        let Texts { lexer, lexed } = &mut self.texts;
        for (index, message) in conversation.messages.iter().enumerate() {
            let is_read = reads(index);
            lexed.extend(message.texts().map(|text| if is_read { lexer.lex(text) } else { Lexed::default() }));
            self.is_read.push(is_read);
            self.bounds.push(lexed.len());
        }
        self.decided.resize_with(lexed.len(), OnceCell::new);
    }

    fn lex_kept(&self, conversation: &Conversation<'_>) -> Texts {
        let mut texts = self.spare.take();
        for (message, &is_read) in conversation.messages.iter().zip(&self.is_read) {
            let lexer = &mut texts.lexer;
            let lexed = message.texts().map(|text| if is_read { Lexed::default() } else { lexer.lex_kept(text) });
            texts.lexed.extend(lexed);
        }
        texts
    }

    fn forget_texts(&mut self) {
        self.lexed = Lexing::Nothing;
        self.texts.clear();
        self.is_read.clear();
        if let Some(mut kept) = self.kept.take() {
            kept.clear();
            self.spare.replace(kept);
        }
        self.decided.clear();
        self.bounds.clear();
    }

    /// The texts of message `index`, and the lexer that knows them.
    pub(super) fn of(&self, conversation: &Conversation<'_>, index: usize) -> (&Lexer, &[Lexed]) {
        let is_kept = self.is_read.get(index) == Some(&false);
        let texts = if is_kept { self.kept.get_or_init(|| self.lex_kept(conversation)) } else { &self.texts };
        (&texts.lexer, texts.lexed.get(self.range(index)).unwrap_or_default())
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
