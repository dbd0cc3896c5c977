//! The way back: rows, originals, frames and rejects of a part become the exact bytes of its source again, slice by
//! slice. Knows no file: tables come from readers.

use std::collections::VecDeque;
use std::iter::Peekable;

use arrow::array::{Array, LargeStringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::bridge::{Bridge, guard};
use super::tables::{ConversationsView, Kind, count_column, short_hash, text_at, text_column};
use super::work::Frame;
use super::{RejectRow, TableReader, base64};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Original;
use crate::shape;

/// A slice of rejects ends when it has this many bytes.
const SLICE_BYTES: usize = 4 << 20;

/// The tables of a part.
pub struct PartReaders {
    /// Conversations as columns or as records; a table of records may have a column `source_row`.
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

/// A slice of the restored stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Records in it, rejected ones included.
    pub records: u64,
}

/// Restores a part from beginning to end.
#[derive(Debug)]
pub struct Restorer {
    readers: Readers,
    bridge: Bridge,
    place: String,
    /// Only some conversations are given: rows may be missing and rejects are left out.
    sparse: bool,
    current: Option<(RecordBatch, usize)>,
    next_row: u64,
    ended: bool,
}

struct Readers {
    conversations: Box<dyn TableReader>,
    verbatim: VerbatimCursor,
    rejects: Peekable<Box<dyn Iterator<Item = Result<RejectRow>> + Send>>,
    metrics: Option<Checksums>,
}

impl std::fmt::Debug for Readers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readers").finish_non_exhaustive()
    }
}

impl Restorer {
    /// Restores the part that `place` names in errors.
    #[must_use]
    pub fn new(readers: PartReaders, bridge: Bridge, place: impl Into<String>) -> Self {
        let readers = Readers {
            conversations: readers.conversations,
            verbatim: VerbatimCursor { reader: readers.verbatim, batches: VecDeque::new(), ended: false },
            rejects: readers.rejects.peekable(),
            metrics: readers.metrics.map(|reader| Checksums { reader, batch: None }),
        };
        Self { readers, bridge, place: place.into(), sparse: false, current: None, next_row: 0, ended: false }
    }

    /// The readers give some conversations only.
    #[must_use]
    pub fn sparse(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// The next slice of the stream, `None` at the end.
    ///
    /// # Errors
    /// When a table cannot be read, a row is missing, or a record cannot be put together.
    pub fn next_slice(&mut self) -> Result<Option<Restored>> {
        if self.ended {
            return Ok(None);
        }
        let place = self.place.clone();
        guard(|| self.advance()).unwrap_or_else(|message| {
            Err(Error::new(ErrorKind::Verification, place, format!("the tables cannot be read: {message}")))
        })
    }

    fn advance(&mut self) -> Result<Option<Restored>> {
        let rejects = self.rejects()?;
        if rejects.records > 0 || !rejects.bytes.is_empty() {
            return Ok(Some(rejects));
        }
        if self.current.is_none() {
            self.current = self.next_batch()?.map(|batch| (batch, 0));
        }
        let Some((batch, start)) = self.current.take() else {
            self.ended = true;
            return self.tail().map(Some);
        };
        let rows = self.rows_of(&batch, start)?;
        let end = start + rows.len();
        let restored = self.slice(&batch, start, &rows)?;
        if end < batch.num_rows() {
            self.current = Some((batch, end));
        }
        Ok(Some(restored))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.readers.conversations.next_rows()? {
                Some(batch) if batch.num_rows() == 0 => {}
                batch => return Ok(batch),
            }
        }
    }

    /// The rejects that come next, up to the bound of a slice.
    fn rejects(&mut self) -> Result<Restored> {
        let mut restored = Restored::default();
        while !self.sparse && restored.bytes.len() < SLICE_BYTES {
            let next_row = self.next_row;
            let due = |reject: &Result<RejectRow>| reject.as_ref().map_or(true, |reject| reject.source_row <= next_row);
            let Some(reject) = self.readers.rejects.next_if(due) else { break };
            let reject = reject?;
            for entries in self.readers.verbatim.take(&[reject.source_row])? {
                let frame = entries.frame().map_err(|message| self.broken(reject.source_row, &message))?;
                restored.bytes.extend_from_slice(frame.before.as_bytes());
            }
            restored.bytes.extend_from_slice(reject.before.unwrap_or_default().as_bytes());
            match (&reject.raw, &reject.raw_base64) {
                (Some(raw), _) => restored.bytes.extend_from_slice(raw.as_bytes()),
                (None, Some(raw)) => restored.bytes.extend_from_slice(
                    &base64::decode(raw)
                        .ok_or_else(|| self.broken(reject.source_row, "the raw bytes of a reject are no Base64"))?,
                ),
                (None, None) => {}
            }
            restored.bytes.extend_from_slice(reject.end.as_deref().unwrap_or("\n").as_bytes());
            let more_pieces = |next: &Result<RejectRow>| {
                next.as_ref().is_ok_and(|next| next.source_row == reject.source_row && next.reason.is_empty())
            };
            if !self.readers.rejects.peek().is_some_and(more_pieces) {
                self.next_row = reject.source_row + 1;
                restored.records += 1;
            }
        }
        Ok(restored)
    }

