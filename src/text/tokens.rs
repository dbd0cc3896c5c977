//! Token counts.

/// Counts the tokens of texts.
pub trait TokenCounter: Send + Sync + std::fmt::Debug {
    /// Tokens of `text`; what looks like a special token is ordinary text.
    fn count(&self, text: &str) -> usize;
}

/// `ceil(chars / 3.5)`: the usual estimate for English text when no tokenizer is configured.
#[must_use]
pub fn estimate(n_chars: usize) -> usize {
    (n_chars * 2).div_ceil(7)
}
