//! Words and lines of a padded buffer: sixty-four bytes at a time as masks, hashes eight bytes at a time. Knows bytes only.

use wide::u8x16;

use super::texts::PADDING;

/// First bytes of the characters of U+0080 to U+00BF, and of U+2000 to U+2FFF: blanks, dashes, quotes, arrows, boxes and other
/// signs, and hardly a letter.
const SIGNS: [u8; 2] = [0xC2, 0xE2];

/// A stretch of letters, digits, `_` and characters beyond ASCII that are no signs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::walk) struct Word {
    pub(in crate::walk) from: usize,
    pub(in crate::walk) to: usize,
    /// It has bytes beyond ASCII.
    pub(super) is_wide: bool,
    /// Borders inside, as bits: humps, `_`, digits beside letters; the last one stands for all further ones.
    pub(super) borders: u64,
}

impl Word {
    /// True when it has borders inside.
    #[inline]
    pub(in crate::walk) fn is_compound(&self) -> bool {
        self.borders != 0
    }

    /// The same with what follows it at once.
    fn with(self, next: Self) -> Self {
        let n = next.from - self.from;
        let borders = if n < 63 { next.borders << n } else { u64::from(next.borders != 0) << 63 };
        Self { to: next.to, borders: self.borders | borders, is_wide: self.is_wide | next.is_wide, ..self }
    }
}

/// The sixty-four bytes at `at`; the buffer is padded.
fn block(bytes: &[u8], at: usize) -> &[u8; 64] {
    bytes.get(at..).and_then(<[u8]>::first_chunk).expect("the buffer is padded")
}

/// What each of sixty-four bytes is, as a bit.
#[derive(Debug, Clone, Copy, Default)]
struct Masks {
    word: u64,
    upper: u64,
    digit: u64,
    underscore: u64,
    wide: u64,
    /// Begins of signs of two and of three bytes.
    signs: [u64; 2],
}

impl Masks {
    fn at(bytes: &[u8], at: usize) -> Self {
        let mut masks = Self::default();
        let (quarters, _) = block(bytes, at).as_chunks::<16>();
        for (at, quarter) in quarters.iter().enumerate() {
            let bytes = u8x16::new(*quarter);
            let within = |bytes: u8x16, first: u8, n: u8| {
                let above = bytes - u8x16::splat(first);
                above.min(u8x16::splat(n - 1)).simd_eq(above)
            };
            let digit = within(bytes, b'0', 10);
            let underscore = bytes.simd_eq(u8x16::splat(b'_'));
            let letter = within(bytes | u8x16::splat(0x20), b'a', 26);
            let bits = |of: u8x16| u64::from(of.to_bitmask()) << (16 * at);
            masks.wide |= bits(bytes);
            masks.word |= bits(letter | digit | underscore | bytes);
            masks.upper |= bits(within(bytes, b'A', 26));
            masks.digit |= bits(digit);
            masks.underscore |= bits(underscore);
        }
        if masks.wide != 0 {
            for (at, quarter) in quarters.iter().enumerate() {
                for (signs, sign) in masks.signs.iter_mut().zip(SIGNS) {
                    let is_sign = u8x16::new(*quarter).simd_eq(u8x16::splat(sign));
                    *signs |= u64::from(is_sign.to_bitmask()) << (16 * at);
                }
            }
        }
        masks
    }

    /// Bytes of signs; `before` are the sixty-four bytes before.
    fn of_signs(self, before: Self) -> u64 {
        let [two, three] = self.signs;
        if two | three | before.signs[0] | before.signs[1] == 0 {
            return 0;
        }
        let shifted = |mask: u64, before: u64, by: u32| mask << by | before >> (64 - by);
        two | shifted(two, before.signs[0], 1)
            | three
            | shifted(three, before.signs[1], 1)
            | shifted(three, before.signs[1], 2)
    }

    /// Bytes before which a piece of a word ends, where the word goes on: humps, and changes from or to digits and `_`;
    /// `before` are the sixty-four bytes before.
    fn borders(self, before: Self) -> u64 {
        let shifted = |mask: u64, before: u64| mask << 1 | before >> 63;
        (self.digit ^ shifted(self.digit, before.digit))
            | (self.upper & !shifted(self.upper, before.upper))
            | (self.underscore ^ shifted(self.underscore, before.underscore))
    }
}

