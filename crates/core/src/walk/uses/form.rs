//! What a word or a joined run of words looks like: an identifier, a number, an ordinary word. Knows bytes only.

use super::scan::{Word, is_joiner};

/// What a single word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Lower case with perhaps a capital in front, or no form of its own.
    Ordinary,
    /// Something with a name: `fooBar`, `v2`, `MAX_LEN`, `12345`.
    Name,
    /// Too short, or nothing.
    Nothing,
}

/// Characters of a name.
const MIN_NAME: usize = 4;
/// Digits of a number.
const MIN_DIGITS: usize = 3;
/// Letters of an ordinary word that may be rare.
const MIN_WORD: usize = 6;

/// What a single word is; `is_inner` when it is part of a joined run, which is a name already.
#[inline]
pub(super) fn form(bytes: &[u8], word: Word, is_inner: bool) -> Form {
    let text = &bytes[word.from..word.to];
    if !word.is_compound() && text[0].is_ascii_lowercase() {
        return if text.len() >= MIN_WORD { Form::Ordinary } else { Form::Nothing };
    }
    form_of(text, is_inner)
}

/// True for a word that is nothing by itself, as far as a glance tells.
#[inline]
pub(super) fn is_little(bytes: &[u8], word: &Word) -> bool {
    !word.is_compound() && word.to - word.from < MIN_WORD && bytes[word.from].is_ascii_lowercase()
}

/// Of each byte whether it is a capital, a small letter, a digit, `_` or something else.
const CLASSES: [u8; 256] = {
    let (mut classes, mut at) = ([4; 256], 0);
    while at < classes.len() {
        classes[at] = match at as u8 {
            b'A'..=b'Z' => 0,
            b'a'..=b'z' => 1,
            b'0'..=b'9' => 2,
            b'_' => 3,
            _ => 4,
        };
        at += 1;
    }
    classes
};

fn form_of(text: &[u8], is_inner: bool) -> Form {
    let mut n = [0_usize; 5];
    for &byte in text {
        n[usize::from(CLASSES[usize::from(byte)])] += 1;
    }
    let [upper, lower, digits, underscores, others] = n;
    if others > 0 {
        return if text.len() >= MIN_WORD { Form::Ordinary } else { Form::Nothing };
    }
    let is_name = if upper + lower + underscores == 0 {
        text.len() >= MIN_DIGITS && !is_inner
    } else if text.len() < MIN_NAME {
        false
    } else if digits > 0 && upper + lower > 0 {
        !is_inner || text[0].is_ascii_alphabetic() || underscores > 0
    } else if underscores > 0 {
        upper + lower > 1
    } else if upper > 0 && lower > 0 {
        if text[0].is_ascii_lowercase() { !is_inner } else { upper >= 2 }
    } else {
        upper >= MIN_NAME
    };
    match is_name {
        true => Form::Name,
        false if digits == 0 && underscores == 0 && text.len() >= MIN_WORD => Form::Ordinary,
        false => Form::Nothing,
    }
}

/// True for a joined run of words, or a single word that is a name.
pub(in crate::walk) fn is_identifier(text: &[u8]) -> bool {
    let is_joined = text.iter().any(|&byte| is_joiner(byte));
    is_joined || form_of(text, false) == Form::Name
}

/// True for what grounding is measured by, which is less than what is looked for: joined runs, humps behind a small letter,
/// a letter behind a digit, four digits.
pub(crate) fn is_counted(text: &[u8]) -> bool {
    let behind_digit = text.iter().skip_while(|byte| !byte.is_ascii_digit());
    text.len() >= MIN_NAME
        && (text.iter().skip(1).any(|&byte| byte == b'_' || is_joiner(byte))
            || text.iter().all(u8::is_ascii_digit)
            || text[0].is_ascii_lowercase() && text.iter().any(u8::is_ascii_uppercase)
            || behind_digit.clone().any(u8::is_ascii_alphabetic))
}
