//! The way back: rows, originals, frames and rejects of a part become the exact bytes of its source again, slice by
//! slice. Knows no file: tables come from readers.

use std::iter::Peekable;

use arrow::array::LargeStringArray;
use arrow::record_batch::RecordBatch;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::error::{Error, ErrorKind, Result};
use crate::model::Original;
use crate::pipeline::bridge::{Bridge, guard};
use crate::pipeline::tables::{ConversationsView, Kind, count_column, short_hash, text_at, text_column};
use crate::pipeline::work::Frame;
use crate::pipeline::{RejectRow, TableReader, raw_of_reject};
use crate::shape;

pub(in crate::pipeline) mod cursor;
mod weave;

use cursor::{Checksums, Entries, VerbatimCursor};
use weave::Weave;

/// A slice ends when it has this many bytes.
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
    /// A slice is one record.
    singly: bool,
    current: Option<(RecordBatch, usize)>,
    next_row: u64,
    ended: bool,
    weave: Weave,
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
            verbatim: VerbatimCursor::new(readers.verbatim),
            rejects: readers.rejects.peekable(),
            metrics: readers.metrics.map(Checksums::new),
        };
        Self {
            readers,
            bridge,
            place: place.into(),
            sparse: false,
            singly: false,
            current: None,
            next_row: 0,
            ended: false,
            weave: Weave::default(),
        }
    }

    /// The readers give some conversations only.
    #[must_use]
    pub fn sparse(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// Gives each record as a slice of its own.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        self.singly = true;
        self
    }

    /// The first record has this number.
    #[must_use]
    pub fn starting_at(mut self, row: u64) -> Self {
        self.next_row = row;
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
        if let Some(before) = self.before()? {
            return Ok(Some(before));
        }
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
        let restored = self.slice(&batch, start, &rows)?;
        let end = start + restored.records as usize;
        if end < batch.num_rows() {
            self.current = Some((batch, end));
        }
        Ok(Some(restored))
    }

    /// Many bytes before the next record, as blank lines and texts around records are: a slice by themselves.
    fn before(&mut self) -> Result<Option<Restored>> {
        if self.sparse || self.singly {
            return Ok(None);
        }
        let Some(before) = self.readers.verbatim.take_before(self.next_row)? else { return Ok(None) };
        let mut restored = Restored::default();
        let woven = self.weave.push(before.into_bytes(), &[], &mut restored.bytes);
        woven.map_err(|message| self.broken(self.next_row, message))?;
        Ok(Some(restored))
    }

    /// True when a slice that has records ends before `row`, since much stands before it.
    fn ends_before(&mut self, row: u64) -> Result<bool> {
        Ok(!self.sparse && !self.singly && self.readers.verbatim.peek_before(row)?.is_some())
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
            if restored.records > 0 && self.ends_before(next_row)? {
                break;
            }
            let Some(reject) = self.readers.rejects.next_if(due) else { break };
            let reject = reject?;
            let mut bytes = Vec::new();
            for entries in self.readers.verbatim.take(&[reject.source_row])? {
                let frame = entries.frame().map_err(|message| self.broken(reject.source_row, &message))?;
                bytes.extend_from_slice(frame.before.as_bytes());
            }
            bytes.extend(raw_of_reject(&reject)?);
            let woven = self.weave.push(bytes, &reject.places, &mut restored.bytes);
            woven.map_err(|message| broken(&self.place, reject.source_row, message))?;
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

    /// The source rows of the conversations from `start` on, up to the next reject and the bound of a slice.
    fn rows_of(&mut self, batch: &RecordBatch, start: usize) -> Result<Vec<u64>> {
        let stop = match self.readers.rejects.peek() {
            Some(Ok(reject)) if !self.sparse => reject.source_row,
            _ => u64::MAX,
        };
        let stored =
            batch.column_by_name("source_row").is_some().then(|| count_column(batch, "source_row")).transpose()?;
        let view = View::of(batch)?;
        let (mut rows, mut n_bytes) = (Vec::new(), 0);
        for index in start..batch.num_rows() {
            let row = match stored {
                Some(stored) if self.sparse => stored.value(index),
                _ => self.next_row,
            };
            n_bytes += view.bytes(index);
            let is_full = !rows.is_empty() && (self.singly || n_bytes > SLICE_BYTES);
            if row >= stop || is_full {
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
        let mut sidecar = Vec::with_capacity(rows.len());
        for &row in rows {
            if !sidecar.is_empty() && self.ends_before(row)? {
                break;
            }
            sidecar.extend(self.readers.verbatim.take(&[row])?);
        }
        let rows = &rows[..sidecar.len()];
        self.next_row = rows.last().map_or(self.next_row, |row| row + 1);
        let checksums = match &mut self.readers.metrics {
            Some(metrics) => Some(metrics.take(rows.len())?),
            None => None,
        };
        let place = &self.place;
        let view = View::of(batch)?;
        let restore = |(index, (&row, entries)): (usize, (&u64, &Entries))| -> Result<Woven> {
            let record = view.restore(start + index, entries).map_err(|message| broken(place, row, &message))?;
            if let Some(checksums) = &checksums {
                check(&record.text, &checksums[index], entries).map_err(|message| broken(place, row, &message))?;
            }
            let mut bytes = record.frame.before.into_bytes();
            bytes.extend_from_slice(record.text.as_bytes());
            bytes.extend_from_slice(record.frame.end.as_deref().unwrap_or("\n").as_bytes());
            Ok((bytes, record.frame.places))
        };
        let restore = |item| guard(|| restore(item)).unwrap_or_else(|message| Err(broken(place, rows[0], &message)));
        let parts: Vec<Woven> = self
            .bridge
            .install(|| rows.par_iter().zip(sidecar.par_iter()).enumerate().map(restore).collect::<Result<_>>())?;
        let n_bytes = parts.iter().map(|(bytes, _)| bytes.len()).sum();
        let mut restored = Restored { bytes: Vec::with_capacity(n_bytes), records: rows.len() as u64 };
        for ((bytes, places), &row) in parts.into_iter().zip(rows) {
            // A record alone is given as a whole.
            let places = if self.sparse { &[][..] } else { &places };
            let woven = self.weave.push(bytes, places, &mut restored.bytes);
            woven.map_err(|message| broken(&self.place, row, message))?;
        }
        Ok(restored)
    }

    fn tail(&mut self) -> Result<Restored> {
        if self.sparse {
            return Ok(Restored::default());
        }
        if let Some(reject) = self.readers.rejects.next() {
            return Err(self.broken(reject?.source_row, "a reject stands behind the end of its source"));
        }
        self.weave.finish().map_err(|message| self.broken(self.next_row, message))?;
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

/// The bytes of a record, and where their pieces stand when they do not stand together.
type Woven = (Vec<u8>, Vec<(u64, u64)>);

enum View<'b> {
    Rows(ConversationsView<'b>),
    Records(&'b LargeStringArray),
}

struct Record {
    text: String,
    frame: Frame,
}

impl<'b> View<'b> {
    fn of(batch: &'b RecordBatch) -> Result<Self> {
        Ok(if batch.column_by_name("messages").is_some() {
            Self::Rows(ConversationsView::new(batch)?)
        } else {
            Self::Records(text_column(batch, "record")?)
        })
    }

    /// The size of a row, nearly: what most of its text is.
    fn bytes(&self, index: usize) -> usize {
        match self {
            Self::Rows(view) => view.content_bytes(index),
            Self::Records(records) => records.value_length(index) as usize,
        }
    }

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
