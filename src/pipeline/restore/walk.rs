//! The tables beside the conversations of a part, walked along with them, and what comes out. Knows neither lines nor
//! rows of tables that were read.

use std::collections::{BTreeSet, VecDeque};
use std::iter::Peekable;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;

use super::borders::{Borders, Rejects};
use super::cursor::{Checksums, VerbatimCursor, VerbatimRows};
use crate::error::{Error, Result};
use crate::pipeline::EarlierNights;
use crate::pipeline::reject::RejectRow;
use crate::pipeline::rows::RowMark;

/// A slice ends when it has this many bytes.
pub(super) const SLICE_BYTES: usize = 4 << 20;

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
    pub(super) fn bytes_of(records: u64, bytes: Vec<u8>) -> Self {
        Self { records, slice: RestoredSlice::Bytes(bytes) }
    }

    /// The bytes; nothing of rows.
    pub fn bytes(&self) -> &[u8] {
        match &self.slice {
            RestoredSlice::Bytes(bytes) => bytes,
            RestoredSlice::Rows { .. } => &[],
        }
    }
}

/// Where the restorer is in the tables beside the conversations.
pub(super) struct Walk {
    pub(super) verbatim: VerbatimCursor,
    pub(super) rejects: Peekable<Rejects>,
    pub(super) metrics: Option<Checksums>,
    /// What holds the rest of records that came again.
    pub(super) nights: Option<Arc<dyn EarlierNights>>,
    pub(super) place: String,
    pub(super) borders: Borders,
    /// The readers give these source rows only, and no rejects.
    pub(super) only: Option<VecDeque<u64>>,
    /// A slice is one record.
    pub(super) singly: bool,
    pub(super) next_row: u64,
    /// The sources that were damaged or cut off, as far as it came.
    pub(super) torn: BTreeSet<String>,
}

shows!(Walk { place, next_row });

impl Walk {
    /// The tables are those of inputs with these borders; nothing was read of them yet.
    pub(super) fn across(mut self, borders: Borders) -> Self {
        self.verbatim = self.verbatim.across(&borders);
        let rejects: Rejects = Box::new(self.rejects);
        self.rejects = borders.numbered_rejects(rejects).peekable();
        Self { borders, ..self }
    }

    /// The reject that stands before the next conversation.
    pub(super) fn next_reject(&mut self) -> Result<Option<RejectRow>> {
        let next_row = self.next_row;
        let due = |reject: &Result<RejectRow>| reject.as_ref().map_or(true, |reject| reject.source_row <= next_row);
        let reject = self.rejects.next_if(due).transpose()?;
        if let Some(torn) = reject.as_ref().filter(|reject| reject.is_torn()) {
            self.torn.insert(torn.source.clone());
        }
        Ok(reject)
    }

    /// The source rows of the next `n` conversations, as far as no reject stands among them.
    pub(super) fn numbers(&mut self, n: usize) -> Result<Vec<u64>> {
        let Some(only) = &mut self.only else {
            let stop = match self.rejects.peek() {
                Some(Ok(reject)) => reject.source_row,
                _ => u64::MAX,
            };
            return Ok((self.next_row..stop.min(self.next_row + n as u64)).collect());
        };
        let numbers: Vec<u64> = only.drain(..n.min(only.len())).collect();
        if numbers.len() < n {
            return Err(self.broken(self.next_row, "a row too many"));
        }
        Ok(numbers)
    }

    /// What the sidecar holds of the first of these rows, up to one before which much stands, and their checksums, when
    /// they are to be compared.
    pub(super) fn entries(&mut self, rows: &[u64]) -> Result<(Vec<VerbatimRows>, Option<Vec<String>>)> {
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
    pub(super) fn ends_before(&mut self, row: u64) -> Result<bool> {
        Ok(self.gives_all() && self.verbatim.peek_before(row)?.is_some())
    }

    /// True when slices are of any size, and everything is given.
    pub(super) fn gives_all(&self) -> bool {
        self.only.is_none() && !self.singly
    }

    pub(super) fn broken(&self, row: u64, message: &str) -> Error {
        broken(&self.place, &self.borders, row, message)
    }
}

pub(super) fn broken(place: &str, borders: &Borders, row: u64, message: &str) -> Error {
    Error::verification(borders.place(place, row), message)
}
