//! Secrets and Base64: long unbroken tokens, found by leaping from token to token, in the shapes of known providers or such
//! as look random. Ids, names of models, branches and files look similar and must pass. Knows nothing but the text around
//! a candidate.

use crate::text::bytes::{from, head_of, is_word, run};
use crate::text::classes::byte_table;
use crate::text::words::word_list;

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

/// Providers by the beginning of their tokens. What follows is judged by [`has_body`].
const PROVIDERS: [(&[&str], Body); 5] = [
    (word_list!("secrets", DASHED_20), Body { dashed: true, min: 20 }),
    (word_list!("secrets", DASHED_30), Body { dashed: true, min: 30 }),
    (word_list!("secrets", DASHED_33), Body { dashed: true, min: 33 }),
    (word_list!("secrets", PLAIN_16), Body { dashed: false, min: 16 }),
    (word_list!("secrets", PLAIN_30), Body { dashed: false, min: 30 }),
];

/// What stands behind the beginning.
#[derive(Debug, Clone, Copy)]
struct Body {
    /// Dashes and underscores belong to it.
    dashed: bool,
    /// Its least length.
    min: usize,
}

/// True when the unbroken token `start..end` is a secret in the shape of a known provider.
fn is_provider_secret(text: &[u8], start: usize, end: usize) -> bool {
    let token = text.get(start..end).unwrap_or_default();
    if token.starts_with(b"eyJ") {
        return is_web_token(text, start, end);
    }
    if start >= 3 && text.get(start - 3..start) == Some(b"SG.") {
        return token.len() >= 16 && text.get(end) == Some(&b'.');
    }
    PROVIDERS
        .iter()
        .any(|(heads, body)| head_of(token, heads).is_some_and(|head| has_body(from(token, head.len()), *body)))
}

/// Long enough, and no phrase of words between dashes.
fn has_body(body: &[u8], shape: Body) -> bool {
    if shape.dashed {
        return body.len() >= shape.min && !is_wordy(body);
    }
    run(body, |byte| byte.is_ascii_alphanumeric()) >= shape.min
}

/// Three parts of Base64 between dots.
fn is_web_token(text: &[u8], start: usize, end: usize) -> bool {
    let dashed = |byte: u8| is_word(byte) || byte == b'-';
    let second = from(text, end + 1);
    let length = run(second, dashed);
    end - start >= 12
        && text.get(end) == Some(&b'.')
        && length >= 8
        && second.get(length) == Some(&b'.')
        && run(from(second, length + 1), dashed) >= 8
}

/// True for `-----BEGIN … PRIVATE KEY-----` at `at`.
pub(super) fn is_private_key(text: &[u8], at: usize) -> bool {
    let head = from(text, at);
    memchr::memmem::find(head.get(..head.len().min(60)).unwrap_or_default(), b"PRIVATE KEY-----").is_some()
}

/// `user:password@host` behind `://`; what only stands for a password does not count.
pub(super) fn has_password(rest: &[u8]) -> bool {
    let user = run(rest, |byte| is_word(byte) || b".-+%".contains(&byte));
    if rest.get(user) != Some(&b':') {
        return false;
    }
    let password = from(rest, user + 1);
    let length = run(password.get(..password.len().min(200)).unwrap_or_default(), |byte| {
        byte.is_ascii_graphic() && !b"@/\"'`<>".contains(&byte)
    });
    let is_placeholder = [&b"pass"[..], b"password", b"pw", b"pwd", b"***", b"xxx", b"secret"]
        .contains(&password.get(..length).unwrap_or_default());
    length >= 3
        && !is_placeholder
        && password.get(length) == Some(&b'@')
        && password.get(length + 1).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'[' || byte == b'$')
}

