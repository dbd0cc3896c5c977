//! The way back: conversations, originals and rejects of a part become its source again, slice by slice: the exact bytes
//! of a stream, or the rows of a table. Knows no file: tables come from readers.

use std::collections::VecDeque;
use std::iter::Peekable;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::TableReader;
use super::bridge::{Bridge, guard};
use super::reject::RejectRow;
use super::rows::{RowMark, TableInput};
use crate::error::{Error, ErrorKind, Result};

mod cursor;
mod lines;
mod rows;
mod weave;

use cursor::{Checksums, Entries, VerbatimCursor};
use lines::Lines;
use rows::Rows;

/// A slice ends when it has this many bytes.
const SLICE_BYTES: usize = 4 << 20;

/// The tables of a part.
pub struct PartReaders {
    /// Conversations as columns or as records; a table of records may have a column `source_row`. Where the input was a
    /// table, its columns.
    pub conversations: Box<dyn TableReader>,
    /// Originals, in the order of the conversations.
    pub verbatim: Box<dyn TableReader>,
    /// Rejects in order.
    pub rejects: Box<dyn Iterator<Item = Result<RejectRow>> + Send>,
    /// Figures, when checksums are to be compared.
    pub metrics: Option<Box<dyn TableReader>>,
}

impl std::fmt::Debug for PartReaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartReaders").finish_non_exhaustive()
    }
}

/// A slice of the restored source.
#[derive(Debug)]
pub struct Restored {
    /// Records in it: rejected ones and places where rows were lost included.
    pub records: u64,
    /// What it is.
    pub slice: RestoredSlice,
}

/// Bytes of a stream, or rows of a table.
#[derive(Debug)]
pub enum RestoredSlice {
    /// Bytes.
    Bytes(Vec<u8>),
    /// Rows.
    Rows {
        /// The rows; texts may be views of what the source's schema says.
        rows: RecordBatch,
        /// Their marks.
        marks: Vec<RowMark>,
    },
}

impl Restored {
    fn bytes_of(records: u64, bytes: Vec<u8>) -> Self {
        Self { records, slice: RestoredSlice::Bytes(bytes) }
    }

    /// The bytes; nothing of rows.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.slice {
            RestoredSlice::Bytes(bytes) => bytes,
            RestoredSlice::Rows { .. } => &[],
        }
    }
}

/// Restores a part from beginning to end.
pub struct Restorer {
    conversations: Box<dyn TableReader>,
    walk: Walk,
    road: Road,
    current: Option<(RecordBatch, usize)>,
    ended: bool,
}

/// How a record becomes what it was.
enum Road {
    Lines(Lines),
    Rows(Rows),
}

/// Where the restorer is in the tables beside the conversations.
struct Walk {
    verbatim: VerbatimCursor,
    rejects: Peekable<Box<dyn Iterator<Item = Result<RejectRow>> + Send>>,
    metrics: Option<Checksums>,
    place: String,
    /// The readers give these source rows only, and no rejects.
    only: Option<VecDeque<u64>>,
    /// A slice is one record.
    singly: bool,
    next_row: u64,
}

impl std::fmt::Debug for Restorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restorer").field("place", &self.walk.place).finish_non_exhaustive()
    }
}

impl Restorer {
    /// Restores the stream of the part that `place` names in errors.
    #[must_use]
    pub fn lines(readers: PartReaders, bridge: Bridge, place: impl Into<String>) -> Self {
        Self::new(readers, place.into(), Road::Lines(Lines::new(bridge)))
    }

    /// Restores the rows of the part that `place` names in errors; the conversations have this schema.
    #[must_use]
    pub fn rows(readers: PartReaders, table: TableInput, schema: SchemaRef, place: impl Into<String>) -> Self {
        let first_row = table.first_row;
        Self::new(readers, place.into(), Road::Rows(Rows { table, schema })).starting_at(first_row)
    }

    fn new(readers: PartReaders, place: String, road: Road) -> Self {
        let walk = Walk {
            verbatim: VerbatimCursor::new(readers.verbatim),
            rejects: readers.rejects.peekable(),
            metrics: readers.metrics.map(Checksums::new),
            place,
            only: None,
            singly: false,
            next_row: 0,
        };
        Self { conversations: readers.conversations, walk, road, current: None, ended: false }
    }

    /// The readers give the records with these numbers only.
    #[must_use]
    pub fn only(mut self, source_rows: impl IntoIterator<Item = u64>) -> Self {
        self.walk.only = Some(source_rows.into_iter().collect());
        self
    }

