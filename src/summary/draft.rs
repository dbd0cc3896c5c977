//! A text in the making that remembers which of its parts are quoted from the source, so that what is visible
//! can be measured without guessing.

use std::ops::Range;

use crate::model::marker;
use crate::text::cut;

/// The text that will stand in a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The whole text.
    pub text: String,
    /// Byte ranges of `text` that are quoted from the source.
    pub quotes: Vec<Range<usize>>,
    /// Byte ranges of `text` that list entities.
    pub entities: Vec<Range<usize>>,
}

/// How a summary is wrapped.
#[derive(Debug, Clone, Default)]
pub struct Wrap {
    /// The summary id to be shown, with `embed_summary_id`.
    pub embedded_id: Option<String>,
    /// Messages that the summary stands for.
    pub n_messages: usize,
    /// Whether to list entities that the summary does not show.
    pub entities: bool,
}

impl Draft {
    /// Appends words of our own.
    pub fn say(&mut self, words: &str) {
        self.text.push_str(words);
    }

    /// Appends words of the source with white space collapsed; returns the characters added.
    pub fn quote(&mut self, words: &str) -> usize {
        let start = self.text.len();
        let n_chars = cut::push_collapsed(&mut self.text, words);
        self.quotes.push(start..self.text.len());
        n_chars
    }

    /// Appends words of the source as they are.
    pub fn quote_exact(&mut self, words: &str) {
        let start = self.text.len();
        self.text.push_str(words);
        self.quotes.push(start..self.text.len());
    }

    /// Appends another draft.
    pub fn append(&mut self, other: &Self) {
        let offset = self.text.len();
        let shift = |range: &Range<usize>| range.start + offset..range.end + offset;
        self.text.push_str(&other.text);
        self.quotes.extend(other.quotes.iter().map(shift));
        self.entities.extend(other.entities.iter().map(shift));
    }

    /// `[summary: <this><merge><entities>]`.
    #[must_use]
    pub fn wrapped(&self, wrap: &Wrap, entities: &[String]) -> Self {
        let mut out = Self { text: marker::summary_start(wrap.embedded_id.as_deref()), ..Self::default() };
        out.append(self);
        out.say(&marker::merge_suffix(wrap.n_messages));
        if !entities.is_empty() {
            out.say(marker::ENTITIES);
            let start = out.text.len();
            out.say(&entities.join(", "));
            out.entities.push(start..out.text.len());
        }
        out.say("]");
        out
    }

    /// Characters of the whole text.
    #[must_use]
    pub fn n_chars(&self) -> usize {
        self.text.chars().count()
    }
}
