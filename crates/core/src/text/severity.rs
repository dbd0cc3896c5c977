//! Says what a line reports: a failure, totals, a success, a warning. Knows the words and marks of test, build and
//! shell output; refuses to know the kind of the message.

use super::lexed::{LineKind, Severity};
use super::line::{self, LineText};
use super::outcome::{self, OutcomeKind};
use super::scan::{self, Piece};
use super::words;

/// A verdict and an assignment have no more pieces.
const MAX_VERDICT: usize = 6;

/// What the line reports. `kind` is what it looks like by itself.
pub(super) fn severity(line: &LineText<'_>, kind: LineKind) -> Severity {
    let may_be_class = line.mask & scan::UPPER != 0 && line.mask & scan::COLON != 0;
    // `exit=1`, `exit_code: 1`, `<returncode>1</returncode>` are no words.
    let may_assign = line.mask & (scan::SIGN | scan::UNDER | scan::ANGLE) != 0
        && line.mask & scan::DIGIT != 0
        && line.pieces.len() <= MAX_VERDICT
        && names_exit(line.trimmed());
    if line.words & words::REPORT == 0
        && line.mask & scan::OTHER == 0
        && !may_be_class
        && !may_assign
        && line.mask & scan::BRACKET == 0
    {
        return Severity::None;
    }
    if let Some(stated) = stated(line, kind, may_assign) {
        return stated;
    }
    let may_be_word = line.words & words::REPORT != 0 || may_be_class;
    let mut found = mark(line);
    if line.mask & scan::BRACKET != 0 && line.trimmed().starts_with(b"error[")
        || line.words & words::REPORT != 0 && line.trimmed().starts_with(b"not ok ")
    {
        found = Severity::Failure;
    }
    // A match of a search quotes a line of another file: it reports only what a compiler says first, or a log in capitals.
    let reports = |index: usize, piece: &Piece| kind != LineKind::Grep || index == 1 || !piece.has(scan::LOWER);
    for (index, piece) in line.pieces.iter().enumerate().filter(|&(at, piece)| may_be_word && reports(at, piece)) {
        if found == Severity::Failure {
            break;
        }
        if piece.word & words::REPORT != 0 {
            found = found.max(word(line, kind, index, *piece));
        } else if piece.has(scan::UPPER)
            && piece.has(scan::COLON | scan::DOT | scan::BRACKET)
            && line.is_exception(index)
        {
            found = Severity::Failure;
        }
    }
    found
}

/// What a line that states how something ended says; a bad exit status and a verdict are failures.
fn stated(line: &LineText<'_>, kind: LineKind, may_assign: bool) -> Option<Severity> {
    let is_report = line.words & words::REPORT != 0;
    if is_report && is_duration(line) {
        return Some(Severity::Totals);
    }
    let has_number = line.mask & scan::DIGIT != 0;
    let may_be = is_report && (has_number || line.pieces.len() <= MAX_VERDICT) || may_assign;
    if !may_be || !outcome::may_state(kind, may_assign && line.indent == 0) {
        return None;
    }
    let stated = outcome::outcome(std::str::from_utf8(line.trimmed()).ok()?)?;
    let is_failure = stated.is_bad && matches!(stated.kind, OutcomeKind::Exit | OutcomeKind::Verdict)
        || mark(line) == Severity::Failure;
    Some(if is_failure { Severity::Failure } else { Severity::Totals })
}

fn names_exit(line: &[u8]) -> bool {
    const NAMES: [&[u8]; 3] = [b"xit", b"XIT", b"returncode"];
    NAMES.iter().any(|name| memchr::memmem::find(line, name).is_some())
}

/// What a check mark or cross among the first pieces says.
fn mark(line: &LineText<'_>) -> Severity {
    if line.mask & scan::OTHER == 0 {
        return Severity::None;
    }
    let mut marks = line.pieces.iter().take(3).filter(|piece| piece.has(scan::OTHER));
    marks.find_map(|piece| line::mark(piece.of(line.bytes))).unwrap_or_default()
}

fn core<'a>(line: &LineText<'a>, index: usize) -> &'a [u8] {
    line.pieces.get(index).map_or(&[], |piece| piece.word(line.bytes))
}

fn is(word: &[u8], other: &str) -> bool {
    word.eq_ignore_ascii_case(other.as_bytes())
}

