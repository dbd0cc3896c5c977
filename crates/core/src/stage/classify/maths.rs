//! LaTeX and formulas in mathematical signs. Prices in dollars, tolerances and arrows in directions are no
//! maths. Knows nothing else.

use crate::text::bytes::{from, holds};

/// Bytes between two dollar signs at most.
const MAX_INLINE: usize = 300;
/// Bytes between the signs of one formula at most.
const MAX_GAP: usize = 24;

/// True when `text` has a formula in LaTeX: an environment, a display, or an inline formula in dollar signs.
pub(super) fn has_latex(text: &[u8]) -> bool {
    let mut skip_to = 0;
    // Positions where no second dollar sign followed: there is none for those behind either, up to the limit.
    for at in memchr::memchr2_iter(b'$', b'\\', text) {
        if at < skip_to {
            continue;
        }
        let rest = from(text, at);
        if rest.first() == Some(&b'\\') {
            if is_command(text, at, rest) {
                return true;
            }
            continue;
        }
        if rest.starts_with(b"$$") {
            let inside = from(rest, 2);
            let window = inside.get(..inside.len().min(4_000)).unwrap_or_default();
            if let Some(end) = memchr::memmem::find(window, b"$$") {
                if end > 0 && is_mathematical(inside.get(..end).unwrap_or_default(), true) {
                    return true;
                }
                skip_to = at + end + 4;
            } else {
                skip_to = at + 2;
            }
            continue;
        }
        if at > 0 && text.get(at - 1).is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        let inside = from(rest, 1);
        let window = inside.get(..inside.len().min(MAX_INLINE)).unwrap_or_default();
        let Some(end) = memchr::memchr2(b'$', b'\n', window).filter(|&end| window.get(end) == Some(&b'$')) else {
            continue;
        };
        let followed = inside.get(end + 1).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'{');
        if !followed && is_mathematical(inside.get(..end).unwrap_or_default(), false) {
            return true;
        }
    }
    false
}

/// `\begin{…}`, `\frac{`, `\[ … \]`, `\( … \)`.
fn is_command(text: &[u8], at: usize, rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'b') => rest.starts_with(b"\\begin{"),
        Some(b'd') => rest.starts_with(b"\\documentclass"),
        Some(b'f') => rest.starts_with(b"\\frac{"),
        Some(b's') => rest.starts_with(b"\\sum_") || rest.starts_with(b"\\sqrt{"),
        Some(b'i') => rest.starts_with(b"\\int_"),
        Some(b'm') => {
            rest.starts_with(b"\\mathbb{") || rest.starts_with(b"\\mathcal{") || rest.starts_with(b"\\mathbf{")
        }
        Some(&open @ (b'[' | b'(')) => {
            let close: &[u8] = if open == b'[' { b"\\]" } else { b"\\)" };
            let inside = from(rest, 2);
            let window = inside.get(..inside.len().min(MAX_INLINE)).unwrap_or_default();
            // In a regular expression the bracket follows a letter or a quantifier.
            let begins = at == 0
                || text
                    .get(at - 1)
                    .is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b',' | b'*' | b'-'));
            begins
                && memchr::memmem::find(window, close)
                    .is_some_and(|end| is_mathematical(window.get(..end).unwrap_or_default(), open == b'['))
        }
        _ => false,
    }
}

