//! Finding the bytes at which plain text ends, sixteen bytes a step.

use wide::u8x16;

/// Bytes of a step.
const STEP: usize = 16;

/// The first byte from `pos` on that ends plain text in a string: quote, backslash or control character; the
/// length of `bytes` when there is none.
#[inline]
pub(super) fn find_special(bytes: &[u8], pos: usize) -> usize {
    find(bytes, pos, |step| is(step, b'"') | is(step, b'\\') | is_to(step, 0x1f))
}

/// The first backslash from `pos` on; the length of `bytes` when there is none.
#[inline]
pub(super) fn find_backslash(bytes: &[u8], pos: usize) -> usize {
    find(bytes, pos, |step| is(step, b'\\'))
}

/// The first byte from `pos` on that `ensure_ascii` does not write as it is.
#[inline]
pub(super) fn find_special_or_wide(bytes: &[u8], pos: usize) -> usize {
    find(bytes, pos, |step| is(step, b'"') | is(step, b'\\') | is_to(step, 0x1f) | is_from(step, 0x7f))
}

/// The first byte from `pos` on that `mark` marks; bytes behind the last step stand in one with blanks, which no mark is for.
#[inline]
fn find(bytes: &[u8], mut pos: usize, mark: impl Fn(u8x16) -> u8x16) -> usize {
    while let Some(step) = bytes.get(pos..).and_then(<[u8]>::first_chunk::<STEP>) {
        let hit = mark(u8x16::new(*step)).to_bitmask();
        if hit != 0 {
            return pos + hit.trailing_zeros() as usize;
        }
        pos += STEP;
    }
    let rest = bytes.get(pos..).unwrap_or_default();
    let mut last = [b' '; STEP];
    last[..rest.len()].copy_from_slice(rest);
    let hit = mark(u8x16::new(last)).to_bitmask();
    if hit == 0 { bytes.len() } else { pos + hit.trailing_zeros() as usize }
}

fn is(step: u8x16, byte: u8) -> u8x16 {
    step.simd_eq(u8x16::splat(byte))
}

fn is_to(step: u8x16, last: u8) -> u8x16 {
    step.simd_eq(step.min(u8x16::splat(last)))
}

fn is_from(step: u8x16, first: u8) -> u8x16 {
    step.simd_eq(step.max(u8x16::splat(first)))
}

#[cfg(test)]
mod tests {
    use super::{find_backslash, find_special, find_special_or_wide};

    #[test]
    fn steps_find_what_single_bytes_find() {
        let naive = |bytes: &[u8], from: usize, stops: fn(u8) -> bool| {
            bytes.iter().skip(from).position(|&byte| stops(byte)).map_or(bytes.len(), |at| from + at)
        };
        let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        for filler in [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7e, 0x80, 0xa2, 0xdc, 0xff] {
            for byte in 0..=u8::MAX {
                for at in 0..35 {
                    let mut bytes = vec![filler; 35];
                    bytes[at] = byte;
                    for from in [0, 1, 15, 16, 34, 35] {
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
