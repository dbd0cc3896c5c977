//! Finds the long runs without a blank that no summary can quote: encoded data, dumps. Names and measures them.

use crate::text::TextView;

/// A shorter run is a word, a path or a URL.
const MIN_CHARS: usize = 240;

/// The longest run of ASCII without a blank in what is viewed, and what it looks like.
pub(super) fn longest<'a>(view: &TextView<'a>) -> Option<(&'static str, &'a str)> {
    if (view.counts.longest_piece as usize) < MIN_CHARS {
        return None;
    }
    let run = view.covered().split_ascii_whitespace().max_by_key(|run| run.len())?;
    if run.len() < MIN_CHARS || !run.is_ascii() || run.starts_with("http") {
        return None;
    }
    let all = |test: fn(u8) -> bool| run.bytes().all(test);
    let kind = if all(|byte| byte.is_ascii_hexdigit()) {
        "hex digits"
    } else if all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte)) {
        "base64"
    } else if run.starts_with("data:") {
        "a data URL"
    } else {
        "text without blanks"
    };
    Some((kind, run))
}
