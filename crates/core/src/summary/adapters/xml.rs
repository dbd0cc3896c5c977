//! XML and HTML: tags and attributes stay; long texts and comments become extracts in their places.

use memchr::{memchr, memmem};

use super::adapter::{Wanted, is_candidate};
use super::passages::{Passages, is_prose};
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::{Span, TextView};

/// So much of the text must be prose that can become shorter.
const MIN_PROSE_SHARE: f64 = 0.25;
/// A quoted `>` belongs to its tag up to this many bytes.
const MAX_TAG: usize = 4_096;
/// What stands in these is no prose.
const CODE: [&str; 4] = ["script", "style", "pre", "code"];

/// True for XML and HTML with prose that can become shorter.
pub(super) fn detect(text: &TextView<'_>) -> bool {
    let trimmed = text.covered().trim();
    let opens = matches!(trimmed.as_bytes(), [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'!' | b'?' | b'_', ..]);
    if !is_candidate(text) || !opens || !trimmed.ends_with('>') || !is_closed(trimmed) {
        return false;
    }
    let prose = nodes(text.text).into_iter().filter(|node| is_prose(node.of(text.text)));
    prose.map(Span::len).sum::<usize>() as f64 >= MIN_PROSE_SHARE * trimmed.len() as f64
}

/// Shortens such a text.
pub(super) fn edit(spoken: &Spoken<'_>, wanted: &Wanted<'_>, edits: &mut Edits<'_>) {
    let text = spoken.view.text;
    let mut passages = Passages::of(spoken, wanted);
    for node in nodes(text) {
        if let Some(draft) = passages.shorten_text(node.of(text))
            && (memchr(b'&', node.of(text).as_bytes()).is_none() || is_escaped(&draft.text))
        {
            edits.replace(node, &draft);
        }
    }
}

/// The element that opens is the one that closes, or there are several.
fn is_closed(trimmed: &str) -> bool {
    memmem::find(trimmed.as_bytes(), b"</").is_some() || memmem::find(trimmed.as_bytes(), b"/>").is_some()
}

/// The texts between tags, comments and character data, without white space at their ends, in order.
fn nodes(text: &str) -> Vec<Span> {
    let mut scan = Scan { text, at: 0, nodes: Vec::new(), unclosed: [false; CODE.len()] };
    while scan.step() {}
    scan.nodes
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    nodes: Vec<Span>,
    /// Names in `CODE` of which no closing tag follows any more.
    unclosed: [bool; CODE.len()],
}

impl Scan<'_> {
    /// Goes on behind the next tag; false at the end.
    fn step(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(open) = memchr(b'<', rest.as_bytes()) else { return false };
        self.push(self.at, self.at + open);
        self.at += open;
        let tag = rest.get(open..).unwrap_or_default();
        let enclosed = |start: &str, end: &str| {
            let inner = tag.strip_prefix(start)?;
            let len = memmem::find(inner.as_bytes(), end.as_bytes())?;
            Some((start.len(), start.len() + len, start.len() + len + end.len()))
        };
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>")] {
            if !tag.starts_with(start) {
                continue;
            }
            // Without its end the rest is no XML.
            let Some((from, to, len)) = enclosed(start, end) else { return false };
            self.push(self.at + from, self.at + to);
            self.at += len;
            return true;
        }
        let Some(len) = tag_len(tag.as_bytes()) else { return false };
        self.at += len;
        self.skip_code(tag, len);
        true
    }

    /// Leaps over `<script>…</script>` and the like.
    fn skip_code(&mut self, tag: &str, len: usize) {
        let inner = tag.get(1..len).unwrap_or_default();
        let name_len = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let name = inner.get(..name_len).unwrap_or_default();
        let Some(index) = CODE.iter().position(|code| code.eq_ignore_ascii_case(name)) else { return };
        if inner.ends_with("/>") || self.unclosed[index] {
            return;
        }
        let behind = self.text.get(self.at..).unwrap_or_default();
        match memmem::find(behind.as_bytes(), format!("</{name}").as_bytes()) {
            Some(len) => self.at += len,
            None => self.unclosed[index] = true,
        }
    }

    fn push(&mut self, start: usize, end: usize) {
        let inner = self.text.get(start..end).unwrap_or_default();
        let trimmed = inner.trim();
        if !trimmed.is_empty() {
            let start = start + inner.len() - inner.trim_start().len();
            self.nodes.push(Span { start: start as u32, end: (start + trimmed.len()) as u32 });
        }
    }
}

/// Bytes of the tag that `bytes` begins with; `None` when it never ends. A `<` that opens no tag is one byte long.
fn tag_len(bytes: &[u8]) -> Option<usize> {
    if !bytes.get(1).is_some_and(|&byte| byte.is_ascii_alphabetic() || b"/!?_".contains(&byte)) {
        return Some(1);
    }
    let first = memchr(b'>', bytes)? + 1;
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate().take(MAX_TAG) {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(at + 1),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    Some(first)
}

/// Every `&` begins a reference.
fn is_escaped(text: &str) -> bool {
    text.split('&').skip(1).all(|rest| {
        let name = rest.split(';').next().unwrap_or_default();
        name.len() < rest.len()
            && !name.is_empty()
            && name.len() <= 32
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
    })
}
