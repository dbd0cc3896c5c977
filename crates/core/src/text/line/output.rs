//! Lines that programs print: logs, states of tests and builds, matches of a search, files and commits, prompts, and heads
//! and frames of tracebacks, as some ten languages print them. Knows single lines only.

use super::signs::Signs;
use super::{Bare, LineText, mark};
use crate::text::bytes::{Heads, count, from, head_of, holds, is_word, run, skip_blanks};
use crate::text::lexed::LineKind;
use crate::text::words::word_list;
use crate::text::{scan, words};

/// What a program printed, if it did.
pub(super) fn kind(line: &LineText<'_>, bare: Bare<'_>) -> Option<LineKind> {
    let Bare { text, signs, .. } = bare;
    let &first = text.first()?;
    if let Some(kind) = by_first_byte(line, text, first).or_else(|| level(line)) {
        return Some(kind);
    }
    if first.is_ascii_uppercase() {
        if is_level(text) || is_klog(text) || is_syslog(text) {
            return Some(LineKind::Log);
        }
        if is_status(text) {
            return Some(LineKind::Status);
        }
        if is_http(text) {
            return Some(LineKind::Output);
        }
    }
    if let Some(kind) = trace(line, bare) {
        return Some(kind);
    }
    if matches!(first, b'd' | b'-' | b'l' | b'c') && is_mode(text) {
        return Some(LineKind::Listing);
    }
    if text.ends_with(b"%]") {
        return Some(LineKind::Status);
    }
    if signs.any(Signs::COLON | Signs::ROUND | Signs::SLASH) && is_grep(text) {
        return Some(LineKind::Grep);
    }
    if signs.any(Signs::SLASH) && is_context(text) {
        return Some(LineKind::Output);
    }
    if let Some(kind) = tool(text) {
        return Some(kind);
    }
    if signs.any(Signs::PIPE) && is_compose(text) {
        return Some(LineKind::Log);
    }
    if is_verdict(text) {
        return Some(LineKind::Status);
    }
    if text.len() < 240 && is_short_status(text) {
        return Some(LineKind::Listing);
    }
    if signs.any(Signs::AT | Signs::ANGLE) && is_prompt(text) {
        return Some(LineKind::Prompt);
    }
    if signs.any(Signs::PIPE | Signs::DIGIT) && (is_change_count(text) || is_commit(text)) {
        return Some(LineKind::Output);
    }
    is_path_only(text).then_some(LineKind::Listing)
}

fn by_first_byte(line: &LineText<'_>, text: &[u8], first: u8) -> Option<LineKind> {
    match first {
        b'0'..=b'9' if is_stamp(text) || is_dated(line) || is_access_log(text) => Some(LineKind::Log),
        b'0'..=b'9' => is_numbered_source(text).then_some(LineKind::Output),
        b'[' => is_bracketed(line, text).then_some(LineKind::Log),
        b'$' => text.starts_with(b"$ ").then_some(LineKind::Prompt),
        b'-' if text.starts_with(b"--- PASS") || text.starts_with(b"--- FAIL") => Some(LineKind::Status),
        b'-' => text.starts_with(b"--> ").then_some(LineKind::Output),
        b'=' if text.starts_with(b"=== ") || text.starts_with(b"=====") => {
            text.iter().any(|&byte| byte != b'=').then_some(LineKind::Output)
        }
        b'<' => (text.starts_with(b"< HTTP/") || text.starts_with(b"<--- ")).then_some(LineKind::Output),
        b'>' => is_request(text).then_some(LineKind::Output),
        b'#' => is_numbered_frame(text).then_some(LineKind::Trace),
        0xE2 => (mark(text).is_some() || text.starts_with("●".as_bytes())).then_some(LineKind::Status),
        b'(' => (text.len() < 24 && holds(text, b" row")).then_some(LineKind::Status),
        _ => None,
    }
}

/// `> GET /path`
pub(super) fn is_request(text: &[u8]) -> bool {
    text.starts_with(b"> GET ") || text.starts_with(b"> POST ")
}

