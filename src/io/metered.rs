//! Sources that are watched while they are read: how much of a file was read, why it could not be read, and whether
//! somebody wrote to it meanwhile. Knows files, not how records are cut.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::datatypes::SchemaRef;

use super::range::RangeReader;
use super::store::{Blob, Fate, store_error};
use super::stream::Stored;
use super::{failed, hash_of};
use crate::error::{Error, Result};
use crate::pipeline::{BOMB_RATIO, Batch, LineRole, Slice, Source, SourceDigest, TableInput};

/// A source with the file below it: tells how much of it was read, and tells a file that cannot be read from one
/// whose content is damaged.
pub(super) struct Metered {
    source: Box<dyn Source>,
    /// What the source reads; `None` for one that tells everything itself.
    raw: Option<Arc<Mutex<Raw>>>,
    /// Of a compressed file: its size.
    packed: Option<u64>,
    max_record_bytes: usize,
    /// A file that somebody may write to meanwhile, by its name: at the end of the slice it is looked at again.
    checked: Option<(Blob, String, (Slice, u64))>,
}

impl Metered {
    /// A source that tells everything itself.
    pub(super) fn of(source: Box<dyn Source>) -> Self {
        Self { source, raw: None, packed: None, max_record_bytes: 0, checked: None }
    }

    /// A source that reads from `raw`, a file of `packed` bytes when it is compressed.
    pub(super) fn over(
        raw: Arc<Mutex<Raw>>,
        source: Box<dyn Source>,
        packed: Option<u64>,
        max_record_bytes: usize,
    ) -> Self {
        Self { raw: Some(raw), packed, max_record_bytes, ..Self::of(source) }
    }

    /// Looks again at the end whether the file is as it was; the slice is counted from a byte of it.
    pub(super) fn checking(mut self, blob: Blob, name: &str, slice: (Slice, u64)) -> Self {
        self.checked = Some((blob, name.to_owned(), slice));
        self
    }

    fn raw(&self) -> Option<MutexGuard<'_, Raw>> {
        self.raw.as_ref().map(|raw| raw.lock().unwrap_or_else(PoisonError::into_inner))
    }
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
            let is_long = lines.lines.iter().any(|line| matches!(line.kind, LineRole::Piece { first: true }));
            let n_bytes = lines.offset + if is_long { self.max_record_bytes as u64 } else { 0 };
            lines.unpacked = Some(n_bytes / packed.max(1)).filter(|&ratio| ratio >= BOMB_RATIO);
        }
        self.raw().and_then(|mut raw| raw.failure.take()).map_or(Ok(batch), Err)
    }
    fn stored_bytes(&self) -> u64 {
        self.raw().map_or_else(|| self.source.stored_bytes(), |raw| raw.bytes)
    }
    fn digest(&mut self) -> Result<SourceDigest> {
        let digest = self.source.digest()?;
        if let Some((blob, name, slice)) = &self.checked {
            let is_table = self.source.table().is_some();
            check(blob, *slice, is_table, &digest).map_err(|error| Error { place: name.clone(), ..error })?;
        }
        Ok(digest)
    }
}

/// A log may grow: what was read of it is read again when somebody has touched the file. A table does not.
pub(super) fn check(blob: &Blob, (slice, from): (Slice, u64), is_table: bool, digest: &SourceDigest) -> Result<()> {
    match blob.change()? {
        Fate::None => return Ok(()),
        Fate::Touched if is_table => return Ok(()),
        Fate::Touched | Fate::Grown if !is_table => {}
        _ => return Err(blob.changed()),
    }
    let hash = match slice {
        Slice::Bytes { start, end } => {
            let whole = blob.reader(from + RangeReader::<io::Empty>::first_byte(start)..u64::MAX);
            RangeReader::new(whole, start, end).and_then(hash_of)
        }
        _ => hash_of(blob.reader(from..from + digest.bytes)),
    };
    match hash {
        Ok(hash) if hash == digest.blake3 => Ok(()),
        // A file that became shorter says so itself.
        _ => Err(blob.changed()),
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
    pub(super) bytes: u64,
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
