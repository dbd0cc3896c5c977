//! A line as the detectors of `look` get it: its text without indentation and the number of a viewer, its signs as bits, so
//! that a detector can see that it has nothing to do, and what they may say of it; small questions about bytes that
//! several detectors ask. Knows no structures and no reasons.

use crate::text::classes::byte_table;
use crate::text::words::flag;

/// What a line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// White space only.
    Blank,
    /// Words, and whatever nothing else claims.
    Prose,
    /// `# …`
    Heading,
    /// An item of a list.
    Item,
    /// Source code beyond doubt.
    Code,
    /// Source code when its neighbours are.
    MaybeCode,
    /// A comment, which decides nothing.
    Comment,
    /// `key: value` or `key = value` with a value that no sentence has; `[section]`.
    Config,
    /// `key: a few words`.
    Pair,
    /// A row of a table with visible borders.
    Row,
    /// A rule of a table.
    Rule,
    /// Columns kept apart by blanks or tabs.
    Columns,
    /// A tag.
    Markup,
    /// A member of a JSON object or its brackets.
    Json,
    /// Begins a file or a hunk of a diff.
    DiffHead,
    /// A log entry, a status, a match, a file, a prompt.
    Output,
    /// A command behind the prompt of a shell.
    Prompt,
    /// The head of a traceback.
    TraceHead,
    /// A frame of a traceback.
    TraceFrame,
}

/// A line without its indentation and without the number that a file viewer puts in front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bare<'t> {
    /// Without blanks at either end; never empty.
    pub(super) text: &'t [u8],
    /// Blanks in front, a tab counting four.
    pub(super) indent: usize,
    /// The number that a file viewer put in front.
    pub(super) number: Option<usize>,
    /// Which signs it has.
    pub(super) signs: Signs,
}

/// Removes indentation and line number.
///
/// `expected` is the number that the line has when the one before had a number; a colon or a bar separates it
/// from the text only when it fits.
pub(super) fn bare(line: &[u8], expected: Option<usize>) -> Bare<'_> {
    let (mut indent, mut text) = trim(line);
    let mut number = None;
    let digits = run(text, |byte| byte.is_ascii_digit());
    if (1..=6).contains(&digits) {
        let rest = from(text, digits);
        let value = text.iter().take(digits).fold(0, |sum, &digit| sum * 10 + usize::from(digit - b'0'));
        let fits = expected == Some(value) || value == 1;
        let after = rest
            .strip_prefix(b"\t")
            .or_else(|| rest.strip_prefix("→".as_bytes()))
            .or_else(|| fits.then(|| rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"|"))).flatten());
        if let Some(after) = after {
            (indent, text) = trim(after);
        }
        // The first number of a view fits nothing yet; the next one will.
        if after.is_some() || matches!(rest.first(), Some(b':' | b'|')) {
            number = Some(value);
        }
    }
    Bare { text, indent, number, signs: Signs::of(text) }
}

fn trim(line: &[u8]) -> (usize, &[u8]) {
    let skip = run(line, |byte| byte == b' ' || byte == b'\t');
    let indent = line.iter().take(skip).map(|&byte| if byte == b'\t' { 4 } else { 1 }).sum();
    (indent, from(line, skip).trim_ascii_end())
}

/// Bytes of the list marker in front with its blank; 0 without one.
pub(super) fn list_marker(text: &[u8]) -> usize {
    for bullet in ["- ", "* ", "+ ", "• ", "· ", "– ", "— ", "◦ ", "▪ "] {
        if text.starts_with(bullet.as_bytes()) {
            return bullet.len();
        }
    }
    let digits = run(text, |byte| byte.is_ascii_digit());
    let label =
        if digits > 0 && digits <= 3 { digits } else { usize::from(text.first().is_some_and(u8::is_ascii_alphabetic)) };
    match (text.get(label), text.get(label + 1)) {
        (Some(b'.' | b')'), Some(b' ')) if label > 0 => label + 2,
        _ => 0,
    }
}

/// The signs of a line as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Signs(u32);

/// How many bytes of a line are looked at; what comes later in a line changes no judgement.
const MAX_LOOK: usize = 320;

/// A constant for each sign or kind of signs, and the table of the bytes.
macro_rules! signs {
    ($($byte:pat => $name:ident,)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        impl Signs {
            $(pub(super) const $name: u32 = flag(NAMES, stringify!($name));)*
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
    /// Two blanks in a row.
    pub(super) const GAP: u32 = 1 << 30;
    /// What source code cannot do without, except for a few short lines: all signs down to the quotes.
    pub(super) const OF_CODE: u32 = (Self::QUOTE << 1) - 1;
    /// Those of them that prose has no use for: all signs above the round brackets.
    pub(super) const OF_STATEMENTS: u32 = Self::ROUND - 1;

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

/// The bytes of `text` from `at` on; empty past the end.
pub(super) fn from(text: &[u8], at: usize) -> &[u8] {
    text.get(at..).unwrap_or_default()
}

/// True for what identifiers are made of in ASCII.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// True when the byte before `at` does not continue a word.
pub(super) fn starts_word(text: &[u8], at: usize) -> bool {
    at == 0 || !text.get(at - 1).is_some_and(|&before| is_word(before) || before >= 0x80)
}

/// How many bytes of `text` in front satisfy `test`.
pub(super) fn run(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !belongs(byte)).unwrap_or(text.len())
}

/// `text` without the blanks in front.
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    from(text, run(text, |byte| byte == b' ' || byte == b'\t'))
}

/// The rest of `text` after `prefix`, compared without case; `prefix` is in lower case.
pub(super) fn after_folded<'t>(text: &'t [u8], prefix: &[u8]) -> Option<&'t [u8]> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| from(text, prefix.len()))
}

/// True when `text` contains `needle`; for short texts, where a searcher costs more than it saves.
pub(super) fn holds(text: &[u8], needle: &[u8]) -> bool {
    // A blank is everywhere in prose, what follows it is not.
    let skip = usize::from(needle.len() > 1 && needle.first() == Some(&b' '));
    let Some(&rare) = needle.get(skip) else {
        return true;
    };
    memchr::memchr_iter(rare, text).any(|at| at >= skip && from(text, at - skip).starts_with(needle))
}

/// How often `byte` stands in `text`.
pub(super) fn count(text: &[u8], byte: u8) -> usize {
    memchr::memchr_iter(byte, text).count()
}

/// The first of `heads` with which `text` begins.
pub(super) fn head_of<'l>(text: &[u8], heads: &'l [&'l str]) -> Option<&'l str> {
    let is_head = |head: &&&str| head.as_bytes().first() == text.first() && text.starts_with(head.as_bytes());
    heads.iter().find(is_head).copied()
}

/// The rest of `text` after the first of `heads` that it begins with, compared without case; those are in lower case.
pub(super) fn after_one_of<'t>(text: &'t [u8], heads: &[&str]) -> Option<&'t [u8]> {
    heads.iter().find_map(|head| after_folded(text, head.as_bytes()))
}
