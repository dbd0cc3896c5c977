//! The way back of a table: written rows and rejected ones become its rows again. Knows no bytes of a stream.

use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::cursor::{SidecarEntry, VerbatimRows};
use super::walk::{Restored, RestoredSlice, SLICE_BYTES, Walk};
use crate::error::Result;
use crate::pipeline::rows::{
    CellEntries, CellKind, TableInput, TextColumn, marks, restore_lists, texts_like, unpack, with_column,
};
use crate::pipeline::tables::Checksum;

/// A table, and the schema in which its rows are written and restored.
pub(super) struct Rows {
    pub(super) table: TableInput,
    pub(super) schema: SchemaRef,
}

impl Rows {
    /// The rejected rows that come next.
    pub(super) fn before(&self, walk: &mut Walk) -> Result<Option<Restored>> {
        let (mut rows, mut records, mut n_bytes) = (Vec::new(), 0, 0);
        while n_bytes < SLICE_BYTES {
            let Some(reject) = walk.next_reject()? else { break };
            records += 1;
            if let Some(text) = &reject.row_base64 {
                n_bytes += text.len();
                let row = unpack(text, &self.schema);
                rows.push(row.map_err(|message| walk.broken(reject.source_row, &message))?);
            }
            walk.next_row += reject.lost_rows.unwrap_or(0) + u64::from(reject.row_base64.is_some());
        }
        if records == 0 {
            return Ok(None);
        }
        let rows = concat_batches(&self.schema, &rows);
        let rows = rows.map_err(|error| walk.broken(walk.next_row, &error.to_string()))?;
        Ok(Some(restored(records, rows)))
    }

    /// The first rows of `batch`.
    pub(super) fn slice(&self, walk: &mut Walk, batch: &RecordBatch) -> Result<Restored> {
        let n = if walk.singly { 1 } else { batch.num_rows() };
        let numbers = walk.numbers(n)?;
        let first = numbers.first().copied().unwrap_or(walk.next_row);
        let (entries, checksums) = walk.entries(&numbers)?;
        let broken = |message: String| walk.broken(first, &message);
        let rows = self.originals(&batch.slice(0, entries.len()), &entries).map_err(broken)?;
        let restored = restored(entries.len() as u64, rows);
        if let (Some(checksums), RestoredSlice::Rows { marks, .. }) = (checksums, &restored.slice) {
            for ((mark, checksum), &row) in marks.iter().zip(checksums).zip(&numbers) {
                if !Checksum(blake3::Hash::from_bytes(mark.hash)).is(&checksum) {
                    let message = "the restored row differs from the original: its checksum is another";
                    return Err(walk.broken(row, message));
                }
            }
        }
        Ok(restored)
    }

    /// The original rows of written `rows`.
    fn originals(&self, rows: &RecordBatch, entries: &[VerbatimRows]) -> std::result::Result<RecordBatch, String> {
        let found: Vec<SidecarEntry<'_>> =
            entries.iter().map(VerbatimRows::read).collect::<std::result::Result<_, _>>()?;
        let column = rows.columns().get(self.table.column).ok_or("the column of the conversations is missing")?;
        let column = match self.table.kind {
            CellKind::Structs => {
                let entries = found.iter().map(|row| CellEntries {
                    messages: row.originals.iter().map(|one| (one.position, one.message_index, one.text)).collect(),
                    record: row.record,
                });
                restore_lists(column, &entries.collect::<Vec<_>>())?
            }
            CellKind::Text if found.iter().all(|row| row.record.is_none() && row.originals.is_empty()) => {
                return Ok(rows.clone());
            }
            CellKind::Text => {
                let texts = TextColumn::of(column).ok_or("the conversations are no texts")?;
                let restore = |(at, row): (usize, &SidecarEntry<'_>)| match (row.record, texts.get(at)) {
                    (Some(record), None) => Ok(record.to_owned()),
                    (_, Some(text)) => row.of_record(text),
                    (None, None) => Err("a conversation is null".to_owned()),
                };
                let texts: Vec<String> =
                    found.iter().enumerate().map(restore).collect::<std::result::Result<_, _>>()?;
                texts_like(column.data_type(), texts.iter().map(|text| Some(text.as_str())))
                    .map_err(|error| error.to_string())?
            }
        };
        with_column(rows, self.table.column, column)
    }
}

fn restored(records: u64, rows: RecordBatch) -> Restored {
    Restored { records, slice: RestoredSlice::Rows { marks: marks(&rows), rows } }
}
