//! Lines that name files and commits: directory listings, states of a repository, change counts, histories. Knows
//! single lines only.

use super::bytes::{count, from, holds, is_word, run, skip_blanks};

/// `drwxr-xr-x`
pub(super) fn is_mode(text: &[u8]) -> bool {
    text.get(1..10).is_some_and(|mode| mode.iter().all(|byte| b"rwxsStT-".contains(byte)) && mode.contains(&b'r'))
}

/// ` M path`, `?? path`, `A  path` as a short status prints them.
pub(super) fn is_short_status(text: &[u8]) -> bool {
    let marks = run(text, |byte| matches!(byte, b'M' | b'A' | b'D' | b'R' | b'U' | b'?' | b'!'));
    let path = skip_blanks(from(text, marks));
    (1..=2).contains(&marks)
        && matches!(text.get(marks), Some(b' ' | b'\t'))
        && memchr::memchr2(b'/', b'.', path).is_some()
        && !path.contains(&b' ')
        && path.len() >= 3
}

/// `7d01fa2 Subject of a commit`
pub(super) fn is_hash_subject(text: &[u8]) -> bool {
    let length = run(text, |byte| byte.is_ascii_hexdigit());
    (7..=40).contains(&length)
        && text.get(length) == Some(&b' ')
        && text.iter().take(length).any(u8::is_ascii_digit)
        && text.iter().take(length).any(u8::is_ascii_lowercase)
}

/// `src/a.rs | 12 ++--` and the sum below.
pub(super) fn is_change_count(text: &[u8]) -> bool {
    let signs = text.iter().rev().take_while(|byte| matches!(byte, b'+' | b'-')).count();
    let before = text.get(..text.len() - signs).unwrap_or_default().trim_ascii_end();
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let before = before.get(..before.len() - digits).unwrap_or_default();
    (signs > 0 && digits > 0 && before.ends_with(b"| ")
        || before.ends_with(b" ") && before.trim_ascii_end().ends_with(b" |"))
        || (text.first().is_some_and(u8::is_ascii_digit)
            && (holds(text, b" files changed, ") || holds(text, b" file changed, ")))
}

/// `commit 7d01fa2…` in a history.
pub(super) fn is_commit(text: &[u8]) -> bool {
    text.strip_prefix(b"commit ").is_some_and(|rest| {
        let digits = run(rest, |byte| byte.is_ascii_hexdigit());
        digits == 40 && matches!(rest.get(40), None | Some(b' '))
    })
}

/// Nothing but one path or file name.
pub(super) fn is_path_only(text: &[u8]) -> bool {
    let is_path_byte = |byte: u8| {
        is_word(byte) || matches!(byte, b'/' | b'.' | b'-' | b'\\' | b'@' | b'+' | b'~' | b'[' | b']') || byte >= 0x80
    };
    if text.len() < 4 || text.len() > 200 || run(text, is_path_byte) < text.len() {
        return false;
    }
    let n_slashes = count(text, b'/');
    if n_slashes >= 2
        || (n_slashes == 1 && matches!(text.first(), Some(b'.' | b'/' | b'~')))
        || (n_slashes == 1 && text.ends_with(b"/"))
    {
        return true;
    }
    // `name.ext`: a short ending of letters.
    let Some(dot) = memchr::memrchr(b'.', text) else {
        return false;
    };
    let ending = from(text, dot + 1);
    dot > 0
        && (1..=5).contains(&ending.len())
        && ending.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && ending.iter().any(u8::is_ascii_lowercase)
}
