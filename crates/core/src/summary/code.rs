//! Code split: every fenced block stays byte for byte where it is, the prose before, between and after is
//! summarised in its own place.

use super::budget::{Style, budget_of};
use super::draft::{Draft, Wrap};
use super::prose::summarize;
use super::spoken::Spoken;
use crate::model::{CompressionDepth, marker};
use crate::text::{Span, TextView};

/// Shorter passages of prose stay as they are: a summary of them would be no shorter.
const MIN_PROSE_CHARS: usize = 80;

/// The text with its prose summarised; `None` when nothing would change. `is_protected` tells which passages of
/// prose must stay (secrets, SQL, …).
#[must_use]
pub fn split_code(
    spoken: &Spoken<'_>,
    wrap: &Wrap,
    style: Style,
    is_protected: &dyn Fn(&TextView<'_>) -> bool,
) -> Option<Draft> {
    let view = &spoken.view;
    let mut out = Draft::default();
    let mut changed = false;
    let fences = view.fences.iter().map(|fence| Some(fence.span)).chain([None]);
    for ((stretch, prose), fence) in view.between_fences().zip(fences) {
        match shorter(Spoken { view: view.passage(prose), ..*spoken }, wrap, style, is_protected) {
            Some(draft) => {
                out.say(Span { start: stretch.start, end: prose.start }.of(view.text));
                out.append_passage(&draft, prose);
                out.say(Span { start: prose.end, end: stretch.end }.of(view.text));
                changed = true;
            }
            None => out.quote_exact(stretch.of(view.text)),
        }
        if let Some(fence) = fence {
            out.quote_exact(fence.of(view.text));
        }
    }
    changed.then_some(out)
}

fn shorter(
    spoken: Spoken<'_>,
    wrap: &Wrap,
    style: Style,
    is_protected: &dyn Fn(&TextView<'_>) -> bool,
) -> Option<Draft> {
    let passage = &spoken.view;
    let n_chars = passage.counts.chars as usize;
    if n_chars < MIN_PROSE_CHARS || marker::stands_for_others(passage.covered()) || is_protected(passage) {
        return None;
    }
    // Between code even the shortest summary is made of sentences.
    let max_chars = (style.depth == CompressionDepth::Aggressive).then(|| budget_of(&spoken, style));
    let style = if max_chars.is_some() { Style { depth: CompressionDepth::Moderate, ..style } } else { style };
    summarize(&[spoken], wrap, style, max_chars).accept(|length| length < n_chars)
}
