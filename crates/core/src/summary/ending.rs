//! What every shorter form of a program's text says first: how it ended, and the first failure. Knows which lines that
//! are; refuses to know what else is shown.

use super::draft::{Draft, shorten};
use super::spoken::{Spoken, Voice};
use crate::text::{Line, LineKind, Severity, TextView, outcome_of, outcomes};

/// Between these lines, and behind them.
pub(super) const SEPARATOR: &str = " | ";
/// A line is shown up to this many characters.
const MAX_LINE_CHARS: usize = 160;

/// Lines that must be shown of what a program says, and of the output that a user pastes.
pub(super) fn ending<'a>(spoken: &Spoken<'a>) -> Vec<&'a str> {
    let view: TextView<'a> = spoken.view;
    let is_program = match spoken.voice {
        Voice::Program => true,
        Voice::Task | Voice::User => false,
        Voice::Assistant | Voice::Other => return Vec::new(),
    };
    let mut lines: Vec<&str> = outcomes(&view).iter().map(|(line, _)| line.span.of(view.text).trim()).collect();
    // Files that are read speak of errors without having any, and so do people.
    let may_fail = |kind| match kind {
        LineKind::Prose | LineKind::Pair | LineKind::Grep => is_program,
        LineKind::Status | LineKind::Log | LineKind::Trace | LineKind::TraceHead | LineKind::Output => true,
        _ => false,
    };
    let fails =
        |line: &&Line| line.severity == Severity::Failure && may_fail(line.kind) && outcome_of(&view, line).is_none();
    lines.extend(view.lines.iter().find(fails).map(|line| line.span.of(view.text).trim()));
    lines
}

/// Appends `lines`; returns the characters.
pub(super) fn say(lines: &[&str], out: &mut Draft) -> usize {
    let before = out.text.chars().count();
    for (at, line) in lines.iter().enumerate() {
        out.say(if at > 0 { SEPARATOR } else { "" });
        shorten(line, MAX_LINE_CHARS, out);
    }
    out.text.chars().count() - before
}
