//! Adapters: what becomes of a text that has a format of its own. The structure and what a later reader may look up
//! stay; the prose or the repetition inside is compressed in its place. Knows formats; does not know which messages
//! are compressed, nor whether the result is short enough.

mod columns;
mod csv;
mod diff;
mod json_lines;
mod log;
mod markdown;
mod passages;
mod rows;
mod xml;
mod yaml;
mod yaml_lines;
mod yaml_lists;

use std::fmt;
use std::sync::Arc;

use super::budget::Style;
use super::draft::{Draft, Wrap};
use super::hints::Hints;
use super::score::{Spoken, Voice};
use crate::model::{AdapterName, CompressionDepth, Reason};
use crate::text::{Span, TextView};

pub use csv::Csv;
pub use diff::Diff;
pub use json_lines::JsonLines;
pub use log::Log;
pub use markdown::Markdown;
pub use xml::Xml;
pub use yaml::Yaml;

/// A text that saves less stays as it is: other rules would lose the structure that it was recognised by.
const MIN_SAVING: f64 = 0.20;
/// Shorter texts are not worth the loss of their form.
const MIN_CHARS: u32 = 200;

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
    fn is_tight(&self) -> bool {
        matches!(self.style.depth, CompressionDepth::Moderate | CompressionDepth::Aggressive) || self.style.share < 1.0
    }
}

/// The adapters of these names, in their order: the first that detects its format has it.
#[must_use]
pub fn adapters(names: &[AdapterName]) -> Vec<Arc<dyn Adapter>> {
    names.iter().map(|&name| adapter(name)).collect()
}

/// Whether the text becomes at least a fifth shorter in the format of `adapter`; `None` for a text of another format.
/// `is_protected` as in [`Wanted`].
#[must_use]
pub fn pays(adapter: &dyn Adapter, text: &TextView<'_>, is_protected: &dyn Fn(&TextView<'_>) -> bool) -> Option<bool> {
    let wrap = Wrap { embedded_id: None, n_messages: 1 };
    let wanted = Wanted { wrap: &wrap, style: Style::new(CompressionDepth::Gentle), is_protected };
    let spoken = Spoken { view: *text, voice: Voice::Other, hints: Hints::default() };
    let shorter = || adapter.compress(&spoken, &wanted).map(|draft| draft.n_chars());
    let max_chars = f64::from(text.counts.chars) * (1.0 - MIN_SAVING);
    adapter.detect(text).then(|| shorter().is_some_and(|n_chars| n_chars as f64 <= max_chars))
}

fn adapter(name: AdapterName) -> Arc<dyn Adapter> {
    match name {
        AdapterName::Xml => Arc::new(Xml),
        AdapterName::Yaml => Arc::new(Yaml),
        AdapterName::Markdown => Arc::new(Markdown),
        AdapterName::Csv => Arc::new(Csv),
        AdapterName::JsonLines => Arc::new(JsonLines),
        AdapterName::Diff => Arc::new(Diff),
        AdapterName::Log => Arc::new(Log),
    }
}

/// Long enough, and without fenced blocks: those are split from the prose around them.
fn is_candidate(text: &TextView<'_>) -> bool {
    text.counts.chars >= MIN_CHARS && text.fences.is_empty()
}

/// `1,234`
fn count(n: usize) -> String {
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
fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// A line without the number that a viewer of files put before it (`12→`, `12⇥`), and without white space at its end.
fn line_body(text: &str, line: Span) -> Span {
    let whole = line.of(text);
    let trimmed = whole.trim_start_matches([' ', '\t']);
    let behind = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = (1..=6).contains(&(trimmed.len() - behind.len()));
    let body = behind.strip_prefix(['→', '\t']).filter(|_| is_number).unwrap_or(whole);
    let start = line.end - body.len() as u32;
    Span { start, end: start + body.trim_end().len() as u32 }
}

#[cfg(test)]
mod tests {
    use super::{count, line_body};
    use crate::text::Span;

    #[test]
    fn numbers_of_viewers_are_no_part_of_a_line() {
        let body = |text: &str| line_body(text, Span { start: 0, end: text.len() as u32 }).of(text).to_owned();
        assert_eq!(body("   12→  key: value "), "  key: value");
        assert_eq!(body("12\tkey"), "key");
        assert_eq!(body("  12 apples"), "  12 apples");
        assert_eq!(body(""), "");
    }

    #[test]
    fn counts_are_easy_to_read() {
        assert_eq!([count(7), count(999), count(1_000), count(1_234_567)], ["7", "999", "1,000", "1,234,567"]);
    }
}
