//! The output of a tool without its noise: what was cut is counted in its place, all else stays as it is. Knows cuts,
//! not how they were found.

use super::draft::Draft;
use super::edits::Edits;
use crate::text::{Cut, TextView};

/// The text without `cuts`, which are in order and apart; `None` when nothing is cut.
#[must_use]
pub fn prepass(view: &TextView<'_>, cuts: &[Cut]) -> Option<Draft> {
    let mut edits = Edits::of(view);
    for cut in cuts {
        edits.cut(cut.span, &cut.marker());
    }
    edits.finish()
}
