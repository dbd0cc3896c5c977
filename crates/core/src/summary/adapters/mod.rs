//! Adapters: what becomes of a text that has a format of its own. The structure and what a later reader may look up
//! stay; the prose or the repetition inside is compressed in its place. Knows formats; does not know which messages
//! are compressed, nor whether the result is short enough.

mod adapter;
mod columns;
mod passages;
mod rows;

use std::sync::Arc;

use super::budget::Style;
use super::draft::{Draft, Wrap};
use super::edits::Edits;
use super::spoken::{Hints, Spoken, Voice};
use crate::model::{AdapterName, CompressionDepth, Reason, formats};
use crate::text::TextView;

pub use adapter::{Adapter, Wanted};

/// A text that saves less stays as it is: other rules would lose the structure that it was recognised by.
const MIN_SAVING: f64 = 0.20;

/// The adapters of these names, in their order: the first that detects its format has it.
#[must_use]
pub fn adapters(names: &[AdapterName]) -> Vec<Arc<dyn Adapter>> {
    names.iter().map(|&name| Arc::new(name) as Arc<dyn Adapter>).collect()
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

impl Adapter for AdapterName {
    fn name(&self) -> &str {
        self.as_str()
    }

    fn reason(&self) -> Reason {
        let is_own = |reason: &Reason| reason.as_str().strip_prefix("adapter:") == Some(self.as_str());
        Reason::ALL.into_iter().find(is_own).unwrap_or(Reason::Adapter)
    }

    fn detect(&self, text: &TextView<'_>) -> bool {
        format(*self).0(text)
    }

    fn compress(&self, spoken: &Spoken<'_>, wanted: &Wanted<'_>) -> Option<Draft> {
        let mut edits = Edits::of(&spoken.view);
        format(*self).1(spoken, wanted, &mut edits);
        edits.finish()
    }
}

type Detect = fn(&TextView<'_>) -> bool;
type Edit = fn(&Spoken<'_>, &Wanted<'_>, &mut Edits<'_>);

/// How each format is told, and how a text that has it becomes shorter: its module says.
macro_rules! modules {
    ($($name:ident $module:ident),*) => {
        $(mod $module;)*

        fn format(name: AdapterName) -> (Detect, Edit) {
            match name { $(AdapterName::$name => ($module::detect, $module::edit),)* }
        }
    };
}

formats!(modules);
