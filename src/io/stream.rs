//! An uncompressed stream as far as it was read, and sources that cut it into records. Knows nothing of what the bytes
//! say.

use std::io::{self, Cursor, Read};
use std::ops::Deref;

use crate::error::Result;
use crate::model::FieldMap;
use crate::pipeline::{Batch, BatchOptions, LineBatch, LineRole, Source, SourceDigest};

/// The byte order mark.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// So many bytes are read first, before room is made for all that are asked for.
const FIRST_BYTES: usize = 64 << 10;

/// Gives sizes and hashes of what was stored, after the end of the stream.
pub(super) type Stored = Box<dyn FnOnce() -> Result<Option<(u64, String)>> + Send>;

/// A stream on its way through a source.
pub(super) struct Stream {
    name: String,
    bytes: Box<dyn Read + Send>,
    stored: Option<Stored>,
    pub(super) options: BatchOptions,
    /// Where its records have their conversation, when somebody says so.
    pub(super) map: Option<FieldMap>,
    /// Read but not yet handed out.
    pub(super) rest: Held,
    /// Where `rest` begins in the stream.
    pub(super) offset: u64,
    /// Where the stream begins in its source.
    pub(super) first_byte: u64,
    pub(super) ended: bool,
    /// Why it broke, until that was told.
    pub(super) failure: Option<String>,
    hasher: blake3::Hasher,
}

shows!(Stream { name, offset });

impl Stream {
    pub(super) fn new(name: impl Into<String>, bytes: Box<dyn Read + Send>, options: BatchOptions) -> Self {
        Self {
            name: name.into(),
            bytes,
            stored: None,
            options,
            map: None,
            rest: Held::default(),
            offset: 0,
            first_byte: 0,
            ended: false,
            failure: None,
            hasher: blake3::Hasher::new(),
        }
    }

    /// `stored` says at the end what was stored, when that differs from the stream.
    pub(super) fn stored(mut self, stored: Option<Stored>) -> Self {
        self.stored = stored;
        self
    }

    /// Reads until `rest` has `target` bytes or the stream ends; false when nothing came. Damage ends the stream, what was
    /// read before it stays.
    pub(super) fn fill(&mut self, target: usize) -> bool {
        let before = self.rest.len();
        if self.ended || before >= target {
            return false;
        }
        let (n_read, failure) = self.rest.read(&mut self.bytes, target - before);
        self.hasher.update(&self.rest[before..]);
        self.ended = n_read < target - before || failure.is_some();
        if let Some(error) = failure {
            self.failure = Some(error.to_string());
        }
        n_read > 0
    }

    /// Drops the first `n_bytes`, which must be there.
    pub(super) fn pass(&mut self, n_bytes: usize) {
        self.offset += n_bytes as u64;
        self.rest.pass(n_bytes);
    }

    /// Hands out the first `n_bytes`, which must be there.
    pub(super) fn take(&mut self, n_bytes: usize) -> Vec<u8> {
        self.offset += n_bytes as u64;
        self.rest.take(n_bytes)
    }

    /// The damage that broke the stream, which tells itself once; `offset` is where the text breaks off.
    pub(super) fn torn(&mut self, offset: u64) -> LineRole {
        let why = self.failure.take().unwrap_or_default();
        LineRole::Torn(format!(
            "the compressed stream is damaged or ends early after byte {offset} of the text: {why}; fetch or write the \
             file again"
        ))
    }
}

/// A source that cuts a stream. Where it cuts depends on the bytes of the stream only.
pub(super) trait Cut: Send {
    fn stream(&self) -> &Stream;
    fn stream_mut(&mut self) -> &mut Stream;
    /// The next records, `None` at the end.
    fn cut(&mut self) -> Option<LineBatch>;
}

impl<C: Cut> Source for C {
    fn name(&self) -> &str {
        &self.stream().name
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(self.cut().map(Batch::Lines))
    }

    fn stored_bytes(&self) -> u64 {
        self.stream().offset - self.stream().first_byte
    }

    fn digest(&mut self) -> Result<SourceDigest> {
        let n_bytes = self.stored_bytes();
        let stream = self.stream_mut();
        stream.bytes = Box::new(io::empty());
        let stored = stream.stored.take().map_or(Ok(None), |stored| stored())?;
        Ok(SourceDigest::of_stream(n_bytes, &stream.hasher, stored))
    }
}

/// Slices, one after the other, as a stream.
pub(super) struct Slices<F> {
    next: F,
    slice: Cursor<Vec<u8>>,
}

impl<F: FnMut() -> Result<Option<Vec<u8>>>> Slices<F> {
    /// The slices that `next` gives, until it gives none.
    pub(super) fn new(next: F) -> Self {
        Self { next, slice: Cursor::default() }
    }
}

impl<F: FnMut() -> Result<Option<Vec<u8>>>> Read for Slices<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.slice.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                return Ok(n);
            }
            let Some(slice) = (self.next)().map_err(io::Error::other)? else { return Ok(0) };
            self.slice = Cursor::new(slice);
        }
    }
}

/// Bytes that were read and not yet handed out. What is handed out of many bytes is copied, of few it is moved, so that
/// the work is linear however long the bytes are and however small the pieces.
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
    /// Reads up to `n_bytes` more; gives how many came, and with what the stream broke. What came before stays. Most readers fill the
    /// room that they are given with zeros, so that a short stream gets little.
    fn read(&mut self, stream: &mut dyn Read, n_bytes: usize) -> (usize, Option<io::Error>) {
        let before = self.bytes.len();
        let first = FIRST_BYTES.min(n_bytes);
        for wanted in [first, n_bytes - first] {
            self.bytes.reserve(wanted);
            match stream.take(wanted as u64).read_to_end(&mut self.bytes) {
                Ok(n_read) if n_read == wanted => {}
                outcome => return (self.bytes.len() - before, outcome.err()),
            }
        }
        (n_bytes, None)
    }

    /// Drops the first `n_bytes`, which must be there.
    fn pass(&mut self, n_bytes: usize) {
        self.from += n_bytes;
        if self.from > self.bytes.len() / 2 {
            self.bytes.drain(..self.from);
            self.bytes.shrink_to(self.bytes.len() * 2);
            self.from = 0;
        }
    }

    /// Hands out the first `n_bytes`, which must be there.
    fn take(&mut self, n_bytes: usize) -> Vec<u8> {
        if n_bytes < self.len() / 2 {
            let taken = self.get(..n_bytes).unwrap_or_default().to_vec();
            self.pass(n_bytes);
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

    use super::{FIRST_BYTES, Held};

    /// Gives a byte at a time, into room of any size.
    struct Slow<'a>(&'a [u8], usize);

    impl std::io::Read for Slow<'_> {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            self.1 = self.1.max(room.len());
            let n = room.len().min(self.0.len()).min(1);
            room[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn a_short_stream_costs_what_it_holds() {
        let (mut held, mut stream) = (Held::default(), Slow(b"a few bytes", 0));
        assert!(matches!(held.read(&mut stream, 32 << 20), (11, None)));
        assert!(stream.1 <= FIRST_BYTES && held.bytes.capacity() <= 2 * FIRST_BYTES, "{} bytes of room", stream.1);
    }

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
