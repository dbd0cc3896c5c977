//! Lines of source code without a fence: by their first word, their last sign and the signs between. Prose
//! that talks about code has words where code has signs. Knows single lines only.

use super::bytes::{from, holds, is_word, run, skip_blanks};
use super::look::{Bare, Look};
use super::signs::Signs;
use super::statements::begins_statement;

/// Bytes of a line that are looked at; what follows changes nothing.
pub(super) const MAX_LOOK: usize = 240;

/// A longer line of code has at least one sign that prose does not have.
const LONG_LINE: usize = 100;

/// Signs of a line, counted once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Density {
    /// Brackets, operators and the like.
    pub(super) signs: usize,
    /// Words of two or more letters between blanks, as prose has them.
    pub(super) words: usize,
    /// A name followed by an opening bracket.
    pub(super) calls: usize,
    /// Length.
    pub(super) bytes: usize,
}

impl Density {
    /// Counts them.
    pub(super) fn of(text: &[u8]) -> Self {
        let text = text.get(..text.len().min(MAX_LOOK)).unwrap_or_default();
        let mut found = Self { bytes: text.len(), ..Self::default() };
        let (mut letters, mut strange) = (0_usize, false);
        let mut before = 0;
        for &byte in text {
            let class = CLASSES[byte as usize];
            found.signs += usize::from(class & SIGN != 0);
            found.calls += usize::from(byte == b'(' && before & NAME != 0);
            before = class;
            letters += usize::from(class & LETTER != 0);
            strange |= class & STRANGE != 0;
            if class & BLANK != 0 {
                found.words += usize::from(!strange && letters >= 2);
                (letters, strange) = (0, false);
            }
        }
        found.words += usize::from(!strange && letters >= 2);
        found
    }

    /// Signs as code has them: at least one in eight bytes.
    pub(super) fn dense(self) -> bool {
        self.signs * 8 >= self.bytes
    }
}

/// A sign of code.
const SIGN: u8 = 1;
/// What names are made of.
const NAME: u8 = 2;
/// What words are made of.
const LETTER: u8 = 4;
/// What makes a piece no word: everything but letters and the punctuation of prose.
const STRANGE: u8 = 8;
/// A blank.
const BLANK: u8 = 16;

const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        table[at] = match byte {
            b' ' | b'\t' => BLANK,
            b'a'..=b'z' | b'A'..=b'Z' => NAME | LETTER,
            0x80.. | b'\'' => LETTER,
            b',' | b'.' | b'!' | b'?' | b';' | b':' | b'-' => 0,
            b'0'..=b'9' => NAME | STRANGE,
            b'_' => NAME | STRANGE | SIGN,
            _ if is_sign(byte) => STRANGE | SIGN,
            _ => STRANGE,
        };
        at += 1;
    }
    table
};

/// Signs that prose hardly needs.
const fn is_sign(byte: u8) -> bool {
    matches!(
        byte,
        b'(' | b')'
            | b'{'
            | b'}'
            | b'['
            | b']'
            | b'='
            | b'<'
            | b'>'
            | b'|'
            | b'&'
            | b'$'
            | b'\\'
            | b'_'
            | b'*'
            | b'+'
            | b'/'
            | b'%'
            | b'@'
            | b'#'
            | b'^'
            | b'~'
            | b'`'
            | b'"'
    )
}

/// `Code`, `MaybeCode` or `Comment`, if the line is one of them.
pub(super) fn look(line: Bare<'_>) -> Option<Look> {
    let text = line.text;
    let (&first, &last) = (text.first()?, text.last()?);
    if let Some(look) = comment(text, first) {
        return Some(look);
    }
    if is_closing(text) {
        return Some(Look::MaybeCode);
    }
    let word = text.get(..run(text, is_word)).unwrap_or_default();
    if begins_statement(text, word, last) {
        return Some(Look::Code);
    }
    if !line.signs.any(Signs::OF_CODE) {
        return None;
    }
    if text.len() > LONG_LINE && !line.signs.any(Signs::OF_STATEMENTS) {
        return None;
    }
    // From here on the signs decide; a line that ends as prose does needs many of them.
    let signs = Density::of(text);
    let ends_sentence = matches!(last, b'.' | b'!' | b'?') && signs.words >= 4;
    if ends_sentence || signs.words >= 9 && !signs.dense() {
        return None;
    }
    if last == b';' && is_statement(text, first, signs) {
        return Some(Look::Code);
    }
    if last == b'}' && signs.signs >= 2 && is_rule(text) {
        return Some(Look::Code);
    }
    if last == b'{' && text.len() > 1 && (signs.signs >= 2 || signs.words <= 3) {
        return Some(Look::Code);
    }
    if let Some(look) = assignment(text, signs) {
        return Some(look);
    }
    if begins_call(text)
        && signs.words <= 4
        && matches!(last, b')' | b':' | b',' | b'(' | b'[' | b'{' | b'\\' | b'}' | b']')
    {
        return Some(if signs.words <= 2 { Look::Code } else { Look::MaybeCode });
    }
    is_maybe(text, first, last, signs).then_some(Look::MaybeCode)
}

