//! The words and signs of a statement of SQL. Knows no statement.

use super::bytes::{from, is_word, run};

/// How far a statement is followed, in bytes.
const MAX_STATEMENT: usize = 6_000;

/// A piece of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A word or a quoted identifier, dots included.
    Word(&'t [u8]),
    /// A number, string or parameter.
    Value,
    /// Any other sign.
    Sign(u8),
}

impl Token<'_> {
    /// True for `word` in any case.
    pub(super) fn is(self, word: &str) -> bool {
        matches!(self, Token::Word(found) if found.eq_ignore_ascii_case(word.as_bytes()))
    }
    /// True for one of `words` in any case.
    pub(super) fn is_one_of(self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// The tokens of one statement: up to a semicolon, a blank line or a code quote.
pub(super) struct Statement<'t> {
    text: &'t [u8],
}

impl<'t> Iterator for Statement<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let mut breaks = 0;
        loop {
            let &byte = self.text.first()?;
            if byte == b'\n' {
                breaks += 1;
                if breaks > 1 {
                    return None;
                }
            } else if self.text.starts_with(b"--") {
                // A comment to the end of its line; the line break still counts.
                self.text = from(self.text, run(self.text, |byte| byte != b'\n'));
                continue;
            } else if !byte.is_ascii_whitespace() {
                break;
            }
            self.text = from(self.text, 1);
        }
        let &byte = self.text.first()?;
        let (token, length) = match byte {
            b'\'' | b'"' | b'`' => self.quoted(byte),
            b'0'..=b'9' => (Token::Value, run(self.text, |byte| is_word(byte) || byte == b'.')),
            b'$' | b'?' | b'@' | b':' if self.text.get(1).is_some_and(|&next| is_word(next)) => {
                (Token::Value, 1 + run(from(self.text, 1), is_word))
            }
            _ if is_word(byte) || byte >= 0x80 => {
                let mut length = run(self.text, |byte| is_word(byte) || byte >= 0x80 || byte == b'.');
                if self.text.get(length - 1) == Some(&b'.') {
                    length -= 1;
                }
                (Token::Word(self.text.get(..length.max(1)).unwrap_or_default()), length.max(1))
            }
            _ => (Token::Sign(byte), 1),
        };
        self.text = from(self.text, length);
        Some(token)
    }
}

impl<'t> Statement<'t> {
    /// The statement that begins at `at`.
    pub(super) fn at(text: &'t [u8], at: usize) -> Self {
        let rest = from(text, at);
        Self { text: rest.get(..rest.len().min(MAX_STATEMENT)).unwrap_or_default() }
    }

    /// A string or a quoted name; a quote that does not close soon is a sign by itself.
    fn quoted(&self, quote: u8) -> (Token<'t>, usize) {
        let inside = from(self.text, 1);
        let Some(end) = memchr::memchr(quote, inside.get(..inside.len().min(200)).unwrap_or_default()) else {
            return (Token::Sign(quote), 1);
        };
        let body = inside.get(..end).unwrap_or_default();
        if quote == b'\'' {
            return (Token::Value, end + 2);
        }
        let is_name = !body.is_empty() && body.iter().all(|&byte| is_word(byte) || byte == b'.' || byte == b' ');
        if !is_name {
            return (Token::Sign(quote), 1);
        }
        // `schema`.`table`.`column` is one name.
        let mut length = end + 2;
        while from(self.text, length).starts_with(b".") {
            let next = from(self.text, length + 1);
            let quoted = next.first() == Some(&quote);
            let part = run(from(next, usize::from(quoted)), |byte| is_word(byte) || (quoted && byte == b' '));
            if part == 0 {
                break;
            }
            length += 1 + part + 2 * usize::from(quoted);
        }
        (Token::Word(self.text.get(..length).unwrap_or_default()), length)
    }
}