/// A date and a level.
fn is_dated(line: &LineText<'_>) -> bool {
    let is_date = |at: usize, byte: &u8| if matches!(at, 4 | 7) { b"-/".contains(byte) } else { byte.is_ascii_digit() };
    line.flags(1) & words::LEVEL != 0
        && line.piece(0).get(..10).is_some_and(|date| date.iter().enumerate().all(|(at, byte)| is_date(at, byte)))
}

/// A level or a state as the first word.
fn level(line: &LineText<'_>) -> Option<LineKind> {
    let first = line.piece(0);
    if line.flags(0) & words::LEVEL == 0 && !first.starts_with(b"error[") {
        return None;
    }
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

/// Date with time, time of day with seconds, or an epoch in front of something.
fn is_stamp(text: &[u8]) -> bool {
    let shape = |pattern: &[u8]| {
        text.len() >= pattern.len()
            && pattern.iter().zip(text).all(|(&want, &have)| match want {
                b'9' => have.is_ascii_digit(),
                b'/' => matches!(have, b'-' | b'/' | b'.'),
                b'T' => matches!(have, b'T' | b' ' | b',' | b'_'),
                _ => want == have,
            })
    };
    let digits = run(text, |byte| byte.is_ascii_digit());
    shape(b"9999/99/99T99:99")
        || shape(b"99/99/9999T99:99")
        || shape(b"99/99T99:99:99")
        || shape(b"99:99:99")
        || (matches!(digits, 10 | 13) && text.get(digits) == Some(&b' '))
}

/// `10.0.0.3 - - [`
fn is_access_log(text: &[u8]) -> bool {
    let address = run(text, |byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':'));
    address >= 7 && from(text, address).starts_with(b" - ")
}

/// `48 |     let page = rows;` of a compiler message, `7d01fa2 Subject` of a short history.
fn is_numbered_source(text: &[u8]) -> bool {
    let digits = run(text, |byte| byte.is_ascii_digit());
    digits <= 5 && (from(text, digits).starts_with(b" | ") || text.get(digits..) == Some(b" |"))
}

/// `[INFO] …`, `[09:31:07] …`, `[    1.204417] …`, `[1/6] …`, `[Server thread/INFO]: …`, `[root@host ~]# …`, `[worker] …`.
fn is_bracketed(line: &LineText<'_>, text: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b']', text.get(..text.len().min(60)).unwrap_or_default()) else {
        return false;
    };
    let inside = text.get(1..end).unwrap_or_default().trim_ascii();
    let after = from(text, end + 1);
    if inside.is_empty() || after.is_empty() || after.first() == Some(&b'(') {
        return false;
    }
    let is_time = inside.first().is_some_and(u8::is_ascii_digit)
        && inside.iter().all(|byte| byte.is_ascii_digit() || b":.-/ TZ+,".contains(byte))
        && inside.len() >= 3
        && memchr::memchr3(b':', b'.', b'/', inside).is_some();
    let is_date = inside.len() >= 20 && count(inside, b':') >= 2;
    let tail = inside.rsplit(|byte| matches!(byte, b'/' | b' ' | b':')).next().unwrap_or_default();
    let is_prompt = memchr::memchr(b'@', inside).is_some() && (after.starts_with(b"# ") || after.starts_with(b"$ "));
    let is_component = after.starts_with(b" ")
        && line.pieces.len() >= 2
        && !inside.contains(&b' ')
        && inside.len() > 1
        && inside.iter().any(u8::is_ascii_lowercase);
    is_time || is_date || is_prompt || is_component || level_length(tail) == tail.len() && !tail.is_empty()
}

/// Length of the level in front, 0 without one.
fn level_length(text: &[u8]) -> usize {
    head_of(text, word_list!("output", LEVELS)).map_or(0, str::len)
}

/// A level in capitals with a colon, a bracket, two blanks or a name behind it.
fn is_level(text: &[u8]) -> bool {
    let length = level_length(text);
    length > 0 && matches!(text.get(length), Some(b':' | b']' | b' ' | b'\t' | b'[' | b'('))
}

