//! A long line or value: what must stay of it, cut at the borders of words and sentences. Knows bytes and places;
//! refuses to know what a line is.

use super::pins::{AROUND, Span};

/// Bytes by which a window grows to end between words.
const MAX_GROWTH: usize = 30;
/// Bytes of a sentence that is shown whole.
const MAX_SENTENCE: usize = 400;
/// Bytes of a sentence on average in what is prose.
const MAX_MEAN: usize = 260;
const MIN_SENTENCES: usize = 3;

/// The parts of `bytes[from..to]` around `spans` that stay; `spans` are in order and inside. Its beginning, when there are
/// none. A gap of fewer bytes than `mark` is shown.
pub(super) fn windows(bytes: &[u8], (from, to): (usize, usize), spans: &[Span], mark: usize) -> Vec<(usize, usize)> {
    let beginning = [Span { from: from as u32, to: from as u32 + 1 }];
    let spans = if spans.is_empty() { &beginning[..] } else { spans };
    let sentences = sentences(bytes, from, to);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for span in spans {
        let (start, end) = (span.from as usize, (span.to as usize).min(to));
        let whole = sentences.as_ref().and_then(|ends| sentence(ends, start, end));
        let (start, end) = match whole {
            Some(whole) => whole,
            None => around(bytes, (from, to), (start, end)),
        };
        match found.last_mut() {
            Some(last) if start <= last.1 + mark => last.1 = last.1.max(end),
            _ => found.push((start, end)),
        }
    }
    if let Some(first) = found.first_mut()
        && first.0 <= from + mark
    {
        first.0 = from;
    }
    if let Some(last) = found.last_mut()
        && last.1 + mark >= to
    {
        last.1 = to;
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn around(bytes: &[u8], (from, to): (usize, usize), (start, end): (usize, usize)) -> (usize, usize) {
    let mut left = start.saturating_sub(AROUND).max(from);
    let mut right = (end + AROUND).min(to);
    while left > from && is_word(bytes[left - 1]) && start - left < AROUND + MAX_GROWTH {
        left -= 1;
    }
    while right < to && is_word(bytes[right]) && right - end < AROUND + MAX_GROWTH {
        right += 1;
    }
    (whole_before(bytes, left, from), whole_behind(bytes, right, to))
}

fn is_inside_char(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Where the escape that goes on at `at` begins: `\n`, `\u00e4`.
fn escape_before(bytes: &[u8], at: usize, from: usize) -> Option<usize> {
    let begin = (at.saturating_sub(5).max(from)..at).rev().find(|&begin| bytes[begin] == b'\\')?;
    let n_before = bytes[from..begin].iter().rev().take_while(|&&byte| byte == b'\\').count();
    let len = if bytes.get(begin + 1) == Some(&b'u') { 6 } else { 2 };
    (n_before % 2 == 0 && begin + len > at).then_some(begin)
}

fn whole_before(bytes: &[u8], mut at: usize, from: usize) -> usize {
    while at > from && is_inside_char(bytes[at]) {
        at -= 1;
    }
    escape_before(bytes, at, from).unwrap_or(at)
}

fn whole_behind(bytes: &[u8], mut at: usize, to: usize) -> usize {
    while at < to && (is_inside_char(bytes[at]) || escape_before(bytes, at, at.saturating_sub(8)).is_some()) {
        at += 1;
    }
    at
}

/// Where sentences end, when the text is made of them.
fn sentences(bytes: &[u8], from: usize, to: usize) -> Option<Vec<usize>> {
    let text = &bytes[from..to];
    if text.trim_ascii_start().first().is_some_and(|sign| b"[{<\"".contains(sign)) {
        return None;
    }
    let mut ends = vec![from];
    for at in from..to {
        let wide_stop = bytes[at..to].starts_with("。".as_bytes())
            || bytes[at..to].starts_with("！".as_bytes())
            || bytes[at..to].starts_with("？".as_bytes());
        if wide_stop {
            ends.push(at + 3);
        } else if b".!?;".contains(&bytes[at]) && at + 1 < to && bytes[at + 1].is_ascii_whitespace() {
            ends.push(at + 2);
        }
    }
    ends.push(to);
    (ends.len() > MIN_SENTENCES + 1 && text.len() / ends.len() < MAX_MEAN).then_some(ends)
}

/// The sentences that hold `start..end`, when they are short enough.
fn sentence(ends: &[usize], start: usize, end: usize) -> Option<(usize, usize)> {
    let left = ends[ends.partition_point(|&at| at <= start) - 1];
    let right = ends[ends.partition_point(|&at| at < end).min(ends.len() - 1)];
    (right - left <= MAX_SENTENCE).then_some((left, right))
}
