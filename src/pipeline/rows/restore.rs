//! The way back of a table: written rows, originals and rejects become the rows of the source again, in order. Knows
//! no file: tables come from readers.

use std::collections::VecDeque;
use std::iter::Peekable;

use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::cells::{Texts, texts_like};
use super::mark::{RowDigest, RowMark, marks};
use super::packed::unpack;
use super::plan::{CellKind, TableInput};
use super::structs::{CellEntries, restore_lists, with_column};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Original;
use crate::pipeline::bridge::guard;
use crate::pipeline::restore::cursor::{Checksums, Entries, VerbatimCursor};
use crate::pipeline::tables::{Kind, text_at};
use crate::pipeline::{Commit, RejectRow, Source, TableReader};
use crate::shape;

/// Rejected rows are given together up to this many bytes of text.
const SLICE_BYTES: usize = 4 << 20;

/// The tables of a part whose input was a table.
pub struct RowReaders {
    /// The conversations, all columns.
    pub conversations: Box<dyn TableReader>,
    /// The schema of the rows that this reader gives.
    pub schema: SchemaRef,
    /// Originals, in the order of the conversations.
    pub verbatim: Box<dyn TableReader>,
    /// Rejects in order.
    pub rejects: Box<dyn Iterator<Item = Result<RejectRow>> + Send>,
    /// Figures, when checksums are to be compared.
    pub metrics: Option<Box<dyn TableReader>>,
}

impl std::fmt::Debug for RowReaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowReaders").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Restored rows.
#[derive(Debug)]
pub struct RestoredRows {
    /// The rows; texts may be views of what the source's schema says.
    pub rows: RecordBatch,
    /// Their marks.
    pub marks: Vec<RowMark>,
    /// Records in it: rows, and places where rows were lost.
    pub records: u64,
    /// Rows that were lost in the source and are not among the rows.
    pub lost: u64,
}

/// Restores a table from beginning to end.
pub struct RowRestorer {
    table: TableInput,
    schema: SchemaRef,
    conversations: Box<dyn TableReader>,
    verbatim: VerbatimCursor,
    rejects: Peekable<Box<dyn Iterator<Item = Result<RejectRow>> + Send>>,
    metrics: Option<Checksums>,
    place: String,
    /// Only these source rows are given by the readers.
    only: Option<VecDeque<u64>>,
    current: Option<RecordBatch>,
    next_row: u64,
    ended: bool,
}

impl std::fmt::Debug for RowRestorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowRestorer").field("place", &self.place).finish_non_exhaustive()
    }
}

impl RowRestorer {
    /// Restores the part that `place` names in errors.
    #[must_use]
    pub fn new(readers: RowReaders, table: TableInput, place: impl Into<String>) -> Self {
        Self {
            next_row: table.first_row,
            table,
            schema: readers.schema,
            conversations: readers.conversations,
            verbatim: VerbatimCursor::new(readers.verbatim),
            rejects: readers.rejects.peekable(),
            metrics: readers.metrics.map(Checksums::new),
            place: place.into(),
            only: None,
            current: None,
            ended: false,
        }
    }

    /// The readers give the rows with these numbers only.
    #[must_use]
    pub fn only(mut self, source_rows: impl IntoIterator<Item = u64>) -> Self {
        self.only = Some(source_rows.into_iter().collect());
        self
    }

    /// The next rows, `None` at the end.
    ///
    /// # Errors
    /// When a table cannot be read, a row is missing, or a row cannot be put together.
    pub fn next_rows(&mut self) -> Result<Option<RestoredRows>> {
        if self.ended {
            return Ok(None);
        }
        let place = self.place.clone();
        guard(|| self.advance()).unwrap_or_else(|message| {
            Err(Error::new(ErrorKind::Verification, place, format!("the tables cannot be read: {message}")))
        })
    }

    fn advance(&mut self) -> Result<Option<RestoredRows>> {
        if let Some(rejected) = self.rejected()? {
            return Ok(Some(rejected));
        }
        while self.current.as_ref().is_none_or(|rows| rows.num_rows() == 0) {
            let Some(rows) = self.conversations.next_rows()? else {
                self.ended = true;
                return self.end().map(|()| None);
            };
            self.current = Some(rows);
        }
        let Some(rows) = self.current.take() else { return Ok(None) };
        let numbers = self.numbers(rows.num_rows())?;
        let restored = self.restore(&rows.slice(0, numbers.len()), &numbers)?;
        self.current = Some(rows.slice(numbers.len(), rows.num_rows() - numbers.len()));
        Ok(Some(restored))
    }