/// `PASS …`, `FAILED path`, `Tests: …`.
fn is_status(text: &[u8]) -> bool {
    // People say OK as well.
    text == b"OK"
        || text.starts_with(b"OK (")
        || text.starts_with(b"OK: ")
        || word_list!("output", STATES).iter().any(|word| {
            text.starts_with(word.as_bytes()) && matches!(text.get(word.len()), None | Some(b' ' | b'\t' | b':'))
        })
}

/// `I0611 12:00:31.554021`
fn is_klog(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'I' | b'W' | b'E' | b'F'))
        && text
            .get(1..6)
            .is_some_and(|digits| digits.iter().take(4).all(u8::is_ascii_digit) && digits.last() == Some(&b' '))
}

/// `Mar  3 04:12:55 host`
fn is_syslog(text: &[u8]) -> bool {
    let rest = skip_blanks(from(text, 3));
    let rest = skip_blanks(from(rest, run(rest, |byte| byte.is_ascii_digit())));
    rest.get(2) == Some(&b':') && rest.get(5) == Some(&b':') && head_of(text, word_list!("output", MONTHS)).is_some()
}

/// A line of a request or an answer.
fn is_http(text: &[u8]) -> bool {
    if text.starts_with(b"HTTP/") {
        return text.get(5).is_some_and(u8::is_ascii_digit);
    }
    if !matches!(text.first(), Some(b'G' | b'P' | b'D' | b'O' | b'H')) {
        return false;
    }
    head_of(text, word_list!("output", VERBS)).is_some_and(|verb| {
        matches!(text.get(verb.len()), Some(b'/' | b'h')) && (holds(text, b" HTTP/") || holds(text, b"://"))
    })
}

/// `Username with a dot: PASS`, `Applying 0001_initial... OK`.
fn is_verdict(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'S' | b'L' | b'K' | b'D'))
        && text.len() < 160
        && word_list!("output", VERDICTS).iter().any(|verdict| text.ends_with(verdict.as_bytes()))
}

/// `path:12:` or `path(12,3):`; also the line alone, `12:text`, under a path.
fn is_grep(text: &[u8]) -> bool {
    let path = run(text, is_path_byte);
    let rest = from(text, path);
    let name = text.get(..path).unwrap_or_default();
    let opens = matches!(rest.first(), Some(b':' | b'('));
    if !opens || path == 0 {
        return false;
    }
    let number = run(from(rest, 1), |byte| byte.is_ascii_digit());
    let closes = matches!(rest.get(number + 1), Some(b':' | b',' | b')'));
    let is_line_only = name.iter().all(u8::is_ascii_digit);
    if is_line_only {
        return path <= 5
            && rest.first() == Some(&b':')
            && number == 0
            && rest.len() > 4
            && matches!(rest, [_, b' ' | b'\t', b' ', ..]);
    }
    let without_number = rest.first() == Some(&b':')
        && !rest.starts_with(b"://")
        && rest.len() > 1
        && memchr::memchr(b'/', name).is_some()
        && memchr::memrchr(b'.', name).is_some_and(|dot| (2..=5).contains(&(name.len() - dot)));
    without_number
        || number > 0
            && closes
            && memchr::memchr2(b'/', b'.', name).is_some()
            && !name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

fn is_path_byte(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'/' | b'.' | b'-' | b'\\' | b'@' | b'+')
}

/// `path/file.go-179-`: a line before or after a match.
fn is_context(text: &[u8]) -> bool {
    let name = text.get(..run(text, is_path_byte)).unwrap_or_default();
    let Some(slash) = memchr::memrchr(b'/', name) else {
        return false;
    };
    let file = from(name, slash);
    let Some(dot) = memchr::memchr(b'.', file) else {
        return false;
    };
    let ending = from(file, dot + 1);
    let letters = run(ending, |byte| byte.is_ascii_alphanumeric());
    let digits = run(from(ending, letters + 1), |byte| byte.is_ascii_digit());
    ending.get(letters) == Some(&b'-') && digits > 0 && ending.get(letters + 1 + digits) == Some(&b'-')
}

