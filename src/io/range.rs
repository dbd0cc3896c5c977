//! The lines that begin in a range of bytes of a file, as a stream. Ranges that cover a file give every line once.
//! Knows no JSON.

use std::io::{self, Read};

/// Reads in pieces of this size while it looks for the first line.
const SKIP_BYTES: usize = 64 << 10;

/// Gives the lines that begin at `start..end`; a line belongs to the range that holds its first byte.
pub(crate) struct RangeReader<R> {
    inner: R,
    /// Where the next byte of `inner` stands in the file.
    at: u64,
    end: u64,
    /// Read while looking for the first line, not yet given out.
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> RangeReader<R> {
    /// `inner` stands at [`RangeReader::first_byte`] of the range; reads up to its first line.
    pub(crate) fn new(inner: R, start: u64, end: u64) -> io::Result<Self> {
        let mut range = Self { inner, at: Self::first_byte(start), end, rest: Vec::new(), ended: false };
        if start > 0 {
            range.skip()?;
        }
        Ok(range)
    }

    /// Where the first line begins; called before anything is read.
    pub(crate) fn first_line(&self) -> u64 {
        self.at - self.rest.len() as u64
    }

    /// The byte that the range is read from: the one before it tells whether a line begins with it.
    pub(crate) fn first_byte(start: u64) -> u64 {
        start.saturating_sub(1)
    }

    /// Reads to the end of the line that begins before the range.
    fn skip(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; SKIP_BYTES];
        while self.at < self.end {
            let wanted = buffer.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
            let n = self.inner.read(&mut buffer[..wanted])?;
            if n == 0 {
                break;
            }
            self.at += n as u64;
            if let Some(newline) = memchr::memchr(b'\n', &buffer[..n]) {
                let rest = &buffer[newline + 1..n];
                if rest.is_empty() && self.at >= self.end {
                    break;
                }
                self.rest = rest.to_vec();
                return Ok(());
            }
        }
        self.ended = true;
        Ok(())
    }

    /// How many of the `n` bytes that end at `at` belong to the range: all up to the end of the line that holds the
    /// range's last byte.
    fn keep(&mut self, bytes: &[u8]) -> usize {
        let first = self.at - bytes.len() as u64;
        if self.at < self.end {
            return bytes.len();
        }
        let from = usize::try_from((self.end - 1).saturating_sub(first)).unwrap_or(usize::MAX);
        match memchr::memchr(b'\n', bytes.get(from..).unwrap_or_default()) {
            Some(newline) => {
                self.ended = true;
                from + newline + 1
            }
            None => bytes.len(),
        }
    }
}

impl<R: Read> Read for RangeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let n = if self.rest.is_empty() {
            let n = self.inner.read(buffer)?;
            self.at += n as u64;
            n
        } else {
            let n = buffer.len().min(self.rest.len());
            buffer[..n].copy_from_slice(&self.rest[..n]);
            // `keep` counts from where these bytes end.
            let later = (self.rest.len() - n) as u64;
            self.at -= later;
            let kept = self.keep(&buffer[..n]);
            self.at += later;
            self.rest.drain(..n);
            return Ok(kept);
        };
        Ok(self.keep(&buffer[..n]))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use proptest::prelude::{ProptestConfig, any, prop, prop_assert_eq, proptest};

    use super::RangeReader;

    /// Gives a byte or a few at a time.
    struct Slow(Cursor<Vec<u8>>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = buffer.len().min(self.1);
            self.0.read(&mut buffer[..n])
        }
    }

    fn lines(text: &[u8], start: u64, end: u64, step: usize) -> Vec<u8> {
        let mut inner = Cursor::new(text.to_vec());
        inner.set_position(RangeReader::<Slow>::first_byte(start));
        let mut out = Vec::new();
        let mut reader = RangeReader::new(Slow(inner, step), start, end).expect("memory reads");
        let first = reader.first_line() as usize;
        reader.read_to_end(&mut out).expect("memory reads");
        assert!(out.is_empty() || text[first..].starts_with(&out));
        out
    }

    /// What belongs to the range, line by line.
    fn naive(text: &[u8], start: u64, end: u64) -> Vec<u8> {
        let (mut out, mut at) = (Vec::new(), 0);
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if (start..end).contains(&at) {
                out.extend_from_slice(line);
            }
            at += line.len() as u64;
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn ranges_that_cover_a_file_give_every_line_once(
            text in prop::collection::vec(prop::sample::select(vec![b'a', b'b', b'\n']), 0..60),
            split in 1_u64..20,
            step in 1_usize..9,
            any_case in any::<bool>(),
        ) {
            let step = if any_case { 1 << 20 } else { step };
            let mut all = Vec::new();
            for start in (0..text.len() as u64).step_by(usize::try_from(split).expect("it is small")) {
                let end = (start + split).min(text.len() as u64);
                let found = lines(&text, start, end, step);
                prop_assert_eq!(&found, &naive(&text, start, end));
                all.extend(found);
            }
            prop_assert_eq!(all, text);
        }
    }
}
