//! JSON, whole, truncated, behind an introduction or one object per line. Knows nothing else.

use crate::text::bytes::{from, run};

/// Bytes of `text` that are inside JSON objects and arrays: from a bracket behind which JSON goes on to the
/// bracket that closes it, or to the end of a truncated text. One pass, each byte at most twice.
pub(super) fn json_bytes(text: &[u8]) -> usize {
    let mut sum = 0;
    let mut at = 0;
    while let Some(offset) = memchr::memchr2(b'{', b'[', from(text, at)) {
        at += offset;
        if begins_json(from(text, at)) {
            let length = extent(from(text, at));
            sum += length;
            at += length.max(1);
        } else {
            at += 1;
        }
    }
    sum
}

/// `{"key":`, `{}`-less, `[{`, `["…",`, `[1, 2`.
fn begins_json(text: &[u8]) -> bool {
    let inside = skip_space(from(text, 1));
    if text.first() == Some(&b'{') {
        return inside.first().is_some_and(|&quote| matches!(quote, b'"' | b'\'')) && is_member(inside);
    }
    match inside.first() {
        Some(b'{') => begins_json(inside),
        Some(b'[') => {
            matches!(skip_space(from(inside, 1)).first(), Some(b'"' | b'{' | b'-' | b'0'..=b'9'))
                && !inside.starts_with(b"[[")
        }
        Some(b'"') => ends_element(from(inside, 1 + run(from(inside, 1), |byte| byte != b'"' && byte != b'\n') + 1)),
        Some(b'-' | b'0'..=b'9') => {
            let number = run(inside, |byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'e' | b'E' | b'+'));
            let after = skip_space(from(inside, number));
            after.first() == Some(&b',')
                && matches!(skip_space(from(after, 1)).first(), Some(b'-' | b'0'..=b'9' | b'"' | b'n'))
        }
        _ => false,
    }
}

/// `"key":`
fn is_member(text: &[u8]) -> bool {
    let quote = text.first().copied().unwrap_or(b'"');
    let key = from(text, 1);
    let length = run(key.get(..key.len().min(120)).unwrap_or_default(), |byte| byte != quote && byte != b'\n');
    key.get(length) == Some(&quote) && skip_space(from(key, length + 1)).first() == Some(&b':')
}

fn ends_element(text: &[u8]) -> bool {
    matches!(skip_space(text).first(), Some(b',' | b']'))
}

fn skip_space(text: &[u8]) -> &[u8] {
    from(text, run(text, |byte| byte.is_ascii_whitespace()))
}

/// Length up to the bracket that closes the first one, strings skipped; the whole text when none does.
fn extent(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}
