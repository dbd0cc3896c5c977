//! Cuts a line into pieces between white space and says of each which classes of signs occur in it. Knows bytes
//! and characters; refuses to know what a piece means.

use super::lexed::CharCounts;
use super::words;

/// A run of characters between white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// First byte in the text.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Classes of its signs, OR-ed.
    pub mask: u32,
    /// Flags of its word in the word list, or 0.
    pub word: u32,
}

impl Piece {
    /// The bytes of the piece.
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
    /// The piece without brackets, quotes and stars around it and without punctuation after it.
    #[inline]
    pub(super) fn core(self, bytes: &[u8]) -> (usize, usize) {
        let (start, end) = (self.start as usize, self.end as usize);
        if self.mask & PLAIN == self.mask { (start, end) } else { trim(bytes, start, end) }
    }
    /// True when any of `classes` occurs.
    #[inline]
    pub(super) fn has(self, classes: u32) -> bool {
        self.mask & classes != 0
    }
}

pub(super) const LOWER: u32 = 1;
/// A capital behind the first byte.
pub(super) const UPPER: u32 = 1 << 1;
pub(super) const DIGIT: u32 = 1 << 2;
pub(super) const DOT: u32 = 1 << 3;
pub(super) const COMMA: u32 = 1 << 4;
pub(super) const END: u32 = 1 << 5;
pub(super) const COLON: u32 = 1 << 6;
pub(super) const SLASH: u32 = 1 << 7;
pub(super) const DASH: u32 = 1 << 8;
pub(super) const UNDER: u32 = 1 << 9;
pub(super) const APOSTROPHE: u32 = 1 << 10;
pub(super) const QUOTE: u32 = 1 << 11;
pub(super) const TICK: u32 = 1 << 12;
pub(super) const BRACKET: u32 = 1 << 13;
pub(super) const ANGLE: u32 = 1 << 14;
pub(super) const SIGN: u32 = 1 << 15;
pub(super) const AT: u32 = 1 << 16;
pub(super) const HASH: u32 = 1 << 17;
pub(super) const MONEY: u32 = 1 << 18;
pub(super) const PERCENT: u32 = 1 << 19;
pub(super) const CONTROL: u32 = 1 << 20;
pub(super) const VOWEL: u32 = 1 << 21;
/// Ideographs, kana, hangul.
pub(super) const WIDE: u32 = 1 << 22;
/// `。！？…` and the like.
pub(super) const WIDE_END: u32 = 1 << 23;
/// `，、；：`
pub(super) const WIDE_COMMA: u32 = 1 << 24;
/// A letter outside ASCII.
pub(super) const EXT_LETTER: u32 = 1 << 25;
/// The piece begins with a capital.
pub(super) const CAPITAL: u32 = 1 << 26;
/// A full-width digit.
pub(super) const EXT_DIGIT: u32 = 1 << 27;
/// `“”„«»「」『』《》‘’`
pub(super) const EXT_QUOTE: u32 = 1 << 28;
/// Emoji, arrows, other signs.
pub(super) const OTHER: u32 = 1 << 29;
/// Box drawing.
pub(super) const BOX: u32 = 1 << 30;
const BLANK: u32 = 1 << 31;
/// Only in `CLASSES`; never in a mask.
const OUTSIDE_ASCII: u32 = BLANK | WIDE;

/// Only letters.
pub(super) const PLAIN: u32 = LOWER | UPPER | CAPITAL | VOWEL | EXT_LETTER | WIDE;
/// What a word of the word list may carry around it.
const WORDLIKE: u32 =
    PLAIN | DOT | COMMA | END | COLON | APOSTROPHE | QUOTE | TICK | BRACKET | EXT_QUOTE | SIGN | DASH | WIDE_COMMA;

static CLASSES: [u32; 256] = classes();