/// Comments decide nothing, except those that only code has.
fn comment(text: &[u8], first: u8) -> Option<Look> {
    match first {
        b'#' => {
            const DIRECTIVES: [&[u8]; 9] =
                [b"#include", b"#define", b"#ifdef", b"#ifndef", b"#endif", b"#pragma", b"#!/", b"#[", b"#if "];
            if DIRECTIVES.iter().any(|directive| text.starts_with(directive)) {
                return Some(Look::Code);
            }
            let hashes = run(text, |byte| byte == b'#');
            let blank = matches!(text.get(hashes), None | Some(b' '));
            (!blank && begins_selector(text)).then_some(Look::Code).or(blank.then_some(if hashes == 1 {
                Look::Comment
            } else {
                Look::Heading
            }))
        }
        b'/' if text.starts_with(b"//") || text.starts_with(b"/*") => Some(Look::Comment),
        b'*' if text.starts_with(b"*/") || text.len() == 1 => Some(Look::Comment),
        b'-' if text.starts_with(b"-- ") => Some(Look::Comment),
        b';' if text.starts_with(b"; ") || text.starts_with(b";; ") => Some(Look::Comment),
        b'"' if text.starts_with(b"\"\"\"") => Some(Look::Comment),
        _ => None,
    }
}

/// Nothing but closing brackets and what may follow them, or a word that closes a block.
fn is_closing(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 10] =
        [b"end", b"fi", b"done", b"esac", b"then", b"do", b"else", b"break", b"continue", b"pass"];
    (matches!(text.first(), Some(b'}' | b')' | b']')) && text.iter().all(|byte| b"})];,> ".contains(byte)))
        || WORDS.contains(&text)
}

/// `#id {` or `#id,`
fn begins_selector(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'{')) && text.len() < 120
}

/// A line that ends with a semicolon and is a statement, not the item of a list in prose.
fn is_statement(text: &[u8], first: u8, signs: Density) -> bool {
    signs.calls > 0
        || signs.dense()
        || (memchr::memchr(b'=', text).is_some() && signs.words <= 5)
        // `prop: value;` of a style sheet, `int x;` of a declaration.
        || (first.is_ascii_lowercase() && signs.words <= 3 && (text.len() < 60))
}

/// `selector { property: value; }` on one line.
fn is_rule(text: &[u8]) -> bool {
    memchr::memchr(b'{', text).is_some_and(|at| at > 0 && memchr::memchr3(b':', b';', b'(', from(text, at)).is_some())
}

/// `name = …`, `a.b += …`, `name := …`, `NAME="…"`.
fn assignment(text: &[u8], signs: Density) -> Option<Look> {
    let left = run(text, |byte| {
        is_word(byte) || matches!(byte, b'.' | b'[' | b']' | b'$' | b'@' | b'-' | b'>' | b':' | b'"' | b'\'' | b'*')
    });
    if left == 0 || !text.first().is_some_and(|&byte| is_word(byte) || matches!(byte, b'$' | b'@' | b'*')) {
        return None;
    }
    let mut rest = skip_blanks(from(text, left));
    // More names on the left: `lo, hi = hi, lo`.
    if rest.starts_with(b",") || text.get(left - 1) == Some(&b',') {
        rest = from(rest, memchr::memchr(b'=', rest.get(..rest.len().min(40)).unwrap_or_default())?);
    }
    let operator = run(rest, |byte| b"+-*/|&%:?.^<>".contains(&byte));
    if operator > 2 || rest.get(operator) != Some(&b'=') || rest.get(operator + 1) == Some(&b'=') {
        return None;
    }
    let value = skip_blanks(from(rest, operator + 1));
    let marked = text.iter().take(left).any(|byte| matches!(byte, b'_' | b'.' | b'[' | b'$')) || operator > 0;
    let wordy = signs.words > 4 && !signs.dense();
    if wordy {
        return None;
    }
    let shown = signs.calls > 0
        || matches!(value.first(), Some(b'[' | b'{' | b'"' | b'\'' | b'(' | b'$' | b'-' | b'`' | b'0'..=b'9'))
        || signs.dense();
    Some(if marked || shown { Look::Code } else { Look::MaybeCode })
}

/// `name(` or `a.b.c(` at the start.
fn begins_call(text: &[u8]) -> bool {
    let name = run(text, |byte| is_word(byte) || matches!(byte, b'.' | b':' | b'!' | b'>' | b'-'));
    name >= 2
        && text.get(name) == Some(&b'(')
        && text.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_')
        && text.get(name + 1) != Some(&b's')
}

/// Lines that are code when their neighbours are: arguments, operators, parts of expressions.
fn is_maybe(text: &[u8], first: u8, last: u8, signs: Density) -> bool {
    const OPERATORS: [&[u8]; 12] =
        [b"=>", b"->", b"::", b" == ", b" != ", b"&&", b"||", b" := ", b" += ", b"();", b"</", b"()"];
    let few_words = signs.words <= 4;
    let has_operator = signs.signs >= 2 && OPERATORS.iter().any(|operator| holds(text, operator));
    (few_words && (has_operator || (signs.dense() && signs.signs >= 3)))
        || (signs.words <= 2 && matches!(last, b'(' | b'[' | b'\\'))
        || (signs.words <= 2 && last == b',' && (signs.signs > 0 || first.is_ascii_digit()))
        || (signs.words <= 1 && matches!(first, b'.' | b'&' | b'?') && signs.calls > 0)
        || (matches!(first, b'{' | b'}' | b'(' | b')' | b']') && few_words && signs.signs >= 2)
}
