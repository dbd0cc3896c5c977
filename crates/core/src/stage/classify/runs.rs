//! Long unbroken tokens: candidates for secrets and Base64, found by leaping from token to token. Knows the
//! shapes of Base64 and asks `secrets` for the others.

use super::line::from;
use super::secrets::{is_generic_secret, is_provider_secret};
use crate::text::classes::byte_table;

/// Shorter tokens are never looked at.
pub(super) const MIN_RUN: usize = 20;
/// Nor are shorter pieces of them secrets.
const MIN_SECRET: usize = 16;
/// A Base64 blob has at least so many characters.
const MIN_BASE64: usize = 40;

/// What the long tokens of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LongRuns {
    /// One looks like a secret.
    pub(super) secret: bool,
    /// One looks like Base64.
    pub(super) base64: bool,
}

/// Not 0 for the bytes of which the candidates are made.
static IN_RUN: [u8; 256] = byte_table!(u8:
    b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' | b'+' | b'/' | b'=' => 1,
    _ => 0,
);

fn in_run(byte: u8) -> bool {
    IN_RUN[byte as usize] != 0
}

/// Looks at every run of at least `MIN_RUN` bytes once. A run of this length has a byte on every
/// `MIN_RUN`-th position, so that most of a text is leapt over.
pub(super) fn long_runs(text: &[u8]) -> LongRuns {
    let mut found = LongRuns::default();
    let mut start = 0;
    while let Some(&probe) = text.get(start + MIN_RUN - 1) {
        if !in_run(probe) {
            start += MIN_RUN;
            continue;
        }
        let window = text.get(start..start + MIN_RUN).unwrap_or_default();
        if let Some(last) = window.iter().rposition(|&byte| !in_run(byte)) {
            start += last + 1;
            continue;
        }
        let rest = from(text, start + MIN_RUN);
        let end = start + MIN_RUN + rest.iter().position(|&byte| !in_run(byte)).unwrap_or(rest.len());
        look(text, start, end, &mut found);
        if found.secret && found.base64 {
            break;
        }
        start = end + 1;
    }
    found
}

/// Judges the run `start..end`.
fn look(text: &[u8], start: usize, end: usize, found: &mut LongRuns) {
    let run = text.get(start..end).unwrap_or_default();
    if !found.base64 && is_base64(text, start, run) {
        found.base64 = true;
    }
    if found.secret {
        return;
    }
    // Inside the run, secrets are separated by the signs that they do not have.
    let mut from_here = start;
    for piece in run.split(|&byte| matches!(byte, b'+' | b'/' | b'=')) {
        let end_here = from_here + piece.len();
        if piece.len() >= MIN_SECRET
            && (is_provider_secret(text, from_here, end_here) || is_generic_secret(text, from_here, end_here))
        {
            found.secret = true;
            return;
        }
        from_here = end_here + 1;
    }
}

/// True for at least 40 characters of the Base64 alphabet that mix as encoded data does: no path, no digest, no
/// identifier, no part of a URL.
fn is_base64(text: &[u8], start: usize, run: &[u8]) -> bool {
    let run = run.get(..run.len().min(400)).unwrap_or_default();
    let body =
        run.split(|&byte| matches!(byte, b'-' | b'_' | b'=')).max_by_key(|piece| piece.len()).unwrap_or_default();
    if body.len() < MIN_BASE64 {
        return false;
    }
    let count = |test: fn(&u8) -> bool| body.iter().filter(|&byte| test(byte)).count();
    let n_lower = count(u8::is_ascii_lowercase);
    let n_upper = count(u8::is_ascii_uppercase);
    let n_digits = count(u8::is_ascii_digit);
    let n_slashes = count(|&byte| byte == b'/');
    if n_upper * 7 < body.len() || n_lower * 7 < body.len() || n_digits == 0 || n_slashes * 8 > body.len() {
        return false;
    }
    // Names in camel case have few digits and hardly ever two capitals in a row.
    let n_pairs = body.windows(2).filter(|pair| pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase()).count();
    let n_changes = body.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    if n_digits * 12 < body.len() && n_pairs * 12 < body.len() {
        return false;
    }
    let before = text.get(start.saturating_sub(120)..start).unwrap_or_default();
    let piece = from(before, before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1));
    let in_url = memchr::memmem::find(piece, b"://").is_some();
    n_changes * 9 >= body.len() && !in_url
}
