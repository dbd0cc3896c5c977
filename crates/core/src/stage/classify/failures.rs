//! Reports of failures: tracebacks, HTTP errors, messages of tools. They are guardrails: only a message that is
//! such a report counts, a sentence that mentions a failure does not. Knows nothing else.

use super::survey::Survey;
use crate::text::bytes::{after_one_of, from, lines, run, skip_blanks};
use crate::text::line::signs::Signs;
use crate::text::words::word_list;

/// A longer message is no mere failure report.
const MAX_REPORT: usize = 1_200;
/// Lines of such a report at most.
const MAX_LINES: usize = 11;

/// True for a head with frames, or for several frames.
pub(super) fn is_traceback(survey: &Survey) -> bool {
    let frames = survey.frames;
    let enough = (survey.trace_heads > 0 && frames >= 1) || frames >= 2;
    // In a long run of tests a traceback is one of many things.
    enough && (survey.all.lines < 40 || (frames + survey.trace_heads) * 10 >= survey.all.lines)
}

/// True for an answer with a status of 400 to 599 that is the message or its line.
pub(super) fn is_http_error(text: &[u8], survey: &Survey) -> bool {
    if survey.all.lines > MAX_LINES || text.len() > MAX_REPORT || !survey.signs.any(Signs::DIGIT) {
        return false;
    }
    lines(text).any(|line| is_http_error_line(skip_blanks(line)))
}

/// True for an answer with such a status in one line without indentation.
pub(super) fn is_http_error_line(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"< ").unwrap_or(line);
    if let Some(rest) = line.strip_prefix(b"HTTP/") {
        let rest = from(rest, run(rest, |byte| byte.is_ascii_digit() || byte == b'.'));
        return is_error_code(skip_blanks(rest));
    }
    if is_error_code(line) && is_reason(from(line, 3)) {
        return true;
    }
    if !memchr::memchr2_iter(b'4', b'5', line).any(|at| is_error_code(from(line, at))) {
        return false;
    }
    // Tools say so at the end of their own message, after its colon.
    let lower = line.get(..line.len().min(300)).unwrap_or_default().to_ascii_lowercase();
    let tool_like = begins_with_error(line) || memchr::memchr(b':', line).is_some_and(|at| at < 60);
    word_list!("failures", HTTP).iter().enumerate().any(|(index, phrase)| {
        memchr::memmem::find(&lower, phrase.as_bytes()).is_some_and(|at| {
            let rest = skip_blanks(from(&lower, at + phrase.len()));
            let rest = skip_blanks(rest.strip_prefix(b":").unwrap_or(rest));
            is_error_code(rest) && (index == 0 || tool_like)
        })
    })
}

/// Three digits from 400 to 599 that end there.
fn is_error_code(text: &[u8]) -> bool {
    run(text, |byte| byte.is_ascii_digit()) == 3 && matches!(text.first(), Some(b'4' | b'5'))
}

/// The standard phrase behind a code.
fn is_reason(text: &[u8]) -> bool {
    let text = text.strip_prefix(b":").unwrap_or(text);
    after_one_of(skip_blanks(text), word_list!("failures", REASONS))
        .is_some_and(|rest| matches!(rest.first(), None | Some(b'\r' | b':' | b'.')))
}

/// True for a short message of a tool one of whose lines is a failure.
pub(super) fn is_failure(text: &[u8], survey: &Survey) -> bool {
    if survey.all.lines > MAX_LINES || text.len() > MAX_REPORT {
        return false;
    }
    let mut failed = 0;
    for line in lines(text) {
        if is_failure_line(skip_blanks(line).trim_ascii_end()) {
            failed += line.len().max(1);
        }
    }
    // Most of the message: what a person asks about an error is prose.
    failed * 4 >= text.len() && failed > 0
}

/// True for such a line, without white space around it.
pub(super) fn is_failure_line(line: &[u8]) -> bool {
    let last = line.last().map(u8::to_ascii_lowercase);
    let ends_with = |end: &&str| {
        last.as_ref() == end.as_bytes().last()
            && line.len() >= end.len()
            && from(line, line.len() - end.len()).eq_ignore_ascii_case(end.as_bytes())
    };
    // The name of a tool or a file comes first, without a blank.
    let tool = memchr::memchr2(b':', b' ', line).is_some_and(|at| line.get(at) == Some(&b':'));
    (tool && word_list!("failures", ENDS).iter().any(ends_with)) || begins_with_error(line)
}

/// `SomeError: …`, `error: …`, `fatal: …`, `Segmentation fault`.
fn begins_with_error(line: &[u8]) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'[' | b']');
    let has_head = memchr::memchr2(b':', b' ', line).is_some_and(|at| line.get(at) == Some(&b':'));
    let head = line.get(..if has_head { run(line, is_name) } else { 0 }).unwrap_or_default();
    let is_class = |word: &[u8]| word.ends_with(b"Error") || word.ends_with(b"Exception") || word.ends_with(b"ERROR");
    if let Some(word) = head.strip_suffix(b":") {
        return (is_class(word) && word.len() >= 5)
            || [&b"error"[..], b"fatal", b"FATAL", b"panic", b"ERR"].contains(&word)
            || (word.starts_with(b"error[") && word.ends_with(b"]"));
    }
    after_one_of(line, word_list!("failures", HEADS)).is_some_and(|rest| {
        rest.is_empty()
            || matches!(rest.first(), Some(b':' | b'.' | b'(')) && rest.len() < 160
            || names_other_side(rest)
    })
}

/// ` to HOST:PORT`, ` for user 'root'@'db'`: who did not answer, in a few words of which the last is no word of prose.
fn names_other_side(rest: &[u8]) -> bool {
    const MAX_WORDS: usize = 3;
    let mut words = rest.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_joined = matches!(words.next(), Some(b"to" | b"for" | b"by" | b"on" | b"at" | b"from"));
    let last = words.clone().next_back().map(|word| word.strip_suffix(b".").unwrap_or(word)).unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_digit() || b".:/@'\"_-".contains(byte);
    is_joined && words.count() <= MAX_WORDS && last.iter().any(is_name)
}
