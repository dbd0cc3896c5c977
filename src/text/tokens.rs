//! Token estimates.

/// `ceil(chars / 3.5)`: the usual estimate for English text when no tokenizer is configured.
#[must_use]
pub fn estimate(n_chars: usize) -> usize {
    (n_chars * 2).div_ceil(7)
}
