//! Text of a transcript made harmless for a terminal: what could drive it, hide text or turn its order around is written
//! out as an escape. Measures, cuts and wraps by columns. Knows characters, no terminal and no report.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

/// Columns from one tab stop to the next.
const TAB_COLUMNS: usize = 4;

/// How a code of a colour begins, and how that is written out.
const PAINT: &str = "\u{1b}[";
const ESCAPED_PAINT: &str = "\\u{1b}[";

/// What stands for the rest of a text that was cut.
const ELLIPSIS: char = '…';

/// `text` for one line: also line feeds and tabs are written out.
pub fn line(text: &str) -> Cow<'_, str> {
    made_plain(text, false)
}

/// `text` for several lines: line feeds and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    made_plain(text, true)
}

/// `text` for several lines that were painted here: the codes of colours stay, every other escape is written out.
pub fn painted(text: &str) -> Cow<'_, str> {
    let Some((first, _)) = text.split_once(PAINT) else { return lines(text) };
    let mut out = lines(first).into_owned();
    for piece in text.split(PAINT).skip(1) {
        let code =
            piece.find(|c: char| !(c.is_ascii_digit() || c == ';')).filter(|&end| piece.get(end..=end) == Some("m"));
        let (code, rest) = piece.split_at(code.map_or(0, |end| end + 1));
        out.push_str(if code.is_empty() { ESCAPED_PAINT } else { PAINT });
        out.push_str(code);
        out.push_str(&lines(rest));
    }
    Cow::Owned(out)
}

/// Bytes that should be text, through `filter`, and how many of them: a character that is cut at the end waits for its
/// rest. What is no text is written out byte by byte.
pub fn bytes(bytes: &[u8], filter: fn(&str) -> Cow<'_, str>) -> (String, usize) {
    let (mut out, mut rest) = (String::with_capacity(bytes.len()), bytes);
    loop {
        let error = match std::str::from_utf8(rest) {
            Ok(text) => {
                out.push_str(&filter(text));
                return (out, bytes.len());
            }
            Err(error) => error,
        };
        let (text, behind) = rest.split_at(error.valid_up_to());
        out.push_str(&filter(&String::from_utf8_lossy(text)));
        let Some(n_bad) = error.error_len() else { return (out, bytes.len() - behind.len()) };
        let (bad, behind) = behind.split_at(n_bad);
        out.extend(bad.iter().copied().map(byte));
        rest = behind;
    }
}

/// A byte that is no text, written out.
pub fn byte(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

/// JSON with every such character inside its strings as `\uXXXX`: the same value, harmless to look at.
pub fn json(json: &str) -> Cow<'_, str> {
    let is_safe = |(at, c): (usize, char)| c == '\n' || !is_hostile(json, at, c);
    if json.is_ascii() && !json.contains('\u{7f}') || json.char_indices().all(is_safe) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for (at, c) in json.char_indices() {
        if is_safe((at, c)) {
            out.push(c);
        } else {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(out)
}

/// The columns that `text`, which is plain already, takes on one line.
pub fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The beginning of `text` as a plain line of at most `max` columns; `…` stands for what was cut.
pub fn cut(text: &str, max: usize) -> String {
    // A character that takes no column is rare: what lies far behind the end needs no look.
    let near: String = text.chars().take(max * 4 + 16).collect();
    let plain = line(&near);
    if near.len() == text.len() && width(&plain) <= max {
        return plain.into_owned();
    }
    let mut out = prefix(&plain, max.saturating_sub(1));
    if max > 0 {
        out.push(ELLIPSIS);
    }
    out
}

/// The end of `text` as a plain line of at most `max` columns; `…` stands for what was cut.
pub fn cut_start(text: &str, max: usize) -> String {
    let plain = line(text);
    if width(&plain) <= max {
        return plain.into_owned();
    }
    let mut n_columns = 1;
    let is_near = |&(_, c): &(usize, char)| {
        n_columns += columns(c);
        n_columns <= max
    };
    let start = plain.char_indices().rev().take_while(is_near).last().map_or(plain.len(), |(at, _)| at);
    let mut out = if max > 0 { ELLIPSIS.to_string() } else { String::new() };
    out.push_str(plain.get(start..).unwrap_or_default());
    out
}

/// Names of files without what all of them have in common: the folders in front, and the endings behind the first dot.
/// What is left tells them apart, where the names do.
pub fn told_apart<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let [first, others @ ..] = names else { return Vec::new() };
    if others.is_empty() {
        let start = first.rfind('/').map_or(0, |at| at + 1);
        return vec![first.get(start..).filter(|name| !name.is_empty()).unwrap_or(first)];
    }
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let shared = others.iter().map(|other| common(first, other)).min().unwrap_or_default();
    let start = first.as_bytes()[..shared].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let ending = |name: &'n str| {
        let file = name.rfind('/').map_or(0, |at| at + 1);
        name.bytes()
            .skip(file + 1)
            .position(|byte| byte == b'.')
            .map_or("", |at| name.get(file + 1 + at..).unwrap_or(""))
    };
    let end = ending(first);
    let n_end = if others.iter().all(|other| ending(other) == end) { end.len() } else { 0 };
    names
        .iter()
        .map(|name| name.get(start..name.len() - n_end).filter(|rest| !rest.is_empty()).unwrap_or(name))
        .collect()
}

