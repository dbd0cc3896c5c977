//! Takes noise out of the output of tools: passing tests, build steps, what the assistant just said, files that are
//! written or read again later. Knows which messages may be cut and whether it pays; writes no text.

mod calls;
mod echo;

use super::{Claim, GroupKind, Plan, Stage, View};
use crate::model::{Reason, Role};
use crate::text::{Cut, CutKind, OutcomeKind, Span, TextView, is_diff, noise, outcome_of};

use calls::Calls;
use echo::Echoes;

/// Shorter messages stay.
const MIN_CHARS: usize = 200;
/// Cuts that save less are not made.
const MIN_SAVING: f64 = 0.20;

/// Shorter files stay.
const MIN_FILE_CHARS: usize = 2_000;

/// A shell tool says how a command ended in one of so many lines before its output.
const MAX_HEADER: usize = 8;

/// Calls that change a part of a file show as much of it as they have text: a file has expired when they have this
/// share of it. A few changed lines leave the rest of what was read as true as before, and nowhere else to be seen.
const EDIT_SHARE: f64 = 1.0;

/// Claims the output of tools of which a part says nothing. Only messages of the roles `tool` and `function` with one
/// text; what other stages protect is claimed before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prepass;

impl Stage for Prepass {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let is_output = |&index: &usize| {
            matches!(view.conversation.messages[index].role, Role::Tool | Role::Function)
                && view.chars(index) >= MIN_CHARS
                && view.text(index).is_some()
        };
        let outputs: Vec<usize> = plan.free().filter(is_output).collect();
        if outputs.is_empty() {
            return;
        }
        let calls = Calls::of(view);
        let mut echoes = Echoes::new(view);
        for index in outputs {
            let Some(text) = view.text(index).filter(|_| plan.is_free(index)) else { continue };
            let cuts = match expired(view, plan, &calls, index) {
                Some(Expired { cut, pin }) => {
                    if let Some(target) = pin {
                        plan.keep(target, Reason::DuplicateTarget);
                    }
                    vec![cut]
                }
                None if is_diff(&text) => Vec::new(),
                None => {
                    let mut cuts = if calls.is_read(index) { Vec::new() } else { noise(&text) };
                    cuts.retain(|cut| cut.kind != CutKind::Entries || !calls.asks_for_noise(index));
                    cuts.extend(echoes.find(view, plan, index, &text));
                    apart(cuts)
                }
            };
            if saving(&text, &cuts) >= MIN_SAVING {
                for target in echoes.sources_of(&cuts) {
                    plan.keep(target, Reason::DuplicateTarget);
                }
                if plan.group(vec![index], GroupKind::ToolPrepass) {
                    plan.cuts.push((index, cuts));
                }
            }
        }
    }
}

/// In order; of two that overlap the first stays.
fn apart(mut cuts: Vec<Cut>) -> Vec<Cut> {
    cuts.sort_by_key(|cut| (cut.span.start, cut.span.end));
    let mut end = 0;
    cuts.retain(|cut| {
        let is_apart = cut.span.start >= end;
        end = if is_apart { cut.span.end } else { end };
        is_apart
    });
    cuts
}

/// Which share of the text the cuts save.
fn saving(text: &TextView<'_>, cuts: &[Cut]) -> f64 {
    let chars = |text: &str| text.chars().count() as f64;
    let saved: f64 = cuts.iter().map(|cut| chars(cut.span.of(text.text)) - chars(&cut.marker())).sum();
    saved / f64::from(text.counts.chars.max(1))
}

/// A message that has expired.
struct Expired {
    cut: Cut,
    /// The message that shows the file now, which must stay.
    pin: Option<usize>,
}

/// What becomes of message `index` when it shows a file that is written or shown again later.
fn expired(view: &View<'_>, plan: &Plan, calls: &Calls, index: usize) -> Option<Expired> {
    let n = view.chars(index);
    let text = view.text(index).filter(|_| n >= MIN_FILE_CHARS)?;
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
