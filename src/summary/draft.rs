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

    /// Characters of the whole text.
    #[must_use]
    pub fn n_chars(&self) -> usize {
        self.text.chars().count()
    }
}

/// A text that may replace another, before it is known how long it may be.
#[derive(Debug, Clone)]
pub struct Proposal {
    body: Draft,
    entities: Vec<String>,
    /// `None` for a body that stands by itself.
    wrap: Option<Wrap>,
}

impl Proposal {
    /// A summary: `[summary: <body><merge><entities>]`, without its entities where that is too long.
    #[must_use]
    pub fn summary(body: Draft, wrap: &Wrap, entities: Vec<String>) -> Self {
        Self { body, entities, wrap: Some(wrap.clone()) }
    }

    /// A text that is complete.
    #[must_use]
    pub fn complete(body: Draft) -> Self {
        Self { body, entities: Vec::new(), wrap: None }
    }

    /// The fullest form whose number of characters `fits`.
    pub fn accept(self, fits: impl Fn(usize) -> bool) -> Option<Draft> {
        let n_chars = self.body.n_chars();
        let Some(wrap) = &self.wrap else { return fits(n_chars).then_some(self.body) };
        let start = marker::summary_start(wrap.embedded_id.as_deref());
        let merge = marker::merge_suffix(wrap.n_messages);
        let entities = self.entities.join(", ");
        let plain = start.len() + n_chars + merge.len() + 1;
        let full = plain + if entities.is_empty() { 0 } else { marker::ENTITIES.len() + entities.chars().count() };
        let with_entities = full > plain && fits(full);
        if !with_entities && !fits(plain) {
            return None;
        }
        let mut out = Draft { text: start, ..Draft::default() };
        out.append(&self.body);
        out.say(&merge);
        if with_entities {
            out.say(marker::ENTITIES);
            let start = out.text.len();
            out.say(&entities);
            out.entities.push(start..out.text.len());
        }
        out.say("]");
        Some(out)
    }
}
