//! A line as the lexer cut it, and the one judgement of what it looks like: prose, list item, log entry, code, table row, …
//! `judge` asks the files of the kinds in turn; they know single lines, their signs and their words, and refuse to know what
//! a line reports or what the text around it is.

mod code;
mod config;
pub(super) mod judge;
mod output;
pub(crate) mod signs;

use super::lexed::Severity;
use super::scan::Piece;
use signs::Signs;

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
    /// True when piece `index` is the name of an exception: `TypeError:`, `java.io.IOException:`.
    pub(super) fn is_exception(&self, index: usize) -> bool {
        let Some(piece) = self.pieces.get(index).filter(|piece| piece.of(self.bytes).ends_with(b":")) else {
            return false;
        };
        let name = piece.word(self.bytes);
        (name.ends_with(b"Error") && name.len() > 5 || name.ends_with(b"Exception"))
            && name.iter().all(|&byte| byte.is_ascii_alphanumeric() || b"._$".contains(&byte))
    }
    /// What the detectors of a kind look at.
    fn bare(&self, signs: Signs) -> Bare<'a> {
        Bare { text: self.trimmed(), indent: self.indent, signs }
    }
    /// Word flags of piece `index`.
    pub(super) fn flags(&self, index: usize) -> u32 {
        self.pieces.get(index).map_or(0, |piece| piece.word)
    }
}

/// A line without its indentation and without the number that a file viewer puts in front.
#[derive(Debug, Clone, Copy)]
struct Bare<'t> {
    /// Without blanks at either end; never empty.
    text: &'t [u8],
    /// Blanks in front, a tab counting four.
    indent: usize,
    /// Which signs it has.
    signs: Signs,
}

/// What a check mark or cross at the start of `text` says.
pub(super) fn mark(text: &[u8]) -> Option<Severity> {
    match text {
        [0xe2, 0x9c, 0x95..=0x98, ..] | [0xe2, 0x9d, 0x8c, ..] => Some(Severity::Failure),
        [0xe2, 0x9c, 0x93 | 0x94 | 0x85, ..] => Some(Severity::Success),
        [0xe2, 0x9a, 0xa0, ..] => Some(Severity::Warning),
        _ => None,
    }
}
