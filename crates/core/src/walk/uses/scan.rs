//! Words and lines of a padded buffer: sixty-four bytes at a time as masks, hashes eight bytes at a time. Knows bytes only.

use super::texts::PADDING;

/// A stretch of letters, digits, `_` and bytes beyond ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) from: usize,
    pub(super) to: usize,
    /// It has a border inside: a hump, `_`, or a digit beside a letter.
    pub(super) is_compound: bool,
    /// It has bytes beyond ASCII.
    pub(super) is_wide: bool,
}

/// What each of sixty-four bytes is, as a bit.
#[derive(Debug, Clone, Copy)]
struct Masks {
    word: u64,
    upper: u64,
    digit: u64,
    underscore: u64,
    wide: u64,
}

/// One bit for each of `classes`, which are 0 or 1.
fn gather(classes: &[u8; 64]) -> u64 {
    // Eight bytes of 0 or 1 times this have their sum of bits in the topmost byte.
    const PACK: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = classes.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(PACK) >> 56)
}

fn classes(block: &[u8; 64], is: impl Fn(u8) -> bool) -> u64 {
    let mut found = [0; 64];
    for (class, &byte) in found.iter_mut().zip(block) {
        *class = u8::from(is(byte));
    }
    gather(&found)
}

impl Masks {
    #[expect(clippy::needless_bitwise_bool, reason = "lanes are compared side by side only without branches")]
    fn of(block: &[u8; 64]) -> Self {
        Self {
            word: classes(block, |byte| {
                ((byte | 0x20).wrapping_sub(b'a') < 26)
                    | (byte.wrapping_sub(b'0') < 10)
                    | (byte == b'_')
                    | (byte >= 0x80)
            }),
            upper: classes(block, |byte| byte.wrapping_sub(b'A') < 26),
            digit: classes(block, |byte| byte.wrapping_sub(b'0') < 10),
            underscore: classes(block, |byte| byte == b'_'),
            wide: classes(block, |byte| byte >= 0x80),
        }
    }
}

/// Calls `each` for the words of `bytes[from..to]`, which are padded.
#[inline]
pub(super) fn words(bytes: &[u8], from: usize, to: usize, mut each: impl FnMut(Word)) {
    let mut base = from;
    // The word that goes on from the block before.
    let mut open: Option<Word> = None;
    // The last bytes of the block before.
    let (mut word, mut upper, mut digit, mut underscore) = (0, 0, 0, 0);
    while base < to {
        let block = bytes.get(base..).and_then(<[u8]>::first_chunk).expect("the buffer is padded");
        let masks = Masks::of(block);
        let valid = if to - base < 64 { (1 << (to - base)) - 1 } else { u64::MAX };
        let w = masks.word & valid;
        let begins = w << 1 | word;
        let changes = (masks.digit ^ (masks.digit << 1 | digit))
            | (masks.upper & !(masks.upper << 1 | upper))
            | (masks.underscore ^ (masks.underscore << 1 | underscore));
        let inner = w & begins & changes;
        let mut edges = w ^ begins;
        if let Some(last) = &mut open {
            let end = if edges == 0 { 64 } else { edges.trailing_zeros() };
            last.is_compound |= end > 0 && inner << (64 - end) != 0;
            last.is_wide |= end > 0 && masks.wide << (64 - end) != 0;
            if edges != 0 {
                edges &= edges - 1;
                each(Word { to: base + end as usize, ..*last });
                open = None;
            }
        }
        while edges != 0 {
            let start = edges.trailing_zeros();
            edges &= edges - 1;
            let end = if edges == 0 { 64 } else { edges.trailing_zeros() };
            let inside = |mask: u64| mask >> start << (64 - (end - start)) != 0;
            let (from, to) = (base + start as usize, base + end as usize);
            let found = Word { from, to, is_compound: inside(inner), is_wide: inside(masks.wide) };
            if edges == 0 {
                open = Some(found);
            } else {
                edges &= edges - 1;
                each(found);
            }
        }
        (word, upper, digit, underscore) = (w >> 63, masks.upper >> 63, masks.digit >> 63, masks.underscore >> 63);
        base += 64;
    }
    if let Some(last) = open {
        each(Word { to, ..last });
    }
}

/// Letters from which a piece of a compound word is a word of its own; digits are.
const MIN_PIECE: usize = 3;

