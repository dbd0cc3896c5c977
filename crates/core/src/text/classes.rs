//! The classes of bytes and characters, as bits. Knows single signs; refuses to know pieces.

/// A table with a value for each byte, by the arms of a match: `byte_table!(u8: b'a'..=b'z' => 1, _ => 0)`.
macro_rules! byte_table {
    ($type:ty: $($arms:tt)*) => {{
        let mut table: [$type; 256] = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = match byte as u8 { $($arms)* };
            byte += 1;
        }
        table
    }};
}
pub(crate) use byte_table;

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
/// White space.
pub(super) const BLANK: u32 = 1 << 31;
/// Only in `CLASSES`; never in a mask.
const OUTSIDE_ASCII: u32 = BLANK | WIDE;

/// Only letters.
pub(super) const PLAIN: u32 = LOWER | UPPER | CAPITAL | VOWEL | EXT_LETTER | WIDE;
/// The class of every byte.
pub(super) static CLASSES: [u32; 256] = byte_table!(u32:
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
);

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
