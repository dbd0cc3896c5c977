//! A stream in pieces of one size, however few bytes come at a time. Knows bytes only.

use std::io::{self, BufReader, ErrorKind, Read};

/// Compressed bytes that a decoder is given at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Fills what it is given, unless the stream ends or fails; a failure is told when all that came before it was given out.
pub(super) struct Steady<R> {
    inner: R,
    failure: Option<io::Error>,
}

/// The same stream in pieces, so that what a decoder saves of a damaged one depends on its bytes alone, not on how a pipe gives them.
pub(super) fn steady<R: Read>(inner: R) -> BufReader<Steady<R>> {
    BufReader::with_capacity(PIECE_BYTES, Steady { inner, failure: None })
}

impl<R: Read> Read for Steady<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut n_read = 0;
        while let Some(room) = buffer.get_mut(n_read..).filter(|room| !room.is_empty()) {
            match self.inner.read(room) {
                Ok(0) => break,
                Ok(n) => n_read += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if n_read == 0 => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        Ok(n_read)
    }
}
