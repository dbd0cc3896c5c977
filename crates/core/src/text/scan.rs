//! Cuts a line into pieces between white space and says of each which classes of signs occur in it. Knows bytes
//! and characters; refuses to know what a piece means.

pub(super) use super::classes::{
    ANGLE, APOSTROPHE, AT, BLANK, BOX, BRACKET, CAPITAL, CLASSES, COLON, COMMA, CONTROL, DASH, DIGIT, DOT, END,
    EXT_DIGIT, EXT_LETTER, EXT_QUOTE, HASH, LOWER, MONEY, OTHER, PERCENT, PLAIN, QUOTE, SIGN, SLASH, TICK, UNDER,
    UPPER, VOWEL, WIDE, WIDE_COMMA, WIDE_END, class_of, decode,
};
use super::lexed::{CharCounts, Span};
use super::words;

/// A piece that is letters with signs around them.
const ONE_WORD: u32 = 1 << 31;

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
    /// What its word does to a talk, and [`ONE_WORD`] where it is known to be one.
    pub bears: u32,
}

impl Piece {
    /// The bytes of the piece.
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
    /// The bytes of the piece in `span`: many sentences may stand in one piece.
    #[inline]
    pub(super) fn within(self, bytes: &[u8], span: Span) -> &[u8] {
        bytes.get(self.start.max(span.start) as usize..self.end.min(span.end) as usize).unwrap_or_default()
    }
    /// The piece without brackets, quotes and stars around it and without punctuation after it.
    #[inline]
    pub(super) fn core(self, bytes: &[u8]) -> (usize, usize) {
        let (start, end) = (self.start as usize, self.end as usize);
        if self.mask & PLAIN == self.mask { (start, end) } else { trim(bytes, start, end) }
    }
    /// The bytes of its core.
    #[inline]
    pub(super) fn word(self, bytes: &[u8]) -> &[u8] {
        let (start, end) = self.core(bytes);
        bytes.get(start..end).unwrap_or_default()
    }
    /// True when it is one word, perhaps with signs around it, and not several with signs between.
    #[inline]
    pub(super) fn is_word(self) -> bool {
        self.bears & ONE_WORD != 0 || self.mask & !PLAIN == 0
    }
    /// Notes what is known of its word.
    fn know(&mut self, known: words::Known) {
        (self.word, self.bears) = (known.flags & !words::VOWELS, known.bears);
    }
    /// True when any of `classes` occurs.
    #[inline]
    pub(super) fn has(self, classes: u32) -> bool {
        self.mask & classes != 0
    }
}

const VOWELS_TO_VOWEL: u32 = words::VOWELS.trailing_zeros() - VOWEL.trailing_zeros();
const UPPER_TO_CAPITAL: u32 = CAPITAL.trailing_zeros() - UPPER.trailing_zeros();
/// What a word of the word list may carry around it.
const WORDLIKE: u32 =
    PLAIN | DOT | COMMA | END | COLON | APOSTROPHE | QUOTE | TICK | BRACKET | EXT_QUOTE | SIGN | DASH | WIDE_COMMA;