/// `text` cut or filled with spaces to exactly `to` columns.
pub fn fit(text: &str, to: usize) -> String {
    let mut out = cut(text, to);
    out.extend(std::iter::repeat_n(' ', to.saturating_sub(width(&out))));
    out
}

/// `text` as plain lines of at most `to` columns each, at least one: broken at spaces where there are some, else
/// anywhere. Tabs become spaces.
pub fn wrap(text: &str, to: usize) -> Vec<String> {
    let to = to.max(2);
    let plain = lines(text);
    let mut out = Vec::new();
    for line in plain.split('\n') {
        wrap_line(&without_tabs(line), to, &mut out);
    }
    out
}

fn wrap_line(line: &str, to: usize, out: &mut Vec<String>) {
    let (mut current, mut n_columns) = (String::new(), 0);
    // Where the last space of the current line ends, in bytes.
    let mut last_space: Option<usize> = None;
    for c in line.chars() {
        let n = columns(c);
        if n_columns + n > to {
            if c == ' ' {
                // A space at the end of a full line is not seen.
                out.push(std::mem::take(&mut current));
                (n_columns, last_space) = (0, None);
                continue;
            }
            let rest = last_space.take().filter(|&at| !current.get(..at).unwrap_or_default().trim().is_empty());
            let rest = rest.map(|at| current.split_off(at)).unwrap_or_default();
            let kept = current.trim_end_matches(' ').len();
            current.truncate(kept);
            out.push(std::mem::replace(&mut current, rest));
            n_columns = width(&current);
        }
        current.push(c);
        n_columns += n;
        if c == ' ' {
            last_space = Some(current.len());
        }
    }
    out.push(current);
}

fn without_tabs(line: &str) -> Cow<'_, str> {
    if !line.contains('\t') {
        return Cow::Borrowed(line);
    }
    let (mut out, mut n_columns) = (String::with_capacity(line.len() + 8), 0);
    for c in line.chars() {
        let n = if c == '\t' { TAB_COLUMNS - n_columns % TAB_COLUMNS } else { columns(c) };
        if c == '\t' {
            out.extend(std::iter::repeat_n(' ', n));
        } else {
            out.push(c);
        }
        n_columns += n;
    }
    Cow::Owned(out)
}

fn prefix(text: &str, max: usize) -> String {
    let mut n_columns = 0;
    text.chars()
        .take_while(|&c| {
            n_columns += columns(c);
            n_columns <= max
        })
        .collect()
}

fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

fn made_plain(text: &str, breaks: bool) -> Cow<'_, str> {
    let stays = |at: usize, c: char| (breaks && matches!(c, '\n' | '\t')) || !is_hostile(text, at, c);
    let Some((first, _)) = text.char_indices().find(|&(at, c)| !stays(at, c)) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(text.get(..first).unwrap_or_default());
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < first) {
        if stays(at, c) {
            out.push(c);
        } else if matches!(c, '\n' | '\t' | '\r' | '\0') {
            out.extend(c.escape_debug());
        } else {
            out.extend(c.escape_unicode());
        }
    }
    Cow::Owned(out)
}

/// True for a character that could drive a terminal, break a line, hide text or turn its order around.
fn is_hostile(text: &str, at: usize, c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\u{200c}' | '\u{200d}' => !joins(text, at, c),
        _ => c.is_control() || is_invisible(c),
    }
}

/// Characters without a sign of their own: order of writing (bidi), separators, fillers, tags and whatever else carries
/// text that nobody sees.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Joiners belong to emoji and to scripts whose letters join; beside ASCII or each other they only hide.
fn joins(text: &str, at: usize, c: char) -> bool {
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at + c.len_utf8()..).and_then(|text| text.chars().next());
    let is_joined =
        |c: char| !c.is_ascii() && !c.is_control() && !is_invisible(c) && !matches!(c, '\u{200c}' | '\u{200d}');
    before.is_some_and(is_joined) && after.is_some_and(is_joined)
}

