//! Adapters: what becomes of a text that has a format of its own. The structure and what a later reader may look up
//! stay; the prose or the repetition inside is compressed in its place. Knows formats; does not know which messages
//! are compressed, nor whether the result is short enough.

mod adapter;
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

use std::sync::Arc;

use super::budget::Style;
use super::draft::Wrap;
use super::spoken::{Hints, Spoken, Voice};
use crate::model::{AdapterName, CompressionDepth};
use crate::text::TextView;

pub use adapter::{Adapter, Wanted};
pub use csv::Csv;
pub use diff::Diff;
pub use json_lines::JsonLines;
pub use log::Log;
pub use markdown::Markdown;
pub use xml::Xml;
pub use yaml::Yaml;

/// A text that saves less stays as it is: other rules would lose the structure that it was recognised by.
const MIN_SAVING: f64 = 0.20;

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