    /// The rejected rows that come next.
    fn rejected(&mut self) -> Result<Option<RestoredRows>> {
        let (mut rows, mut records, mut lost, mut n_bytes) = (Vec::new(), 0, 0, 0);
        while n_bytes < SLICE_BYTES {
            let next_row = self.next_row;
            let due = |reject: &Result<RejectRow>| reject.as_ref().map_or(true, |reject| reject.source_row <= next_row);
            let Some(reject) = self.rejects.next_if(due) else { break };
            let reject = reject?;
            records += 1;
            if let Some(text) = &reject.row_base64 {
                n_bytes += text.len();
                rows.push(unpack(text, &self.schema).map_err(|message| self.broken(reject.source_row, &message))?);
            }
            let n_lost = reject.lost_rows.unwrap_or(0);
            lost += n_lost;
            self.next_row += n_lost + u64::from(reject.row_base64.is_some());
        }
        if records == 0 {
            return Ok(None);
        }
        let rows =
            concat_batches(&self.schema, &rows).map_err(|error| self.broken(self.next_row, &error.to_string()))?;
        Ok(Some(RestoredRows { marks: marks(&rows), rows, records, lost }))
    }

    /// The source rows of the next conversations, up to the next reject.
    fn numbers(&mut self, n: usize) -> Result<Vec<u64>> {
        if let Some(only) = &mut self.only {
            let numbers: Vec<u64> = only.drain(..n.min(only.len())).collect();
            return if numbers.len() == n { Ok(numbers) } else { Err(self.broken(self.next_row, "a row too many")) };
        }
        let stop = match self.rejects.peek() {
            Some(Ok(reject)) => reject.source_row,
            _ => u64::MAX,
        };
        let end = stop.min(self.next_row + n as u64);
        let numbers = (self.next_row..end).collect();
        self.next_row = end;
        Ok(numbers)
    }

    fn restore(&mut self, rows: &RecordBatch, numbers: &[u64]) -> Result<RestoredRows> {
        let first = numbers.first().copied().unwrap_or(self.next_row);
        let entries = self.verbatim.take(numbers)?;
        let rows = restored(rows, &self.table, &entries).map_err(|message| self.broken(first, &message))?;
        let marks = marks(&rows);
        if let Some(metrics) = &mut self.metrics {
            for ((mark, checksum), &row) in marks.iter().zip(metrics.take(numbers.len())?).zip(numbers) {
                if blake3::Hash::from_bytes(mark.hash).to_hex().as_str() != checksum {
                    let message = "the restored row differs from the original: its checksum is another";
                    return Err(self.broken(row, message));
                }
            }
        }
        Ok(RestoredRows { rows, marks, records: numbers.len() as u64, lost: 0 })
    }

    fn end(&mut self) -> Result<()> {
        if self.only.is_some() {
            return Ok(());
        }
        if let Some(reject) = self.rejects.next() {
            return Err(self.broken(reject?.source_row, "a reject stands behind the end of its source"));
        }
        match self.verbatim.peek_row()? {
            Some(row) => Err(self.broken(row, "the verbatim table has an original of a row that does not exist")),
            None => Ok(()),
        }
    }

    fn broken(&self, row: u64, message: &str) -> Error {
        Error::new(ErrorKind::Verification, format!("{}: row {row}", self.place), message)
    }
}

