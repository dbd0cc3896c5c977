//! Decides where a sentence ends. Knows full stops, abbreviations, initials, ordinals and the full-width signs;
//! refuses to know lines, lists and lengths.

use super::scan::{self, Piece};
use super::words::{self, word_list};

/// A bracket that opened further back was never closed.
const MAX_BRACKETED: usize = 60;

/// True when `piece` begins with a small letter, behind quotes and brackets.
pub(super) fn begins_small(bytes: &[u8], piece: Piece) -> bool {
    let mut at = piece.start as usize;
    while at < piece.end as usize {
        match bytes[at] {
            b'a'..=b'z' => return true,
            b'"' | b'\'' | b'(' | b'[' | b'*' | b'_' => at += 1,
            0..=0x7f => return false,
            _ => {
                let (code, len) = scan::decode(bytes, at);
                let class = scan::class_of(code);
                if class & scan::EXT_QUOTE == 0 {
                    return class == scan::EXT_LETTER;
                }
                at += len;
            }
        }
    }
    false
}

/// Where the piece ends without closing quotes and brackets.
fn without_closers(bytes: &[u8], piece: Piece) -> usize {
    let (start, mut end) = (piece.start as usize, piece.end as usize);
    while end > start {
        match bytes[end - 1] {
            b'"' | b'\'' | b')' | b']' | b'}' | b'>' | b'*' | b'_' | b'`' => end -= 1,
            0x80..=0xbf => {
                let (code, lead) = scan::last_char(bytes, start, end);
                if scan::class_of(code) & scan::EXT_QUOTE == 0 && code != 0xff09 && code != 0x3011 {
                    break;
                }
                end = lead;
            }
            _ => break,
        }
    }
    end
}

/// True when the last sign of `pieces[index]` ends a sentence; `first` is where the sentence begins.
pub(super) fn is_end(bytes: &[u8], pieces: &[Piece], first: usize, index: usize) -> bool {
    let Some(&piece) = pieces.get(index) else { return false };
    if !piece.has(scan::DOT | scan::END | scan::WIDE_END) {
        return false;
    }
    let end = without_closers(bytes, piece);
    let start = piece.start as usize;
    let Some(&last) = bytes.get(start..end).and_then(<[u8]>::last) else { return false };
    let next = pieces.get(index + 1);
    let next_is_small = next.is_some_and(|next| begins_small(bytes, *next));
    match last {
        b'!' | b'?' => !(next_is_small && (end < piece.end as usize || is_bracketed(bytes, pieces, first, index))),
        b'.' if bytes.get(end.wrapping_sub(2)) == Some(&b'.') && end - start >= 2 => !next_is_small,
        b'.' => next.is_none_or(|next| {
            is_full_stop(bytes, pieces, first, index, *next, start, end - 1)
                && !(next_is_small && is_bracketed(bytes, pieces, first, index))
        }),
        0x80..=0xbf if piece.has(scan::WIDE_END) => {
            let (code, _) = scan::last_char(bytes, start, end);
            scan::class_of(code) & scan::WIDE_END != 0 && !(code == 0x2026 && next_is_small)
        }
        _ => false,
    }
}

/// True when a round bracket is open behind `pieces[index]` that opened in the sentence: what goes on in small letters
/// goes on inside it.
fn is_bracketed(bytes: &[u8], pieces: &[Piece], first: usize, index: usize) -> bool {
    let sentence = pieces.get(first.max(index.saturating_sub(MAX_BRACKETED))..=index).unwrap_or_default();
    let count = |sum: i32, byte: &u8| sum + i32::from(*byte == b'(') - i32::from(*byte == b')');
    sentence.iter().filter(|piece| piece.has(scan::BRACKET)).flat_map(|piece| piece.of(bytes)).fold(0, count) > 0
}

