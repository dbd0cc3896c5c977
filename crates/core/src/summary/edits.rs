//! Writes a text again with some of its passages replaced, or without what was cut: everything else is quoted as it is.
//! Knows spans, not why something is replaced.

use super::draft::Draft;
use crate::text::{Cut, Span, TextView};

/// The text without `cuts`, which are in order and apart, each counted in its place; `None` when nothing is cut.
#[must_use]
pub fn prepass(view: &TextView<'_>, cuts: &[Cut]) -> Option<Draft> {
    let mut edits = Edits::of(view);
    for cut in cuts {
        edits.cut(cut.span, &cut.marker());
    }
    edits.finish()
}

/// A text of which passages are replaced from its start to its end.
#[derive(Debug)]
pub(super) struct Edits<'a> {
    text: &'a str,
    out: Draft,
    /// Up to here the text is written.
    at: u32,
    end: u32,
    is_changed: bool,
}

impl<'a> Edits<'a> {
    /// Nothing is replaced yet.
    pub(super) fn of(view: &TextView<'a>) -> Self {
        let covered = view.covered();
        let start = (covered.as_ptr() as usize).saturating_sub(view.text.as_ptr() as usize) as u32;
        Self { text: view.text, out: Draft::default(), at: start, end: start + covered.len() as u32, is_changed: false }
    }

    /// Writes `draft` in place of `span`. Ignored when the text is written beyond its start already.
    pub(super) fn replace(&mut self, span: Span, draft: &Draft) {
        if span.start < self.at || span.end > self.end || span.end < span.start {
            return;
        }
        self.keep_to(span.start);
        self.out.append(draft);
        self.at = span.end;
        self.is_changed = true;
    }

    /// Writes words of our own in place of `span`.
    pub(super) fn cut(&mut self, span: Span, words: &str) {
        self.replace(span, &Draft { text: words.to_owned(), ..Draft::default() });
    }

    /// Up to here the text is written or replaced.
    pub(super) fn at(&self) -> u32 {
        self.at
    }

    /// The text; `None` when nothing was replaced.
    pub(super) fn finish(mut self) -> Option<Draft> {
        self.keep_to(self.end);
        self.is_changed.then_some(self.out)
    }

    fn keep_to(&mut self, end: u32) {
        if end > self.at {
            self.out.quote_exact(Span { start: self.at, end }.of(self.text));
            self.at = end;
        }
    }
}
