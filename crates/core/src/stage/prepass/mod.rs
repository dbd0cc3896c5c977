//! Takes noise out of the output of tools: passing tests, build steps, what the assistant just said, files that are
//! written or read again later. Knows which messages may be cut and whether it pays; writes no text.

mod calls;
mod echo;
mod expired;

use super::{GroupKind, Plan, Stage, View};
use crate::model::{Reason, Role};
use crate::text::{Cut, CutKind, TextView, is_diff, noise};

use calls::Calls;
use echo::Echoes;
use expired::{Expired, expired};

/// Shorter messages stay.
const MIN_CHARS: usize = 200;
/// Cuts that save less are not made.
const MIN_SAVING: f64 = 0.20;

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