/// True for what stands in formulas: a command, a power, an index, an equation of short names.
fn is_mathematical(inside: &[u8], display: bool) -> bool {
    let (Some(&first), Some(&last)) = (inside.first(), inside.last()) else {
        return false;
    };
    if !display && (first.is_ascii_whitespace() || last.is_ascii_whitespace()) {
        return false;
    }
    let has_command = inside
        .windows(2)
        .any(|pair| pair[0] == b'\\' && (pair[1].is_ascii_alphabetic() || matches!(pair[1], b'{' | b',')));
    // Words of prose: four or more letters that belong to no command.
    let n_words = inside
        .split(|byte| !byte.is_ascii_alphabetic() && *byte != b'\\')
        .filter(|word| word.len() >= 4 && word.first() != Some(&b'\\'))
        .count();
    if has_command {
        return n_words <= 8 || display;
    }
    let has_script = inside.windows(2).any(|pair| {
        matches!(pair[0], b'^' | b'_') && (pair[1].is_ascii_alphanumeric() || matches!(pair[1], b'{' | b'-' | b'*'))
    });
    let is_shell = n_words > 0
        || holds(inside, b"${")
        || (inside.len() > 3 && inside.iter().all(|&byte| byte.is_ascii_uppercase() || byte == b'_' || byte == b'/'));
    if is_shell {
        return false;
    }
    if has_script {
        return inside.len() <= 160;
    }
    let has_letter = inside.iter().any(u8::is_ascii_alphabetic);
    let has_operator = inside.iter().any(|byte| b"=<>+-*/()|".contains(byte));
    (has_letter && has_operator && inside.len() <= 80) || (inside.len() <= 3 && has_letter && first.is_ascii_alphabetic())
        // `$0$`: a number by itself is closed at once, a price is not.
        || (inside.len() <= 4 && inside.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') )
}

/// True when mathematical signs stand close enough together to be a formula.
pub(super) fn has_formula(text: &[u8]) -> bool {
    let mut score = 0;
    let mut strong = false;
    let mut operators = 0;
    let mut end = 0;
    for at in memchr::memchr_iter(0xE2, text) {
        let weight = text.get(at + 1..at + 3).map_or(0, weight);
        let is_script = matches!(text.get(at + 1), Some(0x81 | 0x82));
        if weight == 0 {
            continue;
        }
        let between = text.get(end..at).unwrap_or_default();
        if at - end > MAX_GAP || end == 0 || holds(between, b"\n\n") || has_sentence(between) {
            score = 0;
            operators = 0;
            strong = false;
        } else {
            score += between.windows(2).filter(|pair| is_latin_sign(pair)).count();
        }
        score += weight;
        strong |= weight == 2;
        end = at + 3;
        let around = text.get(at.saturating_sub(MAX_GAP)..(at + MAX_GAP).min(text.len())).unwrap_or_default();
        operators += usize::from(!is_script);
        if score >= 3 && (strong || memchr::memchr(b'=', around).is_some() || operators >= 2 && score >= 4) {
            return true;
        }
        if strong && (memchr::memchr3(b'=', b'|', b'^', around).is_some() || around.windows(2).any(is_latin_sign)) {
            return true;
        }
    }
    false
}

/// What a sign says by the two bytes behind 0xE2: 2 for one that only mathematics has, 1 for one that stands in
/// prose as well, 0 for typography.
fn weight(sign: &[u8]) -> usize {
    match *sign {
        // Minus, bullet and ratio.
        [0x88, 0x92 | 0x99 | 0xB6] => 0,
        // Infinity, comparisons, double arrows, superscripts and subscripts.
        [0x88, 0x9E]
        | [0x89, 0x88 | 0xA0 | 0xA4 | 0xA5]
        | [0x87, 0x92 | 0x94]
        | [0x81, 0xB0..=0xBF]
        | [0x82, 0x80..=0x9C] => 1,
        // The blocks of operators, double-struck letters.
        [0x88..=0x8B, _] | [0x84, 0x82 | 0x95 | 0x9A | 0x9D | 0xA4] => 2,
        _ => 0,
    }
}

/// Two or more words of prose between two signs.
fn has_sentence(between: &[u8]) -> bool {
    between.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| word.len() >= 3).count() >= 2
}

/// `±`, `×`, `÷`, `²`, `³`, `¹`, `¬` as two bytes.
fn is_latin_sign(pair: &[u8]) -> bool {
    matches!(pair, [0xC2, 0xB1 | 0xB2 | 0xB3 | 0xB9 | 0xAC] | [0xC3, 0x97 | 0xB7])
}
