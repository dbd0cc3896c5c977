//! Where two texts are looked at to see what they share: at the beginnings of words, and what stands there as a number. Knows bytes;
//! refuses to know what is made of it.

/// Of bytes that are not ASCII one place in two to the power of so many is looked up.
const SPARSE: u32 = 3;
/// Bytes of a key.
const KEY: usize = 16;

/// The same byte eight times.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Of eight bytes those that are letters or digits, and those that are not ASCII, by their highest bits.
fn kinds(bytes: u64) -> (u64, u64) {
    let low = bytes & each(0x7f);
    let is_from = |of: u64, first: u8| of + each(0x80 - first);
    let is_between = |of: u64, first: u8, last: u8| is_from(of, first) & !is_from(of, last + 1);
    let word = is_between(low, b'0', b'9') | is_between(low | each(0x20), b'a', b'z');
    let wide = bytes & each(0x80);
    (word & each(0x80) & !wide, wide)
}

/// Places that are looked up, and what stands there: beginnings of words, and some places of what has none, whatever stands around
/// them.
#[derive(Debug)]
pub(super) struct Keys<'t> {
    bytes: &'t [u8],
    /// The block that is looked at.
    block: usize,
    /// Of its places those that are left, and which of them are not ASCII, a bit for each.
    places: u64,
    wide: u64,
    /// 1 where what stands before the block is a letter or a digit.
    before: u64,
}

/// Bytes of a block: one for each bit.
const BLOCK: usize = u64::BITS as usize;

impl<'t> Keys<'t> {
    pub(super) fn of(bytes: &'t [u8]) -> Self {
        let mut keys = Self { bytes, block: 0, places: 0, wide: 0, before: 0 };
        keys.look();
        keys
    }

    /// Looks at the block; behind the end of a text nothing stands.
    fn look(&mut self) {
        let rest = &self.bytes[self.block..];
        let block = rest.first_chunk::<BLOCK>().copied().unwrap_or_else(|| {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            block
        });
        let (mut word, mut wide) = (0, 0);
        for (at, eight) in block.as_chunks::<8>().0.iter().enumerate() {
            let (word_here, wide_here) = kinds(u64::from_le_bytes(*eight));
            word |= highest_bits(word_here) << (8 * at);
            wide |= highest_bits(wide_here) << (8 * at);
        }
        self.places = word & !(word << 1 | self.before) | wide;
        (self.wide, self.before) = (wide, word >> (BLOCK - 1));
    }

    /// Goes on at a place behind the last one.
    pub(super) fn go_to(&mut self, at: usize) {
        if at >= self.block + BLOCK {
            self.before = u64::from(self.bytes[at - 1].is_ascii_alphanumeric());
            self.block = at;
            self.look();
        } else {
            self.places &= u64::MAX << (at - self.block);
        }
    }
}

/// The highest bit of each of eight bytes, one beside the other.
fn highest_bits(bytes: u64) -> u64 {
    (bytes >> 7 & each(1)).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl Iterator for Keys<'_> {
    type Item = (usize, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.places == 0 {
                self.block += BLOCK;
                if self.block + KEY > self.bytes.len() {
                    return None;
                }
                self.look();
            }
            let bit = self.places.trailing_zeros();
            let at = self.block + bit as usize;
            self.places &= self.places - 1;
            let sixteen = self.bytes.get(at..)?.first_chunk::<KEY>()?;
            let [first, second] = [0, 8].map(|from| u64::from_le_bytes(std::array::from_fn(|at| sixteen[from + at])));
            let mixed = first.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            if self.wide >> bit & 1 == 0 || mixed.leading_zeros() >= SPARSE {
                let key = (mixed ^ second.rotate_left(29)).wrapping_mul(0xD1B5_4A32_D192_ED03);
                return Some((at, (key >> u32::BITS) as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEY, Keys};

    #[test]
    fn words_begin_where_they_do() {
        let text = "a1 bc:D_e@Zz[z`y{0/9:é x  (f) end of it all, and more of it".repeat(5);
        let is_of_word = |at: usize| text.as_bytes()[at].is_ascii_alphanumeric();
        let words = (0..=text.len() - KEY).filter(|&at| is_of_word(at) && (at == 0 || !is_of_word(at - 1)));
        let words: Vec<usize> = words.collect();
        let found = |keys: Keys<'_>| -> Vec<usize> {
            keys.map(|(at, _)| at).filter(|&at| text.as_bytes()[at].is_ascii()).collect()
        };
        assert_eq!(found(Keys::of(text.as_bytes())), words);
        for (at, behind) in (1..=words[70]).map(|at| (at, words.iter().position(|&word| word >= at).expect("one"))) {
            let mut keys = Keys::of(text.as_bytes());
            keys.next();
            keys.go_to(at.max(1));
            assert_eq!(found(keys), words[behind..], "{at}");
        }
    }
}