    /// The source rows of the conversations from `start` on, up to the next reject.
    fn rows_of(&mut self, batch: &RecordBatch, start: usize) -> Result<Vec<u64>> {
        let stop = match self.readers.rejects.peek() {
            Some(Ok(reject)) if !self.sparse => reject.source_row,
            _ => u64::MAX,
        };
        let stored =
            batch.column_by_name("source_row").is_some().then(|| count_column(batch, "source_row")).transpose()?;
        let mut rows = Vec::new();
        for index in start..batch.num_rows() {
            let row = match stored {
                Some(stored) if self.sparse => stored.value(index),
                _ => self.next_row,
            };
            if row >= stop {
                break;
            }
            if let Some(found) = stored.map(|stored| stored.value(index)).filter(|&found| found != row) {
                return Err(self.broken(row, &format!("this record is missing; row {found} stands in its place")));
            }
            rows.push(row);
            self.next_row = row + 1;
        }
        Ok(rows)
    }

    fn slice(&mut self, batch: &RecordBatch, start: usize, rows: &[u64]) -> Result<Restored> {
        let sidecar = self.readers.verbatim.take(rows)?;
        let checksums = match &mut self.readers.metrics {
            Some(metrics) => Some(metrics.take(rows.len())?),
            None => None,
        };
        let place = &self.place;
        let view = if batch.column_by_name("messages").is_some() {
            View::Rows(ConversationsView::new(batch)?)
        } else {
            View::Records(text_column(batch, "record")?)
        };
        let restore = |(index, (&row, entries)): (usize, (&u64, &Entries))| -> Result<Vec<u8>> {
            let record = view.restore(start + index, entries).map_err(|message| broken(place, row, &message))?;
            if let Some(checksums) = &checksums {
                check(&record.text, &checksums[index], entries).map_err(|message| broken(place, row, &message))?;
            }
            let mut bytes = record.frame.before.into_bytes();
            bytes.extend_from_slice(record.text.as_bytes());
            bytes.extend_from_slice(record.frame.end.as_deref().unwrap_or("\n").as_bytes());
            Ok(bytes)
        };
        let restore = |item| guard(|| restore(item)).unwrap_or_else(|message| Err(broken(place, rows[0], &message)));
        let parts: Vec<Vec<u8>> = self
            .bridge
            .install(|| rows.par_iter().zip(sidecar.par_iter()).enumerate().map(restore).collect::<Result<_>>())?;
        Ok(Restored { bytes: parts.concat(), records: rows.len() as u64 })
    }

    fn tail(&mut self) -> Result<Restored> {
        if self.sparse {
            return Ok(Restored::default());
        }
        if let Some(reject) = self.readers.rejects.next() {
            return Err(self.broken(reject?.source_row, "a reject stands behind the end of its source"));
        }
        let mut restored = Restored::default();
        for entries in self.readers.verbatim.take(&[self.next_row])? {
            let frame = entries.frame().map_err(|message| self.broken(self.next_row, &message))?;
            restored.bytes.extend_from_slice(frame.before.as_bytes());
        }
        if let Some(row) = self.readers.verbatim.peek_row()? {
            return Err(self.broken(row, "the verbatim table has an original of a record that does not exist"));
        }
        Ok(restored)
    }

    fn broken(&self, row: u64, message: &str) -> Error {
        broken(&self.place, row, message)
    }
}

fn broken(place: &str, row: u64, message: &str) -> Error {
    Error::new(ErrorKind::Verification, format!("{place}: row {row}"), message)
}

enum View<'b> {
    Rows(ConversationsView<'b>),
    Records(&'b LargeStringArray),
}

struct Record {
    text: String,
    frame: Frame,
}

impl View<'_> {
    fn restore(&self, index: usize, entries: &Entries) -> std::result::Result<Record, String> {
        let frame = entries.frame()?;
        let (mut layout, mut originals) = (None, Vec::new());
        let views = entries.views()?;
        for (view, at) in views.iter().flat_map(|(view, range)| range.clone().map(move |at| (view, at))) {
            let text = text_at(view.message, at).ok_or("an original has no text")?;
            match Kind::parse(text_at(view.kind, at).unwrap_or_default()) {
                Some(Kind::Record) => return Ok(Record { text: text.to_owned(), frame }),
                Some(Kind::Layout) => layout = Some(text),
                Some(Kind::Message) => originals.push(Original {
                    position: view.position.value(at) as usize,
                    message_index: view.message_index.value(at) as usize,
                    message: text,
                }),
                Some(Kind::Frame) => {}
                None => return Err("the verbatim table has a row of an unknown kind".to_owned()),
            }
        }
        let restored = match self {
            Self::Rows(view) => {
                shape::restore_row(view.id.value(index), &view.row(index), layout.unwrap_or_default(), &originals)
            }
            Self::Records(records) => shape::restore_record(records.value(index), layout, &originals),
        };
        Ok(Record { text: restored.map_err(|error| error.to_string())?, frame })
    }
}

