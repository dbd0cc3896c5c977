//! Sources that are watched while they are read: how much of a file was read, why it could not be read, and whether
//! somebody wrote to it meanwhile. Knows files, not how records are cut.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::SchemaRef;

use super::lines::Stored;
use super::range::RangeReader;
use super::store::{Blob, Change, store_error};
use super::{failed, hash_of};
use crate::error::{Error, Result};
use crate::pipeline::{BOMB_RATIO, Batch, LineKind, Slice, Source, SourceDigest, TableInput};

/// A source with the file below it: tells how much of it was read, and tells a file that cannot be read from one
/// whose content is damaged.
pub(super) struct Metered {
    pub(super) source: Box<dyn Source>,
    pub(super) raw: Arc<Mutex<Raw>>,
    /// Of a compressed file: its size.
    pub(super) packed: Option<u64>,
    pub(super) max_record_bytes: usize,
}

impl Source for Metered {
    fn name(&self) -> &str {
        self.source.name()
    }
    fn schema(&self) -> Option<SchemaRef> {
        self.source.schema()
    }
    fn table(&self) -> Option<TableInput> {
        self.source.table()
    }
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let mut batch = self.source.next_batch()?;
        if let (Some(Batch::Lines(lines)), Some(packed)) = (&mut batch, self.packed) {
            // More than the limit was read when a line is found to be longer.
            let is_long = lines.lines.iter().any(|line| matches!(line.kind, LineKind::Piece { first: true }));
            let n_bytes = lines.offset + if is_long { self.max_record_bytes as u64 } else { 0 };
            lines.unpacked = Some(n_bytes / packed.max(1)).filter(|&ratio| ratio >= BOMB_RATIO);
        }
        match self.raw.lock().unwrap_or_else(PoisonError::into_inner).failure.take() {
            None => Ok(batch),
            Some(error) => Err(error),
        }
    }
    fn stored_bytes(&self) -> u64 {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
    fn digest(&mut self) -> Result<SourceDigest> {
        self.source.digest()
    }
}

/// A source over a file that somebody may write to meanwhile: at the end of the part the file is looked at again.
pub(super) struct Checked {
    pub(super) source: Box<dyn Source>,
    pub(super) blob: Blob,
    pub(super) name: String,
    pub(super) slice: Slice,
}

impl Checked {
    /// A log may grow: what was read of it is read again when somebody has touched the file. A table does not.
    fn check(&self, digest: &SourceDigest) -> Result<()> {
        match self.blob.change()? {
            Change::None => return Ok(()),
            Change::Touched if self.source.table().is_some() => return Ok(()),
            Change::Touched | Change::Grown if self.source.table().is_none() => {}
            _ => return Err(self.blob.changed()),
        }
        let hash = match self.slice {
            Slice::Bytes { start, end } => {
                let whole = self.blob.reader(RangeReader::<io::Empty>::first_byte(start)..u64::MAX);
                RangeReader::new(whole, start, end).and_then(hash_of)
            }
            _ => hash_of(self.blob.reader(0..digest.bytes)),
        };
        match hash {
            Ok(hash) if hash == digest.blake3 => Ok(()),
            // A file that became shorter says so itself.
            _ => Err(self.blob.changed()),
        }
    }
}

impl Source for Checked {
    fn name(&self) -> &str {
        self.source.name()
    }
    fn schema(&self) -> Option<SchemaRef> {
        self.source.schema()
    }
    fn table(&self) -> Option<TableInput> {
        self.source.table()
    }
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.source.next_batch()
    }
    fn stored_bytes(&self) -> u64 {
        self.source.stored_bytes()
    }
    fn digest(&mut self) -> Result<SourceDigest> {
        let digest = self.source.digest()?;
        self.check(&digest).map_err(|error| Error { place: self.name.clone(), ..error })?;
        Ok(digest)
    }
}

/// Reads the rest of a compressed file, for its hash, after its stream has ended.
pub(super) fn stored(raw: Arc<Mutex<Raw>>, name: String) -> Stored {
    Box::new(move || {
        let mut raw = raw.lock().unwrap_or_else(PoisonError::into_inner);
        io::copy(&mut *raw, &mut io::sink()).map_err(|error| failed(name, "cannot be read to its end", error))?;
        Ok(raw.hasher.take().map(|hasher| (raw.bytes, hasher.finalize().to_hex().to_string())))
    })
}

/// A file that is hashed while it is read.
pub(super) struct Raw {
    source: Box<dyn Read + Send>,
    pub(super) hasher: Option<blake3::Hasher>,
    bytes: u64,
    name: String,
    /// Why it could not be read.
    pub(super) failure: Option<Error>,
}

impl Raw {
    pub(super) fn new(name: &str, source: Box<dyn Read + Send>, hasher: Option<blake3::Hasher>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { source, hasher, bytes: 0, name: name.to_owned(), failure: None }))
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                let told = || failed(&*self.name, "cannot be read", io::Error::new(error.kind(), error.to_string()));
                self.failure = Some(store_error(error).unwrap_or_else(told));
            }
        })?;
        self.bytes += read as u64;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..read]);
        }
        Ok(read)
    }
}

pub(super) struct RawReader(pub(super) Arc<Mutex<Raw>>);

impl Read for RawReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(buffer)
    }
}
