//! What one line looks like: whether it has a word, is a sentence, names a place, is put there by a harness. Knows bytes;
//! refuses to know what stands around it.

use super::formats::Lines;
use crate::text::USER_SAID;

/// Bytes of a line that are looked at.
const NEAR: usize = 400;
/// Of a line that a person wrote: blanks at least, blanks in front, and per cent of letters and blanks.
const MIN_BLANKS: usize = 3;
const MAX_INDENT: usize = 4;
const MIN_LETTERS: usize = 88;
/// The same between lines that he pastes.
const MIN_SAID: usize = 2;
const MIN_SAID_LETTERS: usize = 75;

/// Lines in which it stands that a user refused the use of a tool.
const REFUSAL: usize = 3;

/// The line with which a reminder of the harness at the end of a text begins.
pub(super) fn reminder(text: Lines<'_>) -> Option<usize> {
    let last = (0..text.len()).rev().find(|&at| text.lines[at].len > 0)?;
    let begins = |&at: &usize| text.at(at).trim_ascii_start().starts_with(b"<system-reminder>");
    let is_reminder = text.at(last).trim_ascii_end().ends_with(b"</system-reminder>");
    if is_reminder { (0..=last).rev().find(begins) } else { None }
}

/// The line with which the words of a user begin who refused the use of a tool, in what came back instead.
pub(super) fn words_of_user(text: Lines<'_>) -> Option<usize> {
    let is_refused = text.len() > 0 && text.at(0).starts_with(b"The user doesn't want to ");
    let told = (0..text.len()).take_while(|_| is_refused);
    let begin = told.take(REFUSAL).find(|&at| memchr::memmem::find(text.at(at), USER_SAID.as_bytes()).is_some())?;
    Some(begin + usize::from(text.at(begin).trim_ascii_end().ends_with(USER_SAID.as_bytes())))
}

/// A heading, numbered or with signs.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let n_digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line.starts_with(b"#") || line.starts_with(b"**") || n_digits > 0 && line[n_digits..].starts_with(b". ")
}

/// True for a heading over what is still to be done.
pub(super) fn speaks_of_open(heading: &[u8]) -> bool {
    let folded = heading.to_ascii_lowercase();
    ["pending task", "current work", "next step"]
        .iter()
        .any(|words| memchr::memmem::find(&folded, words.as_bytes()).is_some())
}

/// A row that a search prints beside a match: `12-let a`.
pub(super) fn is_beside_match(row: &[u8]) -> bool {
    let row = row.trim_ascii_start();
    let n_digits = row.iter().take_while(|byte| byte.is_ascii_digit()).count();
    n_digits > 0 && row.get(n_digits) == Some(&b'-')
}

/// True for a line of words, as people write them.
pub(super) fn is_sentence(line: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    let is_indented = line.len() - line.trim_ascii_start().len() >= MAX_INDENT;
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"- ").or_else(|| line.strip_prefix(b"* ")).unwrap_or(line);
    let n_letters = line.iter().filter(|byte| is_letter(byte)).count();
    let n_blanks = memchr::memchr_iter(b' ', line.trim_ascii()).count();
    let n_wide = line.iter().filter(|byte| **byte >= 0x80).count();
    let text = line.trim_ascii_start();
    let begins = text.first().is_some_and(|byte| is_letter(byte) || b"-*1234567890\"'(".contains(byte));
    let has_words = n_blanks >= MIN_BLANKS || n_wide > n_letters / 2;
    begins && !is_indented && has_words && (n_letters + n_blanks) * 100 >= line.len() * MIN_LETTERS
}

/// True for a line of words that is neither laid out nor ends like code.
pub(super) fn is_said(line: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    let n_blanks = memchr::memchr_iter(b' ', line).count();
    let n_letters = line.iter().filter(|byte| is_letter(byte)).count();
    let is_bare = !line.first().is_none_or(u8::is_ascii_whitespace)
        && !line.last().is_some_and(|byte| b";{}()[],:=".contains(byte));
    is_bare && n_blanks >= MIN_SAID && (n_letters + n_blanks) * 100 >= line.len() * MIN_SAID_LETTERS
}

/// A line without its numbers.
pub(super) fn template(text: &[u8]) -> Vec<u8> {
    let mut without = Vec::with_capacity(text.len());
    without.extend(text.iter().filter(|byte| !byte.is_ascii_digit()));
    without
}

/// The first word of letters, behind a time or a number; two letters at least.
pub(super) fn first_word(text: &[u8]) -> &[u8] {
    let near = &text[..text.len().min(NEAR)];
    let mut words = near.split(|byte| !byte.is_ascii_alphabetic());
    words.find(|word| word.len() > 1).unwrap_or_default()
}

pub(super) fn has_word(text: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    text[..text.len().min(NEAR)].windows(2).any(|two| two.iter().all(is_word))
}

/// Lines with which a harness wraps what a program prints.
pub(super) fn is_envelope(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_tag =
        |name: &[u8]| [&b"returncode"[..], b"output", b"stdout", b"stderr", b"system-reminder"].contains(&name);
    let tag = text.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">"));
    let starts = |heads: &[&[u8]]| heads.iter().any(|head| text.starts_with(head));
    text == b"Output:"
        || tag.is_some_and(|name| is_tag(name.strip_prefix(b"/").unwrap_or(name)))
        || starts(&[
            b"Command: ",
            b"Chunk ID: ",
            b"Wall time: ",
            b"Original token count: ",
            b"Debugger attached",
            b"Waiting for the debugger",
        ])
        || text.starts_with(b"```") && text.len() < 20
}

/// True for a diagnostic with its place in front: `src/x.rs:12:5: …`, `--> src/x.rs:12`, `E   assert …`.
pub(super) fn has_place(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"--> ").unwrap_or(text);
    text.starts_with(b"E   ") || behind_place(text).is_some()
}

/// True for what a linter or a compiler says of a place; a search prints the line as it stands there: `src/x.rs:12:    let a`.
pub(super) fn reports(text: &[u8]) -> bool {
    let Some(behind) = behind_place(text) else { return false };
    let n_digits = behind.iter().take_while(|byte| byte.is_ascii_digit() || b":,)".contains(byte)).count();
    behind[..n_digits].ends_with(b":") && matches!(&behind[n_digits..], [b' ', next, ..] if !next.is_ascii_whitespace())
}

/// What stands behind the path and the sign with which a line begins: `12:5: …`.
fn behind_place(text: &[u8]) -> Option<&[u8]> {
    let path = text.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"._/@-\\".contains(&byte)).count();
    let (path, behind) = text.split_at(path);
    let extension = path.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let has_extension =
        (1..=5).contains(&extension) && path.len() > extension + 1 && path[path.len() - extension - 1] == b'.';
    let [b':' | b'(', behind @ ..] = behind else { return None };
    (has_extension && behind.first().is_some_and(u8::is_ascii_digit)).then_some(behind)
}
