//! The lines of a YAML document: keys, items, comments and what belongs to the line before. Knows signs and indents;
//! refuses to know what becomes of a line.

use super::adapter::line_body;
use crate::text::{Span, TextView};

/// A key is no longer than this.
const MAX_KEY: usize = 60;
const MAX_KEY_WORDS: usize = 4;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    Comment,
    /// `---`, `...`
    Mark,
    /// `key: value`; the value may be empty.
    Key,
    /// `- value`, without a key behind the sign.
    Item,
    Other,
}

/// One line.
#[derive(Debug, Clone, Copy)]
pub(super) struct YamlLine {
    /// Without the number of a viewer.
    pub(super) span: Span,
    pub(super) kind: Kind,
    /// Blanks before the first sign.
    pub(super) indent: u32,
    /// Blanks before the key, behind the sign of an item.
    pub(super) key_indent: u32,
    /// An item begins here.
    pub(super) is_item: bool,
    pub(super) key: Span,
    pub(super) value: Span,
}

/// All lines of a text.
pub(super) fn lines(text: &TextView<'_>) -> Vec<YamlLine> {
    text.lines.iter().map(|line| YamlLine::of(text.text, line_body(text.text, line.span))).collect()
}

impl YamlLine {
    fn of(text: &str, span: Span) -> Self {
        let body = span.of(text);
        let mut rest = body.trim_start_matches(' ');
        let mut indent = (body.len() - rest.len()) as u32;
        let none = Span { start: span.end, end: span.end };
        let mut line =
            Self { span, kind: Kind::Other, indent, key_indent: indent, is_item: false, key: none, value: none };
        line.kind = match rest.as_bytes() {
            [] => Kind::Blank,
            [b'#', ..] => Kind::Comment,
            b"---" | b"..." => Kind::Mark,
            [b'-'] => Kind::Item,
            _ => Kind::Other,
        };
        if line.kind != Kind::Other {
            line.is_item = line.kind == Kind::Item;
            return line;
        }
        while let Some(behind) = rest.strip_prefix("- ") {
            let inner = behind.trim_start_matches(' ');
            indent += (rest.len() - inner.len()) as u32;
            rest = inner;
            line.is_item = true;
        }
        line.key_indent = indent;
        let start = span.end - rest.len() as u32;
        if let Some(len) = key_len(rest) {
            line.kind = Kind::Key;
            line.key = Span { start, end: start + len as u32 };
            let value = rest.get(len + 1..).unwrap_or_default().trim_start();
            line.value = Span { start: span.end - value.len() as u32, end: span.end };
        } else if line.is_item {
            line.kind = Kind::Item;
            line.value = Span { start, end: span.end };
        }
        line
    }
}

/// Bytes of the key that `rest` begins with.
fn key_len(rest: &str) -> Option<usize> {
    let quote = rest.chars().next().filter(|sign| matches!(sign, '"' | '\''));
    let colon = if let Some(sign) = quote {
        rest.get(1..)?.bytes().take(MAX_KEY).position(|byte| byte == sign as u8)? + 2
    } else {
        let is_end =
            |&(at, byte): &(usize, u8)| byte == b':' && rest.as_bytes().get(at + 1).is_none_or(u8::is_ascii_whitespace);
        let at = rest.bytes().enumerate().take(MAX_KEY).find(is_end)?.0;
        let mut before = b' ';
        for byte in rest.bytes().take(at) {
            let is_word = byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-./$<@%()".contains(&byte);
            if !is_word && (byte != b' ' || before == b' ') {
                return None;
            }
            before = byte;
        }
        at
    };
    let key = rest.get(..colon)?;
    let is_key = rest.as_bytes().get(colon) == Some(&b':')
        && rest.as_bytes().get(colon + 1).is_none_or(u8::is_ascii_whitespace)
        && !key.trim().is_empty()
        && !key.ends_with(' ')
        && key.split(' ').count() <= MAX_KEY_WORDS;
    is_key.then_some(colon)
}

#[cfg(test)]
mod tests {
    use super::{Kind, YamlLine};
    use crate::text::Span;

    #[test]
    fn a_line_is_read_by_its_signs() {
        for (text, kind, is_item, key, value) in [
            ("name: api", Kind::Key, false, "name", "api"),
            ("  \"a b\": 1", Kind::Key, false, "\"a b\"", "1"),
            ("- - id: 7", Kind::Key, true, "id", "7"),
            ("- plain words", Kind::Item, true, "", "plain words"),
            ("empty:", Kind::Key, false, "empty", ""),
            ("https://example.org", Kind::Other, false, "", ""),
            ("this is a sentence with many words: so", Kind::Other, false, "", ""),
            ("# note", Kind::Comment, false, "", ""),
            ("---", Kind::Mark, false, "", ""),
            ("", Kind::Blank, false, "", ""),
        ] {
            let line = YamlLine::of(text, Span { start: 0, end: text.len() as u32 });
            assert_eq!(
                (line.kind, line.is_item, line.key.of(text), line.value.of(text)),
                (kind, is_item, key, value),
                "{text}"
            );
        }
    }
}
