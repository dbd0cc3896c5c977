//! Files without a name for what a survey keeps beside its memory: rows of a fixed size by their numbers, and texts by their places.
//! A process that is killed leaves nothing of them. Knows bytes; refuses to know what they mean.

use std::fs::File;
use std::io::{BufWriter, Error as IoError, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::error::{Error, Result};

/// Rows that are read at once where all are read in their order.
const ROWS_AT_ONCE: usize = 1024;
const WRITE_BYTES: usize = 256 << 10;

/// Where such files are made.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    folder: Option<PathBuf>,
}

impl Scratch {
    /// In this folder, or where the system keeps such files.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    pub(super) fn file(&self) -> Result<File> {
        let made = self.folder.as_ref().map_or_else(tempfile::tempfile, tempfile::tempfile_in);
        made.map_err(|error| self.failed(error))
    }

    pub(super) fn failed(&self, error: IoError) -> Error {
        let place = self.folder.as_ref().map_or_else(String::new, |folder| folder.display().to_string());
        Error::io(place, "there is no room for the survey of the conversations").because(error)
    }
}

/// Rows of `N` bytes, first all written, then read.
#[derive(Debug)]
pub(super) struct RowsWriter<const N: usize> {
    scratch: Scratch,
    file: BufWriter<File>,
    n: u32,
}

impl<const N: usize> RowsWriter<N> {
    pub(super) fn new(scratch: &Scratch) -> Result<Self> {
        let file = BufWriter::with_capacity(WRITE_BYTES, scratch.file()?);
        Ok(Self { scratch: scratch.clone(), file, n: 0 })
    }

    /// Appends a row and gives its number.
    pub(super) fn push(&mut self, row: &[u8; N]) -> Result<u32> {
        let number = self.n;
        self.n =
            number.checked_add(1).ok_or_else(|| Error::usage("", "a split has at most 4 billion conversations"))?;
        self.file.write_all(row).map_err(|error| self.scratch.failed(error))?;
        Ok(number)
    }

    pub(super) fn written(self) -> Result<Rows<N>> {
        let Self { scratch, file, n } = self;
        let file = file.into_inner().map_err(|error| scratch.failed(error.into_error()))?;
        Ok(Rows { scratch, file, n })
    }
}

/// Rows that can be read.
#[derive(Debug)]
pub(super) struct Rows<const N: usize> {
    scratch: Scratch,
    file: File,
    pub(super) n: u32,
}

impl<const N: usize> Rows<N> {
    /// The row with this number.
    pub(super) fn get(&self, number: u32) -> Result<[u8; N]> {
        let (mut row, mut file) = ([0; N], &self.file);
        let read = file.seek(SeekFrom::Start(u64::from(number) * N as u64)).and_then(|_| file.read_exact(&mut row));
        read.map_err(|error| self.scratch.failed(error))?;
        Ok(row)
    }

    /// Calls `each` with every row and its number, in order.
    pub(super) fn each(&self, mut each: impl FnMut(u32, &[u8; N]) -> Result<()>) -> Result<()> {
        let (mut rows, mut at) = (vec![[0; N]; ROWS_AT_ONCE], 0);
        while at < self.n {
            rows.truncate((self.n - at) as usize);
            let mut file = &self.file;
            let first = SeekFrom::Start(u64::from(at) * N as u64);
            let read = file.seek(first).and_then(|_| file.read_exact(rows.as_flattened_mut()));
            read.map_err(|error| self.scratch.failed(error))?;
            for row in &rows {
                each(at, row)?;
                at += 1;
            }
        }
        Ok(())
    }
}

/// Texts of any length, first all written, then read.
#[derive(Debug)]
pub(super) struct HeapWriter {
    scratch: Scratch,
    file: BufWriter<File>,
    end: u64,
}

impl HeapWriter {
    pub(super) fn new(scratch: &Scratch) -> Result<Self> {
        let file = BufWriter::with_capacity(WRITE_BYTES, scratch.file()?);
        Ok(Self { scratch: scratch.clone(), file, end: 0 })
    }

    /// Appends bytes and gives their place.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<u64> {
        let place = self.end;
        let length = bytes.len() as u32;
        let written = self.file.write_all(&length.to_le_bytes()).and_then(|()| self.file.write_all(bytes));
        written.map_err(|error| self.scratch.failed(error))?;
        self.end += 4 + bytes.len() as u64;
        Ok(place)
    }

    pub(super) fn written(self) -> Result<Heap> {
        let Self { scratch, file, .. } = self;
        let file = file.into_inner().map_err(|error| scratch.failed(error.into_error()))?;
        Ok(Heap { scratch, file })
    }
}

/// Texts that can be read.
#[derive(Debug)]
pub(super) struct Heap {
    scratch: Scratch,
    pub(super) file: File,
}

impl Heap {
    /// What stands in this place.
    pub(super) fn get(&self, place: u64) -> Result<Vec<u8>> {
        let (mut length, mut file) = ([0; 4], &self.file);
        let read = file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut length)).and_then(|()| {
            let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
            file.read_exact(&mut bytes).map(|()| bytes)
        });
        read.map_err(|error| self.scratch.failed(error))
    }
}