/// What one word of reports says in its line.
fn word(line: &LineText<'_>, kind: LineKind, index: usize, piece: Piece) -> Severity {
    let text = core(line, index);
    let before = index.checked_sub(1).map_or(&b""[..], |index| core(line, index));
    let is_denied =
        is(before, "no") || before == b"0" || is(before, "not") || is(before, "without") || is(before, "any");
    let is_capital = text.len() >= 2 && text.iter().all(u8::is_ascii_uppercase);
    let has_colon = piece.of(line.bytes).ends_with(b":");
    let is_first = index == 0;
    // Nor is "OK, done." a success that a program reports.
    let is_said = piece.of(line.bytes).ends_with(b",");
    if is_capital && !is_denied {
        match text {
            b"FAIL" | b"FAILED" | b"FAILURE" | b"FAILURES" | b"ERROR" | b"ERRORS" | b"FATAL" | b"PANIC"
            | b"CRITICAL" | b"ABORTED" | b"ERR" => return Severity::Failure,
            b"WARN" | b"WARNING" | b"WARNINGS" => return Severity::Warning,
            b"PASS" | b"PASSED" | b"OK" | b"SUCCESS" | b"SUCCESSFUL" if !is_said => {
                return Severity::Success;
            }
            _ => {}
        }
    }
    let is_prose = kind == LineKind::Prose && line.pieces.len() > 3;
    let mut lower = [0; 16];
    let Some(lower) = lower.get_mut(..text.len()) else { return Severity::None };
    lower.copy_from_slice(text);
    lower.make_ascii_lowercase();
    let next = core(line, index + 1);
    let after = core(line, index + 2);
    match &*lower {
        b"error" | b"fatal" if has_colon && !is_denied && index <= 3 => Severity::Failure,
        b"error" | b"fatal" | b"failed" | b"failure" | b"exception" | b"panic" | b"errors"
            if is_first && !is_denied =>
        {
            if matches!(&*lower, b"errors" | b"exception") && is_prose && !has_colon {
                Severity::None
            } else {
                Severity::Failure
            }
        }
        b"failed" | b"fail" | b"failure" | b"error"
            if !is_prose && kind != LineKind::ListItem && !is_denied && is_last(line, index) =>
        {
            Severity::Failure
        }
        b"error" if next.last().is_some_and(u8::is_ascii_digit) && !is_denied && names_code(line, index + 1) => {
            Severity::Failure
        }
        b"traceback" if is(next, "most") => Severity::Failure,
        b"exception" if is(next, "in") && is(after, "thread") => Severity::Failure,
        b"panicked" if is(next, "at") => Severity::Failure,
        b"denied" if is(before, "permission") || is(before, "access") => Severity::Failure,
        b"refused" if is(before, "connection") => Severity::Failure,
        b"timed" if is(next, "out") && index <= 3 => Severity::Failure,
        b"npm" if is_first && matches!(next, b"error" | b"ERR") => Severity::Failure,
        b"segmentation" if is(next, "fault") => Severity::Failure,
        b"directory"
            if is(before, "or")
                && index >= 4
                && is(core(line, index - 2), "file")
                && is(core(line, index - 3), "such") =>
        {
            Severity::Failure
        }
        b"command" if is(next, "not") && is(after, "found") => Severity::Failure,
        b"exit" | b"exited" => exit_status(line, index),
        b"warning" | b"warn" if has_colon || is_first && !is_prose => Severity::Warning,
        b"ok" | b"passed" | b"pass" | b"success" | b"succeeded" | b"successful"
            if !is_said && !is_prose && (is_first || is_last(line, index)) && kind == LineKind::Status
                || kind == LineKind::Prose
                    && line.pieces.len() <= 8
                    && is_last(line, index)
                    && has_dots_before(line, index) =>
        {
            Severity::Success
        }
        _ => Severity::None,
    }
}

/// `error TS2304: …` of a compiler, `*** [all] Error 2` of make.
fn names_code(line: &LineText<'_>, index: usize) -> bool {
    line.pieces.get(index).is_some_and(|piece| piece.of(line.bytes).ends_with(b":"))
        || core(line, 1).is_empty() && is_last(line, index)
}

fn is_last(line: &LineText<'_>, index: usize) -> bool {
    index + 1 == line.pieces.len()
}

/// `test foo ... ok`
fn has_dots_before(line: &LineText<'_>, index: usize) -> bool {
    index
        .checked_sub(1)
        .and_then(|index| line.pieces.get(index))
        .is_some_and(|piece| piece.of(line.bytes).ends_with(b"..."))
}

/// `exit code 1`, `exit status: 2`, `exited with code 137` in the words of a report.
fn exit_status(line: &LineText<'_>, index: usize) -> Severity {
    let mut behind = line.pieces.iter().skip(index + 1).take(5).map(|piece| piece.word(line.bytes));
    let is_exit = behind.clone().take(3).any(|word| matches!(word, b"code" | b"status"));
    let number = behind.find(|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit));
    if is_exit && number.is_some_and(|number| number != b"0") { Severity::Failure } else { Severity::None }
}

/// A duration as shells and test runners print it.
fn is_duration(line: &LineText<'_>) -> bool {
    let first = core(line, 0);
    let has_colon = line.pieces.first().is_some_and(|piece| piece.of(line.bytes).ends_with(b":"));
    match first {
        b"real" | b"user" | b"sys" => {
            line.pieces.len() == 2 && line.pieces[1].of(line.bytes).ends_with(b"s") && line.pieces[1].has(scan::DIGIT)
        }
        b"Duration" | b"Time" => has_colon && line.mask & scan::DIGIT != 0 && line.pieces.len() <= 6,
        _ => false,
    }
}
