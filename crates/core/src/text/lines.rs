//! Says what a line looks like by itself: prose, list item, log entry, code, table row, … Knows the signs at the
//! start and end of a line and the words of its first pieces; refuses to know what the line reports.

use super::classes::byte_table;
use super::lexed::LineKind;
use super::noise;
use super::scan::{self, Piece};
use super::words::{self, word_list};

/// A line with its pieces.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineText<'a> {
    /// The text.
    pub bytes: &'a [u8],
    /// First byte that is no blank.
    pub start: usize,
    /// One past the last byte that is no blank.
    pub end: usize,
    /// Leading blanks.
    pub indent: usize,
    /// Its pieces; not empty.
    pub pieces: &'a [Piece],
    /// Their classes, OR-ed.
    pub mask: u32,
    /// Their word flags, OR-ed.
    pub words: u32,
}

impl<'a> LineText<'a> {
    /// The line of these `pieces`, whose classes and word flags are `mask` and `words`; `None` without pieces.
    pub(super) fn of(bytes: &'a [u8], indent: usize, pieces: &'a [Piece], (mask, words): (u32, u32)) -> Option<Self> {
        let (start, end) = (pieces.first()?.start as usize, pieces.last()?.end as usize);
        Some(Self { bytes, start, end, indent, pieces, mask, words })
    }
    /// The line without blanks around it.
    pub(super) fn trimmed(&self) -> &'a [u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }
    /// Piece `index`; empty when there is none.
    pub(super) fn piece(&self, index: usize) -> &'a [u8] {
        self.pieces.get(index).map_or(&[], |piece| piece.of(self.bytes))
    }
    /// Word flags of piece `index`.
    pub(super) fn flags(&self, index: usize) -> u32 {
        self.pieces.get(index).map_or(0, |piece| piece.word)
    }
}

/// Where the text of a list item begins behind its marker, when the line is one.
pub(super) fn list_content(line: &LineText<'_>) -> Option<usize> {
    let first = line.piece(0);
    let is_marker = match first {
        b"-" | b"*" | b"+" => true,
        [b'(', inner @ .., b')'] | [inner @ .., b')'] => is_enumerator(inner, 1),
        [inner @ .., b'.'] => is_enumerator(inner, 0),
        _ => matches!(
            first,
            [0xe2, 0x80, 0xa2 | 0xa3 | 0x93 | 0x94]
                | [0xe2, 0x97, 0x8f | 0x8b | 0xa6]
                | [0xe2, 0x96, 0xaa | 0xab | 0xb8 | 0xba]
        ),
    };
    let next = line.pieces.get(1)?;
    (is_marker && !is_spaced_rule(line)).then_some(next.start as usize)
}

/// Up to four digits, or up to `n_letters` letters.
fn is_enumerator(inner: &[u8], n_letters: usize) -> bool {
    !inner.is_empty()
        && ((inner.len() <= 4 && inner.iter().all(u8::is_ascii_digit))
            || (inner.len() <= n_letters && inner.iter().all(u8::is_ascii_alphabetic)))
}

/// `* * *`, `- - -`
fn is_spaced_rule(line: &LineText<'_>) -> bool {
    line.pieces.len() >= 3 && line.mask & (scan::PLAIN | scan::DIGIT) == 0 && {
        let first = line.piece(0);
        line.pieces.iter().all(|piece| piece.of(line.bytes) == first)
    }
}

/// `===` or `---`: what underlines a heading or separates parts.
pub(super) fn is_rule(line: &LineText<'_>) -> bool {
    let trimmed = line.trimmed();
    trimmed.len() >= 3
        && matches!(trimmed[0], b'=' | b'-' | b'*' | b'_' | b'~' | b'#' | b'+')
        && trimmed.iter().all(|&byte| byte == trimmed[0])
}

