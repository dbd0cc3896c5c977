//! Rules 9 and 10: messages with fenced code.

use super::{GroupKind, Plan, Stage, View};
use crate::model::Reason;
use crate::text::TextView;

/// With less prose than this around the code the whole message stays.
const MIN_PROSE_CHARS: usize = 80;

/// Claims messages with fences: for a code split when there is enough prose, else to be kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct SplitCode;

impl Stage for SplitCode {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        for index in plan.free().collect::<Vec<_>>() {
            let Some(text) = view.text(index).filter(|text| !text.fences.is_empty()) else { continue };
            if prose_chars(&text) >= MIN_PROSE_CHARS {
                plan.group(vec![index], GroupKind::CodeSplit);
            } else {
                plan.keep(index, Reason::CodeFenceNoProse);
            }
        }
    }
}

/// Characters outside fences, each piece between them trimmed.
fn prose_chars(text: &TextView<'_>) -> usize {
    text.between_fences().map(|(_, prose)| prose.of(text.text).chars().count()).sum()
}