/// Calls `each` for the pieces between the borders of a compound word.
pub(super) fn pieces(bytes: &[u8], word: Word, mut each: impl FnMut(Word)) {
    let mut from = word.from;
    let mut give = |from: usize, to: usize| {
        if to - from >= MIN_PIECE {
            each(Word { from, to, is_compound: false, is_wide: false });
        }
    };
    for at in word.from + 1..word.to {
        let (before, byte) = (bytes[at - 1], bytes[at]);
        if byte == b'_' {
            give(from, at);
            from = at + 1;
        } else if before != b'_' && is_inner_border(before, byte) && from < at {
            give(from, at);
            from = at;
        }
    }
    give(from.min(word.to), word.to);
}

fn is_inner_border(before: u8, byte: u8) -> bool {
    before.is_ascii_digit() != byte.is_ascii_digit() || byte.is_ascii_uppercase() && !before.is_ascii_uppercase()
}

/// True where a word may end between two bytes: at what is no letter or digit, at a hump, between letter and digit.
pub(super) fn is_border(before: u8, byte: u8) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    !(belongs(before) && belongs(byte)) || is_inner_border(before, byte)
}

/// True for what joins the words of an identifier.
pub(super) fn is_joiner(byte: u8) -> bool {
    matches!(byte, b'.' | b'/' | b'#' | b'-')
}

const K0: u64 = 0x9E37_79B9_7F4A_7C15;
const K1: u64 = 0xD1B5_4A32_D192_ED03;
/// Makes ASCII letters lower case.
const FOLD: u64 = 0x2020_2020_2020_2020;

/// Both halves of the product of two numbers, as one.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn eight(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

/// Hash of the `len` bytes at `at`, with `fold` set in every byte. Reads up to eight bytes past the end.
#[inline]
fn hash(bytes: &[u8], at: usize, len: usize, fold: u64) -> u64 {
    match len {
        0 => 0,
        1..=8 => mix((eight(bytes, at) | fold) << (64 - 8 * len) ^ K0, K1 ^ len as u64),
        9..=16 => mix((eight(bytes, at) | fold) ^ K0, (eight(bytes, at + len - 8) | fold) ^ K1 ^ len as u64),
        _ => {
            let (mut left, mut right) = (K0 ^ len as u64, K1);
            let mut k = 0;
            while k + 16 < len {
                left = mix((eight(bytes, at + k) | fold) ^ left, K1);
                right = mix((eight(bytes, at + k + 8) | fold) ^ right, K0);
                k += 16;
            }
            mix((eight(bytes, at + len - 16) | fold) ^ left, (eight(bytes, at + len - 8) | fold) ^ right)
        }
    }
}

/// Hash of a word without case and without a plural `s`.
#[inline]
pub(super) fn folded(bytes: &[u8], from: usize, to: usize) -> u64 {
    let len = to - from;
    let plural = len > 3 && bytes[to - 1] | 0x20 == b's';
    hash(bytes, from, len - usize::from(plural), FOLD)
}

/// Hash of the very bytes; never 0.
#[inline]
pub(super) fn exact(bytes: &[u8], from: usize, to: usize) -> u64 {
    hash(bytes, from, to - from, 0) | 1
}

/// A line: where it stands, and its text without indentation, line number and sign of a diff.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::walk) struct Line {
    /// First byte.
    pub(in crate::walk) from: u32,
    /// Its end, without the line break.
    pub(in crate::walk) to: u32,
    /// Bytes of the bare text; 0 for a line without any.
    pub(in crate::walk) len: u32,
    /// What is known of all lines with this bare text: their slot.
    pub(in crate::walk) slot: u32,
}

impl Line {
    /// Where its bare text begins and ends.
    pub(in crate::walk) fn bare(&self, bytes: &[u8]) -> (usize, usize) {
        bare(bytes, self.from as usize, self.to as usize)
    }
}

