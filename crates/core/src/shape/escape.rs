//! JSON strings: decoding, encoding in the style of the record, and telling the style. Lone surrogates are read
//! as U+FFFD, since Rust texts cannot hold them; the record's bytes keep them.

use std::borrow::Cow;

use super::find::{find_backslash, find_special, find_special_or_wide};
use super::out::{Expected, Out};

/// The kinds of escapes that occur in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Marks(u8);

impl Marks {
    /// No escape at all: the decoded text is the raw text.
    pub(super) const NONE: Self = Self(0);
    /// Escapes that every writer makes: quote, backslash and control characters.
    pub(super) const COMMON: Self = Self(1);
    /// `\/`
    const SLASH: Self = Self(2);
    /// A character beyond ASCII.
    const WIDE: Self = Self(4);
    /// `<`, `>` or `&`, as writers escape them for HTML.
    const HTML: Self = Self(8);
    /// DEL.
    const DELETE: Self = Self(16);
    /// What no style of ours writes: `\u0041`, lone surrogates.
    const ODD: Self = Self(32);
    /// Upper-case hex digits.
    const UPPER: Self = Self(64);

    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Notes the escape that begins at `pos` and returns the position after it; `None` when it is invalid.
    pub(super) fn escape(&mut self, bytes: &[u8], pos: usize) -> Option<usize> {
        let (mark, len) = match bytes.get(pos + 1)? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => (Self::COMMON, 2),
            b'/' => (Self::SLASH, 2),
            b'u' => {
                let unit = hex(bytes, pos + 2)?;
                let (mark, len) = match unit {
                    0x08 | 0x09 | 0x0a | 0x0c | 0x0d => (Self::ODD, 6),
                    0..0x20 => (Self::COMMON, 6),
                    0x26 | 0x3c | 0x3e => (Self::HTML, 6),
                    0x7f => (Self::DELETE, 6),
                    0x20..0x7f => (Self::ODD, 6),
                    0xd800..=0xdfff => match pair(bytes, pos) {
                        Some(_) => (Self::WIDE, 12),
                        None => (Self::ODD, 6),
                    },
                    _ => (Self::WIDE, 6),
                };
                let upper = bytes.get(pos..pos + len)?.iter().any(u8::is_ascii_uppercase);
                self.add(if upper { Self::UPPER } else { Self::NONE });
                (mark, len)
            }
            _ => return None,
        };
        self.add(mark);
        Some(pos + len)
    }
}

/// How a writer escapes strings. Control characters have their short form, or else hex, in all styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style(u8);

const ASCII: u8 = 1;
const SLASH: u8 = 2;
const HTML: u8 = 4;
const UPPER: u8 = 8;
const N_STYLES: u8 = 16;

impl Style {
    /// Only what JSON demands.
    pub(super) const MINIMAL: Self = Self(0);

    /// The style of a record whose strings have these escapes.
    pub(super) fn of(record: &str, seen: Marks) -> Self {
        let ascii = seen.has(Marks::WIDE) && record.is_ascii();
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        let (slash, html) = (flag(seen.has(Marks::SLASH), SLASH), flag(seen.has(Marks::HTML), HTML));
        Self(flag(ascii, ASCII) | slash | html | flag(seen.has(Marks::UPPER), UPPER))
    }

    /// The style in which `text` is written as `raw`, quotes included; `self` when it fits, `None` when none does.
    pub(super) fn fitting(self, raw: &str, marks: Marks, text: &str) -> Option<Self> {
        if marks.has(Marks::ODD) {
            return None;
        }
        let all = std::iter::once(self).chain((0..N_STYLES).map(Self));
        all.filter(|style| style.makes(marks)).find(|style| style.writes(raw, marks, text))
    }

    /// The digit, base 36, that stands for the style in a layout; `0` is left for text that is copied.
    pub(super) fn code(self) -> char {
        char::from_digit(u32::from(self.0) + 1, 36).unwrap_or('0')
    }

    /// The style with this code.
    pub(super) fn from_code(code: char) -> Option<Self> {
        let number = code.to_digit(36)?.checked_sub(1)?;
        u8::try_from(number).ok().filter(|&number| number < N_STYLES).map(Self)
    }

    /// True when a writer of this style makes such escapes at all; cheap, so that few styles need to be tried.
    fn makes(self, marks: Marks) -> bool {
        let wide = self.has(ASCII) || self.has(HTML) || !marks.has(Marks::WIDE);
        let delete = self.has(ASCII) || !marks.has(Marks::DELETE);
        let slash = self.has(SLASH) || !marks.has(Marks::SLASH);
        let html = self.has(HTML) || !marks.has(Marks::HTML);
        let upper = self.has(UPPER) || !marks.has(Marks::UPPER);
        wide && delete && slash && html && upper
    }

