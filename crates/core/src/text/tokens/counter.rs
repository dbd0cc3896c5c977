//! What a counter of tokens is, and the one that only estimates. Knows no tokenizer.

use crate::text::n_chars;

/// Counts the tokens of texts. Counting cannot fail and takes time in proportion to the text, whatever stands in it.
pub trait TokenCounter: Send + Sync + std::fmt::Debug {
    /// Tokens of `text`; what looks like a special token is ordinary text.
    fn count(&self, text: &str) -> usize;

    /// Tokens of what a chat template wrote: a special token in it is one.
    fn count_rendered(&self, text: &str) -> usize {
        self.count(text)
    }
}

/// `ceil(chars / 3.5)`: the usual estimate for English text when no tokenizer is configured.
#[must_use]
pub fn estimate(n_chars: usize) -> usize {
    (n_chars * 2).div_ceil(7)
}

/// The estimate as a counter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chars;

impl TokenCounter for Chars {
    fn count(&self, text: &str) -> usize {
        estimate(n_chars(text))
    }
}
