//! A file that is open for reading, wherever it is: its length, its change mark, ranges of it, and streams. Blocks the
//! thread that reads, which may be any thread. Offers itself to Parquet as a source of chunks.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::{Buf, Bytes};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::location::{Listed, Location};
use crate::error::{Error, Result};

/// An open file; clones share it.
#[derive(Debug, Clone)]
pub struct Blob {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    location: Location,
    bytes: Option<u64>,
    mark: String,
    content: Box<dyn Content>,
    failure: Mutex<Option<Error>>,
}

/// What has become of a file since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    None,
    /// Its name or its rights, or what somebody wrote who then set its times back.
    Touched,
    /// It is longer.
    Grown,
    /// Somebody wrote to it, and it is not longer.
    Written,
}

/// One version of a file, here or far away.
pub(super) trait Content: std::fmt::Debug + Send + Sync {
    /// See [`Blob::gives_ranges`].
    fn gives_ranges(&self) -> bool {
        true
    }

    /// The bytes `range`.
    fn read(&self, range: Range<u64>) -> Result<Bytes>;

    /// The same for many small reads side by side.
    fn read_kept(&self, range: Range<u64>) -> Result<Bytes> {
        self.read(range)
    }

    /// The bytes `range`, or without one everything, as a stream.
    fn reader(&self, range: Option<Range<u64>>) -> Box<dyn Read + Send>;

    /// See [`Blob::change`].
    fn change(&self) -> Result<Fate>;

    /// See [`Blob::modified`].
    fn modified(&self) -> Option<SystemTime> {
        None
    }

    /// See [`Blob::has_its_name`].
    fn has_its_name(&self) -> bool {
        true
    }
}

/// Pages of Parquet ask for their headers without saying how long they are.
const HEADER_BYTES: u64 = 64 << 10;

impl Blob {
    pub(super) fn new(location: Location, bytes: Option<u64>, mark: String, content: impl Content + 'static) -> Self {
        let content = Box::new(content);
        Self { inner: Arc::new(Inner { location, bytes, mark, content, failure: Mutex::default() }) }
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.inner.location
    }

    /// Its length in bytes; `None` on a web server that does not tell.
    pub fn bytes(&self) -> Option<u64> {
        self.inner.bytes
    }

    /// What changes when the file does: the time of its last change in nanoseconds since 1970 for local files, the
    /// tag of the version (or the time of its last change) for remote ones.
    pub fn mark(&self) -> &str {
        &self.inner.mark
    }

    /// When it was last written, as far as anybody says.
    pub fn modified(&self) -> Option<SystemTime> {
        self.inner.content.modified()
    }

    /// False when its name leads to another file by now, or to none; of what is in a store that is told by the mark.
    pub fn has_its_name(&self) -> bool {
        self.inner.content.has_its_name()
    }

    /// As a listing tells of it.
    pub(super) fn listed(&self) -> Listed {
        let (location, mark) = (self.inner.location.clone(), self.inner.mark.clone());
        Listed { location, bytes: self.inner.bytes, mark }
    }

    /// True when parts of the file can be read; false for one that a web server gives as a whole only.
    pub fn gives_ranges(&self) -> bool {
        self.inner.content.gives_ranges()
    }

    /// The bytes `range`, which must lie within the file.
    ///
    /// # Errors
    /// `Io` when they cannot be read, `Input` when the file has changed since it was opened or became shorter, or
    /// when the server gives no ranges.
    pub fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        self.inner.content.read(range)
    }

    /// A stream of the bytes `range`. Remote files are fetched ahead in ranges of
    /// [`DEFAULT_RANGE_BYTES`](super::DEFAULT_RANGE_BYTES), at most two of which are in memory. Why it failed says
    /// [`Blob::failure`].
    pub fn reader(&self, range: Range<u64>) -> Box<dyn Read + Send> {
        let range = range.start..range.end.min(self.inner.bytes.unwrap_or(u64::MAX));
        Box::new(Watched { reader: self.inner.content.reader(Some(range)), blob: self.clone() })
    }

    /// A stream of the whole file; the only way to read a file of unknown length.
    pub fn stream(&self) -> Box<dyn Read + Send> {
        Box::new(Watched { reader: self.inner.content.reader(None), blob: self.clone() })
    }

    /// The first error with which this file could not be read, and its clones, by stream or by chunk. Decoders between
    /// the file and a caller may take such an error for damage of what they decode; who finds damage asks here first.
    pub fn failure(&self) -> Option<Error> {
        let failure = self.inner.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().map(|error| Error::new(error.kind, &*error.place, &*error.message))
    }

    fn note(&self, error: &Error) {
        let mut failure = self.inner.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| Error::new(error.kind, &*error.place, &*error.message));
    }

    /// What has become of the file since it was opened, whatever stands under its name now.
    pub fn change(&self) -> Result<Fate> {
        self.inner.content.change()
    }

    /// That somebody wrote to the file while it was read.
    pub fn changed(&self) -> Error {
        Error::input(self.inner.location.to_string(), "the file changed while it was read")
    }

    fn chunk(&self, range: Range<u64>) -> parquet::errors::Result<Bytes> {
        self.inner.content.read_kept(range).map_err(|error| {
            self.note(&error);
            ParquetError::External(Box::new(error))
        })
    }
}

impl Length for Blob {
    fn len(&self) -> u64 {
        self.inner.bytes.unwrap_or(0)
    }
}

impl ChunkReader for Blob {
    type T = Box<dyn Read + Send>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        // The first bytes serve a header; whoever reads on gets the rest as a stream.
        let bytes = self.len();
        let middle = (start + HEADER_BYTES).min(bytes).max(start);
        let head = self.chunk(start..middle)?;
        let rest = Rest { blob: self.clone(), at: middle, end: bytes, reader: None };
        Ok(Box::new(head.reader().chain(rest)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.len());
        let beyond = || ParquetError::EOF(format!("{}: {length} bytes at {start} are not there", self.inner.location));
        self.chunk(start..end.ok_or_else(beyond)?)
    }
}

/// Notes with what a stream failed.
struct Watched {
    reader: Box<dyn Read + Send>,
    blob: Blob,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(buffer).inspect_err(|error| {
            let place = || self.blob.inner.location.to_string();
            let told = || Error::io(place(), format!("cannot be read: {error}"));
            self.blob.note(&store_error(error).unwrap_or_else(told));
        })
    }
}

/// The rest of a file, opened when it is read.
struct Rest {
    blob: Blob,
    at: u64,
    end: u64,
    reader: Option<Box<dyn Read + Send>>,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reader.get_or_insert_with(|| self.blob.reader(self.at..self.end)).read(buffer)
    }
}

/// A blob with a place in it, for readers that seek.
#[derive(Debug)]
pub struct BlobFile {
    blob: Blob,
    at: u64,
}

impl BlobFile {
    /// The file from its beginning.
    pub fn new(blob: Blob) -> Self {
        Self { blob, at: 0 }
    }
}

impl Read for BlobFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let end = (self.at + buffer.len() as u64).min(self.blob.len());
        if end <= self.at {
            return Ok(0);
        }
        let bytes = self.blob.read_range(self.at..end).map_err(|error| {
            self.blob.note(&error);
            std::io::Error::other(error)
        })?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

impl Seek for BlobFile {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.blob.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// The error of a store in an error of reading; `None` when the bytes themselves are wrong, such as a torn stream.
pub fn store_error(error: &std::io::Error) -> Option<Error> {
    let inner = error.get_ref()?.downcast_ref::<Error>()?;
    Some(Error::new(inner.kind, &*inner.place, &*inner.message))
}
