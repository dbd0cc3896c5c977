//! Finds URLs, quotes and code spans, which may hold other facts. Knows opening and closing signs; refuses to know
//! what is between them.

use super::counts;
use super::facts::Finder;
use super::keys::fact_key;
use super::lexed::{Fact, FactKind, Span};
use super::scan::Piece;

/// The closing sign of a quote or code span is looked for within this many bytes.
const MAX_SPAN: usize = 200;
/// Quoted text is a fact up to this many characters.
const MAX_QUOTED: usize = 60;

impl Finder<'_> {
    /// Pushes a URL of the piece; returns where the rest begins.
    pub(super) fn urls(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        while let Some(found) = memchr::memmem::find(&self.bytes[at..end], b"://") {
            let sign = at + found;
            let mut from = sign;
            while from > at && self.bytes[from - 1].is_ascii_alphanumeric() && sign - from < 12 {
                from -= 1;
            }
            let mut to = sign + 3;
            while to < end
                && !matches!(
                    self.bytes[to],
                    b'"' | b'\'' | b'<' | b'>' | b'`' | b'|' | b'{' | b'}' | b'\\' | b'^' | 0x80..
                )
            {
                to += 1;
            }
            let has_open = memchr::memchr(b'(', &self.bytes[sign..to]).is_some();
            if !has_open {
                to = memchr::memchr(b')', &self.bytes[sign..to]).map_or(to, |at| sign + at);
            }
            while to > sign + 3 && is_url_tail(self.bytes[to - 1], has_open) {
                to -= 1;
            }
            if from < sign && to > sign + 3 && to - from <= 2000 {
                self.push(from, to, FactKind::Url);
            }
            at = to.max(sign + 3);
        }
        at
    }

    /// Pushes the code spans and quotes that open in the piece.
    pub(super) fn quotes(&mut self, piece: Piece) {
        let end = piece.end as usize;
        let mut at = (piece.start as usize).max(self.quote_end);
        while at < end {
            let Some((close, len)) = closing(self.bytes, at, piece.start as usize) else {
                at += 1;
                continue;
            };
            let limit = self.line_end.min(at + len + MAX_SPAN);
            let body = self.bytes.get(at + len..limit).unwrap_or_default();
            let Some(found) = memchr::memmem::find(body, close) else {
                at += len;
                continue;
            };
            let inner = &body[..found];
            let stop = at + len + found + close.len();
            let is_code = close == b"`";
            if found > 0 && (is_code || counts::count_chars(inner) <= MAX_QUOTED) {
                self.names.end_run(self.bytes, self.facts);
                let kind = if is_code { FactKind::CodeSpan } else { FactKind::Quoted };
                let span = Span { start: at as u32, end: stop as u32 };
                self.facts.push(Fact { span, kind, key: fact_key(inner) });
            }
            at = stop;
            self.quote_end = stop;
        }
    }
}

/// True when a URL does not end with `byte`; a bracket may close one that the URL opens.
fn is_url_tail(byte: u8, has_open: bool) -> bool {
    matches!(byte, b'.' | b',' | b';' | b':' | b'!' | b'?' | b']' | b'*' | b'_') || byte == b')' && !has_open
}

/// The sign that closes what opens at `at`, and the length of the opening sign.
fn closing(bytes: &[u8], at: usize, piece_start: usize) -> Option<(&'static [u8], usize)> {
    match bytes.get(at..)? {
        [b'`', ..] => Some((b"`", 1)),
        [b'"', ..] if at == piece_start || !bytes[at - 1].is_ascii_alphanumeric() => Some((b"\"", 1)),
        [0xe2, 0x80, 0x9c, ..] => Some(("”".as_bytes(), 3)),
        [0xe2, 0x80, 0x9e, ..] => Some(("“".as_bytes(), 3)),
        [0xc2, 0xab, ..] => Some(("»".as_bytes(), 2)),
        [0xe3, 0x80, 0x8c, ..] => Some(("」".as_bytes(), 3)),
        [0xe3, 0x80, 0x8e, ..] => Some(("』".as_bytes(), 3)),
        [0xe3, 0x80, 0x8a, ..] => Some(("》".as_bytes(), 3)),
        _ => None,
    }
}
