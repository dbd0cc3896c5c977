//! A buffered reader that can step back behind damage and look for the next beginning. Knows no codec.

use std::io::{self, BufRead, Read};

/// A decoder may run over the end of a damaged member before it notices; so far back the next one is looked for.
const HISTORY_BYTES: usize = 64 << 10;

/// A reader that can step back a little, and whose next few bytes can be looked at together wherever the buffers of
/// the inner one end.
pub(crate) struct StepBack<R> {
    inner: R,
    /// Bytes before those of `inner`, and how many are consumed.
    head: Vec<u8>,
    at: usize,
    /// The last bytes that were consumed since the last mark.
    history: Vec<u8>,
}

impl<R: BufRead> StepBack<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, head: Vec::new(), at: 0, history: Vec::new() }
    }

    /// Nobody steps back behind this place.
    pub(crate) fn mark(&mut self) {
        self.history.clear();
    }

    fn remember(&mut self, n: usize) -> io::Result<()> {
        if self.history.len() + n > 2 * HISTORY_BYTES {
            self.history.drain(..self.history.len().saturating_sub(HISTORY_BYTES));
        }
        let next = if self.at < self.head.len() { &self.head[self.at..] } else { self.inner.fill_buf()? };
        self.history.extend_from_slice(&next[..n.min(next.len())]);
        Ok(())
    }

    /// Steps back to the mark, but one byte, or as far as is remembered: what began at the mark is not found again.
    pub(crate) fn step_back(&mut self) {
        let mut head = std::mem::take(&mut self.history);
        head.extend_from_slice(&self.head[self.at..]);
        (self.head, self.at) = (head, 0);
        self.consume_quietly(1);
    }

    fn consume_quietly(&mut self, n: usize) {
        if self.at < self.head.len() {
            self.at += n;
            if self.at == self.head.len() {
                self.head.clear();
                self.at = 0;
            }
        } else {
            self.inner.consume(n);
        }
    }

    /// Skips to the place where the bytes look like a beginning: one that has the byte `first` and for which `begins`,
    /// which sees at least `needed` bytes, says so. False when there is none.
    pub(crate) fn skip_to(&mut self, first: u8, needed: usize, begins: impl Fn(&[u8]) -> bool) -> io::Result<bool> {
        loop {
            let window = self.at_least(needed)?;
            if window.len() < needed {
                return Ok(false);
            }
            let mut at = 0;
            while let Some(found) = memchr::memchr(first, &window[at..]).map(|found| at + found) {
                if found + needed > window.len() {
                    break;
                }
                if begins(&window[found..]) {
                    self.consume(found);
                    return Ok(true);
                }
                at = found + 1;
            }
            let passed = window.len() + 1 - needed;
            self.consume(passed);
        }
    }

    /// The next bytes, at least `n` of them unless the stream ends.
    fn at_least(&mut self, n: usize) -> io::Result<&[u8]> {
        if self.head.len() - self.at == 0 && self.inner.fill_buf()?.len() >= n {
            return self.inner.fill_buf();
        }
        while self.head.len() - self.at < n {
            let more = self.inner.fill_buf()?;
            if more.is_empty() {
                break;
            }
            let taken = more.len();
            self.head.extend_from_slice(more);
            self.inner.consume(taken);
        }
        Ok(&self.head[self.at..])
    }
}

impl<R: BufRead> Read for StepBack<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(buffer.len());
        buffer[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for StepBack<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at < self.head.len() { Ok(&self.head[self.at..]) } else { self.inner.fill_buf() }
    }

    fn consume(&mut self, n: usize) {
        // The bytes were just given out, so that they can be given out again.
        if n > 0 && self.remember(n).is_ok() {
            self.consume_quietly(n);
        }
    }
}
