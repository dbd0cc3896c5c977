//! Texts of records by their places, in one file without a name. Knows no run.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::pipeline::StoredRow;

/// Where a text stands in the file: its first byte, and its length.
type Stretch = (u64, usize);

/// What is gathered is forgotten when it has so many bytes.
const MAX_GATHERED: u64 = 1 << 30;

/// Texts that were gathered already: the nights of a store ask for the same ones again and again.
#[derive(Debug, Clone, Default)]
pub(super) struct Gathered(Arc<Mutex<Option<Texts>>>);

#[derive(Debug)]
struct Texts {
    file: File,
    places: HashMap<StoredRow, Stretch>,
    n_bytes: u64,
}

impl Gathered {
    /// What is there; another one where that is too much.
    pub(super) fn with_room(self) -> Self {
        let is_full = self.lock().as_ref().is_some_and(|texts| texts.n_bytes > MAX_GATHERED);
        // Who reads those that are there goes on with their file.
        if is_full { Self::default() } else { self }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Texts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when the text of this record is there.
    pub(super) fn has(&self, row: &StoredRow) -> bool {
        self.lock().as_ref().is_some_and(|texts| texts.places.contains_key(row))
    }

    /// Adds the text of a record.
    pub(super) fn add(&self, row: StoredRow, text: &str) -> Result<()> {
        let cannot = |error| Error::io("", "there is no room for texts of the store").because(error);
        let mut held = self.lock();
        let texts = match &mut *held {
            Some(texts) => texts,
            none => none.insert(Texts::new().map_err(cannot)?),
        };
        let place = (texts.n_bytes, text.len());
        let at_end = texts.file.seek(SeekFrom::Start(texts.n_bytes));
        at_end.and_then(|_| texts.file.write_all(text.as_bytes())).map_err(cannot)?;
        texts.n_bytes += text.len() as u64;
        texts.places.insert(row, place);
        Ok(())
    }

    /// The texts of these records, one behind the other.
    pub(super) fn text(&self, rows: &[StoredRow]) -> Result<String> {
        let (mut bytes, mut held) = (Vec::new(), self.lock());
        for row in rows {
            let missing = || Error::verification(row.to_string(), "the text of this record was not read");
            let texts = held.as_mut().ok_or_else(missing)?;
            let &(first, n_bytes) = texts.places.get(row).ok_or_else(missing)?;
            let begin = bytes.len();
            bytes.resize(begin + n_bytes, 0);
            let read = texts.file.seek(SeekFrom::Start(first)).and_then(|_| texts.file.read_exact(&mut bytes[begin..]));
            read.map_err(|error| Error::io(row.to_string(), "the text cannot be read again").because(error))?;
        }
        String::from_utf8(bytes).map_err(|error| Error::internal("", "a text of the store is none").because(error))
    }
}

impl Texts {
    fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, places: HashMap::new(), n_bytes: 0 })
    }
}