/// What the line looks like. `previous` is the kind of the line before.
pub(super) fn classify(line: &LineText<'_>, previous: LineKind) -> LineKind {
    let trimmed = line.trimmed();
    let Some(&first) = trimmed.first() else { return LineKind::Blank };
    if is_plain(line, trimmed, previous) {
        return LineKind::Prose;
    }
    if previous == LineKind::Diff && matches!(first, b'+' | b'-' | b'@') {
        return LineKind::Diff;
    }
    if let Some(kind) = by_first_byte(line, trimmed, first, previous) {
        return kind;
    }
    if line.mask & (scan::PLAIN | scan::EXT_DIGIT) == 0 {
        return if line.mask & scan::BOX != 0 { LineKind::TableRow } else { by_digits(line, trimmed) };
    }
    by_words(line, trimmed, previous).unwrap_or(LineKind::Prose)
}

/// A quick way out for what most lines are: words with ordinary punctuation and nothing else, or a sentence with brackets,
/// colons or hyphens in it.
fn is_plain(line: &LineText<'_>, trimmed: &[u8], previous: LineKind) -> bool {
    const ORDINARY: u32 =
        scan::PLAIN | scan::DOT | scan::COMMA | scan::END | scan::APOSTROPHE | scan::WIDE_END | scan::WIDE_COMMA;
    const UNUSUAL: u32 =
        scan::SIGN | scan::UNDER | scan::ANGLE | scan::AT | scan::BOX | scan::SLASH | scan::MONEY | scan::CONTROL;
    let Some(first) = line.pieces.first() else { return false };
    if line.indent >= 2
        || first.word & (words::LEVEL | words::CODE | words::REPORT) != 0
        || matches!(previous, LineKind::Code | LineKind::TableRow | LineKind::Diff)
    {
        return false;
    }
    let n_bytes = first.end - first.start;
    line.mask & !ORDINARY == 0
        && (!first.has(scan::DOT | scan::WIDE) || n_bytes > 6)
        && (line.mask & scan::COMMA == 0 || line.pieces.len() > 2)
        || line.mask & UNUSUAL == 0
            && line.pieces.len() >= 4
            && matches!(trimmed.last(), Some(b'.' | b'!' | b'?'))
            && first.mask & !(scan::PLAIN & !scan::WIDE | scan::COMMA) == 0
            && n_bytes > 1
            && line.mask & (scan::BRACKET | scan::QUOTE) != scan::BRACKET | scan::QUOTE
}

fn by_first_byte(line: &LineText<'_>, trimmed: &[u8], first: u8, previous: LineKind) -> Option<LineKind> {
    let second = trimmed.get(1).copied().unwrap_or(b' ');
    match first {
        b'#' => {
            let run = trimmed.iter().take_while(|&&byte| byte == b'#').count();
            let next = trimmed.get(run).copied().unwrap_or(b' ');
            if run <= 6 && next.is_ascii_whitespace() && line.indent <= 3 {
                Some(if previous == LineKind::Code && run == 1 { LineKind::Code } else { LineKind::Heading })
            } else if matches!(next, b'!' | b'[') || trimmed.starts_with(b"#include") || trimmed.starts_with(b"#define")
            {
                Some(LineKind::Code)
            } else {
                None
            }
        }
        b'>' if trimmed.starts_with(b">>> ") => Some(LineKind::Prompt),
        b'>' if matches!(second, b' ' | b'>') => Some(LineKind::Quote),
        b'$' if second == b' ' => Some(LineKind::Prompt),
        b'@' if trimmed.starts_with(b"@@ ") => Some(LineKind::Diff),
        b'@' if second.is_ascii_alphabetic() && line.pieces.len() == 1 => Some(LineKind::Code),
        b'|' | b'`' | b'+' | 0xe2 if line.mask & (scan::BOX | scan::DASH | scan::SIGN) != 0 && is_tree(trimmed) => {
            Some(LineKind::Listing)
        }
        b'|' => Some(LineKind::TableRow),
        b'+' if second == b'-' && line.mask & scan::PLAIN == 0 => Some(LineKind::TableRow),
        b'-' | b'+'
            if trimmed.starts_with(b"--- a/") || trimmed.starts_with(b"+++ ") || trimmed.starts_with(b"--- /") =>
        {
            Some(LineKind::Diff)
        }
        b'-' | b'd' | b'l' if is_mode(line.piece(0)) && line.pieces.len() >= 5 => Some(LineKind::Listing),
        b'd' if trimmed.starts_with(b"diff --git ") => Some(LineKind::Diff),
        b'-' | b'*' | b'+' | b'(' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0xe2 if list_content(line).is_some() => {
            Some(LineKind::ListItem)
        }
        b'{' | b'}' | b'[' | b']' | b'"' => by_json(line, trimmed, first, second, previous),
        b'<' => by_markup(line, trimmed, second),
        b'/' if second == b'/' || second == b'*' => Some(LineKind::Code),
        b'/' | b'~' if line.pieces.len() == 1 && line.mask & scan::SLASH != 0 => {
            Some(if is_grep(trimmed) { LineKind::Grep } else { LineKind::Listing })
        }
        b'*' if second == b'/' || (previous == LineKind::Code && second == b' ') => Some(LineKind::Code),
        b'0'..=b'9' => by_number(line, trimmed, previous),
        0xe2 if is_mark(trimmed) => Some(LineKind::Status),
        0xe2 if line.pieces.first().is_some_and(|piece| piece.has(scan::BOX)) => Some(LineKind::TableRow),
        _ => None,
    }
}

