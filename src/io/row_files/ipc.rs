//! Rows of Arrow IPC files and streams. A file whose footer is damaged is read as the stream that it begins with.

use std::io::{BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::stream::{ADVICE, RowChunk, RowStream, hash_blob};
use crate::error::{Error, Result};
use crate::io::arrow_batches::{FileBatches, StreamBatches};
use crate::io::failed;
use crate::io::metered::{Raw, RawReader, stored};
use crate::io::store::{Blob, BlobFile};
use crate::pipeline::LostRows;
use crate::pipeline::bridge::guard;

const READ_BYTES: usize = 256 << 10;
/// An IPC file begins with its magic, padded to eight bytes or more; then it goes on like a stream.
const MAX_PADDING: usize = 512;

/// Opens an IPC file by its footer, or as a stream when the footer is damaged.
pub(super) fn open_file(name: &str, blob: &Blob) -> Result<Box<dyn RowStream>> {
    let file = BufReader::with_capacity(READ_BYTES, BlobFile::new(blob.clone()));
    let message = match guard(|| FileBatches::open(file)) {
        Ok(Ok(reader)) => {
            let (name, blob) = (name.to_owned(), blob.clone());
            return Ok(Box::new(IpcFile { name, blob, reader, next: 0, head: None }));
        }
        Ok(Err(error)) => error.to_string(),
        Err(message) => message,
    };
    let mut first = Vec::new();
    let read = |error| failed(name, "cannot be read", error);
    blob.reader(0..MAX_PADDING as u64).read_to_end(&mut first).map_err(read)?;
    if let Some(failure) = blob.failure() {
        return Err(failure);
    }
    let mut places = (8..first.len()).step_by(8);
    let start = places.find(|&at| first.get(at..at + 4) == Some(&[0xFF; 4])).unwrap_or(8);
    let mut stream = IpcStream::open(name, blob.reader(start as u64..u64::MAX), Some(message))?;
    stream.blob = Some(blob.clone());
    Ok(Box::new(stream))
}

/// A file with its footer.
struct IpcFile {
    name: String,
    blob: Blob,
    reader: FileBatches<BufReader<BlobFile>>,
    next: usize,
    head: Option<RecordBatch>,
}

impl IpcFile {
    fn read(&mut self, index: usize) -> std::result::Result<RecordBatch, String> {
        guard(|| self.reader.read(index))?.map_err(|error| error.to_string())
    }
}

impl RowStream for IpcFile {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    fn head(&mut self) -> Result<RecordBatch> {
        for index in 0..self.reader.len() {
            if let Ok(rows) = self.read(index)
                && rows.num_rows() > 0
            {
                if index == 0 {
                    self.head = Some(rows.clone());
                }
                return Ok(rows);
            }
        }
        Ok(RecordBatch::new_empty(self.reader.schema()))
    }

    fn next(&mut self) -> Result<Option<RowChunk>> {
        if self.next >= self.reader.len() {
            return Ok(None);
        }
        let index = self.next;
        self.next += 1;
        if let Some(rows) = self.head.take().filter(|_| index == 0) {
            return Ok(Some(RowChunk::Rows(rows)));
        }
        let read = self.read(index);
        // What a store failed to give is no damage of the file.
        if let Some(failure) = self.blob.failure() {
            return Err(failure);
        }
        Ok(Some(read.map_or_else(
            |message| {
                let detail = format!(
                    "record batch {index} cannot be read and is lost, nobody knows how many rows: {message}; {ADVICE}"
                );
                RowChunk::Lost(LostRows { rows: 0, detail })
            },
            RowChunk::Rows,
        )))
    }

    fn stored_bytes(&self) -> u64 {
        // Record batches have one size, nearly.
        (self.blob.bytes().unwrap_or(0) / self.reader.len().max(1) as u64) * self.next as u64
    }

    fn stored(&mut self) -> Result<(u64, String)> {
        hash_blob(&self.name, &self.blob, None)
    }
}

/// A stream.
pub(super) struct IpcStream {
    name: String,
    reader: StreamBatches<BufReader<RawReader>>,
    raw: Arc<Mutex<Raw>>,
    /// Hashed at the end instead of what was read, for a file that is read as a stream.
    blob: Option<Blob>,
    /// What is wrong with the footer of a file that is read as a stream.
    footer: Option<String>,
    ahead: Option<RowChunk>,
    n_batches: usize,
    ended: bool,
}

impl IpcStream {
    pub(super) fn open(name: &str, stream: Box<dyn Read + Send>, footer: Option<String>) -> Result<Self> {
        let raw = Raw::new(name, stream, Some(blake3::Hasher::new()));
        let reader = BufReader::with_capacity(READ_BYTES, RawReader(raw.clone()));
        let damaged = |message: String| {
            let text =
                format!("the schema at the beginning cannot be read, and without it no row: {message}; {ADVICE}");
            Error::input(name, text)
        };
        let reader = match guard(|| StreamBatches::open(reader)) {
            Ok(Ok(reader)) => reader,
            Ok(Err(error)) => return Err(damaged(error.to_string())),
            Err(message) => return Err(damaged(message)),
        };
        let name = name.to_owned();
        Ok(Self { name, reader, raw, blob: None, footer, ahead: None, n_batches: 0, ended: false })
    }

    fn read(&mut self) -> Option<RowChunk> {
        if self.ended {
            return None;
        }
        let message = match guard(|| self.reader.next()) {
            Ok(Some(Ok(rows))) => {
                self.n_batches += 1;
                return Some(RowChunk::Rows(rows));
            }
            Ok(None) => match self.footer.take() {
                None => {
                    self.ended = true;
                    return None;
                }
                Some(message) => {
                    format!("the footer is damaged; what stands before it was read as a stream: {message}; {ADVICE}")
                }
            },
            Ok(Some(Err(error))) => self.lost(&error.to_string()),
            Err(message) => self.lost(&message),
        };
        self.ended = true;
        Some(RowChunk::Lost(LostRows { rows: 0, detail: message }))
    }

    fn lost(&mut self, message: &str) -> String {
        self.footer = None;
        format!("record batch {} and all after it cannot be read and are lost: {message}; {ADVICE}", self.n_batches)
    }
}

impl RowStream for IpcStream {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    fn head(&mut self) -> Result<RecordBatch> {
        if self.ahead.is_none() {
            self.ahead = self.read();
        }
        Ok(match &self.ahead {
            Some(RowChunk::Rows(rows)) => rows.clone(),
            _ => RecordBatch::new_empty(self.reader.schema()),
        })
    }

    fn next(&mut self) -> Result<Option<RowChunk>> {
        Ok(match self.ahead.take() {
            Some(chunk) => Some(chunk),
            None => self.read(),
        })
    }

    fn stored_bytes(&self) -> u64 {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    fn stored(&mut self) -> Result<(u64, String)> {
        if let Some(blob) = &self.blob {
            return hash_blob(&self.name, blob, None);
        }
        // What stands behind the end of the stream belongs to what was stored.
        let found = stored(self.raw.clone(), self.name.clone())()?;
        found.ok_or_else(|| Error::internal(&*self.name, "a stream was not hashed"))
    }
}