const fn classes() -> [u32; 256] {
    let mut table = [CONTROL; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a' | b'e' | b'i' | b'o' | b'u' | b'y' => LOWER | VOWEL,
            b'a'..=b'z' => LOWER,
            b'A' | b'E' | b'I' | b'O' | b'U' | b'Y' => UPPER | VOWEL,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'.' => DOT,
            b',' | b';' => COMMA,
            b'!' | b'?' => END,
            b':' => COLON,
            b'/' | b'\\' => SLASH,
            b'-' => DASH,
            b'_' => UNDER,
            b'\'' => APOSTROPHE,
            b'"' => QUOTE,
            b'`' => TICK,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' => BRACKET,
            b'<' | b'>' => ANGLE,
            b'=' | b'+' | b'*' | b'&' | b'^' | b'|' | b'~' => SIGN,
            b'@' => AT,
            b'#' => HASH,
            b'$' => MONEY,
            b'%' => PERCENT,
            b'\t' => BLANK | CONTROL,
            b' ' | 10..=13 => BLANK,
            128.. => OUTSIDE_ASCII,
            _ => CONTROL,
        };
        byte += 1;
    }
    table
}

/// Pushes the pieces of `bytes[start..end]` and returns all their classes and all their word flags. `text` is
/// valid UTF-8 and both ends are character boundaries.
pub(super) fn scan(
    text: &str,
    start: usize,
    end: usize,
    pieces: &mut Vec<Piece>,
    counts: &mut CharCounts,
) -> (u32, u32) {
    let bytes = text.as_bytes();
    let line = bytes.get(..end).unwrap_or_default();
    let (mut all, mut all_words, mut longest) = (0, 0, 0);
    let n_before = pieces.len();
    let mut at = start;
    while let Some(&byte) = line.get(at) {
        let class = CLASSES[usize::from(byte)];
        if class & (BLANK | WIDE) == BLANK {
            all |= class & CONTROL;
            at += 1;
            continue;
        }
        let begin = at;
        let mut mask = 0;
        if class & (LOWER | UPPER) != 0
            && let Some(word) = words::eight_bytes(line, at)
        {
            let n_letters = small_letters(word | u64::from(class & UPPER != 0) << 5);
            let first = if class & UPPER == 0 { LOWER } else { CAPITAL | if n_letters > 1 { LOWER } else { 0 } };
            if n_letters < 8 {
                let keep = u64::MAX >> (64 - 8 * n_letters);
                let next = CLASSES[(word >> (8 * n_letters)) as usize & 0xff];
                let is_stopped = next & (DOT | COMMA) != 0
                    && line
                        .get(at + n_letters + 1)
                        .is_none_or(|&byte| CLASSES[usize::from(byte)] & (BLANK | WIDE) == BLANK);
                if next & (BLANK | WIDE) == BLANK || is_stopped {
                    let stop = if is_stopped { next } else { 0 };
                    mask = first | vowel(words::fold(word) & keep) | stop;
                    at += n_letters + usize::from(is_stopped);
                    let flags = words::find_short(words::fold(word) & keep);
                    longest = longest.max(at - begin);
                    all |= mask;
                    all_words |= flags;
                    pieces.push(Piece { start: begin as u32, end: at as u32, mask, word: flags });
                    continue;
                }
            } else {
                mask = first | vowel(words::fold(word));
                at += 8;
            }
        }
        if mask != 0 {
            // The first eight bytes are letters.
        } else if class & BLANK == 0 {
            mask = if class & UPPER == 0 { class } else { class & !UPPER | CAPITAL };
            at += 1;
        }
        loop {
            let mut n_bytes = 0;
            let mut stop = BLANK;
            for &byte in &line[at..] {
                let class = CLASSES[usize::from(byte)];
                if class & BLANK != 0 {
                    stop = class;
                    break;
                }
                mask |= class;
                n_bytes += 1;
            }
            at += n_bytes;
            if stop & WIDE == 0 {
                break;
            }
            let (class, len) = outside_ascii(line, at, counts);
            if class & BLANK != 0 {
                if at == begin {
                    counts.blanks += 1;
                    at += len;
                }
                break;
            }
            mask |= if at == begin || class & CAPITAL == 0 { class } else { class & !CAPITAL | UPPER };
            at += len;
        }
        if mask == 0 {
            continue;
        }
        let mut piece = Piece { start: begin as u32, end: at as u32, mask, word: 0 };
        if mask & !PLAIN == 0 {
            piece.word = words::find(bytes, begin, at);
        } else if mask & !WORDLIKE == 0 && mask & PLAIN != 0 && at - begin <= 24 {
            let (from, to) = trim(bytes, begin, at);
            piece.word = words::find(bytes, from, to);
        }
        longest = longest.max(at - begin);
        all |= mask;
        all_words |= piece.word;
        pieces.push(piece);
    }
    counts.pieces += (pieces.len() - n_before) as u32;
    counts.longest_piece = counts.longest_piece.max(longest as u32);
    (all, all_words)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How many of the eight bytes are small letters, up to the first that is none.
fn small_letters(word: u64) -> usize {
    let low = word & !HIGHS;
    let from_a = low + ONES * u64::from(0x80 - b'a');
    let behind_z = low + ONES * u64::from(0x80 - b'z' - 1);
    let is_letter = from_a & !behind_z & !word & HIGHS;
    ((is_letter ^ HIGHS).trailing_zeros() / 8) as usize
}

/// `VOWEL` when one of the eight bytes is a small vowel, else 0.
fn vowel(word: u64) -> u32 {
    let mut found = 0;
    for letter in *b"aeiouy" {
        let zero = word ^ (ONES * u64::from(letter));
        found |= zero.wrapping_sub(ONES) & !zero & HIGHS;
    }
    if found == 0 { 0 } else { VOWEL }
}

/// Class and length of the character outside ASCII at `at`, and counts it; a blank is left to the caller to count.
fn outside_ascii(bytes: &[u8], at: usize, counts: &mut CharCounts) -> (u32, usize) {
    let (code, len) = decode(bytes, at);
    let class = class_of(code);
    if class & (WIDE | EXT_LETTER | CAPITAL) != 0 {
        counts.letters += 1;
        counts.wide += u32::from(class & WIDE != 0);
    }
    counts.digits += u32::from(class & EXT_DIGIT != 0);
    (class, len)
}

/// The character at `at` and its length in bytes; `bytes` is valid UTF-8.
pub(super) fn decode(bytes: &[u8], at: usize) -> (u32, usize) {
    let next = |n: usize| u32::from(bytes.get(at + n).copied().unwrap_or(0) & 0x3f);
    match bytes.get(at).copied().unwrap_or(0) {
        lead @ 0xf0.. => ((u32::from(lead & 7) << 18) | (next(1) << 12) | (next(2) << 6) | next(3), 4),
        lead @ 0xe0.. => ((u32::from(lead & 15) << 12) | (next(1) << 6) | next(2), 3),
        lead @ 0xc0.. => ((u32::from(lead & 31) << 6) | next(1), 2),
        lead => (u32::from(lead), 1),
    }
}

/// Class of a character outside ASCII.
pub(super) fn class_of(code: u32) -> u32 {
    match code {
        0x4e00..=0x9fff | 0x3041..=0x30ff | 0xac00..=0xd7a3 | 0x3400..=0x4dbf | 0x1100..=0x11ff | 0x3005..=0x3007 => {
            if code == 0x30fb {
                WIDE_COMMA
            } else {
                WIDE
            }
        }
        0x2_0000..=0x3_ffff | 0xf900..=0xfaff | 0xff66..=0xff9f => WIDE,
        0x3000 | 0x85 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f => BLANK,
        0x3002 | 0xff01 | 0xff1f | 0xff0e | 0x2026 | 0x203c | 0x2047..=0x2049 | 0xff61 => WIDE_END,
        0xff0c | 0x3001 | 0xff1b | 0xff1a => WIDE_COMMA,
        0xff10..=0xff19 => EXT_DIGIT,
        0xa1 | 0xbf | 0x201c..=0x201f | 0x2018..=0x201b | 0xab | 0xbb | 0x300a..=0x300f | 0x2039 | 0x203a => EXT_QUOTE,
        0x2500..=0x257f => BOX,
        0xa2..=0xa5 | 0x20a0..=0x20bf | 0xffe5 | 0xff04 => MONEY,
        0xff05 => PERCENT,
        0xd7
        | 0xf7
        | 0x200b..=0x2bff
        | 0x1_f000..=0x1_ffff
        | 0xe000..=0xf8ff
        | 0xfe00..=0xfe0f
        | 0xfffd
        | 0x80..=0xa9 => OTHER,
        0xdf..=0xff | 0x430..=0x45f | 0x3b1..=0x3c9 => EXT_LETTER,
        0x400..=0x42f | 0xc0..=0xde => EXT_LETTER | CAPITAL,
        _ => match char::from_u32(code) {
            Some(sign) if sign.is_alphabetic() => EXT_LETTER | if sign.is_uppercase() { CAPITAL } else { 0 },
            _ => OTHER,
        },
    }
}

/// `start..end` without brackets, quotes and stars at both ends and without punctuation at the end.
pub(super) fn trim(bytes: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    if let Some([first, .., before, last]) = bytes.get(start..end)
        && first.is_ascii_alphanumeric()
        && before.is_ascii_alphanumeric()
        && last.is_ascii()
    {
        let is_sign = matches!(
            last,
            b'"' | b'\'' | b')' | b']' | b'}' | b'>' | b'*' | b'`' | b',' | b';' | b'.' | b'!' | b'?' | b':' | b'|'
        );
        return (start, end - usize::from(is_sign));
    }
    while start < end {
        match bytes[start] {
            b'"' | b'\'' | b'(' | b'[' | b'{' | b'<' | b'*' | b'`' | b',' | b';' | b'|' => start += 1,
            0xc2 | 0xe2 | 0xe3 | 0xef => {
                let (code, len) = decode(bytes, start);
                if class_of(code) & (EXT_QUOTE | WIDE_COMMA | WIDE_END) == 0 && !is_wide_bracket(code) {
                    break;
                }
                start += len;
            }
            _ => break,
        }
    }
    while start < end {
        match bytes[end - 1] {
            b'"' | b'\'' | b')' | b']' | b'}' | b'>' | b'*' | b'`' | b',' | b';' | b'.' | b'!' | b'?' | b':' | b'|' => {
                end -= 1;
            }
            0x80..=0xbf => {
                let mut lead = end - 1;
                while lead > start && bytes[lead] & 0xc0 == 0x80 {
                    lead -= 1;
                }
                let (code, _) = decode(bytes, lead);
                if class_of(code) & (EXT_QUOTE | WIDE_COMMA | WIDE_END) == 0 && !is_wide_bracket(code) {
                    break;
                }
                end = lead;
            }
            _ => break,
        }
    }
    (start, end)
}

fn is_wide_bracket(code: u32) -> bool {
    matches!(code, 0xff08 | 0xff09 | 0x3010 | 0x3011 | 0x3014 | 0x3015)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_piece(text: &str, start: usize, end: usize) -> (u32, u32) {
        let mut pieces = Vec::new();
        scan(text, start, end, &mut pieces, &mut CharCounts::default());
        assert_eq!(pieces.len(), 1, "{text:?}");
        (pieces[0].mask, pieces[0].word)
    }

    /// Words near the end of a line are read byte by byte, others eight bytes at once.
    #[test]
    fn reading_at_once_finds_the_same_as_byte_by_byte() {
        for word in [
            "not",
            "Not",
            "a",
            "A",
            "the,",
            "The.",
            "rhythm",
            "abcdefgh",
            "Abcdefghi",
            "don't",
            "aB",
            "ABC",
            "x1",
            "naïve",
            "z.",
        ] {
            let long = format!("{word}          ");
            assert_eq!(only_piece(word, 0, word.len()), only_piece(&long, 0, long.len()), "{word}");
        }
    }

    #[test]
    fn a_capital_counts_as_inside_only_behind_the_first_byte() {
        assert_eq!(only_piece("Word", 0, 4).0 & (UPPER | CAPITAL), CAPITAL);
        assert_eq!(only_piece("wOrd", 0, 4).0 & (UPPER | CAPITAL), UPPER);
    }
}