/// Pushes the pieces of `bytes[start..end]` and returns all their classes and all their word flags. `text` is
/// valid UTF-8, both ends are character boundaries, and a line end or the end of the text is at `end`.
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
    let mut at = start;
    while let Some(&byte) = line.get(at) {
        let class = CLASSES[usize::from(byte)];
        if is_blank(class) {
            all |= class & CONTROL;
            at += 1;
            continue;
        }
        if class & (LOWER | UPPER | WIDE) == 0
            && line.get(at + 1).is_none_or(|&next| is_blank(CLASSES[usize::from(next)]))
        {
            all |= class;
            longest = longest.max(1);
            pieces.push(Piece { start: at as u32, end: at as u32 + 1, mask: class, word: 0, bears: 0 });
            at += 1;
            continue;
        }
        let begin = at;
        let mut piece = match letters(bytes, begin, byte, class) {
            Letters::Word(piece) => {
                // The blank behind it, when there is one, is over as well.
                at = piece.end as usize;
                longest = longest.max(at - begin);
                all |= piece.mask | line.get(at).map_or(0, |&byte| CLASSES[usize::from(byte)] & CONTROL);
                at += 1;
                all_words |= piece.word;
                pieces.push(piece);
                continue;
            }
            Letters::Begin(piece) => piece,
        };
        at = piece.end as usize;
        let mut mask = piece.mask;
        loop {
            let mut stop = BLANK;
            let rest = line.get(at..).unwrap_or_default();
            for &byte in rest {
                let class = CLASSES[usize::from(byte)];
                if class & BLANK != 0 {
                    stop = class;
                    break;
                }
                mask |= class;
                at += 1;
            }
            if stop & WIDE == 0 {
                break;
            }
            if let Some(class) = latin(line.get(at..).unwrap_or_default()) {
                mask |= if at == begin || class & CAPITAL == 0 { class } else { class & !CAPITAL | UPPER };
                at += 2;
                continue;
            }
            let n_wide = wide_run(line.get(at..).unwrap_or_default());
            if n_wide > 0 {
                mask |= WIDE;
                at += 3 * n_wide;
                continue;
            }
            let (code, len) = decode(line, at);
            let class = class_of(code);
            counts.digits += u32::from(class & EXT_DIGIT != 0);
            if class & BLANK != 0 {
                if at == begin {
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
        piece.mask = mask;
        piece.end = at as u32;
        if mask & !PLAIN == 0 {
            piece.know(words::find(bytes, begin, at));
        } else if mask & !WORDLIKE == 0 && mask & PLAIN != 0 && at - begin <= 24 {
            let (from, to) = trim(bytes, begin, at);
            piece.know(words::find(bytes, from, to));
        }
        longest = longest.max(at - begin);
        all |= mask;
        all_words |= piece.word;
        pieces.push(piece);
    }
    counts.longest_piece = counts.longest_piece.max(longest as u32);
    (all, all_words)
}

#[inline]
fn is_blank(class: u32) -> bool {
    class & (BLANK | WIDE) == BLANK
}

/// What the first bytes of a piece are.
enum Letters {
    /// The whole piece: a word with signs around it.
    Word(Piece),
    /// The first bytes; more may follow.
    Begin(Piece),
}

/// Signs that a word may carry before it and after it, as bits.
const BEFORE: u64 = bits(b"\"'(*");
const AFTER: u64 = bits(b".,;:!?)\"'*");

const fn bits(signs: &[u8]) -> u64 {
    let (mut mask, mut at) = (0, 0);
    while at < signs.len() {
        mask |= 1 << signs[at];
        at += 1;
    }
    mask
}

#[inline]
fn is_one(byte: u8, signs: u64) -> bool {
    byte < 64 && signs >> byte & 1 != 0
}

/// The piece at `begin`, when it is a word of up to 15 letters; eight bytes are looked at at once.
#[inline]
fn letters(bytes: &[u8], begin: usize, byte: u8, class: u32) -> Letters {
    let (mut at, mut byte, mut class) = (begin, byte, class);
    let mut mask = 0;
    while is_one(byte, BEFORE) && at < begin + 3 {
        mask |= class;
        at += 1;
        byte = bytes.get(at).copied().unwrap_or(b' ');
        class = CLASSES[usize::from(byte)];
    }
    let start = begin as u32;
    let begun = |at: usize, mask| Letters::Begin(Piece { start, end: at as u32, mask, word: 0, bears: 0 });
    if class & (LOWER | UPPER) == 0 || class & BLANK != 0 {
        if at == begin && class & BLANK == 0 {
            return begun(at + 1, class);
        }
        return begun(at, mask);
    }
    let upper = class & UPPER;
    let capital = if at == begin { upper << UPPER_TO_CAPITAL } else { upper };
    let word = words::eight_or_blanks(bytes, at);
    let n_letters = small_letters(word | u64::from(upper) << 4);
    mask |= if upper == 0 { LOWER } else { capital | u32::from(n_letters > 1) };
    let (known, len, mut next) = if n_letters < 8 {
        let low = words::fold(word) & keep(n_letters);
        let known = words::find_short(low);
        mask |= if known.flags == 0 { vowel(low) } else { known.flags >> VOWELS_TO_VOWEL & VOWEL };
        (known, n_letters, (word >> (8 * n_letters)) as u8)
    } else {
        let after = words::eight_or_blanks(bytes, at + 8);
        let n_more = small_letters(after);
        // Only words of up to eight letters can be without vowels.
        mask |= if n_more == 0 { vowel(words::fold(word)) } else { VOWEL };
        if n_more > 7 {
            return begun(at + 8, mask);
        }
        let high = words::fold(after) & keep(n_more);
        (words::find_long(words::fold(word), high), 8 + n_more, (after >> (8 * n_more)) as u8)
    };
    at += len;
    let stop = at + 3;
    while is_one(next, AFTER) && at < stop {
        mask |= CLASSES[usize::from(next)];
        at += 1;
        next = bytes.get(at).copied().unwrap_or(b' ');
    }
    if is_blank(CLASSES[usize::from(next)]) {
        Letters::Word(Piece {
            start,
            end: at as u32,
            mask,
            word: known.flags & !words::VOWELS,
            bears: known.bears | ONE_WORD,
        })
    } else {
        begun(at, mask)
    }
}

/// The class of a letter with an accent at the start of `rest`.
#[inline]
fn latin(rest: &[u8]) -> Option<u32> {
    match rest {
        [0xc3, 0x97 | 0xb7, ..] => None,
        [0xc3, 0x80..=0x9e, ..] => Some(EXT_LETTER | CAPITAL),
        [0xc3, _, ..] => Some(EXT_LETTER),
        _ => None,
    }
}

/// The lowest `n` bytes, 0 to 7.
fn keep(n: usize) -> u64 {
    (1 << (8 * n)) - 1
}

/// How many characters at the start of `rest` are ideographs, kana or hangul of the most usual blocks.
fn wide_run(rest: &[u8]) -> usize {
    let (signs, _) = rest.as_chunks::<3>();
    signs
        .iter()
        .take_while(|sign| match **sign {
            [0xe5..=0xe9 | 0xeb | 0xec, ..] | [0xe3, 0x82, _] => true,
            [0xe3, 0x81, last] => last > 0x80,
            [0xe3, 0x83, last] => last != 0xbb,
            _ => false,
        })
        .count()
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

/// `VOWEL` when one of the eight bytes, small letters or zeros, is a vowel, else 0.
fn vowel(word: u64) -> u32 {
    // A sum stays below 0x80 only where both are equal.
    let differ = |word: u64, letter: u8| (word ^ (ONES * u64::from(letter))) + ONES * 0x7f;
    let without = word & !(ONES * 0x10);
    // `y` is `i` and `u` is `e` with one more bit.
    let all = differ(word, b'a') & differ(word, b'o') & differ(without, b'i') & differ(without, b'e');
    if all & HIGHS == HIGHS { 0 } else { VOWEL }
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
                let (code, lead) = last_char(bytes, start, end);
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

/// The character that ends at `end`, and where it begins.
pub(super) fn last_char(bytes: &[u8], start: usize, end: usize) -> (u32, usize) {
    let mut lead = end - 1;
    while lead > start && bytes[lead] & 0xc0 == 0x80 {
        lead -= 1;
    }
    (decode(bytes, lead).0, lead)
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
        for word in "not Not a A the, The. rhythm abcdefgh Abcdefghi don't aB ABC x1 naïve z.".split(' ') {
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