    fn writes(self, raw: &str, marks: Marks, text: &str) -> bool {
        match self.0 {
            0 => matches!(marks, Marks::NONE | Marks::COMMON),
            ASCII => {
                let strange = Marks(Marks::SLASH.0 | Marks::HTML.0 | Marks::UPPER.0);
                !marks.has(strange) && raw.is_ascii() && memchr::memchr(0x7f, raw.as_bytes()).is_none()
            }
            _ => {
                let mut written = Expected::new(raw);
                encode(text, self, &mut written);
                written.is_met()
            }
        }
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    fn next_escape(self, bytes: &[u8], from: usize) -> usize {
        match self.0 & !UPPER {
            0 => find_special(bytes, from),
            ASCII => find_special_or_wide(bytes, from),
            _ => (from..bytes.len()).find(|&at| self.escapes(bytes, at)).unwrap_or(bytes.len()),
        }
    }

    fn escapes(self, bytes: &[u8], at: usize) -> bool {
        let rest = bytes.get(at..).unwrap_or_default();
        match rest.first() {
            Some(0..0x20 | b'"' | b'\\') => true,
            Some(b'/') => self.has(SLASH),
            Some(b'<' | b'>' | b'&') => self.has(HTML),
            Some(0x7f..) if self.has(ASCII) => true,
            Some(0xe2) if self.has(HTML) => {
                rest.starts_with(&[0xe2, 0x80, 0xa8]) || rest.starts_with(&[0xe2, 0x80, 0xa9])
            }
            _ => false,
        }
    }
}

/// The text of a validated string, without its quotes. Borrowed when nothing is escaped.
pub(super) fn decode(raw: &str, marks: Marks) -> Cow<'_, str> {
    if marks == Marks::NONE {
        return Cow::Borrowed(raw);
    }
    let bytes = raw.as_bytes();
    let mut text = String::with_capacity(raw.len());
    let mut from = 0;
    loop {
        let at = find_backslash(bytes, from);
        text.push_str(raw.get(from..at).expect("escapes are ASCII"));
        let Some(&kind) = bytes.get(at + 1) else { return Cow::Owned(text) };
        from = at + 2;
        match kind {
            b'n' => text.push('\n'),
            b't' => text.push('\t'),
            b'r' => text.push('\r'),
            b'b' => text.push('\u{8}'),
            b'f' => text.push('\u{c}'),
            b'u' => {
                if let Some(wide) = pair(bytes, at) {
                    text.push(wide);
                    from = at + 12;
                } else {
                    let unit = hex(bytes, at + 2).and_then(|unit| char::from_u32(unit.into()));
                    text.push(unit.unwrap_or(char::REPLACEMENT_CHARACTER));
                    from = at + 6;
                }
            }
            other => text.push(char::from(other)),
        }
    }
}

/// Appends `text` as a JSON string.
pub(super) fn encode(text: &str, style: Style, out: &mut impl Out) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = style.next_escape(bytes, from);
        let (plain, rest) = (text.get(from..at), text.get(at..));
        out.push_str(plain.expect("escaped are whole characters"));
        let Some(char) = rest.and_then(|rest| rest.chars().next()) else { break };
        push_escape(char, style, out);
        from = at + char.len_utf8();
    }
    out.push('"');
}

/// JSON text with every character beyond ASCII escaped; such characters only occur inside strings.
pub(super) fn restyle(json: &str, style: Style) -> Cow<'_, str> {
    if !style.has(ASCII) || json.is_ascii() {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() * 2);
    for char in json.chars() {
        if char.is_ascii() {
            out.push(char);
        } else {
            push_escape(char, style, &mut out);
        }
    }
    Cow::Owned(out)
}

fn push_escape(char: char, style: Style, out: &mut impl Out) {
    match char {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '/' => out.push_str("\\/"),
        _ => {
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    let digit = char::from_digit(u32::from(*unit >> shift) & 15, 16);
                    let digit = digit.expect("four bits are a hex digit");
                    out.push(if style.has(UPPER) { digit.to_ascii_uppercase() } else { digit });
                }
            }
        }
    }
}

/// The character of a pair of surrogate escapes that begins at `pos`.
fn pair(bytes: &[u8], pos: usize) -> Option<char> {
    let high = hex(bytes, pos + 2).filter(|unit| (0xd800..0xdc00).contains(unit))?;
    if bytes.get(pos + 6..pos + 8)? != b"\\u" {
        return None;
    }
    let low = hex(bytes, pos + 8).filter(|unit| (0xdc00..0xe000).contains(unit))?;
    char::from_u32(0x1_0000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(low) - 0xdc00))
}

fn hex(bytes: &[u8], pos: usize) -> Option<u16> {
    bytes.get(pos..pos + 4)?.iter().try_fold(0, |unit: u16, &byte| {
        let digit = char::from(byte).to_digit(16)?;
        Some(unit << 4 | digit as u16)
    })
}
