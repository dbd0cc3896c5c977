//! Judges what a line looks like by itself and by the kind of the line before it: first by its first sign, then by what
//! programs print, by the words and signs of code, by keys and values, by columns. Knows the order in which the files of
//! the kinds are asked; refuses to know what the line reports.

use super::signs::Signs;
use super::{Bare, LineText, code, config, output};
use crate::text::bytes::{count, from, holds, is_word, run};
use crate::text::lexed::LineKind;
use crate::text::noise::is_tree_entry;
use crate::text::{scan, words};

/// A longer line without any sign of code, table or path is prose.
const PLAIN_LINE: usize = 64;

/// What the line looks like, and its signs. `previous` is the kind of the line before.
pub(in crate::text) fn judge(line: &LineText<'_>, previous: LineKind) -> (LineKind, Signs) {
    let text = line.trimmed();
    let (kind, signs) = if is_plain(line, text, previous) {
        (LineKind::Prose, signs_of_words(line))
    } else {
        let signs = Signs::of(text);
        (kind(line, line.bare(signs), previous), signs)
    };
    let may_be_datum = matches!(kind, LineKind::Prose | LineKind::Pair) && signs.any(Signs::COLON);
    (kind, if may_be_datum && config::is_datum(text) { signs.with(Signs::DATUM) } else { signs })
}

fn kind(line: &LineText<'_>, bare: Bare<'_>, previous: LineKind) -> LineKind {
    let Bare { text, signs, .. } = bare;
    let Some(&first) = text.first() else { return LineKind::Blank };
    if text.len() > PLAIN_LINE
        && !signs.any(Signs::OF_CODE | Signs::DIGIT | Signs::TAB | Signs::GAP)
        && first.is_ascii_alphabetic()
        && line.flags(0) & (words::LEVEL | words::REPORT) == 0
    {
        return LineKind::Prose;
    }
    if let Some(kind) = by_first_byte(bare, first, previous).or_else(|| output::kind(line, bare)) {
        return kind;
    }
    // Items of lists in Markdown are full of stars, colons and arrows.
    let is_item = list_content(line).is_some();
    if !is_item
        && !text.starts_with(b"**")
        && !matches!(text, [b'A'..=b'Z' | b'a'..=b'z', b'.', b' ', ..])
        && let Some(kind) = code::kind(bare, previous)
    {
        return kind;
    }
    if let Some(kind) = config::kind(bare) {
        return kind;
    }
    if signs.any(Signs::PIPE) && is_open_row(text) {
        return LineKind::TableRow;
    }
    if signs.any(Signs::TAB | Signs::GAP) && is_columns(text) {
        return LineKind::Columns;
    }
    if is_item {
        return LineKind::ListItem;
    }
    if signs.any(Signs::COMMA) && is_values(line, text, previous) {
        return LineKind::Values;
    }
    if is_data(line) { LineKind::Data } else { LineKind::Prose }
}

/// The signs of a line of words with ordinary punctuation, by its pieces and their classes.
fn signs_of_words(line: &LineText<'_>) -> Signs {
    let bit = |class: u32, signs: u32| if line.mask & class == 0 { 0 } else { signs };
    Signs::default()
        .with(bit(scan::COMMA, Signs::COMMA | Signs::SEMICOLON))
        .with(bit(scan::DIGIT, Signs::DIGIT) | bit(scan::COLON, Signs::COLON))
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
        || matches!(previous, LineKind::Code | LineKind::MaybeCode | LineKind::Values)
    {
        return false;
    }
    let n_bytes = first.end - first.start;
    let has_gap = || line.pieces.windows(2).any(|pair| pair[1].start - pair[0].end > 1);
    let is_plain = line.mask & !ORDINARY == 0
        && (line.mask & (scan::DOT | scan::COMMA) == 0 || line.pieces.len() > 2)
        && (!first.has(scan::DOT | scan::WIDE) || n_bytes > 6)
        || line.mask & UNUSUAL == 0
            && line.pieces.len() >= 4
            && matches!(trimmed.last(), Some(b'.' | b'!' | b'?'))
            && first.mask & !(scan::PLAIN & !scan::WIDE | scan::COMMA) == 0
            && n_bytes > 1
            && line.mask & (scan::BRACKET | scan::QUOTE) != scan::BRACKET | scan::QUOTE;
    is_plain && !has_gap()
}