/// The bare text of a line: without the number that a viewer puts in front, the sign of a diff and blanks at both ends.
pub(super) fn bare(bytes: &[u8], mut from: usize, mut to: usize) -> (usize, usize) {
    let skip = |mut at: usize, to: usize, is: &dyn Fn(u8) -> bool| {
        while at < to && is(bytes[at]) {
            at += 1;
        }
        at
    };
    let is_blank = |byte: u8| byte.is_ascii_whitespace();
    from = skip(from, to, &is_blank);
    if from < to && bytes[from].is_ascii_digit() {
        let digits = skip(from, to, &|byte| byte.is_ascii_digit());
        let behind = match bytes.get(digits..to) {
            Some([b':' | b'\t' | b'|', ..]) => digits + 1,
            Some([0xE2, 0x86, 0x92, ..]) => digits + 3,
            _ => from,
        };
        from = skip(behind, to, &is_blank);
    }
    while to > from && is_blank(bytes[to - 1]) {
        to -= 1;
    }
    if from < to && matches!(bytes[from], b'+' | b'-') {
        from = skip(from, to, &|byte| matches!(byte, b'+' | b'-'));
        from = skip(from, to, &is_blank);
    }
    (from, to)
}

/// Calls `each` with begin and end of the lines of `bytes[from..to]`.
pub(super) fn lines(bytes: &[u8], from: usize, to: usize, mut each: impl FnMut(usize, usize)) {
    let mut start = from;
    for at in memchr::memchr_iter(b'\n', &bytes[from..to]) {
        each(start, from + at);
        start = from + at + 1;
    }
    each(start, to);
}

const _: () = assert!(PADDING >= 64, "a block of bytes ends within the padding");

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(bytes.len() + PADDING, 0);
        bytes
    }

    /// The same one byte after the other.
    fn naive(bytes: &[u8], to: usize) -> Vec<(usize, usize, bool)> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let mut found: Vec<(usize, usize, bool)> = Vec::new();
        for at in 0..to {
            if !is_word(bytes[at]) {
                continue;
            }
            match found.last_mut() {
                Some(last) if last.1 == at => {
                    let (a, b) = (bytes[at - 1], bytes[at]);
                    last.2 |= is_inner_border(a, b) || (a == b'_') != (b == b'_');
                    last.1 = at + 1;
                }
                _ => found.push((at, at + 1, false)),
            }
        }
        found
    }

    #[test]
    fn words_are_those_of_one_byte_after_the_other() {
        let long = "x".repeat(200);
        let mixed = format!("{long} a_b fooBar HTTPServer v2 {long}9 über 名字 (x) {}", "ab-cd ".repeat(60));
        for text in [
            "",
            "a",
            "a b",
            "fooBar9_x",
            "     ",
            &mixed,
            mixed.get(7..).expect("ASCII"),
            &"_a".repeat(70),
            &"aB ".repeat(50),
        ] {
            let bytes = padded(text);
            let mut found = Vec::new();
            words(&bytes, 0, text.len(), |word| found.push((word.from, word.to, word.is_compound)));
            assert_eq!(found, naive(&bytes, text.len()), "{text}");
        }
    }

    #[test]
    fn pieces_of_a_compound_word_stand_between_its_borders() {
        let text = "fooBar9_baz12345ABC_x";
        let bytes = padded(text);
        let mut found = Vec::new();
        pieces(&bytes, Word { from: 0, to: text.len(), is_compound: true, is_wide: false }, |word| {
            found.push(text.get(word.from..word.to).expect("ASCII"));
        });
        assert_eq!(found, ["foo", "Bar", "baz", "12345", "ABC"]);
    }

    #[test]
    fn a_bare_line_has_no_number_no_sign_and_no_indentation() {
        for (line, text) in [
            ("   12\tlet x = 1;  ", "let x = 1;"),
            ("12→  let x", "let x"),
            ("7: - gone", "gone"),
            ("+++ b/src/x.rs", "b/src/x.rs"),
            ("12 apples", "12 apples"),
            ("   ", ""),
            ("12:", ""),
        ] {
            let bytes = padded(line);
            let (from, to) = bare(&bytes, 0, line.len());
            assert_eq!(line.get(from..to), Some(text), "{line}");
        }
    }

    #[test]
    fn a_folded_hash_knows_no_case_and_no_plural() {
        let of = |text: &str| folded(&padded(text), 0, text.len());
        assert_eq!(of("Tests"), of("test"));
        assert_eq!(of("ConfigurationManagers"), of("configurationmanager"));
        assert_ne!(of("yes"), of("ye"));
        assert_ne!(of("test"), of("tess"));
    }
}