/// What begins with a word of a tool.
fn tool(text: &[u8]) -> Option<LineKind> {
    static HEADS: Heads = Heads::new(word_list!("output", HEADS));
    let Some(head) = HEADS.of(text) else {
        return is_hash_subject(text).then_some(LineKind::Output);
    };
    let (holds_it, kind) = match head.trim_end() {
        "test" => {
            let ends = [&b"ok"[..], b"FAILED", b"ignored"].iter().any(|end| text.ends_with(end));
            (ends && holds(text, b" ... "), LineKind::Status)
        }
        "running" | "collected" | "total" => {
            (from(text, head.len()).first().is_some_and(u8::is_ascii_digit), LineKind::Output)
        }
        "npm" => {
            let is_report = text.get(4).is_some_and(u8::is_ascii_uppercase) || text.get(4..8) == Some(b"warn");
            (is_report, LineKind::Status)
        }
        "Compiling" | "Finished" | "Running" | "Downloaded" => {
            let is_versioned = holds(text, b" v") && text.iter().any(u8::is_ascii_digit);
            (is_versioned || memchr::memchr2(b'`', b'[', text).is_some(), LineKind::Output)
        }
        "Traceback" => (false, LineKind::TraceHead),
        "ok" => {
            let rest = skip_blanks(from(text, 3));
            let name = rest.get(..run(rest, |byte| byte != b' ' && byte != b'\t')).unwrap_or_default();
            let is_named = memchr::memchr2(b'/', b'.', name).is_some();
            (is_named || rest.first().is_some_and(u8::is_ascii_digit), LineKind::Status)
        }
        "note:" | "hint:" | "error:" | "warning:" => {
            (!matches!(text.last(), Some(b'.' | b'!' | b'?')), LineKind::Status)
        }
        "level=" | "ts=" | "time=" => (true, LineKind::Log),
        "modified:" | "new file:" | "deleted:" | "renamed:" => (true, LineKind::Output),
        _ => (true, LineKind::Status),
    };
    holds_it.then_some(kind)
}

/// `user@host:~$ command`, `C:\dir>command`, `bash-$`, `PS C:\>`.
fn is_prompt(text: &[u8]) -> bool {
    let head = text.get(..text.len().min(60)).unwrap_or_default();
    if text.starts_with(b"PS ") || text.get(1..3) == Some(b":\\") {
        return memchr::memchr(b'>', head).is_some_and(|at| !head.get(..at).unwrap_or_default().contains(&b'.'));
    }
    let name = run(head, |byte| is_word(byte) || matches!(byte, b'-' | b'.'));
    name > 0
        && head.get(name) == Some(&b'@')
        && (holds(head, b"$ ")
            || holds(head, b"# ")
            || head.ends_with(b"$")
            || head.ends_with(b"#")
            || holds(head, b"% "))
}

/// `db_1      | LOG: …`
fn is_compose(text: &[u8]) -> bool {
    let name = run(text, |byte| is_word(byte) || byte == b'-');
    let after = from(text, name);
    let blanks = run(after, |byte| byte == b' ');
    name >= 3
        && (1..=24).contains(&blanks)
        && from(after, blanks).starts_with(b"| ")
        && text.iter().take(name).any(u8::is_ascii_digit)
        && memchr::memchr(b'|', from(after, blanks + 1)).is_none()
}