/// Lines that their first sign gives away.
fn by_first_byte(line: Bare<'_>, first: u8, previous: LineKind) -> Option<LineKind> {
    let text = line.text;
    let second = text.get(1).copied().unwrap_or(b' ');
    match first {
        b'|' | b'`' | b'+' | 0xE2 if is_tree(text) => Some(LineKind::Listing),
        b'|' => {
            let is_rule = text.iter().all(|byte| b"|-: +=".contains(byte));
            let inner = from(text, 1);
            let is_row = memchr::memchr(b'|', inner).is_some() || text.len() == 1;
            if is_rule && text.len() > 3 { Some(LineKind::TableRule) } else { is_row.then_some(LineKind::TableRow) }
        }
        b'+' | b'-' | b'=' if text.len() >= 5 && is_table_rule(text) => Some(LineKind::TableRule),
        b'<' => markup(text),
        b'>' if matches!(second, b' ' | b'>') && !text.starts_with(b">>> ") && !output::is_request(text) => {
            Some(LineKind::Quote)
        }
        b'@' if text.starts_with(b"@@ -") => Some(LineKind::DiffHead),
        b'd' if text.starts_with(b"diff --git ") => Some(LineKind::DiffHead),
        b'-' if text.starts_with(b"--- ") && is_file_header(from(text, 4)) => Some(LineKind::DiffHead),
        b'+' if text.starts_with(b"+++ ") && is_file_header(from(text, 4)) => Some(LineKind::DiffHead),
        b'*' if text.starts_with(b"*** ") && is_patch_header(from(text, 4)) => Some(LineKind::DiffHead),
        b'*' if matches!(second, b' ' | b'/') && previous == LineKind::Comment => Some(LineKind::Comment),
        b'I' if text.starts_with(b"Index: ") => Some(LineKind::DiffHead),
        b'0'..=b'9' if is_ed_command(text) => Some(LineKind::DiffHead),
        0xE2 => match text.get(1..3) {
            // Light, heavy and double box drawing.
            Some([0x94 | 0x95, _]) => Some(boxed(text)),
            _ => None,
        },
        b'"' => is_json_member(text).then_some(LineKind::Json),
        b'{' if matches!(text, [b'{'] | [b'{', b'"' | b'}', ..] | [b'{', b' ', b'"', ..]) => Some(LineKind::Json),
        b'[' => bracketed(text),
        b'}' | b']' if text.iter().all(|byte| b"}],".contains(byte)) => {
            Some(if matches!(previous, LineKind::Code | LineKind::MaybeCode) {
                LineKind::MaybeCode
            } else {
                LineKind::Json
            })
        }
        _ => None,
    }
}

/// `[`, `["…`, `[{…`, `[0.1, 0.2]` of JSON; `[x]` of a list of tasks.
fn bracketed(text: &[u8]) -> Option<LineKind> {
    match text {
        [b'['] | [b'[', b'"' | b'{', ..] | [b'[', b'[', b'"' | b'-' | b'[' | b'0'..=b'9', ..] => Some(LineKind::Json),
        [b'[', b' ' | b'x' | b'X', b']', b' ', ..] => Some(LineKind::ListItem),
        [b'[', inner @ .., b']'] if inner.iter().all(|byte| byte.is_ascii_digit() || b" ,.-".contains(byte)) => {
            Some(LineKind::Json)
        }
        _ => None,
    }
}

