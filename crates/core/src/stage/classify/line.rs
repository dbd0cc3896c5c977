//! A line as the detectors of `look` get it, and what they may say of it. Knows indentation, numbers of viewers and markers
//! of lists.

use super::bytes::{from, run};
use super::signs::Signs;

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