fn check(record: &str, checksum: &str, entries: &Entries) -> std::result::Result<(), String> {
    if blake3::hash(record.as_bytes()).to_hex().as_str() != checksum {
        return Err("the restored record differs from the original: its checksum is another".to_owned());
    }
    for (view, range) in entries.views()? {
        for at in range {
            if let (Some(hash), Some(text)) = (text_at(view.hash, at), text_at(view.message, at))
                && short_hash(text) != hash
            {
                return Err("an original in the verbatim table is not what was stored: its hash is another".to_owned());
            }
        }
    }
    Ok(())
}

/// The rows of the verbatim table that belong to one record.
#[derive(Debug, Default)]
struct Entries {
    rows: Vec<(RecordBatch, std::ops::Range<usize>)>,
}

struct VerbatimView<'b> {
    kind: &'b LargeStringArray,
    message: &'b LargeStringArray,
    hash: &'b LargeStringArray,
    position: &'b UInt64Array,
    message_index: &'b UInt64Array,
}

impl<'b> VerbatimView<'b> {
    fn new(batch: &'b RecordBatch) -> Result<Self> {
        Ok(Self {
            kind: text_column(batch, "kind")?,
            message: text_column(batch, "message")?,
            hash: text_column(batch, "hash")?,
            position: count_column(batch, "position")?,
            message_index: count_column(batch, "message_index")?,
        })
    }
}

impl Entries {
    fn views(&self) -> std::result::Result<Vec<(VerbatimView<'_>, std::ops::Range<usize>)>, String> {
        let mut views = Vec::with_capacity(self.rows.len());
        for (batch, range) in &self.rows {
            views.push((VerbatimView::new(batch).map_err(|error| error.to_string())?, range.clone()));
        }
        Ok(views)
    }

    /// The frame of the record; blank lines of the batch before it come first.
    fn frame(&self) -> std::result::Result<Frame, String> {
        let mut frame = Frame::default();
        for (view, range) in self.views()? {
            for at in range.filter(|&at| text_at(view.kind, at) == Some(Kind::Frame.as_str())) {
                let text = text_at(view.message, at).unwrap_or_default();
                let found: Frame =
                    serde_json::from_str(text).map_err(|error| format!("a frame cannot be read: {error}"))?;
                frame.before.push_str(&found.before);
                frame.end = found.end;
            }
        }
        Ok(frame)
    }
}

/// Walks the verbatim table along the conversations.
struct VerbatimCursor {
    reader: Box<dyn TableReader>,
    batches: VecDeque<(RecordBatch, usize)>,
    ended: bool,
}

impl VerbatimCursor {
    /// The entries of each of `rows`, which ascend. Entries of rows in between are passed over.
    fn take(&mut self, rows: &[u64]) -> Result<Vec<Entries>> {
        let mut all = Vec::with_capacity(rows.len());
        for &row in rows {
            let mut entries = Entries::default();
            while let Some(found) = self.peek_row()? {
                if found > row {
                    break;
                }
                let (batch, start) = self.batches.pop_front().unwrap_or_else(|| unreachable!("a row was seen there"));
                let source_row = count_column(&batch, "source_row")?;
                let end =
                    (start..batch.num_rows()).find(|&at| source_row.value(at) != found).unwrap_or(batch.num_rows());
                if found == row {
                    entries.rows.push((batch.clone(), start..end));
                }
                if end < batch.num_rows() {
                    self.batches.push_front((batch, end));
                }
            }
            all.push(entries);
        }
        Ok(all)
    }

    /// The source row of the next entry.
    fn peek_row(&mut self) -> Result<Option<u64>> {
        while self.batches.is_empty() && !self.ended {
            match self.reader.next_rows()? {
                Some(batch) if batch.num_rows() > 0 => self.batches.push_back((batch, 0)),
                Some(_) => {}
                None => self.ended = true,
            }
        }
        self.batches.front().map(|(batch, at)| Ok(count_column(batch, "source_row")?.value(*at))).transpose()
    }
}

/// Walks the checksums of the metrics table along the conversations.
struct Checksums {
    reader: Box<dyn TableReader>,
    batch: Option<(RecordBatch, usize)>,
}

impl Checksums {
    fn take(&mut self, n: usize) -> Result<Vec<String>> {
        let mut checksums = Vec::with_capacity(n);
        while checksums.len() < n {
            let (batch, at) = match self.batch.take() {
                Some(batch) => batch,
                None => match self.reader.next_rows()? {
                    Some(batch) => (batch, 0),
                    None => return Err(Error::new(ErrorKind::Verification, "", "the metrics table ends early")),
                },
            };
            let column = text_column(&batch, "checksum")?;
            let end = column.len().min(at + n - checksums.len());
            checksums.extend((at..end).map(|at| column.value(at).to_owned()));
            if end < column.len() {
                self.batch = Some((batch, end));
            }
        }
        Ok(checksums)
    }
}
