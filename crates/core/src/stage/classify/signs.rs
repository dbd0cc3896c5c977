//! Which signs a line has, gathered in one pass, so that a detector can see that it has nothing to do. Knows no
//! structures.

use crate::text::classes::byte_table;

/// The signs of a line as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Signs(u32);

/// How many bytes of a line are looked at; what comes later in a line changes no judgement.
const MAX_LOOK: usize = 320;

impl Signs {
    /// `|`
    pub(super) const PIPE: u32 = 1;
    /// `=`
    pub(super) const EQUALS: u32 = 1 << 1;
    /// `:`
    pub(super) const COLON: u32 = 1 << 2;
    /// `{ }`
    pub(super) const CURLY: u32 = 1 << 3;
    /// `( )`
    pub(super) const ROUND: u32 = 1 << 4;
    /// `[ ]`
    pub(super) const SQUARE: u32 = 1 << 5;
    /// `< >`
    pub(super) const ANGLE: u32 = 1 << 6;
    /// `/ \`
    pub(super) const SLASH: u32 = 1 << 7;
    /// Double quote.
    pub(super) const QUOTE: u32 = 1 << 8;
    /// Backtick.
    pub(super) const BACKTICK: u32 = 1 << 9;
    /// `_`
    pub(super) const UNDERSCORE: u32 = 1 << 10;
    /// `;`
    pub(super) const SEMICOLON: u32 = 1 << 11;
    /// `@`
    pub(super) const AT: u32 = 1 << 12;
    /// `# $ * + % & ^ ~`
    pub(super) const OTHER: u32 = 1 << 13;
    /// A digit.
    pub(super) const DIGIT: u32 = 1 << 14;
    /// A tab.
    pub(super) const TAB: u32 = 1 << 15;
    /// `,`
    pub(super) const COMMA: u32 = 1 << 16;
    /// A blank.
    const BLANK: u32 = 1 << 17;
    /// Two blanks in a row.
    pub(super) const GAP: u32 = 1 << 18;
    /// What source code cannot do without, except for a few short lines.
    pub(super) const OF_CODE: u32 = Self::EQUALS
        | Self::CURLY
        | Self::ROUND
        | Self::SQUARE
        | Self::ANGLE
        | Self::SLASH
        | Self::QUOTE
        | Self::UNDERSCORE
        | Self::SEMICOLON
        | Self::AT
        | Self::OTHER
        | Self::PIPE
        | Self::COLON
        | Self::BACKTICK;

    /// Those of them that prose has no use for.
    pub(super) const OF_STATEMENTS: u32 = Self::EQUALS
        | Self::CURLY
        | Self::SQUARE
        | Self::ANGLE
        | Self::UNDERSCORE
        | Self::SEMICOLON
        | Self::OTHER
        | Self::PIPE
        | Self::BACKTICK;

    /// Gathers the signs of `line`.
    pub(super) fn of(line: &[u8]) -> Self {
        let mut all = 0;
        let mut twice = 0;
        let mut before = 0;
        for &byte in line.get(..line.len().min(MAX_LOOK)).unwrap_or_default() {
            let bits = BITS[byte as usize];
            all |= bits;
            twice |= bits & before;
            before = bits;
        }
        let gap = if twice & Self::BLANK == 0 { 0 } else { Self::GAP };
        Self(all | gap)
    }

    /// True when the line has at least one of `bits`.
    pub(super) fn any(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    /// The signs of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

static BITS: [u32; 256] = byte_table!(u32:
    b'|' => Signs::PIPE,
    b'=' => Signs::EQUALS,
    b':' => Signs::COLON,
    b'{' | b'}' => Signs::CURLY,
    b'(' | b')' => Signs::ROUND,
    b'[' | b']' => Signs::SQUARE,
    b'<' | b'>' => Signs::ANGLE,
    b'/' | b'\\' => Signs::SLASH,
    b'"' => Signs::QUOTE,
    b'`' => Signs::BACKTICK,
    b'_' => Signs::UNDERSCORE,
    b';' => Signs::SEMICOLON,
    b'@' => Signs::AT,
    b'#' | b'$' | b'*' | b'+' | b'%' | b'&' | b'^' | b'~' => Signs::OTHER,
    b'0'..=b'9' => Signs::DIGIT,
    b'\t' => Signs::TAB,
    b',' => Signs::COMMA,
    b' ' => Signs::BLANK,
    _ => 0,
);
