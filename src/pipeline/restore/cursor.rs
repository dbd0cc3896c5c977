//! Walks the verbatim and metrics tables along the conversations: which originals, frames and checksums belong to
//! a record. Knows nothing of how a record is put together.

use std::collections::VecDeque;
use std::ops::Range;

use arrow::array::{Array, LargeStringArray, UInt64Array};
use arrow::record_batch::RecordBatch;

use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::TableReader;
use crate::pipeline::tables::{Kind, count_column, text_at, text_column};
use crate::pipeline::work::Frame;

/// So many bytes before a record are given out by themselves.
const MANY_BYTES: usize = 1 << 20;

/// The rows of the verbatim table that belong to one record.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Entries {
    rows: Vec<(RecordBatch, Range<usize>)>,
}

pub(in crate::pipeline) struct VerbatimView<'b> {
    pub(in crate::pipeline) kind: &'b LargeStringArray,
    pub(in crate::pipeline) message: &'b LargeStringArray,
    pub(in crate::pipeline) hash: &'b LargeStringArray,
    pub(in crate::pipeline) position: &'b UInt64Array,
    pub(in crate::pipeline) message_index: &'b UInt64Array,
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
    pub(in crate::pipeline) fn views(&self) -> std::result::Result<Vec<(VerbatimView<'_>, Range<usize>)>, String> {
        let mut views = Vec::with_capacity(self.rows.len());
        for (batch, range) in &self.rows {
            views.push((VerbatimView::new(batch).map_err(|error| error.to_string())?, range.clone()));
        }
        Ok(views)
    }

    /// The frame of the record; blank lines of the batch before it come first.
    pub(in crate::pipeline) fn frame(&self) -> std::result::Result<Frame, String> {
        let mut frame = Frame::default();
        for (view, range) in self.views()? {
            for at in range.filter(|&at| text_at(view.kind, at) == Some(Kind::Frame.as_str())) {
                let text = text_at(view.message, at).unwrap_or_default();
                let found: Frame =
                    serde_json::from_str(text).map_err(|error| format!("a frame cannot be read: {error}"))?;
                frame.before.push_str(&found.before);
                frame.end = found.end;
                frame.places = found.places;
            }
        }
        Ok(frame)
    }
}

/// Walks the verbatim table along the conversations.
pub(in crate::pipeline) struct VerbatimCursor {
    reader: Box<dyn TableReader>,
    batches: VecDeque<(RecordBatch, usize)>,
    ended: bool,
}

impl VerbatimCursor {
    pub(in crate::pipeline) fn new(reader: Box<dyn TableReader>) -> Self {
        Self { reader, batches: VecDeque::new(), ended: false }
    }

    /// The entries of each of `rows`, which ascend. Entries of rows in between are passed over.
    pub(in crate::pipeline) fn take(&mut self, rows: &[u64]) -> Result<Vec<Entries>> {
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

    /// Takes the next entry when it is nothing but many bytes before the record `row`: they need not be held together.
    pub(in crate::pipeline) fn take_before(&mut self, row: u64) -> Result<Option<String>> {
        let Some(before) = self.peek_before(row)? else { return Ok(None) };
        if let Some((batch, at)) = self.batches.pop_front().filter(|(batch, at)| at + 1 < batch.num_rows()) {
            self.batches.push_front((batch, at + 1));
        }
        Ok(Some(before))
    }

    /// What [`VerbatimCursor::take_before`] would give.
    pub(in crate::pipeline) fn peek_before(&mut self, row: u64) -> Result<Option<String>> {
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
    pub(in crate::pipeline) fn peek_row(&mut self) -> Result<Option<u64>> {
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
pub(in crate::pipeline) struct Checksums {
    reader: Box<dyn TableReader>,
    batch: Option<(RecordBatch, usize)>,
}

impl Checksums {
    pub(in crate::pipeline) fn new(reader: Box<dyn TableReader>) -> Self {
        Self { reader, batch: None }
    }

    pub(in crate::pipeline) fn take(&mut self, n: usize) -> Result<Vec<String>> {
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
