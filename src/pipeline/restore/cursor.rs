//! Walks the verbatim and metrics tables along the conversations: which originals, frames and checksums belong to
//! a record. Knows nothing of how a record is put together.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use arrow::array::{Array, BinaryArray, LargeStringArray, UInt64Array};
use arrow::record_batch::RecordBatch;

use super::borders::Borders;
use crate::error::{Error, Result};
use crate::model::Original;
use crate::pipeline::again::{ByText, StoredAgain};
use crate::pipeline::originals::{StoredOriginal, WrittenMessages, originals_of, whole_originals};
use crate::pipeline::tables::{
    ConversationsView, Kind, count_column, numbers_at, numbers_column, text_at, text_column,
};
use crate::pipeline::work::Frame;
use crate::pipeline::{StoredRow, TableReader};
use crate::shape::{self, DeltaPiece, Row};

/// So many bytes before a record are given out by themselves.
const MANY_BYTES: usize = 1 << 20;

/// The rows of the verbatim table that belong to one record.
#[derive(Debug, Default)]
pub(crate) struct VerbatimRows {
    rows: Vec<(RecordBatch, Range<usize>)>,
}

struct VerbatimView<'b> {
    kind: &'b LargeStringArray,
    message: &'b LargeStringArray,
    position: &'b UInt64Array,
    message_index: &'b UInt64Array,
    /// Runs of the first version have neither: their originals are whole.
    style: Option<&'b LargeStringArray>,
    pieces: Option<&'b BinaryArray>,
    marks: Option<&'b LargeStringArray>,
}

impl<'b> VerbatimView<'b> {
    fn new(batch: &'b RecordBatch) -> Result<Self> {
        Ok(Self {
            kind: text_column(batch, "kind")?,
            message: text_column(batch, "message")?,
            position: count_column(batch, "position")?,
            message_index: count_column(batch, "message_index")?,
            style: text_column(batch, "style").ok(),
            pieces: numbers_column(batch, "pieces").ok(),
            marks: text_column(batch, "marks").ok(),
        })
    }

    /// The pieces of the row at `at`.
    fn pieces(&self, at: usize) -> std::result::Result<Option<Vec<DeltaPiece>>, &'static str> {
        let numbers = self.pieces.map(|pieces| numbers_at(pieces, at)).transpose()?.flatten();
        numbers.map(|numbers| pieces_of(&numbers).ok_or("a piece of an original is torn")).transpose()
    }

    fn by_text(&self, at: usize, text: &'b str) -> std::result::Result<ByText<'b>, &'static str> {
        Ok(ByText { rest: text.into(), pieces: self.pieces(at)? })
    }

    /// The records that hold the rest of the one at `at`.
    fn rows(&self, at: usize) -> Option<Vec<StoredRow>> {
        let rows: Vec<String> = serde_json::from_str(text_at(self.marks?, at)?).ok()?;
        rows.iter().map(|row| row.parse().ok()).collect()
    }

    /// What the row at `at` says of an original.
    fn original(&self, at: usize, text: &'b str) -> std::result::Result<StoredOriginal<'b>, &'static str> {
        Ok(StoredOriginal {
            position: self.position.value(at) as usize,
            message_index: self.message_index.value(at) as usize,
            text,
            style: self.style.and_then(|styles| text_at(styles, at)?.chars().next()),
            pieces: self.pieces(at)?,
        })
    }
}

/// Three numbers each.
fn pieces_of(numbers: &[u64]) -> Option<Vec<DeltaPiece>> {
    let (pieces, torn) = numbers.as_chunks::<3>();
    let number = |number: u64| u32::try_from(number).ok();
    let piece = |&[rest, moved, copied]: &[u64; 3]| {
        Some(DeltaPiece { rest: number(rest)?, moved: number(moved)?, copied: number(copied)? })
    };
    pieces.iter().map(piece).collect::<Option<_>>().filter(|_| torn.is_empty())
}

/// What the sidecar says of one record.
#[derive(Debug, Default)]
pub(crate) struct SidecarEntry<'e> {
    /// The record or row itself.
    pub(super) record: Option<&'e str>,
    pub(super) layout: Option<&'e str>,
    pub(crate) originals: Vec<StoredOriginal<'e>>,
    /// The record, when an earlier night of the store holds the rest of it.
    pub(crate) again: Option<StoredAgain<'e>>,
    /// What is shown of that.
    pub(crate) view: Option<ByText<'e>>,
    /// Blank lines of the batches and inputs before it.
    pub(super) ahead: String,
    /// The bytes around it.
    pub(super) frame: Frame,
}

