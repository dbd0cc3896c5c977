//! The signs of a line as bits, so that a detector can see that it has nothing to do. Knows bytes; refuses to know what
//! they mean.

use crate::text::classes::byte_table;
use crate::text::keys::has_double_blank;
use crate::text::words::flag;

/// The signs of a line as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Signs(u32);

/// A constant for each sign or kind of signs, and the table of the bytes.
macro_rules! signs {
    ($($byte:pat => $name:ident,)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        impl Signs {
            $(pub(crate) const $name: u32 = flag(NAMES, stringify!($name));)*
        }

        static BITS: [u32; 256] = byte_table!(u32: $($byte => Signs::$name,)* _ => 0,);
    };
}

signs! {
    b'=' => EQUALS,
    b'[' | b']' => SQUARE,
    b'<' | b'>' => ANGLE,
    b';' => SEMICOLON,
    b'{' | b'}' | b'_' | b'#' | b'$' | b'*' | b'+' | b'%' | b'&' | b'^' | b'~' => OTHER,
    b'|' => PIPE,
    b'`' => BACKTICK,
    b'(' | b')' => ROUND,
    b'/' | b'\\' => SLASH,
    b'@' => AT,
    b':' => COLON,
    b'"' => QUOTE,
    b'0'..=b'9' => DIGIT,
    b'\t' => TAB,
    b',' => COMMA,
    b' ' => BLANK,
}

impl Signs {
    /// How many bytes of a line are looked at; what comes later in a line changes no judgement.
    pub(crate) const MAX_LOOK: usize = 320;
    /// Two blanks in a row.
    pub(crate) const GAP: u32 = 1 << 30;
    /// Words or a pair: a short key with a short value.
    pub(crate) const DATUM: u32 = 1 << 31;
    /// What source code cannot do without, except for a few short lines: all signs down to the quotes.
    pub(crate) const OF_CODE: u32 = (Self::QUOTE << 1) - 1;
    /// Those of them that prose has no use for: all signs above the round brackets.
    pub(crate) const OF_STATEMENTS: u32 = Self::ROUND - 1;

    /// Gathers the signs of `line`.
    pub(crate) fn of(line: &[u8]) -> Self {
        let look = line.get(..line.len().min(Self::MAX_LOOK)).unwrap_or_default();
        let (words, rest) = look.as_chunks::<8>();
        let of = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all | BITS[byte as usize]);
        let all = words.iter().fold(of(rest), |all, word| all | of(word));
        Self(all | if has_double_blank(look) { Self::GAP } else { 0 })
    }

    /// These and `more`.
    pub(super) const fn with(self, more: u32) -> Self {
        Self(self.0 | more)
    }

    /// True when the line has at least one of `bits`.
    pub(crate) fn any(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    /// The signs of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
