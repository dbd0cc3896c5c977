//! The numbers that viewers of files put before lines: `12→`, `12⇥`, `12:`. Knows that they count up by one; refuses to
//! know what stands behind them.

use std::borrow::Cow;

/// A larger number is no line of a file.
const MAX_DIGITS: usize = 6;
const ARROW: &[u8] = "→".as_bytes();

/// Follows the numbers from line to line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbering {
    previous: Option<Number>,
}

#[derive(Debug, Clone, Copy)]
struct Number {
    value: u32,
    /// First byte of what parts it from the text.
    sign: u8,
    /// Where the text begins.
    body: usize,
}

impl Numbering {
    /// Where the text of the line `bytes[start..end]` begins, which has its first sign at `mark`, when a number of a
    /// viewer stands before it: one that goes on from the line before, or in the one at `next`.
    #[inline]
    pub(super) fn body(
        &mut self,
        bytes: &[u8],
        (start, mark, end): (usize, usize, usize),
        next: usize,
    ) -> Option<usize> {
        if !bytes.get(mark).is_some_and(u8::is_ascii_digit) {
            self.previous = None;
            return None;
        }
        let before = self.previous.take();
        let here = Number::at(bytes.get(..end)?, mark)?;
        self.previous = Some(here);
        let is_padded = mark > start && here.sign != b':';
        if !is_padded && !before.is_some_and(|before| before.leads_to(here)) && !here.goes_on(bytes, next) {
            return None;
        }
        Some(here.body)
    }

    /// False when a sentence cannot go on in this line, because [`plain`] would not find the number again.
    pub(super) fn may_join(&self) -> bool {
        self.previous.is_none_or(|number| number.sign != b':')
    }
}

impl Number {
    /// The number at `at`, when it is one of a viewer.
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let rest = bytes.get(at..)?;
        let n_digits = rest.iter().take(MAX_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=MAX_DIGITS).contains(&n_digits) {
            return None;
        }
        let value = rest.iter().take(n_digits).fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
        let behind = rest.get(n_digits..)?;
        let n_sign = match behind {
            [b'\t', ..] => 1,
            [b':', next @ ..] if !next.first().is_some_and(u8::is_ascii_digit) => 1,
            _ if behind.starts_with(ARROW) => ARROW.len(),
            _ => return None,
        };
        Some(Self { value, sign: behind[0], body: at + n_digits + n_sign })
    }

    /// True when the line at `next` has the next number; matches of a search have neighbours too, so that behind a colon the
    /// line after it must go on as well.
    fn goes_on(self, bytes: &[u8], next: usize) -> bool {
        let behind = |at: usize| memchr::memchr(b'\n', bytes.get(at..)?).map(|len| at + len + 1);
        let follows = |one: Self, at: usize| {
            Self::at(bytes, skip_blanks(bytes, at, bytes.len()).0).filter(|other| one.leads_to(*other))
        };
        let Some(second) = follows(self, next) else { return false };
        self.sign != b':' || behind(next).is_some_and(|at| follows(second, at).is_some())
    }

    fn leads_to(self, next: Self) -> bool {
        next.value == self.value + 1 && next.sign == self.sign
    }
}

/// The first byte from `at` on that is no blank, and how far the blanks indent; a tab counts four.
#[inline]
pub(super) fn skip_blanks(bytes: &[u8], mut at: usize, end: usize) -> (usize, usize) {
    let mut indent = 0;
    while at < end && matches!(bytes[at], b' ' | b'\t') {
        indent += if bytes[at] == b'\t' { 4 } else { 1 };
        at += 1;
    }
    (at, indent)
}

/// What stands behind the number that a viewer put at the start of `line`, if one did.
fn behind_number(line: &str) -> Option<&str> {
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = (1..=MAX_DIGITS).contains(&(line.len() - behind.len()));
    behind.strip_prefix(['\t', '→']).filter(|_| is_number)
}

/// A line without blanks at its ends and without the number that a viewer put before it.
#[must_use]
pub fn unnumbered(line: &str) -> &str {
    behind_number(line.trim()).map_or(line.trim(), str::trim)
}

/// A unit of several lines without the numbers that a viewer put before the second and later ones.
#[must_use]
pub fn plain(unit: &str) -> Cow<'_, str> {
    let end = memchr::memchr(b'\n', unit.as_bytes());
    let Some((first, lines)) = end.and_then(|end| Some((unit.get(..end)?, unit.get(end + 1..)?))) else {
        return Cow::Borrowed(unit);
    };
    let lines = lines.split('\n');
    if !lines.clone().any(|line| line.trim_ascii_start().starts_with(|c: char| c.is_ascii_digit())) {
        return Cow::Borrowed(unit);
    }
    let rest: Vec<&str> = lines.map(unnumbered).collect();
    Cow::Owned(format!("{first}\n{}", rest.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::{Numbering, plain, unnumbered};

    fn bodies(text: &str) -> Vec<Option<&str>> {
        let (mut numbering, mut at) = (Numbering::default(), 0);
        text.split('\n')
            .map(|line| {
                let (start, end) = (at, at + line.len());
                at = (end + 1).min(text.len());
                let mark = start + line.len() - line.trim_start().len();
                numbering.body(text.as_bytes(), (start, mark, end), at).and_then(|body| text.get(body..end))
            })
            .collect()
    }

    #[test]
    fn numbers_that_count_up_belong_to_the_viewer() {
        assert_eq!(bodies("    7→use std;\n    8→\n    9→fn"), [Some("use std;"), Some(""), Some("fn")]);
        assert_eq!(bodies("9\ta\n10\tb\nc"), [Some("a"), Some("b"), None]);
        assert_eq!(bodies("12:x\n19:y\n30:z"), [None, None, None]);
        assert_eq!(bodies("9:00 open\n10:00 talk"), [None, None]);
        assert_eq!(bodies("1. a\n2. b"), [None, None]);
    }

    #[test]
    fn a_line_is_shown_without_its_number() {
        assert_eq!(unnumbered("   12→\tlet x = 1;"), "let x = 1;");
        assert_eq!(unnumbered(" 12 lines"), "12 lines");
        assert_eq!(unnumbered("12"), "12");
        assert_eq!(plain("a long\n   13→line"), "a long\nline");
        assert_eq!(plain("a line"), "a line");
    }
}
