//! Code split: every fenced block stays byte for byte where it is, the prose before, between and after is
//! summarised in its own place.

use super::draft::{Draft, Wrap};
use super::prose::summarize;
use crate::model::marker;
use crate::text::{Span, TextView};

/// Shorter passages of prose stay as they are: a summary of them would be no shorter.
const MIN_PROSE_CHARS: usize = 80;

/// The text with its prose summarised; `None` when nothing would change. `is_protected` tells which passages of
/// prose must stay (secrets, SQL, …).
#[must_use]
pub fn split_code(view: &TextView<'_>, wrap: &Wrap, is_protected: &dyn Fn(&TextView<'_>) -> bool) -> Option<Draft> {
    let mut out = Draft::default();
    let mut changed = false;
    let mut start = 0;
    let ends = view.fences.iter().map(|fence| (fence.span.start, fence.span.end));
    let last = view.text.len() as u32;
    for (end, next) in ends.chain([(last, last)]) {
        let passage = trimmed(view.text, Span { start, end });
        let summary = shorter(&view.passage(passage), wrap, is_protected);
        match summary {
            Some(draft) => {
                out.say(Span { start, end: passage.start }.of(view.text));
                out.append(&draft);
                out.say(Span { start: passage.end, end }.of(view.text));
                changed = true;
            }
            None => out.quote_exact(Span { start, end }.of(view.text)),
        }
        out.quote_exact(Span { start: end, end: next }.of(view.text));
        start = next;
    }
    changed.then_some(out)
}

fn shorter(passage: &TextView<'_>, wrap: &Wrap, is_protected: &dyn Fn(&TextView<'_>) -> bool) -> Option<Draft> {
    let n_chars = passage.counts.chars as usize;
    if n_chars < MIN_PROSE_CHARS || marker::stands_for_others(passage.covered()) || is_protected(passage) {
        return None;
    }
    summarize(&[*passage], wrap, None).accept(|length| length < n_chars)
}

/// `span` without white space at its ends.
fn trimmed(text: &str, span: Span) -> Span {
    let inner = span.of(text);
    let start = span.start + (inner.len() - inner.trim_start().len()) as u32;
    Span { start, end: start + inner.trim().len() as u32 }
}
