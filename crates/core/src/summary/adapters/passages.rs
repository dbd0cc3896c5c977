//! Shortens passages of prose that stand inside a structure, each in its own place. Knows prose and when a passage
//! must stay; refuses to know the structure around it.

use super::adapter::{Wanted, count};
use crate::model::marker;
use crate::summary::draft::Draft;
use crate::summary::prose::{is_uncut, summarize};
use crate::summary::spoken::{Hints, Spoken};
use crate::text::{Lexer, LineKind, Span, TextView};

/// Shorter passages stay.
pub(super) const MIN_PASSAGE_CHARS: usize = 100;
/// A passage with fewer words is a name, a path or a list of values.
const MIN_WORDS: usize = 12;
/// A summary that saves less hides more than it brings.
const MIN_SAVING: f64 = 0.15;
/// Data without a blank that is longer is shown by its start only.
const MAX_BLOB: usize = 400;
const BLOB_HEAD: usize = 40;

/// Shortens the passages of one text.
pub(super) struct Passages<'w> {
    wanted: &'w Wanted<'w>,
    spoken: Spoken<'w>,
    lexer: Lexer,
}

impl<'w> Passages<'w> {
    /// For the passages of `spoken`.
    pub(super) fn of(spoken: &Spoken<'w>, wanted: &'w Wanted<'w>) -> Self {
        Self { wanted, spoken: *spoken, lexer: Lexer::default() }
    }

    /// `[summary: …]` for a passage of the text itself, when it may be shortened and is shorter then.
    pub(super) fn shorten(&self, view: &TextView<'_>, scope: Span) -> Option<Draft> {
        self.shorten_view(Spoken { view: view.passage(scope), ..self.spoken })
    }

    /// The same for a text that does not stand in the source as it is: indented, commented, escaped.
    pub(super) fn shorten_text(&mut self, text: &str) -> Option<Draft> {
        if let Some(blob) = shorten_blob(text) {
            return Some(blob);
        }
        if !is_prose(text) {
            return None;
        }
        self.lexer.clear();
        let lexed = self.lexer.lex(text);
        let view = self.lexer.view(text, &lexed);
        let hints = Hints::default();
        if is_printed(&view) { None } else { self.shorten_view(Spoken { view, voice: self.spoken.voice, hints }) }
    }

    fn shorten_view(&self, spoken: Spoken<'_>) -> Option<Draft> {
        let view = &spoken.view;
        let n_chars = view.counts.chars as usize;
        let is_fixed = || marker::stands_for_others(view.covered()) || (self.wanted.is_protected)(view);
        if n_chars < MIN_PASSAGE_CHARS || !is_prose(view.covered()) || is_fixed() {
            return None;
        }
        if is_uncut(&spoken, self.wanted.style) {
            return None;
        }
        let proposal = summarize(&[spoken], self.wanted.wrap, self.wanted.style, None);
        proposal.accept(|length| length as f64 <= n_chars as f64 * (1.0 - MIN_SAVING))
    }
}

/// Long enough, and words.
pub(super) fn is_prose(text: &str) -> bool {
    text.chars().nth(MIN_PASSAGE_CHARS - 1).is_some()
        && (text.split_whitespace().nth(MIN_WORDS - 1).is_some() || text.contains(['。', '、', '，']))
}

/// More than a third of the lines are what programs print or read.
fn is_printed(view: &TextView<'_>) -> bool {
    let lines = view.lines.iter().filter(|line| line.kind != LineKind::Blank);
    let (words, others): (Vec<LineKind>, Vec<LineKind>) = lines.map(|line| line.kind).partition(|kind| kind.is_words());
    others.len() * 2 > words.len()
}

/// Encoded data by its start: `iVBORw0KGgo… [… 5,120 characters]`.
fn shorten_blob(text: &str) -> Option<Draft> {
    let text = text.trim();
    let is_blob = text.len() > MAX_BLOB && text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_whitespace());
    let head = text.get(..BLOB_HEAD).filter(|_| is_blob)?;
    let mut out = Draft::default();
    out.quote_exact(head);
    out.say(&format!("[… {} characters]", count(text.len() - BLOB_HEAD)));
    Some(out)
}