/// A full stop behind `bytes[start..stop]`, with `next` after it.
fn is_full_stop(
    bytes: &[u8],
    pieces: &[Piece],
    first: usize,
    index: usize,
    next: Piece,
    start: usize,
    stop: usize,
) -> bool {
    let piece = pieces[index];
    let (start, stop) = scan::trim(bytes, start, stop);
    let word = bytes.get(start..stop).unwrap_or_default();
    let next_is_small = begins_small(bytes, next);
    let next_opens = next.has(scan::CAPITAL) && next.word & words::OPENER != 0;
    let flags = if piece.word == 0 && piece.mask & !(scan::PLAIN | scan::DOT) != 0 {
        words::flags_of(word)
    } else {
        piece.word
    };
    if flags & words::ABBREVIATION_LAST != 0 {
        return next.has(scan::CAPITAL);
    }
    if flags & words::BEFORE_NUMBER != 0 && starts_with_digit(bytes, next) {
        return false;
    }
    if flags & words::ABBREVIATION != 0 {
        let is_amount = index > first && pieces[index - 1].has(scan::DIGIT) && flags & words::UNIT != 0;
        return is_amount;
    }
    match word {
        [] => true,
        [letter] if letter.is_ascii_alphabetic() => {
            let in_series = index > first && is_letter_stop(bytes, pieces[index - 1]);
            if *letter == b'I' && !in_series {
                next.has(scan::CAPITAL)
            } else if letter.is_ascii_lowercase() {
                !(in_series || is_letter_stop(bytes, next) || next_is_small)
            } else {
                next_opens && !in_series
            }
        }
        _ if word.iter().all(u8::is_ascii_digit) => {
            let before = if index > first { pieces[index - 1].of(bytes) } else { b"" };
            let is_ordinal = word.len() <= 3
                && (index == first
                    || next_is_small
                    || next.word & words::MONTH != 0
                    || word_list!("sentences", BEFORE_ORDINAL).iter().any(|word| word.as_bytes() == before));
            !is_ordinal
        }
        _ if word.eq_ignore_ascii_case(b"e.g") || word.eq_ignore_ascii_case(b"i.e") => false,
        _ if is_dotted_letters(word) => next_opens,
        _ => true,
    }
}

fn starts_with_digit(bytes: &[u8], piece: Piece) -> bool {
    bytes.get(piece.start as usize).is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'#' | b'~'))
}

/// `z.`
fn is_letter_stop(bytes: &[u8], piece: Piece) -> bool {
    let (start, _) = scan::trim(bytes, piece.start as usize, piece.end as usize);
    matches!(bytes.get(start..start + 2), Some([letter, b'.']) if letter.is_ascii_alphabetic())
        && piece.end as usize <= start + 3
}

/// `e.g`, `U.S`, `z.B`
fn is_dotted_letters(word: &[u8]) -> bool {
    word.len() >= 3
        && word.len() % 2 == 1
        && word
            .iter()
            .enumerate()
            .all(|(at, byte)| if at % 2 == 1 { *byte == b'.' } else { byte.is_ascii_alphabetic() })
}

/// Where the next full-width sentence end in `bytes[from..to]` is over, closing quotes included.
pub(super) fn wide_end(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        if bytes[at] < 0x80 {
            at += 1;
            continue;
        }
        // `。`, `！`, `．`, `？` and `｡`; a character that begins with another byte is passed over byte by byte.
        let is_end = match bytes.get(at..at + 3) {
            Some([0xe3, 0x80, 0x82] | [0xef, 0xbc, 0x81 | 0x8e | 0x9f] | [0xef, 0xbd, 0xa1]) => true,
            Some([0xe0..=0xef, ..]) => false,
            _ => {
                at += 1;
                continue;
            }
        };
        at += 3;
        if is_end {
            while at < to {
                let (code, len) = scan::decode(bytes, at);
                let is_closer = char::from_u32(code).is_some_and(|c| "。！？｡」』》”’）\")".contains(c));
                if !is_closer {
                    break;
                }
                at += len;
            }
            return Some(at);
        }
    }
    None
}

/// True when the last of `pieces` ends a sentence.
pub(super) fn ends(bytes: &[u8], pieces: &[Piece]) -> bool {
    !pieces.is_empty() && is_end(bytes, pieces, 0, pieces.len() - 1)
}
