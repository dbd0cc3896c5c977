//! Numbers and states as an assistant tells them. Knows their normal form, so that `1,541` is `1541` and `completed` is
//! `complete`; refuses to know what they belong to.

use std::ops::Range;

use super::scan::{Word, folded, is_wide_at, is_wide_before, mix};
use super::texts::PADDING;
use crate::text::words::{Table, word_list, word_table};

word_table!(WORDS: Table<256>, "states": STATES);
const STATE_LIST: &[&str] = word_list!("states", STATES);

/// Bytes of a state with an ending.
const MAX_STATE: usize = 24;
const K: u64 = 0xA076_1D64_78BD_642F;

/// A number or state of a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Telling {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Its normal form.
    pub(super) key: u64,
}

/// True for words that may be numbers or states.
pub(super) fn may_tell(bytes: &[u8], word: Word) -> bool {
    bytes[word.from].is_ascii_digit() || is_state(bytes, word)
}

/// Lengths of states, as bits, by their first byte without case: a glance at both tells most words apart.
const LENGTHS: [u32; 256] = {
    let (mut lengths, mut at) = ([0; 256], 0);
    while at < STATE_LIST.len() {
        let word = STATE_LIST[at].as_bytes();
        lengths[(word[0] | 0x20) as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// True for words that say how something stands.
fn is_state(bytes: &[u8], word: Word) -> bool {
    let (first, len) = (bytes[word.from] | 0x20, word.to - word.from);
    let may_be = len < MAX_STATE && LENGTHS[usize::from(first)] & 1 << len != 0;
    may_be && WORDS.of(&bytes[word.from..word.to]) & STATES != 0
}

/// The number or state that begins with `word`, in its normal form.
pub(super) fn told_at(bytes: &[u8], word: &Word, end: usize) -> Option<Telling> {
    if bytes[word.from].is_ascii_digit() {
        return number_at(bytes, word.from, end);
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_whole = (word.from == 0 || !is_part(bytes[word.from - 1])) && !is_part(bytes[word.to]);
    (is_whole && is_state(bytes, *word)).then(|| {
        let stem = stem(&bytes[word.from..word.to]);
        Telling { from: word.from, to: word.to, key: folded(bytes, word.from, word.from + stem.len()) | 1 }
    })
}

/// The time of day that begins with `word`: `7:05 PM` is `19:05:00`.
pub(super) fn time_at(bytes: &[u8], word: &Word, end: usize) -> Option<Telling> {
    let number = |from: usize, n: Range<usize>| {
        let digits = bytes[from..end.max(from)].iter().take(n.end).take_while(|byte| byte.is_ascii_digit());
        let value = digits.clone().fold(0, |value, digit| 10 * value + u64::from(digit - b'0'));
        n.contains(&digits.count()).then_some(value)
    };
    let hours_end = word.to;
    if bytes[hours_end] != b':' || word.from > 0 && is_of_time(bytes[word.from - 1]) {
        return None;
    }
    let (hour, minute) = (number(word.from, 1..3)?, number(hours_end + 1, 2..3)?);
    let mut to = hours_end + 3;
    if bytes[to] == b':' && number(to + 1, 2..3) == Some(0) {
        to += 3;
    }
    let n_blanks = usize::from(bytes[to] == b' ');
    let half = match [bytes[to + n_blanks] | 0x20, bytes[to + n_blanks + 1] | 0x20] {
        [half @ (b'a' | b'p'), b'm'] if to + n_blanks + 2 <= end => Some(half),
        _ => None,
    };
    let to = if half.is_some() { to + n_blanks + 2 } else { to };
    let hour = match half {
        Some(b'p') => hour % 12 + 12,
        Some(_) => hour % 12,
        None => hour,
    };
    let is_time = to <= end && !is_of_time(bytes[to]) && hour < 24 && minute < 60;
    is_time.then(|| Telling { from: word.from, to, key: mix(60 * hour + minute, K) | 1 })
}

fn is_of_time(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':'
}

/// Hashes of what a time in normal form may begin with.
pub(super) fn hours(bytes: &[u8], told: &Telling) -> Vec<u64> {
    let digits = bytes[told.from..told.to].iter().take_while(|byte| byte.is_ascii_digit());
    let hour = digits.fold(0_usize, |value, digit| 10 * value + usize::from(digit - b'0'));
    let forms =
        [hour, hour % 12, hour % 12 + 12].into_iter().flat_map(|hour| [format!("{hour}"), format!("{hour:02}")]);
    let hash = |form: String| {
        let mut word = form.into_bytes();
        let len = word.len();
        word.resize(len + PADDING, 0);
        folded(&word, 0, len)
    };
    forms.map(hash).collect()
}

/// The stem of a state: that of `completed` and `complete`, of `passed` and `pass`.
fn stem(word: &[u8]) -> &[u8] {
    let n_ending = word.iter().rev().take_while(|byte| b"edED".contains(byte)).count();
    &word[..word.len() - n_ending]
}

/// Hashes of the words that have the stem of a state.
pub(super) fn forms(state: &[u8]) -> [u64; 4] {
    let stem = stem(state);
    let mut word = [0; MAX_STATE + PADDING];
    word[..stem.len()].copy_from_slice(stem);
    ["", "e", "ed", "d"].map(|ending| {
        let len = stem.len() + ending.len();
        word[stem.len()..len].copy_from_slice(ending.as_bytes());
        folded(&word, 0, len)
    })
}

/// The number at `from`: `1,541` is `1541`, `0.0 %` is `0 %`.
fn number_at(bytes: &[u8], from: usize, end: usize) -> Option<Telling> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_within =
        |at: usize| at > 0 && (is_word(bytes[at - 1]) || bytes[at - 1] == b'.' || is_wide_before(bytes, at));
    if is_within(from) {
        return None;
    }
    let is_negative = from >= 2 && bytes[from - 1] == b'-' && !is_within(from - 1);
    let mut key = if is_negative { 2 } else { 1 };
    let (mut at, mut behind, mut zeros) = (from, false, 0);
    while at < end {
        match bytes[at] {
            // Zeros at the end of a fraction say nothing.
            b'0' if behind => zeros += 1,
            digit @ b'0'..=b'9' => {
                for _ in 0..std::mem::take(&mut zeros) {
                    key = mix(key ^ u64::from(b'0'), K);
                }
                key = mix(key ^ u64::from(digit), K);
            }
            sign @ (b'.' | b',') if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) && at + 1 < end => {
                if sign == b'.' && !fraction_is_zero(bytes, at + 1, end) {
                    key = mix(key ^ u64::from(b'.'), K);
                    behind = true;
                } else if sign == b'.' {
                    behind = true;
                }
            }
            _ => break,
        }
        at += 1;
    }
    let to = at + usize::from(at < end && bytes[at] == b'%');
    (at >= end || !is_word(bytes[at]) && !is_wide_at(bytes, at)).then_some(Telling { from, to, key: key | 1 })
}

fn fraction_is_zero(bytes: &[u8], from: usize, end: usize) -> bool {
    let digits = bytes[from..end].iter().take_while(|byte| byte.is_ascii_digit());
    let mut digits = digits.peekable();
    digits.peek().is_some() && digits.all(|&byte| byte == b'0')
}