/// Calls `each` for the words of `bytes[from..to]`, which are padded.
#[inline]
pub(in crate::walk) fn words(bytes: &[u8], from: usize, to: usize, mut each: impl FnMut(Word)) {
    let mut base = from;
    // The word that goes on from the block before.
    let mut open: Option<Word> = None;
    let mut before = Masks::default();
    while base < to || open.is_some() {
        // Behind the end stands no word.
        let mut masks = if base < to { Masks::at(bytes, base) } else { Masks::default() };
        masks.word &= !masks.of_signs(before);
        if to - base.min(to) < 64 {
            masks.word &= (1 << (to - base.min(to))) - 1;
        }
        let goes_on = masks.word << 1 | before.word >> 63;
        let inner = masks.word & goes_on & masks.borders(before);
        let (mut starts, mut ends) = (masks.word & !goes_on, goes_on & !masks.word);
        let stretch = |start: u32, end: u32| {
            let within = u64::MAX >> (64 - (end - start));
            let (borders, is_wide) = (inner >> start & within, masks.wide >> start & within != 0);
            Word { from: base + start as usize, to: base + end as usize, is_wide, borders }
        };
        if let Some(word) = open.take() {
            let end = ends.trailing_zeros();
            let word = if end > 0 { word.with(stretch(0, end)) } else { word };
            if ends == 0 {
                open = Some(word);
            } else {
                ends &= ends - 1;
                each(word);
            }
        }
        while ends != 0 {
            each(stretch(starts.trailing_zeros(), ends.trailing_zeros()));
            starts &= starts - 1;
            ends &= ends - 1;
        }
        if starts != 0 {
            open = Some(stretch(starts.trailing_zeros(), 64));
        }
        before = masks;
        base += 64;
    }
}

/// Letters from which a piece of a compound word is a word of its own; digits are.
const MIN_PIECE: usize = 3;

/// Calls `each` with a word and with the pieces between its borders: where they begin and end.
#[inline]
pub(in crate::walk) fn with_pieces(bytes: &[u8], word: Word, mut each: impl FnMut(usize, usize)) {
    let (mut from, mut to, mut borders) = (word.from, word.to, word.borders);
    let mut at = if borders == 0 { word.to } else { word.from };
    loop {
        each(from, to);
        loop {
            if at == word.to {
                return;
            }
            from = at;
            at = if borders == 0 { word.to } else { word.from + borders.trailing_zeros() as usize };
            borders &= borders.wrapping_sub(1);
            if at - from >= MIN_PIECE && bytes[from] != b'_' {
                break;
            }
        }
        to = at;
    }
}

fn is_inner_border(before: u8, byte: u8) -> bool {
    before.is_ascii_digit() != byte.is_ascii_digit() || byte.is_ascii_uppercase() && !before.is_ascii_uppercase()
}

/// True where a word may end before `at`: at what is no letter or digit, at a hump, between letter and digit.
pub(super) fn is_border(bytes: &[u8], at: usize) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric();
    let (before, byte) = (bytes[at - 1], bytes[at]);
    let is_apart = !(belongs(before) || is_wide_before(bytes, at)) || !(belongs(byte) || is_wide_at(bytes, at));
    is_apart || is_inner_border(before, byte)
}

/// True for a character beyond ASCII at `at` that is no sign.
pub(super) fn is_wide_at(bytes: &[u8], at: usize) -> bool {
    bytes[at] >= 0x80 && !SIGNS.contains(&bytes[at])
}

/// True when such a character ends before `at`.
pub(super) fn is_wide_before(bytes: &[u8], at: usize) -> bool {
    let is_at = |n: usize, sign: u8| at >= n && bytes[at - n] == sign;
    bytes[at - 1] >= 0x80 && !is_at(2, SIGNS[0]) && !is_at(3, SIGNS[1])
}