    /// Gives each record as a slice of its own.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        self.walk.singly = true;
        self
    }

    /// The first record has this number.
    #[must_use]
    pub fn starting_at(mut self, row: u64) -> Self {
        self.walk.next_row = row;
        self
    }

    /// The next slice of the source, `None` at the end.
    ///
    /// # Errors
    /// When a table cannot be read, a row is missing, or a record cannot be put together.
    pub fn next_slice(&mut self) -> Result<Option<Restored>> {
        if self.ended {
            return Ok(None);
        }
        let place = self.walk.place.clone();
        guard(|| self.advance()).unwrap_or_else(|message| {
            Err(Error::new(ErrorKind::Verification, place, format!("the tables cannot be read: {message}")))
        })
    }

    fn advance(&mut self) -> Result<Option<Restored>> {
        let before = match &mut self.road {
            Road::Lines(lines) => lines.before(&mut self.walk)?,
            Road::Rows(rows) => rows.before(&mut self.walk)?,
        };
        if before.is_some() {
            return Ok(before);
        }
        while self.current.as_ref().is_none_or(|(batch, at)| *at == batch.num_rows()) {
            let Some(batch) = self.conversations.next_rows()? else {
                self.ended = true;
                return self.end();
            };
            self.current = Some((batch, 0));
        }
        let Some((batch, start)) = &mut self.current else { return Ok(None) };
        let (walk, rest) = (&mut self.walk, batch.slice(*start, batch.num_rows() - *start));
        let restored = match &mut self.road {
            Road::Lines(lines) => lines.slice(walk, &rest)?,
            Road::Rows(rows) => rows.slice(walk, &rest)?,
        };
        *start += restored.records as usize;
        Ok(Some(restored))
    }

    fn end(&mut self) -> Result<Option<Restored>> {
        let walk = &mut self.walk;
        if walk.only.is_some() {
            return Ok(None);
        }
        if let Some(reject) = walk.rejects.next() {
            return Err(walk.broken(reject?.source_row, "a reject stands behind the end of its source"));
        }
        let last = match &self.road {
            Road::Lines(lines) => Some(lines.end(walk)?),
            Road::Rows(_) => None,
        };
        match walk.verbatim.peek_row()? {
            Some(row) => Err(walk.broken(row, "the verbatim table has an original of a record that does not exist")),
            None => Ok(last),
        }
    }
}

impl Walk {
    /// The reject that stands before the next conversation.
    fn next_reject(&mut self) -> Result<Option<RejectRow>> {
        let next_row = self.next_row;
        let due = |reject: &Result<RejectRow>| reject.as_ref().map_or(true, |reject| reject.source_row <= next_row);
        self.rejects.next_if(due).transpose()
    }

    /// The source rows of the next `n` conversations, as far as no reject stands among them.
    fn numbers(&mut self, n: usize) -> Result<Vec<u64>> {
        let numbers: Vec<u64> = match &mut self.only {
            Some(only) => only.drain(..n.min(only.len())).collect(),
            None => {
                let stop = match self.rejects.peek() {
                    Some(Ok(reject)) => reject.source_row,
                    _ => u64::MAX,
                };
                (self.next_row..stop.min(self.next_row + n as u64)).collect()
            }
        };
        if self.only.is_some() && numbers.len() < n {
            return Err(self.broken(self.next_row, "a row too many"));
        }
        Ok(numbers)
    }

    /// What the sidecar holds of the first of these rows, up to one before which much stands, and their checksums, when
    /// they are to be compared.
    fn entries(&mut self, rows: &[u64]) -> Result<(Vec<Entries>, Option<Vec<String>>)> {
        let mut all = Vec::with_capacity(rows.len());
        for &row in rows {
            if !all.is_empty() && self.ends_before(row)? {
                break;
            }
            all.push(self.verbatim.take(row)?);
            self.next_row = row + 1;
        }
        let checksums = self.metrics.as_mut().map(|metrics| metrics.take(all.len())).transpose()?;
        Ok((all, checksums))
    }

    /// True when many bytes stand before `row`, as blank lines and texts around records are: a slice by themselves.
    fn ends_before(&mut self, row: u64) -> Result<bool> {
        Ok(self.gives_all() && self.verbatim.peek_before(row)?.is_some())
    }

    /// True when slices are of any size, and everything is given.
    fn gives_all(&self) -> bool {
        self.only.is_none() && !self.singly
    }

    fn broken(&self, row: u64, message: &str) -> Error {
        broken(&self.place, row, message)
    }
}

fn broken(place: &str, row: u64, message: &str) -> Error {
    Error::new(ErrorKind::Verification, format!("{place}: row {row}"), message)
}
