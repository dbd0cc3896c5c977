//! Files that a tool showed and that a later call wrote, or that a later message shows again. Knows when the content of
//! a file has expired; a mention of its name is not enough.

use super::calls::Calls;
use crate::model::Reason;
use crate::stage::{Claim, Plan, View};
use crate::text::{Cut, CutKind, OutcomeKind, Span, TextView, outcome_of};

/// Shorter files stay.
const MIN_CHARS: usize = 2_000;

/// A shell tool says how a command ended in one of so many lines before its output.
const MAX_HEADER: usize = 8;

/// Calls that change a part of a file show as much of it as they have text: a file has expired when they have this
/// share of it. A few changed lines leave the rest of what was read as true as before, and nowhere else to be seen.
const EDIT_SHARE: f64 = 1.0;

/// A message that has expired.
pub(super) struct Expired {
    pub(super) cut: Cut,
    /// The message that shows the file now, which must stay.
    pub(super) pin: Option<usize>,
}

/// What becomes of message `index` when it shows a file that is written or shown again later.
pub(super) fn expired(view: &View<'_>, plan: &Plan, calls: &Calls, index: usize) -> Option<Expired> {
    let n = view.chars(index);
    let text = view.text(index).filter(|_| n >= MIN_CHARS)?;
    let span = content(&text);
    let n_cut = if span.len() == text.text.trim_end().len() { n } else { span.of(text.text).chars().count() };
    let cut = |kind| Cut { span, kind, n: n_cut };
    if calls.later_write(index).is_some() || calls.later_edits(index) as f64 >= EDIT_SHARE * n as f64 {
        return Some(Expired { cut: cut(CutKind::SupersededByWrite), pin: None });
    }
    let later = calls.later_read(index)?;
    let stays = match plan.claim_of(later) {
        None => true,
        Some(Claim::Keep(reason)) => *reason != Reason::AlreadyCompressed,
        Some(_) => false,
    };
    let is_whole = view.text(later).is_some() && view.chars(later) * 2 >= n;
    (stays && is_whole).then(|| Expired { cut: cut(CutKind::SupersededByRead), pin: Some(later) })
}

/// The text but for the exit status that a shell tool says before or behind the content, and what else it says there.
fn content(text: &TextView<'_>) -> Span {
    let whole = Span { start: 0, end: text.text.trim_end().len() as u32 };
    let mut states = text
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| outcome_of(text, line).is_some_and(|outcome| outcome.kind == OutcomeKind::Exit));
    match states.next() {
        Some((at, line)) if at < MAX_HEADER => Span { start: (line.span.end + 1).min(whole.end), ..whole },
        Some((_, line)) if line.span.end >= whole.end => Span { end: line.span.start, ..whole },
        _ => whole,
    }
}