#[cfg(test)]
mod tests {
    use super::{bytes, cut, cut_start, fit, json, line, lines, painted, width, wrap};

    /// What a hostile transcript may hold.
    const HOSTILE: &str = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\r\0\u{202e}dlrow\u{2066}x\u{2069}\u{200b}\u{2028}\u{e0041}\u{feff}z";

    #[test]
    fn nothing_that_drives_a_terminal_or_hides_text_is_left() {
        for made in [line(HOSTILE), lines(HOSTILE)] {
            assert!(made.chars().all(|c| (' '..='~').contains(&c)), "{made:?}");
            assert!(made.contains("\\u{1b}[31mred\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{7f}\\r\\0\\u{202e}"), "{made}");
        }
        assert_eq!((line("a\nb\tc"), lines("a\nb\tc")), ("a\\nb\\tc".into(), "a\nb\tc".into()));
    }

    #[test]
    fn what_people_write_stays() {
        for text in
            ["Grüße, 世界", "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}", "می\u{200c}خواهم", "क\u{094d}\u{200d}ष", "e\u{301}"]
        {
            assert_eq!(line(text), text);
        }
        assert_eq!(line("pass\u{200d}word"), "pass\\u{200d}word");
        assert_eq!(line("\u{200d}x"), "\\u{200d}x");
    }

    #[test]
    fn the_end_of_a_text_fits_its_columns() {
        let made = ["a/b.jsonl", "a/b.jsonl", "日志/日志", "日志/日志", "ab", "ab"];
        let to = [9, 8, 8, 5, 1, 0];
        let cut: Vec<String> = made.into_iter().zip(to).map(|(text, to)| cut_start(text, to)).collect();
        assert_eq!(cut, ["a/b.jsonl", "…b.jsonl", "…志/日志", "…日志", "…", ""]);
        assert_eq!(cut_start("x\u{1b}[31m.jsonl", 13), "…b}[31m.jsonl");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "text": HOSTILE, "plain": "Grüße\n" });
        for text in [value.to_string(), format!("{value:#}")] {
            let made = json(&text);
            assert!(made.chars().all(|c| c == '\n' || c == 'ü' || c == 'ß' || (' '..='~').contains(&c)), "{made:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&made).ok().as_ref(), Some(&value));
        }
    }

    #[test]
    fn of_what_was_painted_only_the_paint_stays() {
        let red = "\u{1b}[1;31mred\u{1b}[0m\n";
        assert_eq!(painted(red), red);
        assert_eq!(painted("a\u{1b}[2Jb\u{1b}[m\u{1b}]0;c\u{7}"), "a\\u{1b}[2Jb\u{1b}[m\\u{1b}]0;c\\u{7}");
        assert_eq!(painted("\u{1b}[31"), "\\u{1b}[31");
    }

    #[test]
    fn bytes_are_text_wherever_they_are_cut() {
        let whole = "ü\u{9b}世界\u{202e}".as_bytes();
        for at in 0..whole.len() {
            let (first, n_taken) = bytes(&whole[..at], lines);
            let (second, _) = bytes(&whole[n_taken..], lines);
            assert_eq!(first + &second, "ü\\u{9b}世界\\u{202e}", "{at}");
        }
        assert_eq!(bytes(b"a\x9bb\xff\xc3", lines), ("a\\x9bb\\xff".to_owned(), 4));
    }

    #[test]
    fn columns_are_counted_as_they_are_seen() {
        assert_eq!((width("abc"), width("世界"), width("e\u{301}")), (3, 4, 1));
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("世界世界", 6), "世界…");
        assert_eq!(cut("x", 0), "");
        assert_eq!(fit("世", 4), "世  ");
        assert_eq!(fit("abcdef", 4), "abc…");
    }

    #[test]
    fn wrapped_lines_fit_and_lose_only_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a\n\n\tb", 20), ["a", "", "    b"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("    indented words", 10), ["    indent", "ed words"]);
        for to in 2..30 {
            let text =
                "世界 is the world, \u{1b}[31m and http://example.org/a/very/long/path and e\u{301}\u{301}.\nNext";
            let wrapped = wrap(text, to);
            assert!(wrapped.iter().all(|line| width(line) <= to), "{to}: {wrapped:?}");
            let joined: String = wrapped.concat().chars().filter(|c| *c != ' ').collect();
            let whole: String = lines(text).chars().filter(|c| !matches!(c, ' ' | '\n')).collect();
            assert_eq!(joined, whole, "{to}");
        }
    }
}