/// `✓ ✔ ✗ ✘ ✖ ❌ ✅ ⚠` at the start.
fn is_mark(trimmed: &[u8]) -> bool {
    matches!(trimmed, [0xe2, 0x9c, 0x93..=0x98 | 0x85, ..] | [0xe2, 0x9d, 0x8c, ..] | [0xe2, 0x9a, 0xa0, ..])
}

/// An entry of a drawn tree.
fn is_tree(trimmed: &[u8]) -> bool {
    std::str::from_utf8(trimmed).is_ok_and(noise::is_tree_entry)
}

fn is_mode(word: &[u8]) -> bool {
    (10..=11).contains(&word.len()) && word.iter().take(10).all(|byte| b"-rwxdlsStT@".contains(byte))
}

fn by_json(line: &LineText<'_>, trimmed: &[u8], first: u8, second: u8, previous: LineKind) -> Option<LineKind> {
    let last = trimmed.last().copied().unwrap_or(b' ');
    match first {
        b'{' if matches!(second, b'"' | b'}' | b' ') || trimmed.len() == 1 => Some(LineKind::Json),
        b'}' | b']' => Some(match previous {
            LineKind::Json => LineKind::Json,
            _ if trimmed.len() <= 3 && previous != LineKind::Code => LineKind::Json,
            _ => LineKind::Code,
        }),
        b'[' if trimmed.len() == 1 || matches!(second, b'{' | b'[' | b'"' | b']') => Some(LineKind::Json),
        b'[' => {
            let close = memchr::memchr(b']', trimmed.get(..60.min(trimmed.len()))?)?;
            let inner = &trimmed[1..close];
            let after = trimmed.get(close + 1).copied().unwrap_or(b' ');
            if words::flags_of(inner) & words::LEVEL != 0 || has_clock(inner) || has_date(inner) {
                Some(LineKind::Log)
            } else if matches!(inner, b" " | b"x" | b"X") {
                Some(LineKind::ListItem)
            } else if inner.iter().all(|byte| byte.is_ascii_digit() || b" ,.-".contains(byte)) && last == b']' {
                Some(LineKind::Json)
            } else if after == b' '
                && line.pieces.len() >= 2
                && !inner.contains(&b' ')
                && inner.iter().any(u8::is_ascii_lowercase)
            {
                Some(LineKind::Log)
            } else {
                None
            }
        }
        b'"' => {
            let close = memchr::memchr(b'"', trimmed.get(1..)?)? + 2;
            let after = trimmed.get(close..)?.iter().find(|byte| !byte.is_ascii_whitespace());
            match after {
                Some(b':') => Some(LineKind::Json),
                Some(b',') if trimmed.len() == close + 1 => Some(LineKind::Json),
                None if previous == LineKind::Json => Some(LineKind::Json),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A tag; `<nick> words` of a chat is none.
fn by_markup(line: &LineText<'_>, trimmed: &[u8], second: u8) -> Option<LineKind> {
    if !(second.is_ascii_alphabetic() || matches!(second, b'/' | b'!' | b'?')) {
        return None;
    }
    let close = memchr::memchr(b'>', trimmed)?;
    let rest = trimmed.get(close + 1..).unwrap_or_default();
    let is_nick = second.is_ascii_alphabetic()
        && close + 1 == line.piece(0).len()
        && rest.len() > 1
        && memchr::memchr(b'<', rest).is_none();
    (!is_nick).then_some(LineKind::Markup)
}

/// A line without letters.
fn by_digits(line: &LineText<'_>, trimmed: &[u8]) -> LineKind {
    if line.mask & scan::SIGN != 0 && memchr::memchr(b'|', trimmed).is_some() {
        LineKind::TableRow
    } else if is_sentence_like(line) {
        LineKind::Prose
    } else {
        LineKind::Data
    }
}

/// Signs of chat without letters: `?`, `...`, `:)`, an emoji, a plain number.
fn is_sentence_like(line: &LineText<'_>) -> bool {
    line.pieces.len() == 1
        && line.end - line.start <= 12
        && line.mask & (scan::OTHER | scan::END | scan::DOT | scan::DIGIT) != 0
}

fn by_number(line: &LineText<'_>, trimmed: &[u8], previous: LineKind) -> Option<LineKind> {
    let first = line.piece(0);
    if has_date(first) && line.pieces.len() >= 2 {
        let next = line.piece(1);
        if first.contains(&b'T') || next.first().is_some_and(u8::is_ascii_digit) || line.flags(1) & words::LEVEL != 0 {
            return Some(LineKind::Log);
        }
    }
    if has_clock(first) && first.len() >= 8 && line.pieces.len() >= 2 {
        return Some(LineKind::Log);
    }
    if is_grep(trimmed) {
        return Some(LineKind::Grep);
    }
    // `cat -n` and the like: a number, a tab, an arrow or a colon, source code.
    let n_digits = trimmed.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match trimmed.get(n_digits..) {
        Some([b'\t', ..] | [0xe2, 0x86, 0x92, ..] | [b':', b' ', b' ', ..] | [b':', b'\t', ..]) => Some(LineKind::Code),
        Some(b":") if previous == LineKind::Code => Some(LineKind::Code),
        _ => None,
    }
}

fn by_words(line: &LineText<'_>, trimmed: &[u8], previous: LineKind) -> Option<LineKind> {
    let first = line.piece(0);
    let n_pieces = line.pieces.len();
    if (line.flags(0) & words::LEVEL != 0 || line.mask & scan::BRACKET != 0 && first.starts_with(b"error["))
        && let Some(kind) = by_level(line, first)
    {
        return Some(kind);
    }
    if is_trace(line, trimmed, first) {
        return Some(LineKind::Trace);
    }
    if line.mask & scan::COLON != 0 && is_grep(trimmed) {
        return Some(LineKind::Grep);
    }
    if is_syslog(line) {
        return Some(LineKind::Log);
    }
    if line.mask & (scan::AT | scan::SIGN | scan::ANGLE | scan::MONEY) != 0 && is_prompt(first, n_pieces) {
        return Some(LineKind::Prompt);
    }
    if is_code(line, trimmed, first, previous) {
        return Some(LineKind::Code);
    }
    if is_key_value(line, trimmed, first, previous) {
        return Some(LineKind::KeyValue);
    }
    if is_row(trimmed, line, previous) {
        return Some(LineKind::TableRow);
    }
    if n_pieces == 1
        && line.mask & scan::SLASH != 0
        && !trimmed.ends_with(b".")
        && memchr::memmem::find(first, b"://").is_none()
    {
        let n_slashes = memchr::memchr_iter(b'/', first).count();
        if n_slashes >= 2
            || first.starts_with(b"./")
            || (n_slashes == 1 && (first.ends_with(b"/") || first.contains(&b'.')))
        {
            return Some(LineKind::Listing);
        }
    }
    if n_pieces == 1 && first.len() > 64 && line.mask & scan::DIGIT != 0 && line.mask & (scan::WIDE | scan::DOT) == 0 {
        return Some(LineKind::Data);
    }
    None
}

fn by_level(line: &LineText<'_>, first: &[u8]) -> Option<LineKind> {
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

fn is_trace(line: &LineText<'_>, trimmed: &[u8], first: &[u8]) -> bool {
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
fn is_syslog(line: &LineText<'_>) -> bool {
    line.flags(0) & words::MONTH != 0
        && line.piece(0).len() == 3
        && line.piece(1).len() <= 2
        && line.piece(2).len() == 8
        && has_clock(line.piece(2))
}

/// `hh:mm` somewhere in a short piece.
fn has_clock(word: &[u8]) -> bool {
    word.len() <= 40
        && word.windows(5).any(|part| {
            matches!(part, [a, b, b':', c, d] if a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_digit() && d.is_ascii_digit())
        })
}

/// `yyyy-mm-dd` or `yyyy/mm/dd` at the start.
fn has_date(word: &[u8]) -> bool {
    word.get(..10).is_some_and(|date| {
        date.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => matches!(byte, b'-' | b'/'),
            _ => byte.is_ascii_digit(),
        })
    })
}

/// `path:line:` at the start.
fn is_grep(trimmed: &[u8]) -> bool {
    let head = trimmed.get(..200.min(trimmed.len())).unwrap_or_default();
    let Some(colon) = head.iter().position(|&byte| byte == b':' || byte.is_ascii_whitespace()) else { return false };
    if head[colon] != b':' || !head[..colon].iter().any(|&byte| byte == b'.' || byte == b'/') {
        return false;
    }
    let rest = &head[colon + 1..];
    let n_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    n_digits > 0 && rest.get(n_digits) == Some(&b':')
}

fn is_prompt(first: &[u8], n_pieces: usize) -> bool {
    (n_pieces >= 2 || first.len() > 6)
        && (first.ends_with(b"$") || first.ends_with(b"#"))
        && first.contains(&b'@')
        && first.contains(&b':')
}

/// A bracket counts one, another sign of source code 256.
static SIGNS_OF_CODE: [u16; 256] = byte_table!(u16:
    b'(' | b')' | b'{' | b'}' | b'[' | b']' => 1,
    b'=' | b'+' | b'*' | b'&' | b'|' | b'^' | b';' | b'<' | b'>' => 256,
    _ => 0,
);

fn is_in(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|entry| entry.as_bytes() == word)
}

/// Source code, by its first word together with its signs, or by its last sign.
fn is_code(line: &LineText<'_>, trimmed: &[u8], first: &[u8], previous: LineKind) -> bool {
    const SIGNS: u32 =
        scan::BRACKET | scan::SIGN | scan::UNDER | scan::ANGLE | scan::QUOTE | scan::COMMA | scan::COLON | scan::DOT;
    if line.mask & SIGNS == 0 && !(previous == LineKind::Code && line.indent >= 2) {
        return line.pieces.len() <= 3
            && matches!(first, b"import" | b"package" | b"using")
            && line.mask & scan::CAPITAL == 0;
    }
    let last = trimmed.last().copied().unwrap_or(b' ');
    let (mut brackets, mut signs) = (0, 0);
    if line.mask & (scan::BRACKET | scan::SIGN) != 0 {
        let head = trimmed.get(..160.min(trimmed.len())).unwrap_or_default();
        let sum = head.iter().fold(0, |sum, &byte| sum + u32::from(SIGNS_OF_CODE[usize::from(byte)]));
        (brackets, signs) = (sum & 0xff, sum >> 8);
    }
    let is_keyword = line.flags(0) & words::CODE != 0 && first.first().is_some_and(u8::is_ascii_lowercase);
    if is_keyword {
        let is_strong = is_in(word_list!("lines", STRONG), first);
        let is_import = matches!(first, b"import")
            || first == b"from" && line.pieces.iter().take(4).any(|piece| piece.of(line.bytes) == b"import");
        if is_import && last != b'.' || is_strong && brackets + signs > 0 {
            return true;
        }
        if (last == b';' || last == b'{' || last == b':')
            && (brackets + signs > 0 || is_in(word_list!("lines", WHOLE), trimmed))
        {
            return true;
        }
        if signs > 0 && (brackets >= 2 || line.pieces.iter().any(|piece| piece.of(line.bytes) == b"=")) {
            return true;
        }
        if first == b"return" && line.indent > 0 && !matches!(last, b'.' | b'!' | b'?') {
            return true;
        }
    }
    match last {
        b';' if signs > 1 || brackets >= 2 || first.contains(&b'.') || first.contains(&b'-') => return true,
        b'{' if brackets >= 1 => return true,
        b'}' | b')' | b']' | b',' | b':' if line.indent >= 2 && previous == LineKind::Code => return true,
        b')' if first.contains(&b'(')
            && memchr::memchr(b' ', trimmed).is_none()
            && first.len() > 3
            && first[0] != b'(' =>
        {
            return true;
        }
        _ => {}
    }
    let has_assignment = line
        .pieces
        .iter()
        .take(4)
        .skip(1)
        .any(|piece| matches!(piece.of(line.bytes), b"=" | b"+=" | b":=" | b"=>" | b"=="));
    if has_assignment && (brackets >= 2 || line.indent >= 2 || previous == LineKind::Code) {
        return true;
    }
    line.indent >= 2
        && previous == LineKind::Code
        && !matches!(last, b'.' | b'!' | b'?')
        && (brackets + signs > 0 || is_keyword)
}

/// `key: value`, `key = value`, `KEY=value` with a key like an identifier and a short value.
fn is_key_value(line: &LineText<'_>, trimmed: &[u8], first: &[u8], previous: LineKind) -> bool {
    let n_pieces = line.pieces.len();
    let last = trimmed.last().copied().unwrap_or(b' ');
    let is_name = |name: &[u8]| {
        !name.is_empty()
            && name.len() <= 60
            && name.iter().all(|&byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
    };
    if let [name @ .., b':'] = first {
        let is_technical =
            name.iter().any(|byte| b"_-./".contains(byte)) || !name.first().is_some_and(u8::is_ascii_uppercase);
        return is_name(name)
            && is_technical
            && (n_pieces <= 3 || n_pieces <= 6 && (line.indent > 0 || previous == LineKind::KeyValue))
            && !matches!(last, b'!' | b'?')
            && (last != b'.' || n_pieces <= 2)
            && n_pieces > 1;
    }
    if line.piece(1) == b"=" || line.piece(1) == b":" {
        return is_name(first) && n_pieces <= 8 && last != b'.';
    }
    match memchr::memchr(b'=', first) {
        Some(at) if at > 0 => is_name(&first[..at]) && n_pieces <= 4 && !matches!(last, b'.' | b'!' | b'?' | b','),
        _ => false,
    }
}

/// Values separated by tabs, bars or commas.
fn is_row(trimmed: &[u8], line: &LineText<'_>, previous: LineKind) -> bool {
    if line.mask & scan::BOX != 0 {
        return true;
    }
    let head = trimmed.get(..400.min(trimmed.len())).unwrap_or_default();
    if line.mask & scan::CONTROL != 0 && memchr::memchr_iter(b'\t', head).count() >= 2 {
        return true;
    }
    if line.mask & scan::SIGN != 0 && memchr::memmem::find_iter(head, b" | ").count() >= 2 {
        return true;
    }
    if line.mask & scan::COMMA == 0 || matches!(trimmed.last(), Some(b'.' | b'!' | b'?')) {
        return false;
    }
    let n_commas = memchr::memchr_iter(b',', head).count();
    let n_spaced = memchr::memmem::find_iter(head, b", ").count();
    n_commas >= 2 && n_spaced == 0 && (line.pieces.len() <= 2 * n_commas || previous == LineKind::TableRow)
}
