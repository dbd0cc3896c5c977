//! Bytes that were read and not yet handed out. What is handed out of many bytes is copied, of few it is moved, so that
//! the work is linear however long the bytes are and however small the pieces. Knows nothing of what they say.

use std::io::{self, Read};
use std::ops::Deref;

/// The bytes, as a slice.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// Up to here they were handed out.
    from: usize,
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(self.from..).unwrap_or_default()
    }
}

impl Held {
    /// Reads up to `n_bytes` more; gives how many came, and with what the stream broke. What came before stays.
    pub(super) fn read(&mut self, stream: &mut dyn Read, n_bytes: usize) -> (usize, Option<io::Error>) {
        let before = self.bytes.len();
        self.bytes.reserve(n_bytes);
        let failure = stream.take(n_bytes as u64).read_to_end(&mut self.bytes).err();
        (self.bytes.len() - before, failure)
    }

    /// Hands out the first `n_bytes`, which must be there.
    pub(super) fn take(&mut self, n_bytes: usize) -> Vec<u8> {
        if n_bytes < self.len() / 2 {
            let taken = self.get(..n_bytes).unwrap_or_default().to_vec();
            self.from += n_bytes;
            if self.from > self.bytes.len() / 2 {
                self.bytes.drain(..self.from);
                self.bytes.shrink_to(self.bytes.len() * 2);
                self.from = 0;
            }
            return taken;
        }
        let rest = self.bytes.split_off(self.from + n_bytes);
        let mut taken = std::mem::replace(&mut self.bytes, rest);
        taken.drain(..std::mem::take(&mut self.from));
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::Held;

    #[test]
    fn what_was_read_comes_out_once_and_in_order() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for step in [1, 7, 1000, 99_999, 300_000] {
            let (mut held, mut stream, mut out) = (Held::default(), Cursor::new(&bytes), Vec::new());
            loop {
                let (n_read, failure) = held.read(&mut stream, 150_001);
                assert!(failure.is_none());
                while held.len() >= step || (n_read == 0 && !held.is_empty()) {
                    out.extend(held.take(step.min(held.len())));
                }
                if n_read == 0 {
                    break;
                }
            }
            assert!(out == bytes, "{step}");
        }
    }
}