/// True for a token of letters, digits, `_` and `-` that looks random: behind a prefix and a separator as most
/// providers write them, or behind a word that announces a secret.
fn is_generic_secret(text: &[u8], start: usize, end: usize) -> bool {
    let token = text.get(start..end).unwrap_or_default();
    if token.len() < 24 || token.len() > 400 {
        return false;
    }
    let Some(separator) = memchr::memchr2(b'-', b'_', token) else {
        return looks_random(token, 20) && is_announced(text, start);
    };
    let (prefix, body) = (token.get(..separator).unwrap_or_default(), from(token, separator + 1));
    let prefix_is_name = (2..=15).contains(&prefix.len())
        && prefix.first().is_some_and(u8::is_ascii_alphabetic)
        && prefix.iter().any(|byte| byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit());
    if looks_random(token, 20) && !is_wordy(token) && is_announced(text, start) {
        return true;
    }
    prefix_is_name
        && body.len() >= 20
        && !is_wordy(body)
        && looks_random(longest_segment(body), 16)
        && !in_path(text, start, end)
}

/// True when a word such as `token` or `secret` stands shortly before `start`, with a sign of assignment.
fn is_announced(text: &[u8], start: usize) -> bool {
    let before = text.get(start.saturating_sub(32)..start).unwrap_or_default().to_ascii_lowercase();
    let before = from(&before, memchr::memrchr(b'\n', &before).map_or(0, |found| found + 1));
    let names: [&[u8]; 8] =
        [b"token", b"secret", b"passw", b"api_key", b"apikey", b"api key", b"bearer", b"access_key"];
    names.iter().any(|name| {
        memchr::memmem::find(before, name).is_some_and(|at| {
            let between = from(before, at + name.len());
            between.len() <= 12 && between.iter().any(|&byte| matches!(byte, b'=' | b':' | b' ' | b'"' | b'\''))
        })
    })
}

/// A piece of a URL or of a path, or a file name.
fn in_path(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    let after = text.get(end);
    matches!(before, Some(b'/' | b'.' | b'\\' | b'#'))
        || matches!(after, Some(b'/' | b'\\'))
        || (after == Some(&b'.') && text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric))
}

/// Pieces between separators that are words, numbers or dates: no secret, however long.
fn is_wordy(body: &[u8]) -> bool {
    let mut n_segments = 0;
    let mut n_words = 0;
    let mut longest_other = 0;
    for segment in body.split(|&byte| byte == b'-' || byte == b'_').filter(|segment| !segment.is_empty()) {
        n_segments += 1;
        if is_plain_segment(segment) {
            n_words += 1;
        } else {
            longest_other = longest_other.max(segment.len());
        }
    }
    let is_uuid = n_segments >= 5 && body.iter().all(|&byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_uuid || (n_segments >= 2 && n_words * 2 >= n_segments && longest_other < 16)
}

/// A word, a number, or a word with a short number.
fn is_plain_segment(segment: &[u8]) -> bool {
    let n_digits = segment.iter().filter(|byte| byte.is_ascii_digit()).count();
    if n_digits == segment.len() {
        return true;
    }
    if n_digits == 0 {
        let lower = segment.iter().all(u8::is_ascii_lowercase);
        let upper = segment.iter().all(u8::is_ascii_uppercase);
        let capital = from(segment, 1).iter().all(u8::is_ascii_lowercase);
        return (lower || upper || capital) && segment.len() <= 14;
    }
    segment.len() <= 6
}

/// The longest piece between separators.
fn longest_segment(body: &[u8]) -> &[u8] {
    body.split(|&byte| byte == b'-' || byte == b'_').max_by_key(|segment| segment.len()).unwrap_or_default()
}

/// Letters and digits mixed as chance mixes them: at least `min` of them, digits spread over the token, and not
/// a digest in hexadecimal.
fn looks_random(token: &[u8], min: usize) -> bool {
    if token.len() < min {
        return false;
    }
    let n_digits = token.iter().filter(|byte| byte.is_ascii_digit()).count();
    let n_upper = token.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let n_lower = token.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let is_hex = token.iter().all(|&byte| byte.is_ascii_hexdigit() || byte == b'-');
    // Changes between digits, small letters and capitals: words and camel case have few, chance has many.
    let n_changes = token.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    !is_hex && n_digits >= 2 && n_upper + n_lower >= 4 && n_changes * 4 >= token.len() && entropy(token) >= 3.2
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}

/// Bits per character.
fn entropy(token: &[u8]) -> f64 {
    let mut counts = [0_u32; 128];
    for &byte in token {
        if let Some(count) = counts.get_mut(byte as usize) {
            *count += 1;
        }
    }
    let total = token.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) / total)
        .map(|share| -share * share.log2())
        .sum()
}