/// Where the text of a list item begins behind its marker, when the line is one.
pub(in crate::text) fn list_content(line: &LineText<'_>) -> Option<usize> {
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
pub(in crate::text) fn is_rule(line: &LineText<'_>) -> bool {
    let trimmed = line.trimmed();
    trimmed.len() >= 3
        && matches!(trimmed[0], b'=' | b'-' | b'*' | b'_' | b'~' | b'#' | b'+')
        && trimmed.iter().all(|&byte| byte == trimmed[0])
}

/// Cells between bars without a bar in front: `a | b | c`, `e|--0--|--3--|`.
fn is_open_row(text: &[u8]) -> bool {
    let n_bars = count(text, b'|');
    let n_spaced = memchr::memmem::find_iter(text, b" | ").take(2).count();
    n_bars >= 2 && text.len() < 200 && (n_spaced >= 2 || (text.ends_with(b"|") && n_bars >= 3)) && !holds(text, b"||")
}

/// `----+----`, `+====+`, `===  ===`: at least two columns.
fn is_table_rule(text: &[u8]) -> bool {
    text.iter().all(|byte| b"+-=| ".contains(byte))
        && (count(text, b'+') >= 1
            || holds(text, b"=  =")
            || holds(text, b"-  -")
            || holds(text, b"= =")
            || holds(text, b"--- ---"))
}

/// An entry of a tree that is drawn without box drawing signs.
fn is_tree(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(is_tree_entry)
}

/// A line that begins with a box drawing sign: a table, or a tree of files.
fn boxed(text: &[u8]) -> LineKind {
    let is_branch = text.starts_with("├".as_bytes()) || text.starts_with("└".as_bytes());
    let corners: [&[u8]; 6] =
        ["┬".as_bytes(), "┼".as_bytes(), "┴".as_bytes(), "╦".as_bytes(), "╬".as_bytes(), "╩".as_bytes()];
    let ends_in_box = text.len() > 6 && matches!(text.get(text.len() - 3..), Some([0xE2, 0x94 | 0x95, _]));
    if corners.iter().any(|corner| holds(text, corner)) {
        return LineKind::TableRule;
    }
    if ends_in_box && !is_branch { LineKind::TableRow } else { LineKind::Output }
}

/// A tag with its end on this line, or a long opening tag; not a nickname in angle brackets.
fn markup(text: &[u8]) -> Option<LineKind> {
    let rest = from(text, 1);
    let &next = rest.first()?;
    if matches!(next, b'!' | b'?') {
        return Some(LineKind::Markup);
    }
    let name = if next == b'/' { from(rest, 1) } else { rest };
    if !name.first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let length = run(name, |byte| is_word(byte) || matches!(byte, b':' | b'-' | b'.'));
    let after = from(name, length);
    match after.first() {
        // An opening tag that goes on in the next line.
        None => Some(LineKind::Markup),
        Some(b'>') if next == b'/' => Some(LineKind::Markup),
        Some(b'>') => {
            let inner = from(after, 1);
            (inner.is_empty()
                || inner.first() == Some(&b'<')
                || holds(inner, b"</")
                || is_html(name.get(..length).unwrap_or_default()))
            .then_some(LineKind::Markup)
        }
        Some(b' ' | b'/') => {
            (holds(after, b"=\"") || holds(after, b"='") || holds(after, b"/>") || holds(after, b"={"))
                .then_some(LineKind::Markup)
        }
        _ => None,
    }
}

/// Elements of HTML that stand before text without closing on the same line.
fn is_html(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 18] = [
        b"p", b"div", b"li", b"ul", b"ol", b"td", b"th", b"tr", b"h1", b"h2", b"h3", b"span", b"a", b"button",
        b"label", b"title", b"option", b"dt",
    ];
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// `a/path`, `b/path`, `/dev/null`, or a path with a time stamp.
fn is_file_header(rest: &[u8]) -> bool {
    rest.starts_with(b"a/") || rest.starts_with(b"b/") || rest.starts_with(b"/dev/null") || {
        let name = rest.get(..run(rest, |byte| byte != b'\t' && byte != b' ')).unwrap_or_default();
        memchr::memchr2(b'/', b'.', name).is_some()
            && name.len() > 2
            && (name.len() == rest.len()
                || rest.get(name.len()) == Some(&b'\t')
                || from(rest, name.len()).iter().any(u8::is_ascii_digit))
    }
}

/// `4c4`, `11a12,13`.
fn is_ed_command(text: &[u8]) -> bool {
    let is_range = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_digit) && part.iter().all(|byte| byte.is_ascii_digit() || *byte == b',')
    };
    let mut parts = text.split(|byte| matches!(byte, b'a' | b'c' | b'd'));
    text.len() < 30
        && parts.next().is_some_and(is_range)
        && parts.next().is_some_and(is_range)
        && parts.next().is_none()
}