/// The original rows of written `rows`.
fn restored(rows: &RecordBatch, table: &TableInput, entries: &[Entries]) -> std::result::Result<RecordBatch, String> {
    let views: Vec<_> = entries.iter().map(Entries::views).collect::<std::result::Result<_, _>>()?;
    let mut found: Vec<Found<'_>> = Vec::with_capacity(entries.len());
    for views in &views {
        let mut row = Found::default();
        for (view, at) in views.iter().flat_map(|(view, range)| range.clone().map(move |at| (view, at))) {
            let text = text_at(view.message, at).ok_or("an original has no text")?;
            match Kind::parse(text_at(view.kind, at).unwrap_or_default()) {
                Some(Kind::Record) => row.record = Some(text),
                Some(Kind::Layout) => row.layout = Some(text),
                Some(Kind::Message) => row.originals.push(Original {
                    position: view.position.value(at) as usize,
                    message_index: view.message_index.value(at) as usize,
                    message: text,
                }),
                Some(Kind::Frame) | None => return Err("the verbatim table has a row of an unknown kind".to_owned()),
            }
        }
        found.push(row);
    }
    let column = rows.columns().get(table.column).ok_or("the column of the conversations is missing")?;
    let column = match table.kind {
        CellKind::Structs => {
            let entries = found.iter().map(|row| CellEntries {
                messages: row.originals.iter().map(|one| (one.position, one.message_index, one.message)).collect(),
                record: row.record,
            });
            restore_lists(column, &entries.collect::<Vec<_>>())?
        }
        CellKind::Text if found.iter().all(|row| row.record.is_none() && row.originals.is_empty()) => {
            return Ok(rows.clone());
        }
        CellKind::Text => {
            let texts = Texts::of(column).ok_or("the conversations are no texts")?;
            let restore = |(at, row): (usize, &Found<'_>)| match (row.record, texts.get(at)) {
                (Some(record), _) => Ok(record.to_owned()),
                (None, Some(text)) => {
                    shape::restore_record(text, row.layout, &row.originals).map_err(|error| error.to_string())
                }
                (None, None) => Err("a conversation is null".to_owned()),
            };
            let texts: Vec<String> = found.iter().enumerate().map(restore).collect::<std::result::Result<_, _>>()?;
            texts_like(column.data_type(), texts.iter().map(|text| Some(text.as_str())))
                .map_err(|error| error.to_string())?
        }
    };
    with_column(rows, table.column, column)
}

/// What the sidecar holds of a row.
#[derive(Default)]
struct Found<'e> {
    record: Option<&'e str>,
    layout: Option<&'e str>,
    originals: Vec<Original<'e>>,
}

/// Restores a whole table and compares it with its commit and with `original`, calling `seen` for all rows in order;
/// `seen` may stop the work with an error. Gives the number of records and of canonical bytes.
///
/// # Errors
/// `Verification` names the first difference.
pub fn verify_rows(
    restorer: &mut RowRestorer,
    commit: &Commit,
    mut original: Option<&mut dyn Source>,
    seen: &mut dyn FnMut(&RecordBatch) -> Result<()>,
) -> Result<(u64, u64)> {
    let place = format!("part {} ({})", commit.part, commit.source);
    let differs = |message: String| Error::new(ErrorKind::Verification, place.clone(), message);
    let mut digest = RowDigest::default();
    let (mut records, mut row) = (0, 0_u64);
    let mut expected: VecDeque<RowMark> = VecDeque::new();
    while let Some(restored) = restorer.next_rows()? {
        digest.push(&restored.marks);
        records += restored.records;
        for mark in &restored.marks {
            if let Some(original) = original.as_deref_mut()
                && next_mark(original, &mut expected)?.as_ref() != Some(mark)
            {
                return Err(differs(format!("the input differs from the restored table at row {row}")));
            }
            row += 1;
        }
        seen(&restored.rows)?;
    }
    if let Some(original) = original
        && next_mark(original, &mut expected)?.is_some()
    {
        return Err(differs(format!("the input goes on after row {row}, where the restored table ends")));
    }
    if records != commit.records {
        return Err(differs(format!("{records} records were restored, but {} were read", commit.records)));
    }
    let (bytes, hash) = digest.finish();
    if bytes != commit.input.stream_bytes || hash != commit.input.stream_blake3 {
        return Err(differs("the restored table differs from the one that was read: its hash is another".to_owned()));
    }
    Ok((records, bytes))
}

/// The mark of the next row of a source.
fn next_mark(source: &mut dyn Source, expected: &mut VecDeque<RowMark>) -> Result<Option<RowMark>> {
    while expected.is_empty() {
        match source.next_batch()? {
            Some(crate::pipeline::Batch::Rows(rows)) => expected.extend(rows.marks),
            Some(crate::pipeline::Batch::Lines(_)) => {
                return Err(Error::new(ErrorKind::Input, source.name(), "this is no table"));
            }
            None => return Ok(None),
        }
    }
    Ok(expected.pop_front())
}
