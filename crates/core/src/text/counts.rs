//! Counts what can be counted without looking at more than one byte. Knows bytes; refuses to know characters
//! outside ASCII and pieces.

use super::lexed::CharCounts;

/// Bytes that are counted in one go: no count of them outgrows a byte.
const BLOCK: usize = 240;
/// The end of a text is filled up to a multiple of this with bytes that count as nothing.
const LANES: usize = 16;

/// Adds what can be counted over all bytes at once: characters, and digits and signs of ASCII.
pub(super) fn count_ascii(text: &str, counts: &mut CharCounts) {
    let mut blocks = text.as_bytes().chunks_exact(BLOCK);
    for block in &mut blocks {
        count_lanes(block.as_chunks::<LANES>().0.iter(), counts);
    }
    let (lanes, rest) = blocks.remainder().as_chunks::<LANES>();
    let mut last = [0x80; LANES];
    last[..rest.len()].copy_from_slice(rest);
    count_lanes(lanes.iter().chain([&last]), counts);
}

#[expect(clippy::needless_bitwise_bool, reason = "lanes are counted side by side only without branches")]
fn count_lanes<'l>(lanes: impl Iterator<Item = &'l [u8; LANES]>, counts: &mut CharCounts) {
    let mut sums = [[0_u8; LANES]; 4];
    for lane in lanes {
        for (at, &byte) in lane.iter().enumerate() {
            sums[0][at] += u8::from(byte & 0xc0 != 0x80);
            sums[1][at] += u8::from((byte | 0x20).wrapping_sub(b'a') < 26);
            sums[2][at] += u8::from(byte.wrapping_sub(b'0') < 10);
            // Over all bytes, ranges that also take in letters, digits and the apostrophe.
            sums[3][at] += u8::from((byte | 0x20).wrapping_sub(b'`') < 31);
            sums[3][at] += u8::from(byte.wrapping_sub(b'0') < 15);
            sums[3][at] += u8::from((byte.wrapping_sub(b'#') < 9) & (byte != b'\''));
        }
    }
    let [chars, letters, digits, special] = sums.map(|sum| sum.iter().map(|&n| u32::from(n)).sum::<u32>());
    counts.chars += chars;
    counts.digits += digits;
    counts.special += special - letters - digits;
}

/// Characters of `text`.
#[must_use]
pub fn n_chars(text: &str) -> usize {
    count_chars(text.as_bytes())
}

/// Characters of a piece of valid UTF-8.
pub(crate) fn count_chars(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let begins = |byte: &u8| byte & 0xc0 != 0x80;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let of_block = |block: &[u8; BLOCK]| usize::from(block.iter().map(|byte| u8::from(begins(byte))).sum::<u8>());
    let (words, rest) = rest.as_chunks::<8>();
    // Of each of the eight bytes how often it goes on with a character: of so few words no count outgrows it, nor does their sum.
    let inner = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        word >> 7 & !(word >> 6) & ONES
    };
    let n_inner = words.iter().map(inner).sum::<u64>().wrapping_mul(ONES) >> 56;
    let n_in_words = words.len() * 8 - n_inner as usize;
    blocks.iter().map(of_block).sum::<usize>() + n_in_words + rest.iter().filter(|byte| begins(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::n_chars;

    #[test]
    fn characters_of_any_length_are_counted() {
        for unit in ["a", "é", "→", "𝄞", "aé→𝄞"] {
            for n in [0, 1, 7, 60, 80, 120, 239, 240, 241, 1_000] {
                let text = unit.repeat(n);
                assert_eq!(n_chars(&text), text.chars().count(), "{n} × {unit}");
            }
        }
    }
}
