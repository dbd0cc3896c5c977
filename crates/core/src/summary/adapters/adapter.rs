//! What an adapter is, what the engine wants of one, and what all of ours ask of a text. Knows no format.

use std::fmt;

use crate::model::{CompressionDepth, Reason};
use crate::summary::budget::Style;
use crate::summary::draft::{Draft, Wrap};
use crate::summary::spoken::Spoken;
use crate::text::{Span, TextView, cut};

/// Shorter texts are not worth the loss of their form.
pub(super) const MIN_CHARS: u32 = 200;
/// A longer line is cut.
const MAX_LINE_CHARS: usize = 600;

/// A format. Detection and compression must take time linear in the text.
pub trait Adapter: fmt::Debug + Send + Sync {
    /// A name for traces, as in `adapter:<name>`.
    fn name(&self) -> &str;

    /// What the decision says; an adapter of the caller's own is [`Reason::Adapter`].
    fn reason(&self) -> Reason {
        Reason::Adapter
    }

    /// True when the text as a whole has this format, and there is something in it to compress. A text that is claimed
    /// and does not become shorter stays as it is.
    fn detect(&self, text: &TextView<'_>) -> bool;

    /// The shorter text, complete, with what it quotes from the source marked; `None` when nothing is left out.
    fn compress(&self, spoken: &Spoken<'_>, wanted: &Wanted<'_>) -> Option<Draft>;
}

/// What the engine wants of an adapter.
pub struct Wanted<'a> {
    /// How summaries inside the text are wrapped.
    pub wrap: &'a Wrap,
    /// How short summaries are. No structure is given up for it.
    pub style: Style,
    /// Tells which passages of prose must stay (secrets, SQL, code, …).
    pub is_protected: &'a dyn Fn(&TextView<'_>) -> bool,
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wanted").field("wrap", self.wrap).field("style", &self.style).finish_non_exhaustive()
    }
}

impl Wanted<'_> {
    /// True when only little is to be shown.
    pub(super) fn is_tight(&self) -> bool {
        matches!(self.style.depth, CompressionDepth::Moderate | CompressionDepth::Aggressive) || self.style.share < 1.0
    }
}

/// Long enough, and without fenced blocks: those are split from the prose around them.
pub(super) fn is_candidate(text: &TextView<'_>) -> bool {
    text.counts.chars >= MIN_CHARS && text.fences.is_empty()
}

/// `1,234`
pub(super) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `s` for any number but one.
pub(super) fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// What of a very long line is left out, and what stands for it.
pub(super) fn overlong(text: &str, line: Span) -> Option<(Span, String)> {
    let head = cut::prefix(line.of(text), MAX_LINE_CHARS);
    let n_left = line.of(text).get(head.len()..)?.chars().count();
    let words = || format!("[… {} characters]", count(n_left));
    (n_left > MAX_LINE_CHARS / 4).then(|| (Span { start: line.start + head.len() as u32, end: line.end }, words()))
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_are_easy_to_read() {
        assert_eq!([count(7), count(999), count(1_000), count(1_234_567)], ["7", "999", "1,000", "1,234,567"]);
    }
}
