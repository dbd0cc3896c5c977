//! Says which lines are log entries, statuses, frames of a traceback and results of a search. Knows levels, times and
//! places; refuses to know source code and prose.

use super::lexed::LineKind;
use super::lines::LineText;
use super::scan;
use super::words;

pub(super) fn by_level(line: &LineText<'_>, first: &[u8]) -> Option<LineKind> {
    // People say "OK, done." as well.
    if first.ends_with(b",") {
        return None;
    }
    let is_capital = first.iter().take(4).filter(|byte| byte.is_ascii_uppercase()).count() >= 2;
    let has_colon = first.ends_with(b":") || first.ends_with(b"]") || first.starts_with(b"error[");
    if !is_capital && !has_colon {
        let is_ok = first == b"ok" && line.pieces.get(1).is_some_and(|piece| piece.has(scan::DIGIT | scan::SLASH));
        return is_ok.then_some(LineKind::Status);
    }
    let (from, to) = scan::trim(first, 0, first.len());
    Some(match &first[from..to] {
        b"INFO" | b"DEBUG" | b"TRACE" | b"WARN" | b"NOTICE" | b"CRITICAL" | b"FATAL" | b"SEVERE" => LineKind::Log,
        b"Note" | b"Hint" | b"NOTE" | b"note" | b"hint" | b"Notice" | b"Success" | b"Critical" | b"Skip" | b"OK"
        | b"Trace"
            if line.pieces.len() > 6 || !is_capital =>
        {
            return None;
        }
        _ => LineKind::Status,
    })
}

pub(super) fn is_trace(line: &LineText<'_>, trimmed: &[u8], first: &[u8]) -> bool {
    match first {
        b"at" => {
            line.indent > 0 && line.mask & (scan::BRACKET | scan::COLON | scan::SLASH) != 0 && line.pieces.len() <= 8
        }
        b"File" => line.piece(1).starts_with(b"\"") && line.piece(2) == b"line",
        b"Traceback" => line.piece(1) == b"(most",
        b"Caused" => line.piece(1) == b"by:",
        b"Exception" => trimmed.starts_with(b"Exception in thread"),
        b"goroutine" => line.piece(1).first().is_some_and(u8::is_ascii_digit),
        b"thread" => memchr::memmem::find(trimmed, b"panicked at").is_some(),
        b"stack" => trimmed == b"stack backtrace:",
        _ => {
            let (from, to) = scan::trim(first, 0, first.len());
            let name = &first[from..to];
            line.indent == 0
                && first.ends_with(b":")
                && name.first().is_some_and(u8::is_ascii_alphabetic)
                && (name.ends_with(b"Error") || name.ends_with(b"Exception"))
                && name.len() > 9
        }
    }
}

/// `Mar  3 14:02:11 host program[12]:`
pub(super) fn is_syslog(line: &LineText<'_>) -> bool {
    line.flags(0) & words::MONTH != 0
        && line.piece(0).len() == 3
        && line.piece(1).len() <= 2
        && line.piece(2).len() == 8
        && has_clock(line.piece(2))
}

/// `hh:mm` somewhere in a short piece.
pub(super) fn has_clock(word: &[u8]) -> bool {
    word.len() <= 40
        && word.windows(5).any(|part| {
            matches!(part, [a, b, b':', c, d] if a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_digit() && d.is_ascii_digit())
        })
}

/// `yyyy-mm-dd` or `yyyy/mm/dd` at the start.
pub(super) fn has_date(word: &[u8]) -> bool {
    word.get(..10).is_some_and(|date| {
        date.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => matches!(byte, b'-' | b'/'),
            _ => byte.is_ascii_digit(),
        })
    })
}

/// `path:line:` at the start.
pub(super) fn is_grep(trimmed: &[u8]) -> bool {
    let head = trimmed.get(..200.min(trimmed.len())).unwrap_or_default();
    let Some(colon) = head.iter().position(|&byte| byte == b':' || byte.is_ascii_whitespace()) else { return false };
    if head[colon] != b':' || !head[..colon].iter().any(|&byte| byte == b'.' || byte == b'/') {
        return false;
    }
    let rest = &head[colon + 1..];
    let n_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    n_digits > 0 && rest.get(n_digits) == Some(&b':')
}
