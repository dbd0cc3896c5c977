//! Rows of a Parquet file, row group by row group. A damaged row group is told and passed over; without its footer
//! nothing of a file can be found.

use std::ops::Range;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use ::parquet::file::metadata::RowGroupMetaData;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::stream::{ADVICE, RowChunk, RowStream, hash_blob};
use crate::error::{Error, Result};
use crate::io::parquet_rows::{Wanted, rows};
use crate::io::store::Blob;
use crate::pipeline::bridge::guard;
use crate::pipeline::{LostRows, view_schema};

/// Rows that show what a table holds.
const HEAD_ROWS: usize = 100;
/// More rows at a time bring nothing.
const MAX_BATCH_ROWS: usize = 8192;

/// A Parquet file or some of its row groups.
pub(super) struct ParquetRows {
    name: String,
    file: Blob,
    /// As stored.
    schema: SchemaRef,
    /// Reads texts as views.
    metadata: ArrowReaderMetadata,
    groups: Range<usize>,
    is_whole: bool,
    first_row: u64,
    batch_bytes: usize,
    next_group: usize,
    /// The reader of the row group before `next_group`, and how many rows it gave.
    reader: Option<(ParquetRecordBatchReader, u64)>,
}

/// Rows and compressed bytes of every row group of a file, for splitting it.
pub(crate) fn row_groups(name: &str, file: &Blob) -> Result<Vec<(u64, u64)>> {
    let metadata = load(name, file)?;
    let size = |group: &RowGroupMetaData| (group.num_rows().max(0) as u64, group.compressed_size().max(0) as u64);
    Ok(metadata.metadata().row_groups().iter().map(size).collect())
}

fn load(name: &str, file: &Blob) -> Result<ArrowReaderMetadata> {
    let damaged = |message: String| {
        let text = format!(
            "the Parquet footer cannot be read, and without it no row can be found: the file is cut off, damaged or not \
             completely written; fetch or write it again ({message})"
        );
        file.failure().unwrap_or_else(|| Error::input(name, text))
    };
    match guard(|| ArrowReaderMetadata::load(file, ArrowReaderOptions::new())) {
        Ok(Ok(metadata)) => Ok(metadata),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(message) => Err(damaged(message)),
    }
}

impl ParquetRows {
    pub(super) fn open(name: &str, file: Blob, groups: Option<Range<usize>>, batch_bytes: usize) -> Result<Self> {
        let metadata = load(name, &file)?;
        let schema = metadata.schema().clone();
        let options = ArrowReaderOptions::new().with_schema(view_schema(&schema));
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).unwrap_or(metadata);
        let all = metadata.metadata().row_groups();
        let is_whole = groups.is_none();
        let groups = groups.unwrap_or(0..all.len());
        let groups = groups.start.min(all.len())..groups.end.min(all.len());
        let first_row = all.iter().take(groups.start).map(|group| group.num_rows().max(0) as u64).sum();
        Ok(Self {
            name: name.to_owned(),
            file,
            schema,
            next_group: groups.start,
            groups,
            is_whole,
            first_row,
            batch_bytes,
            reader: None,
            metadata,
        })
    }

    fn group(&self, index: usize) -> &RowGroupMetaData {
        self.metadata.metadata().row_group(index)
    }

    /// Reads a row group; at most `max_rows` rows at a time.
    fn open_group(&self, index: usize, max_rows: usize) -> std::result::Result<ParquetRecordBatchReader, String> {
        let group = self.group(index);
        let row_bytes = (group.total_byte_size() / group.num_rows().max(1)).max(1) as usize;
        let batch_rows = (self.batch_bytes / row_bytes).clamp(1, max_rows);
        let wanted = Wanted { groups: vec![index], columns: ProjectionMask::all(), rows: None, batch_rows };
        guard(|| rows(&self.file, &self.metadata, wanted))?.map_err(|error| error.to_string())
    }

    fn next_chunk(&mut self) -> Option<RowChunk> {
        loop {
            if let Some((mut reader, given)) = self.reader.take() {
                let index = self.next_group - 1;
                match guard(|| reader.next()) {
                    Ok(Some(Ok(rows))) => {
                        self.reader = Some((reader, given + rows.num_rows() as u64));
                        return Some(RowChunk::Rows(rows));
                    }
                    Ok(Some(Err(error))) => return Some(self.lost(index, given, &error.to_string())),
                    Err(message) => return Some(self.lost(index, given, &message)),
                    Ok(None) if given < self.group(index).num_rows().max(0) as u64 => {
                        return Some(self.lost(index, given, "it ends early"));
                    }
                    Ok(None) => {}
                }
            }
            if self.next_group >= self.groups.end {
                return None;
            }
            let index = self.next_group;
            self.next_group += 1;
            match self.open_group(index, MAX_BATCH_ROWS) {
                Ok(reader) => self.reader = Some((reader, 0)),
                Err(message) => return Some(self.lost(index, 0, &message)),
            }
        }
    }

    /// The rest of a row group that cannot be read.
    fn lost(&self, index: usize, given: u64, message: &str) -> RowChunk {
        let before: i64 =
            self.metadata.metadata().row_groups().iter().take(index).map(RowGroupMetaData::num_rows).sum();
        let total = self.group(index).num_rows().max(0) as u64;
        let (first, rows) = (before.max(0) as u64 + given, total.saturating_sub(given));
        let last = (first + rows).saturating_sub(1);
        let detail = format!(
            "row group {index}, rows {first} to {last} of the table cannot be read and are lost: {message}; {ADVICE}"
        );
        RowChunk::Lost(LostRows { rows, detail })
    }
}

impl RowStream for ParquetRows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn first_row(&self) -> u64 {
        self.first_row
    }

    fn head(&mut self) -> Result<RecordBatch> {
        for group in 0..self.metadata.metadata().num_row_groups() {
            let first = self.open_group(group, HEAD_ROWS).and_then(|mut reader| {
                let batch = guard(|| reader.next())?.transpose();
                batch.map_err(|error| error.to_string())
            });
            if let Ok(Some(rows)) = first
                && rows.num_rows() > 0
            {
                return Ok(rows);
            }
        }
        Ok(RecordBatch::new_empty(self.metadata.schema().clone()))
    }

    fn next(&mut self) -> Result<Option<RowChunk>> {
        let chunk = self.next_chunk();
        // What a store failed to give is no damage of the file.
        self.file.failure().map_or(Ok(chunk), Err)
    }

    fn stored_bytes(&self) -> u64 {
        let size = |group: usize| self.group(group).compressed_size().max(0) as u64;
        let begun = |given: u64| {
            let group = self.next_group - 1;
            let n_rows = self.group(group).num_rows().max(1) as f64;
            (size(group) as f64 * (given as f64 / n_rows).min(1.0)) as u64
        };
        match &self.reader {
            Some((_, given)) => (self.groups.start..self.next_group - 1).map(size).sum::<u64>() + begun(*given),
            None => (self.groups.start..self.next_group).map(size).sum(),
        }
    }

    fn stored(&mut self) -> Result<(u64, String)> {
        if self.is_whole {
            return hash_blob(&self.name, &self.file, None);
        }
        let columns = self.groups.clone().flat_map(|group| self.group(group).columns());
        let ranges: Vec<(u64, u64)> = columns.map(::parquet::file::metadata::ColumnChunkMetaData::byte_range).collect();
        let start = ranges.iter().map(|&(start, _)| start).min().unwrap_or(0);
        let end = ranges.iter().map(|&(start, length)| start.saturating_add(length)).max().unwrap_or(0);
        hash_blob(&self.name, &self.file, Some(start..end.max(start)))
    }
}