impl SidecarEntry<'_> {
    /// The exact originals, with the help of the conversation at `index` of `batch`.
    pub(crate) fn wholes(&self, batch: &RecordBatch, index: usize) -> std::result::Result<Vec<Cow<'_, str>>, String> {
        let told = |error: Error| error.to_string();
        if batch.column_by_name("messages").is_none() {
            let record = text_column(batch, "record").map_err(told)?.value(index);
            return whole_originals(&self.originals, &WrittenMessages::of_record(record, self.layout)?);
        }
        let row = ConversationsView::new(batch).map_err(told)?.row(index);
        whole_originals(&self.originals, &WrittenMessages::Row(&row))
    }

    /// What is shown of a record that came again; `None` for any other.
    pub(crate) fn shown(&self, record: &str) -> std::result::Result<Option<String>, String> {
        let view = self.again.as_ref().map(|_| self.view.as_ref().ok_or("nothing says what is shown of a record"));
        view.transpose()?.map(|view| view.text(record).map(Cow::into_owned)).transpose()
    }

    /// The record that was written as a row.
    pub(super) fn of_row(&self, id: &str, row: &Row<'_>) -> std::result::Result<String, String> {
        let restore = |originals: &[Original<'_>]| {
            shape::restore_row(id, row, self.layout.unwrap_or_default(), originals).map_err(|error| error.to_string())
        };
        self.restored(|| Ok(WrittenMessages::Row(row)), restore)
    }

    /// The record that was written as `text`.
    pub(super) fn of_record(&self, text: &str) -> std::result::Result<String, String> {
        let restore = |originals: &[Original<'_>]| {
            shape::restore_record(text, self.layout, originals).map_err(|error| error.to_string())
        };
        self.restored(|| WrittenMessages::of_record(text, self.layout), restore)
    }

    fn restored<'w>(
        &self,
        written: impl FnOnce() -> std::result::Result<WrittenMessages<'w>, String>,
        restore: impl FnOnce(&[Original<'_>]) -> std::result::Result<String, String>,
    ) -> std::result::Result<String, String> {
        if let Some(record) = self.record {
            return Ok(record.to_owned());
        }
        if self.originals.is_empty() {
            return restore(&[]);
        }
        let texts = whole_originals(&self.originals, &written()?)?;
        restore(&originals_of(&self.originals, &texts))
    }
}

/// A record that comes again.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowAgain {
    /// The records that it goes on from.
    pub(crate) rows: Vec<StoredRow>,
    /// True when it needs none of them: all its text is there.
    pub(crate) is_whole: bool,
}

/// The records among these rows of the verbatim table that come again, by their numbers.
pub(crate) fn rows_again(batch: &RecordBatch) -> std::result::Result<Vec<(u64, RowAgain)>, String> {
    let told = |error: Error| error.to_string();
    let (view, numbers) = (VerbatimView::new(batch).map_err(told)?, count_column(batch, "source_row").map_err(told)?);
    let comes_again = |&at: &usize| text_at(view.kind, at) == Some(Kind::Again.as_str());
    let rows = (0..batch.num_rows()).filter(comes_again).map(|at| {
        let rows = view.rows(at).ok_or("a record that came again does not say of what")?;
        Ok((numbers.value(at), RowAgain { rows, is_whole: view.pieces(at)?.is_none() }))
    });
    rows.collect()
}