/// `Begin Patch`, `Update File: …` and the ranges of context diffs.
fn is_patch_header(rest: &[u8]) -> bool {
    const HEADS: [&[u8]; 5] = [b"Begin Patch", b"End Patch", b"Update File:", b"Add File:", b"Delete File:"];
    HEADS.iter().any(|head| rest.starts_with(head))
        || (rest.ends_with(b" ****") && rest.first().is_some_and(u8::is_ascii_digit))
        || is_file_header(rest)
}

/// `"key": …`
fn is_json_member(text: &[u8]) -> bool {
    let inside = from(text, 1);
    let Some(end) = memchr::memchr(b'"', inside.get(..inside.len().min(120)).unwrap_or_default()) else {
        return false;
    };
    let after = from(inside, end + 1);
    let colon = run(after, |byte| byte == b' ');
    match after.get(colon) {
        Some(b':') => true,
        // An element of an array: nothing but the string and its comma.
        Some(b',') => after.len() == colon + 1,
        None => end < 80 && memchr::memchr(b' ', inside).is_none_or(|at| at >= end),
        _ => false,
    }
}

/// Two or more gaps of at least two blanks, or two tabs, between short cells.
fn is_columns(text: &[u8]) -> bool {
    let text = text.get(..text.len().min(300)).unwrap_or_default();
    if memchr::memchr(b'\t', text).is_some() {
        return count(text, b'\t') >= 2;
    }
    let mut n_gaps = 0;
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, b"  ") {
        // Two blanks behind a sign of prose separate its parts.
        let sentence = at > 0 && rest.get(at - 1).is_some_and(|byte| b".!?:,;".contains(byte));
        n_gaps += usize::from(!sentence);
        let tail = from(rest, at);
        rest = from(tail, run(tail, |byte| byte == b' '));
    }
    n_gaps >= 2
}

/// Values separated by commas without blanks.
fn is_values(line: &LineText<'_>, text: &[u8], previous: LineKind) -> bool {
    if matches!(text.last(), Some(b'.' | b'!' | b'?')) {
        return false;
    }
    let head = text.get(..400.min(text.len())).unwrap_or_default();
    let n_commas = count(head, b',');
    n_commas >= 2
        && memchr::memmem::find(head, b", ").is_none()
        && (line.pieces.len() <= 2 * n_commas || previous == LineKind::Values)
}

/// Digits and signs, or one long run of encoded data.
fn is_data(line: &LineText<'_>) -> bool {
    if line.mask & (scan::PLAIN | scan::EXT_DIGIT) == 0 {
        return !is_sentence_like(line);
    }
    line.pieces.len() == 1
        && line.end - line.start > 64
        && line.mask & scan::DIGIT != 0
        && line.mask & (scan::WIDE | scan::DOT) == 0
}

/// Signs of chat without letters: `?`, `...`, `:)`, an emoji, a plain number.
fn is_sentence_like(line: &LineText<'_>) -> bool {
    line.pieces.len() == 1
        && line.end - line.start <= 12
        && line.mask & (scan::OTHER | scan::END | scan::DOT | scan::DIGIT) != 0
}
