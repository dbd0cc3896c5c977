//! Heads and frames of tracebacks, as some ten languages print them. Knows single lines only.

use super::bytes::{from, holds, run};
use super::line::{Bare, Look};
use super::signs::Signs;

/// Heads and frames of tracebacks.
pub(super) fn look(line: Bare<'_>) -> Option<Look> {
    const HEADS: [&[u8]; 14] = [
        b"Traceback (most recent call last)",
        b"Exception in thread",
        b"Unhandled exception",
        b"Caused by: ",
        b"panic: ",
        b"goroutine ",
        b"stack backtrace:",
        b"stack traceback:",
        b"Stack trace:",
        b"PHP Fatal error:",
        b"Uncaught ",
        b"CallStack (from HasCallStack)",
        b"Fatal error: ",
        b"** (",
    ];
    let text = line.text;
    if begins_with_one(text, &HEADS) || (text.starts_with(b"thread '") && holds(text, b"panicked at")) {
        return Some(Look::TraceHead);
    }
    let is_frame = match text.first()? {
        b'F' => text.starts_with(b"File \"") && holds(text, b", line "),
        b'a' => {
            (text.starts_with(b"at ") && line.indent > 0 && is_located(from(text, 3)))
                || (text.starts_with(b"async ") && line.indent > 0 && is_located(from(text, 6)))
        }
        b'f' => text.starts_with(b"from ") && line.indent > 0 && holds(text, b":in "),
        b'.' => text.starts_with(b"... ") && text.ends_with(b" more"),
        b'/' => line.indent > 0 && holds(text, b" +0x"),
        b'0'..=b'9' => {
            let digits = run(text, |byte| byte.is_ascii_digit());
            line.indent > 0
                && digits <= 3
                && from(text, digits).starts_with(b": ")
                && holds(text, b"::")
                && memchr::memchr(b' ', from(text, digits + 2)).is_none_or(|at| at >= 6)
        }
        _ => line.signs.any(Signs::BACKTICK) && holds_ruby_frame(text),
    };
    is_frame.then_some(Look::TraceFrame)
}

/// True when `text` begins with one of `heads`.
fn begins_with_one(text: &[u8], heads: &[&[u8]]) -> bool {
    heads.iter().any(|head| head.first() == text.first() && text.starts_with(head))
}

/// A dotted name with a bracket, or a file with its line.
fn is_located(rest: &[u8]) -> bool {
    memchr::memchr(b'(', rest).is_some_and(|at| memchr::memchr3(b'.', b':', b'/', rest).is_some() && at > 0)
        || rest
            .rsplit(|&byte| byte == b':')
            .next()
            .is_some_and(|tail| !tail.is_empty() && tail.iter().all(u8::is_ascii_digit))
}

/// `` app.rb:27:in `claim!' ``
fn holds_ruby_frame(text: &[u8]) -> bool {
    memchr::memmem::find(text.get(..text.len().min(160)).unwrap_or_default(), b":in `").is_some()
}

/// `#0  0x… in f () at x.c:1`, `#0 /path/file.php(12): f()`.
pub(super) fn is_numbered_frame(text: &[u8]) -> bool {
    let digits = run(from(text, 1), |byte| byte.is_ascii_digit());
    (1..=3).contains(&digits)
        && text.get(digits + 1) == Some(&b' ')
        && (holds(text, b" in ") || holds(text, b" at ") || holds(text, b".php(") || holds(text, b"{main}"))
        && memchr::memchr(b'(', text).is_some()
}
