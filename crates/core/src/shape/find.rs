//! Finding the bytes at which plain text ends, eight bytes a step in safe code. Every search marks the bytes of
//! a word by arithmetic; a borrow can mark a byte wrongly only above a byte that is marked rightly, so the lowest
//! mark is always exact.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The first byte from `pos` on that ends plain text in a string: quote, backslash or control character; the
/// length of `bytes` when there is none.
#[inline]
pub(super) fn find_special(bytes: &[u8], pos: usize) -> usize {
    find(bytes, pos, |word| is(word, b'"') | is(word, b'\\') | below_blank(word))
}

/// The first backslash from `pos` on; the length of `bytes` when there is none.
#[inline]
pub(super) fn find_backslash(bytes: &[u8], pos: usize) -> usize {
    find(bytes, pos, |word| is(word, b'\\'))
}

/// The first byte from `pos` on that `ensure_ascii` does not write as it is.
#[inline]
pub(super) fn find_special_or_wide(bytes: &[u8], pos: usize) -> usize {
    find(bytes, pos, |word| is(word, b'"') | is(word, b'\\') | is(word, 0x7f) | below_blank(word) | word)
}

/// The first byte from `pos` on whose highest bit `mark` sets in a word of eight; bytes behind the last word stand in one
/// with blanks, which no mark is for.
#[inline]
fn find(bytes: &[u8], mut pos: usize, mark: impl Fn(u64) -> u64) -> usize {
    while let Some(chunk) = bytes.get(pos..pos + 8).and_then(|chunk| <[u8; 8]>::try_from(chunk).ok()) {
        let hit = mark(u64::from_le_bytes(chunk)) & HIGHS;
        if hit != 0 {
            return pos + (hit.trailing_zeros() / 8) as usize;
        }
        pos += 8;
    }
    let rest = bytes.get(pos..).unwrap_or_default();
    let mut last = [b' '; 8];
    last[..rest.len()].copy_from_slice(rest);
    let hit = mark(u64::from_le_bytes(last)) & HIGHS;
    if hit == 0 { bytes.len() } else { pos + (hit.trailing_zeros() / 8) as usize }
}

fn is(word: u64, byte: u8) -> u64 {
    let other = word ^ (ONES * u64::from(byte));
    other.wrapping_sub(ONES) & !other
}

fn below_blank(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x20) & !word
}

#[cfg(test)]
mod tests {
    use super::{find_backslash, find_special, find_special_or_wide};

    /// Every byte at every place of a word, among neighbours that may confuse the arithmetic.
    #[test]
    fn words_find_what_single_bytes_find() {
        let naive = |bytes: &[u8], from: usize, stops: fn(u8) -> bool| {
            bytes.iter().skip(from).position(|&byte| stops(byte)).map_or(bytes.len(), |at| from + at)
        };
        let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        for filler in [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7e, 0x80, 0xa2, 0xdc, 0xff] {
            for byte in 0..=u8::MAX {
                for at in 0..19 {
                    let mut bytes = vec![filler; 19];
                    bytes[at] = byte;
                    for from in [0, 1, 7, 8, 18, 19] {
                        assert_eq!(find_special(&bytes, from), naive(&bytes, from, special));
                        assert_eq!(find_backslash(&bytes, from), naive(&bytes, from, |byte| byte == b'\\'));
                        let wide = |byte: u8| !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\';
                        assert_eq!(find_special_or_wide(&bytes, from), naive(&bytes, from, wide));
                    }
                }
            }
        }
    }
}
