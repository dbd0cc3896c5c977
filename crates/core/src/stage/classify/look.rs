//! What a single line looks like, judged by itself. Asks the specialised files in turn; knows nothing of the
//! lines around it, which `survey` weighs.

use super::line::{Bare, Look, Signs, count, from, holds, is_word, list_marker, run};
use super::{code, config, output};
use crate::text::is_tree_entry;

/// A longer line without any sign of code, table or path is prose.
const PLAIN_LINE: usize = 64;

/// Judges one line.
pub(super) fn look(line: Bare<'_>) -> Look {
    let text = line.text;
    let Some(&first) = text.first() else {
        return Look::Blank;
    };
    if text.len() > PLAIN_LINE
        && !line.signs.any(Signs::OF_CODE | Signs::DIGIT | Signs::TAB | Signs::GAP)
        && first.is_ascii_alphabetic()
    {
        return Look::Prose;
    }
    if let Some(look) = by_first_byte(line, first) {
        return look;
    }
    if let Some(look) = output::look(line) {
        return look;
    }
    // Items of lists in Markdown are full of stars, colons and arrows.
    let is_item = list_marker(text) > 0;
    let is_plain = is_item || text.starts_with(b"**");
    if let Some(look) = (!is_plain).then(|| code::look(line)).flatten() {
        return look;
    }
    if let Some(look) = config::look(line) {
        return look;
    }
    if line.signs.any(Signs::PIPE) && is_open_row(text) {
        return Look::Row;
    }
    if line.signs.any(Signs::TAB | Signs::GAP) && is_columns(text) {
        return Look::Columns;
    }
    if is_item {
        return Look::Item;
    }
    Look::Prose
}

/// Lines that their first sign gives away.
fn by_first_byte(line: Bare<'_>, first: u8) -> Option<Look> {
    let text = line.text;
    match first {
        b'|' | b'`' | b'+' if is_tree(text) => Some(Look::Output),
        b'|' => {
            let is_rule = text.iter().all(|byte| b"|-: +=".contains(byte));
            let inner = from(text, 1);
            let is_row = memchr::memchr(b'|', inner).is_some() || text.len() == 1;
            if is_rule && text.len() > 3 { Some(Look::Rule) } else { is_row.then_some(Look::Row) }
        }
        b'+' | b'-' | b'=' if text.len() >= 5 && is_table_rule(text) => Some(Look::Rule),
        b'<' => markup(text),
        b'@' if text.starts_with(b"@@ -") => Some(Look::DiffHead),
        b'd' if text.starts_with(b"diff --git ") => Some(Look::DiffHead),
        b'-' if text.starts_with(b"--- ") && is_file_header(from(text, 4)) => Some(Look::DiffHead),
        b'+' if text.starts_with(b"+++ ") && is_file_header(from(text, 4)) => Some(Look::DiffHead),
        b'*' if text.starts_with(b"*** ") && is_patch_header(from(text, 4)) => Some(Look::DiffHead),
        b'I' if text.starts_with(b"Index: ") => Some(Look::DiffHead),
        b'0'..=b'9' if is_ed_command(text) => Some(Look::DiffHead),
        0xE2 => match text.get(1..3) {
            // Light, heavy and double box drawing.
            Some([0x94 | 0x95, _]) => Some(boxed(text)),
            _ => None,
        },
        b'"' => is_json_member(text).then_some(Look::Json),
        b'{' if text.get(1).is_none() || matches!(text.get(1..3), Some([b'"', _] | [b' ', b'"'])) => Some(Look::Json),
        b'[' if text.get(1).is_none() => Some(Look::Json),
        b'}' | b']' if text.iter().all(|byte| b"}],".contains(byte)) => Some(Look::Json),
        _ => None,
    }
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
fn boxed(text: &[u8]) -> Look {
    let is_branch = text.starts_with("├".as_bytes()) || text.starts_with("└".as_bytes());
    let corners: [&[u8]; 6] =
        ["┬".as_bytes(), "┼".as_bytes(), "┴".as_bytes(), "╦".as_bytes(), "╬".as_bytes(), "╩".as_bytes()];
    let ends_in_box = text.len() > 6 && matches!(text.get(text.len() - 3..), Some([0xE2, 0x94 | 0x95, _]));
    if corners.iter().any(|corner| holds(text, corner)) {
        return Look::Rule;
    }
    if ends_in_box && !is_branch { Look::Row } else { Look::Output }
}

/// A tag with its end on this line, or a long opening tag; not a nickname in angle brackets.
fn markup(text: &[u8]) -> Option<Look> {
    let rest = from(text, 1);
    let &next = rest.first()?;
    if matches!(next, b'!' | b'?') {
        return Some(Look::Markup);
    }
    let name = if next == b'/' { from(rest, 1) } else { rest };
    if !name.first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let length = run(name, |byte| is_word(byte) || matches!(byte, b':' | b'-' | b'.'));
    let after = from(name, length);
    match after.first() {
        // An opening tag that goes on in the next line.
        None => Some(Look::Markup),
        Some(b'>') if next == b'/' => Some(Look::Markup),
        Some(b'>') => {
            let inner = from(after, 1);
            (inner.is_empty()
                || inner.first() == Some(&b'<')
                || holds(inner, b"</")
                || is_html(name.get(..length).unwrap_or_default()))
            .then_some(Look::Markup)
        }
        Some(b' ' | b'/') => {
            (holds(after, b"=\"") || holds(after, b"='") || holds(after, b"/>") || holds(after, b"={"))
                .then_some(Look::Markup)
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
        // Two blanks behind a sentence end separate sentences.
        let sentence = at > 0 && rest.get(at - 1).is_some_and(|byte| matches!(byte, b'.' | b'!' | b'?' | b':'));
        n_gaps += usize::from(!sentence);
        let tail = from(rest, at);
        rest = from(tail, run(tail, |byte| byte == b' '));
    }
    n_gaps >= 2
}
