//! The patterns of `o200k_base` and `cl100k_base`, and the next piece of a text under them, as far as ASCII decides where
//! it ends. The patterns are those published with `tiktoken`; the fast path stands beside the regular expressions, which
//! stay the authority. Knows no tokens.

/// Which pattern cuts the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Words are upper case, then lower case, then a contraction; signs take slashes and line ends with them.
    O200k,
    /// Words are letters; contractions stand alone; signs take line ends with them.
    Cl100k,
}

impl Pattern {
    /// As a regular expression for the next piece. The published ones look ahead: of white space within a line all but the
    /// last character is a piece, which is left to the caller.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::O200k => concat!(
                r"^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+)",
            ),
            Self::Cl100k => concat!(
                r"^(?:(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+",
                r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+)",
            ),
        }
    }
}

/// End of the piece that begins at `at`; `None` when a byte beyond ASCII has a say in it, and at the end of the text.
pub(super) fn next_ascii(pattern: Pattern, bytes: &[u8], at: usize) -> Option<usize> {
    let text = Ascii { bytes };
    let first = text.class(at)?;
    if pattern == Pattern::Cl100k && bytes[at] == b'\'' {
        let end = text.contraction(at)?;
        if end > at {
            return Some(end);
        }
    }
    match first {
        Class::Upper | Class::Lower => text.word(pattern, at),
        Class::Digit => text.digits(at),
        Class::Line => text.blanks(at),
        Class::Blank => match text.class(at + 1)? {
            Class::Upper | Class::Lower => text.word(pattern, at + 1),
            Class::Sign if bytes[at] == b' ' => text.signs(pattern, at + 1),
            _ => text.blanks(at),
        },
        Class::Sign => match text.class(at + 1)? {
            Class::Upper | Class::Lower => text.word(pattern, at + 1),
            _ => text.signs(pattern, at),
        },
        Class::End => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    /// Line feed, carriage return.
    Line,
    /// Other white space.
    Blank,
    Sign,
    End,
}

struct Ascii<'t> {
    bytes: &'t [u8],
}

impl Ascii<'_> {
    /// `None` for a byte beyond ASCII.
    fn class(&self, at: usize) -> Option<Class> {
        Some(match self.bytes.get(at) {
            None => Class::End,
            Some(b'a'..=b'z') => Class::Lower,
            Some(b'A'..=b'Z') => Class::Upper,
            Some(b'0'..=b'9') => Class::Digit,
            Some(b'\n' | b'\r') => Class::Line,
            Some(b' ' | b'\t' | 0x0B | 0x0C) => Class::Blank,
            Some(0x80..) => return None,
            Some(_) => Class::Sign,
        })
    }

    /// The first place from `at` on whose class is another one.
    fn skip(&self, mut at: usize, is_in: impl Fn(Class) -> bool) -> Option<usize> {
        loop {
            match self.class(at)? {
                Class::End => return Some(at),
                class if is_in(class) => at += 1,
                _ => return Some(at),
            }
        }
    }

    fn word(&self, pattern: Pattern, at: usize) -> Option<usize> {
        match pattern {
            Pattern::O200k => {
                let upper = self.skip(at, |class| class == Class::Upper)?;
                let lower = self.skip(upper, |class| class == Class::Lower)?;
                self.contraction(lower)
            }
            Pattern::Cl100k => self.skip(at, |class| matches!(class, Class::Upper | Class::Lower)),
        }
    }

    /// One to three digits.
    fn digits(&self, at: usize) -> Option<usize> {
        for end in at + 1..at + 3 {
            if self.class(end)? != Class::Digit {
                return Some(end);
            }
        }
        Some(at + 3)
    }

    fn signs(&self, pattern: Pattern, at: usize) -> Option<usize> {
        let mut end = self.skip(at, |class| class == Class::Sign)?;
        // What follows the signs may end anywhere: these bytes are whole characters whatever comes next.
        let follows = |byte: u8| matches!(byte, b'\n' | b'\r') || byte == b'/' && pattern == Pattern::O200k;
        while self.bytes.get(end).is_some_and(|&byte| follows(byte)) {
            end += 1;
        }
        Some(end)
    }

    /// White space: up to its last line end; all of it at the end of the text; else all but its last character, which
    /// belongs to what follows, unless it is the only one.
    fn blanks(&self, at: usize) -> Option<usize> {
        let end = self.skip(at, |class| matches!(class, Class::Blank | Class::Line))?;
        let run = &self.bytes[at..end];
        if let Some(last) = run.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            return Some(at + last + 1);
        }
        Some(if end == self.bytes.len() || end == at + 1 { end } else { end - 1 })
    }

    /// End of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in either case; `at` when there is none.
    fn contraction(&self, at: usize) -> Option<usize> {
        if self.bytes.get(at) != Some(&b'\'') {
            return Some(at);
        }
        // Beyond ASCII too there are forms of `s`.
        self.class(at + 1)?;
        let letter = |at: usize| self.bytes.get(at).map(u8::to_ascii_lowercase);
        Some(match letter(at + 1) {
            Some(b's' | b't' | b'm' | b'd') => at + 2,
            Some(b'r' | b'v') if letter(at + 2) == Some(b'e') => at + 3,
            Some(b'l') if letter(at + 2) == Some(b'l') => at + 3,
            _ => at,
        })
    }
}