/// Heads and frames of tracebacks.
fn trace(line: &LineText<'_>, bare: Bare<'_>) -> Option<LineKind> {
    let Bare { text, indent, signs } = bare;
    if head_of(text, word_list!("output", TRACES)).is_some()
        || (text.starts_with(b"thread '") && holds(text, b"panicked at"))
        || indent == 0 && line.is_exception(0)
    {
        return Some(LineKind::TraceHead);
    }
    let is_frame = match text.first()? {
        b'F' => text.starts_with(b"File \"") && holds(text, b", line "),
        b'a' => {
            (text.starts_with(b"at ") && indent > 0 && is_located(from(text, 3)))
                || (text.starts_with(b"async ") && indent > 0 && is_located(from(text, 6)))
        }
        b'f' => text.starts_with(b"from ") && indent > 0 && holds(text, b":in "),
        b'.' => text.starts_with(b"... ") && text.ends_with(b" more"),
        b'/' => indent > 0 && holds(text, b" +0x"),
        b'0'..=b'9' => {
            let digits = run(text, |byte| byte.is_ascii_digit());
            indent > 0
                && digits <= 3
                && from(text, digits).starts_with(b": ")
                && holds(text, b"::")
                && memchr::memchr(b' ', from(text, digits + 2)).is_none_or(|at| at >= 6)
        }
        _ => signs.any(Signs::BACKTICK) && holds_ruby_frame(text),
    };
    is_frame.then_some(LineKind::Trace)
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
fn is_numbered_frame(text: &[u8]) -> bool {
    let digits = run(from(text, 1), |byte| byte.is_ascii_digit());
    (1..=3).contains(&digits)
        && text.get(digits + 1) == Some(&b' ')
        && (holds(text, b" in ") || holds(text, b" at ") || holds(text, b".php(") || holds(text, b"{main}"))
        && memchr::memchr(b'(', text).is_some()
}

/// `drwxr-xr-x`
fn is_mode(text: &[u8]) -> bool {
    text.get(1..10).is_some_and(|mode| mode.iter().all(|byte| b"rwxsStT-".contains(byte)) && mode.contains(&b'r'))
}

/// ` M path`, `?? path`, `A  path` as a short status prints them.
fn is_short_status(text: &[u8]) -> bool {
    let marks = run(text, |byte| matches!(byte, b'M' | b'A' | b'D' | b'R' | b'U' | b'?' | b'!'));
    let path = skip_blanks(from(text, marks));
    (1..=2).contains(&marks)
        && matches!(text.get(marks), Some(b' ' | b'\t'))
        && memchr::memchr2(b'/', b'.', path).is_some()
        && !path.contains(&b' ')
        && path.len() >= 3
}

/// `7d01fa2 Subject of a commit`
fn is_hash_subject(text: &[u8]) -> bool {
    let length = run(text, |byte| byte.is_ascii_hexdigit());
    (7..=40).contains(&length)
        && text.get(length) == Some(&b' ')
        && text.iter().take(length).any(u8::is_ascii_digit)
        && text.iter().take(length).any(u8::is_ascii_lowercase)
}

/// `src/a.rs | 12 ++--` and the sum below.
fn is_change_count(text: &[u8]) -> bool {
    let signs = text.iter().rev().take_while(|byte| matches!(byte, b'+' | b'-')).count();
    let before = text.get(..text.len() - signs).unwrap_or_default().trim_ascii_end();
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let before = before.get(..before.len() - digits).unwrap_or_default();
    (signs > 0 && digits > 0 && before.ends_with(b"| ")
        || before.ends_with(b" ") && before.trim_ascii_end().ends_with(b" |"))
        || (text.first().is_some_and(u8::is_ascii_digit)
            && (holds(text, b" files changed, ") || holds(text, b" file changed, ")))
}

/// `commit 7d01fa2…` in a history.
fn is_commit(text: &[u8]) -> bool {
    text.strip_prefix(b"commit ").is_some_and(|rest| {
        let digits = run(rest, |byte| byte.is_ascii_hexdigit());
        digits == 40 && matches!(rest.get(40), None | Some(b' '))
    })
}

/// Nothing but one path or file name.
fn is_path_only(text: &[u8]) -> bool {
    let is_path_byte = |byte: u8| {
        is_word(byte) || matches!(byte, b'/' | b'.' | b'-' | b'\\' | b'@' | b'+' | b'~' | b'[' | b']') || byte >= 0x80
    };
    if text.len() < 4 || text.len() > 200 || run(text, is_path_byte) < text.len() {
        return false;
    }
    let n_slashes = count(text, b'/');
    if n_slashes >= 2
        || (n_slashes == 1 && matches!(text.first(), Some(b'.' | b'/' | b'~')))
        || (n_slashes == 1 && text.ends_with(b"/"))
    {
        return true;
    }
    // `name.ext`: a short ending of letters.
    let Some(dot) = memchr::memrchr(b'.', text) else {
        return false;
    };
    let ending = from(text, dot + 1);
    dot > 0
        && (1..=5).contains(&ending.len())
        && ending.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && ending.iter().any(u8::is_ascii_lowercase)
}