/// True for what joins the words of an identifier.
pub(in crate::walk) fn is_joiner(byte: u8) -> bool {
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
    bytes.get(at..at + 8).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

/// Hash of the `len` bytes at `at`, with `fold` set in every byte. Reads up to eight bytes past the end.
#[inline(always)]
#[expect(clippy::inline_always, reason = "hashing words is most of what a scan does")]
fn hash(bytes: &[u8], at: usize, len: usize, fold: u64) -> u64 {
    match len {
        0 => 0,
        1..=8 => mix((eight(bytes, at) | fold) << (64 - 8 * len) ^ K0, K1 ^ len as u64),
        9..=16 => mix((eight(bytes, at) | fold) ^ K0, (eight(bytes, at + len - 8) | fold) ^ K1 ^ len as u64),
        _ => long_hash(bytes, at, len, fold),
    }
}

fn long_hash(bytes: &[u8], at: usize, len: usize, fold: u64) -> u64 {
    let (mut left, mut right) = (K0 ^ len as u64, K1);
    let mut k = 0;
    while k + 16 < len {
        left = mix((eight(bytes, at + k) | fold) ^ left, K1);
        right = mix((eight(bytes, at + k + 8) | fold) ^ right, K0);
        k += 16;
    }
    mix((eight(bytes, at + len - 16) | fold) ^ left, (eight(bytes, at + len - 8) | fold) ^ right)
}

/// Hash of a word without case and without a plural `s`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "hashing words is most of what a scan does")]
pub(in crate::walk) fn folded(bytes: &[u8], from: usize, to: usize) -> u64 {
    let len = to - from;
    if len.wrapping_sub(1) < 8 {
        let word = (eight(bytes, from) | FOLD) << (64 - 8 * len);
        let plural = usize::from(len > 3 && word >> 56 == u64::from(b's'));
        return mix((word << (8 * plural)) ^ K0, K1 ^ (len - plural) as u64);
    }
    let plural = len > 3 && bytes[to - 1] | 0x20 == b's';
    hash(bytes, from, len - usize::from(plural), FOLD)
}

/// Hash of the very bytes; never 0.
#[inline]
pub(in crate::walk) fn exact(bytes: &[u8], from: usize, to: usize) -> u64 {
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
pub(in crate::walk) fn bare(bytes: &[u8], from: usize, to: usize) -> (usize, usize) {
    let mut text = trim_start(&bytes[from..to]);
    if let [b'0'..=b'9', ..] = text {
        let n_digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        text = match &text[n_digits..] {
            [b':' | b'\t' | b'|', behind @ ..] | [0xE2, 0x86, 0x92, behind @ ..] => trim_start(behind),
            _ => text,
        };
    }
    let n_blanks = text.len() - text.trim_ascii_end().len();
    let end = to - n_blanks;
    text = &text[..text.len() - n_blanks];
    if let [b'+' | b'-', ..] = text {
        let n_signs = text.iter().take_while(|byte| matches!(byte, b'+' | b'-')).count();
        text = text[n_signs..].trim_ascii_start();
    }
    (end - text.len(), end)
}

/// Without blanks in front, of which there may be many.
fn trim_start(mut text: &[u8]) -> &[u8] {
    while let Some(chunk) = text.first_chunk() {
        let n_blanks = (u64::from_le_bytes(*chunk) ^ u64::from_le_bytes([b' '; 8])).trailing_zeros() as usize / 8;
        text = &text[n_blanks..];
        if n_blanks < 8 {
            break;
        }
    }
    text.trim_ascii_start()
}

/// Calls `each` with begin and end of the lines of `bytes[from..to]`.
pub(in crate::walk) fn lines(bytes: &[u8], from: usize, to: usize, mut each: impl FnMut(usize, usize)) {
    let (mut start, mut base) = (from, from);
    while base < to {
        let (quarters, _) = block(bytes, base).as_chunks::<16>();
        let is_break = |quarter: &[u8; 16]| u8x16::new(*quarter).simd_eq(u8x16::splat(b'\n')).to_bitmask();
        let mut breaks = quarters.iter().rev().fold(0, |breaks, quarter| breaks << 16 | u64::from(is_break(quarter)));
        if to - base < 64 {
            breaks &= (1 << (to - base)) - 1;
        }
        while breaks != 0 {
            let at = base + breaks.trailing_zeros() as usize;
            breaks &= breaks - 1;
            each(start, at);
            start = at + 1;
        }
        base += 64;
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

    /// True for the bytes of dashes and the like.
    fn is_in_sign(bytes: &[u8], at: usize) -> bool {
        let lead = (0..=at).rev().find(|&at| bytes[at] & 0xC0 != 0x80).expect("the text is UTF-8");
        SIGNS.contains(&bytes[lead])
    }

    /// The same one byte after the other.
    fn naive(bytes: &[u8], to: usize) -> Vec<(usize, usize, bool)> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let mut found: Vec<(usize, usize, bool)> = Vec::new();
        for at in 0..to {
            if !is_word(bytes[at]) || bytes[at] >= 0x80 && is_in_sign(bytes, at) {
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
            "12\u{2192}foo_bar \u{201c}x\u{201d} \u{e9}t\u{e9}\u{a0}b",
            &"ab\u{2014}".repeat(40),
            &"\u{a7}a".repeat(70),
            &mixed,
            mixed.get(7..).expect("ASCII"),
            &"_a".repeat(70),
            &"aB ".repeat(50),
        ] {
            let bytes = padded(text);
            let mut found = Vec::new();
            words(&bytes, 0, text.len(), |word| found.push((word.from, word.to, word.is_compound())));
            assert_eq!(found, naive(&bytes, text.len()), "{text}");
        }
    }

    #[test]
    fn pieces_of_a_compound_word_stand_between_its_borders() {
        let text = "fooBar9_baz12345ABC_x";
        let mut found = Vec::new();
        words(&padded(text), 0, text.len(), |word| {
            with_pieces(text.as_bytes(), word, |from, to| found.push(text.get(from..to).expect("ASCII")));
        });
        assert_eq!(found, [text, "foo", "Bar", "baz", "12345", "ABC"]);
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
            ("12\t", ""),
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