impl VerbatimRows {
    pub(crate) fn read(&self) -> std::result::Result<SidecarEntry<'_>, String> {
        let mut found = SidecarEntry::default();
        for (batch, range) in &self.rows {
            let view = VerbatimView::new(batch).map_err(|error| error.to_string())?;
            for at in range.clone() {
                let text = text_at(view.message, at).ok_or("an original has no text")?;
                match Kind::parse(text_at(view.kind, at).unwrap_or_default()) {
                    Some(Kind::Record) => found.record = Some(text),
                    Some(Kind::Layout) => found.layout = Some(text),
                    Some(Kind::Message) => found.originals.push(view.original(at, text)?),
                    Some(Kind::Frame) => {
                        let frame: Frame =
                            serde_json::from_str(text).map_err(|error| format!("a frame cannot be read: {error}"))?;
                        found.ahead.push_str(&std::mem::replace(&mut found.frame, frame).before);
                    }
                    Some(Kind::Again) => {
                        let rows = view.rows(at).ok_or("a record that came again does not say of what")?;
                        found.again = Some(StoredAgain { rows, original: view.by_text(at, text)? });
                    }
                    Some(Kind::View) => found.view = Some(view.by_text(at, text)?),
                    None => return Err("the verbatim table has a row of an unknown kind".to_owned()),
                }
            }
        }
        Ok(found)
    }
}

/// Walks the verbatim table along the conversations.
pub(crate) struct VerbatimCursor {
    reader: Box<dyn TableReader>,
    batches: VecDeque<(RecordBatch, usize)>,
    ended: bool,
}

impl VerbatimCursor {
    pub(crate) fn new(reader: Box<dyn TableReader>) -> Self {
        Self { reader, batches: VecDeque::new(), ended: false }
    }

    /// The table is that of inputs with these borders; nothing was read of it yet.
    pub(crate) fn across(self, borders: &Borders) -> Self {
        Self { reader: borders.numbered(self.reader), ..self }
    }

    /// The entries of `row`; rows ascend from call to call, and entries of rows in between are passed over.
    pub(crate) fn take(&mut self, row: u64) -> Result<VerbatimRows> {
        let mut entries = VerbatimRows::default();
        while let Some(found) = self.peek_row()?.filter(|&found| found <= row) {
            let (batch, start) = self.batches.pop_front().unwrap_or_else(|| unreachable!("a row was seen there"));
            let source_row = count_column(&batch, "source_row")?;
            let end = (start..batch.num_rows()).find(|&at| source_row.value(at) != found).unwrap_or(batch.num_rows());
            if found == row {
                entries.rows.push((batch.clone(), start..end));
            }
            if end < batch.num_rows() {
                self.batches.push_front((batch, end));
            }
        }
        Ok(entries)
    }

    /// Takes the next entry when it is nothing but many bytes before the record `row`: they need not be held together.
    pub(super) fn take_before(&mut self, row: u64) -> Result<Option<String>> {
        let Some(before) = self.peek_before(row)? else { return Ok(None) };
        if let Some((batch, at)) = self.batches.pop_front().filter(|(batch, at)| at + 1 < batch.num_rows()) {
            self.batches.push_front((batch, at + 1));
        }
        Ok(Some(before))
    }

    /// What [`VerbatimCursor::take_before`] would give.
    pub(super) fn peek_before(&mut self, row: u64) -> Result<Option<String>> {
        if self.peek_row()? != Some(row) {
            return Ok(None);
        }
        let Some((batch, at)) = self.batches.front() else { return Ok(None) };
        let view = VerbatimView::new(batch)?;
        let text = text_at(view.message, *at).unwrap_or_default();
        if text.len() < MANY_BYTES || text_at(view.kind, *at) != Some(Kind::Frame.as_str()) {
            return Ok(None);
        }
        // A frame that cannot be read is told with its record.
        let frame = serde_json::from_str::<Frame>(text).ok();
        Ok(frame.filter(|frame| frame.end.is_none() && frame.places.is_empty()).map(|frame| frame.before))
    }

    /// The source row of the next entry.
    pub(super) fn peek_row(&mut self) -> Result<Option<u64>> {
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
pub(super) struct Checksums {
    reader: Box<dyn TableReader>,
    batch: Option<(RecordBatch, usize)>,
}

impl Checksums {
    pub(super) fn new(reader: Box<dyn TableReader>) -> Self {
        Self { reader, batch: None }
    }

    pub(super) fn take(&mut self, n: usize) -> Result<Vec<String>> {
        let mut checksums = Vec::with_capacity(n);
        while checksums.len() < n {
            let (batch, at) = match self.batch.take() {
                Some(batch) => batch,
                None => match self.reader.next_rows()? {
                    Some(batch) => (batch, 0),
                    None => return Err(Error::verification("", "the metrics table ends early")),
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
