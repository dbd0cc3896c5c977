//! Walks the verbatim and metrics tables along the conversations: which originals, frames and checksums belong to
//! a record. Knows nothing of how a record is put together.

use std::collections::VecDeque;
use std::ops::Range;

use arrow::array::{Array, LargeStringArray, UInt64Array};
use arrow::record_batch::RecordBatch;

use crate::error::{Error, Result};
use crate::model::Original;
use crate::pipeline::TableReader;
use crate::pipeline::tables::{Kind, count_column, short_hash, text_at, text_column};
use crate::pipeline::work::Frame;

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

/// What the sidecar says of one record.
#[derive(Debug, Default)]
pub(crate) struct SidecarEntry<'e> {
    /// The record or row itself.
    pub(super) record: Option<&'e str>,
    pub(super) layout: Option<&'e str>,
    pub(crate) originals: Vec<Original<'e>>,
    /// The bytes around it; blank lines of the batch before it come first.
    pub(super) frame: Frame,
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
                    Some(Kind::Message) => found.originals.push(Original {
                        position: view.position.value(at) as usize,
                        message_index: view.message_index.value(at) as usize,
                        message: text,
                    }),
                    Some(Kind::Frame) => {
                        let frame: Frame =
                            serde_json::from_str(text).map_err(|error| format!("a frame cannot be read: {error}"))?;
                        found.frame.before.push_str(&frame.before);
                        found.frame.end = frame.end;
                        found.frame.places = frame.places;
                    }
                    None => return Err("the verbatim table has a row of an unknown kind".to_owned()),
                }
            }
        }
        Ok(found)
    }

    /// Compares what is hashed with its hash.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        for (batch, range) in &self.rows {
            let view = VerbatimView::new(batch).map_err(|error| error.to_string())?;
            for at in range.clone() {
                if let (Some(hash), Some(text)) = (text_at(view.hash, at), text_at(view.message, at))
                    && short_hash(text) != hash
                {
                    return Err(
                        "an original in the verbatim table is not what was stored: its hash is another".to_owned()
                    );
                }
            }
        }
        Ok(())
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
