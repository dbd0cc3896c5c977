//! Tables as Arrow IPC with zstd buffers: files, or streams where dictionaries change between batches, which files
//! cannot hold. Knows no column.

use std::io::{BufRead, BufReader};

use arrow::array::{AsArray, BooleanArray};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow::record_batch::RecordBatch;

use super::arrow_batches::{FileBatches, StreamBatches};
use super::guarded::guarded;
use super::parquet_table::{ForeignTable, WantedRows, missing};
use super::raw_chunk::{Encoder, RawChunk};
use super::row_files::sniff_table;
use super::store::{Blob, BlobFile};
use crate::error::{Error, Result};
use crate::pipeline::{Compression, Container, TableReader, batch_bytes, conform_rows};

/// A record batch ends when its rows have this many bytes …
const BATCH_BYTES: usize = 8 << 20;
/// … or when it has this many rows.
const BATCH_ROWS: usize = 64 << 10;

/// Writes a table into memory, record batch by record batch.
pub(crate) struct ArrowEncoder {
    writer: Writer,
    schema: SchemaRef,
    pending: Vec<RecordBatch>,
    bytes: usize,
    rows: usize,
}

enum Writer {
    File(Box<FileWriter<Vec<u8>>>),
    Stream(Box<StreamWriter<Vec<u8>>>),
}

impl ArrowEncoder {
    /// A file unless `stream` is wanted or the columns have dictionaries.
    pub(crate) fn new(schema: SchemaRef, stream: bool, compression: Compression) -> Result<Self> {
        // The format knows no gzip, so no job asks for it.
        let codec = (compression != Compression::None).then_some(CompressionType::ZSTD);
        let options = IpcWriteOptions::default().try_with_compression(codec).map_err(|error| refused(&error))?;
        let stream = stream || schema.fields().iter().any(|field| has_dictionary(field.data_type()));
        let writer = if stream {
            let writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options);
            Writer::Stream(Box::new(writer.map_err(|error| refused(&error))?))
        } else {
            let writer = FileWriter::try_new_with_options(Vec::new(), &schema, options);
            Writer::File(Box::new(writer.map_err(|error| refused(&error))?))
        };
        Ok(Self { writer, schema, pending: Vec::new(), bytes: 0, rows: 0 })
    }

    fn flush(&mut self) -> Result<RawChunk> {
        let pending = std::mem::take(&mut self.pending);
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        // Dictionaries that do not fit together stay apart.
        let batches = concat_batches(&self.schema, &pending).map_or(pending, |batch| vec![batch]);
        for batch in &batches {
            let written = match &mut self.writer {
                Writer::File(writer) => writer.write(batch),
                Writer::Stream(writer) => writer.write(batch),
            };
            written.map_err(|error| refused(&error))?;
        }
        Ok(self.take(rows))
    }

    fn take(&mut self, rows: usize) -> RawChunk {
        let bytes = match &mut self.writer {
            Writer::File(writer) => std::mem::take(writer.get_mut()),
            Writer::Stream(writer) => std::mem::take(writer.get_mut()),
        };
        RawChunk { bytes, rows, stream: None }
    }
}

impl Encoder for ArrowEncoder {
    fn append(&mut self, batch: &RecordBatch) -> Result<Vec<RawChunk>> {
        let batch = conform_rows(batch, &self.schema)?;
        self.bytes += batch_bytes(&batch);
        self.rows += batch.num_rows();
        self.pending.push(batch);
        if self.bytes >= BATCH_BYTES || self.rows >= BATCH_ROWS { Ok(vec![self.flush()?]) } else { Ok(Vec::new()) }
    }

    fn finish(&mut self) -> Result<Vec<RawChunk>> {
        let mut chunks = Vec::new();
        if self.rows > 0 {
            chunks.push(self.flush()?);
        }
        let finished = match &mut self.writer {
            Writer::File(writer) => writer.finish(),
            Writer::Stream(writer) => writer.finish(),
        };
        finished.map_err(|error| refused(&error))?;
        chunks.push(self.take(0));
        Ok(chunks)
    }
}

fn refused(error: &ArrowError) -> Error {
    Error::internal("", format!("a table cannot be written as Arrow IPC: {error}"))
}

fn has_dictionary(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, _) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_dictionary(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_dictionary(field.data_type())),
        DataType::RunEndEncoded(_, values) => has_dictionary(values.data_type()),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_dictionary(field.data_type())),
        _ => false,
    }
}

/// Reads a table batch by batch.
pub(crate) struct ArrowTable {
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
    file: Blob,
}

impl ArrowTable {
    /// Opens the table in a file; gives its schema too.
    pub(crate) fn open(blob: &Blob) -> Result<(Self, SchemaRef)> {
        guarded(blob, || Self::opened(blob))
    }

    fn opened(blob: &Blob) -> Result<(Self, SchemaRef)> {
        let io = |error: std::io::Error| damaged(blob, &error.into());
        let damaged = |error| damaged(blob, &error);
        let mut file = BufReader::with_capacity(256 << 10, BlobFile::new(blob.clone()));
        let first = file.fill_buf().map_err(io)?;
        if sniff_table(first) == Some(Container::ArrowStream) {
            let batches = StreamBatches::open(file).map_err(damaged)?;
            let schema = batches.schema();
            return Ok((Self { batches: Box::new(batches), file: blob.clone() }, schema));
        }
        let batches = FileBatches::open(file).map_err(damaged)?;
        let schema = batches.schema();
        Ok((Self { batches: Box::new(batches), file: blob.clone() }, schema))
    }

    /// Opens a foreign table; `only` are the numbers of the wanted rows, ascending.
    pub(crate) fn open_foreign(file: &Blob, only: Option<&[u64]>) -> Result<ForeignTable> {
        let (table, schema) = Self::open(file)?;
        let reader: Box<dyn TableReader> = match only {
            None => Box::new(table),
            Some(only) => Box::new(SomeRows::numbered(table, only.to_vec(), file.clone())),
        };
        Ok(ForeignTable { reader, held: schema.clone(), schema })
    }
}

impl TableReader for ArrowTable {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Self { batches, file } = self;
        guarded(file, || batches.next().transpose().map_err(|error| damaged(file, &error)))
    }
}

/// Why a table cannot be read: when the store failed, the table may be whole.
fn damaged(file: &Blob, error: &ArrowError) -> Error {
    let message = || format!("the table cannot be read: it is damaged: {error}");
    file.failure().unwrap_or_else(|| Error::verification(file.location().to_string(), message()))
}

/// Says which of some rows are kept; nothing when all are.
type Keep = dyn FnMut(&RecordBatch) -> Result<Option<BooleanArray>> + Send;

/// Some rows of a table.
pub(crate) struct SomeRows {
    reader: Box<dyn TableReader>,
    file: Blob,
    keep: Box<Keep>,
}

impl SomeRows {
    /// The wanted rows of a table of our own.
    pub(crate) fn wanted(reader: impl TableReader + 'static, wanted: WantedRows, file: Blob) -> Self {
        let place = file.location().to_string();
        let keep = move |rows: &RecordBatch| {
            let WantedRows::Text(name, value) = &wanted else { return Ok(None) };
            let column = rows.column_by_name(name).and_then(|column| column.as_string_opt::<i64>());
            let column = column.ok_or_else(|| missing(&place, name))?;
            Ok(Some(column.iter().map(|found| Some(found == Some(value))).collect()))
        };
        Self { reader: Box::new(reader), file, keep: Box::new(keep) }
    }

    /// The rows with these numbers, ascending.
    fn numbered(reader: impl TableReader + 'static, only: Vec<u64>, file: Blob) -> Self {
        let mut at = 0;
        let keep = move |rows: &RecordBatch| {
            let start = at;
            at += rows.num_rows() as u64;
            Ok(Some((start..at).map(|row| Some(only.binary_search(&row).is_ok())).collect()))
        };
        Self { reader: Box::new(reader), file, keep: Box::new(keep) }
    }
}

impl TableReader for SomeRows {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let next = self.reader.next_rows();
        // What a store failed to give is no damage of the table.
        if let Some(failure) = self.file.failure() {
            return Err(failure);
        }
        let Some(rows) = next? else { return Ok(None) };
        let Some(mask) = (self.keep)(&rows)? else { return Ok(Some(rows)) };
        let kept = filter_record_batch(&rows, &mask);
        kept.map(Some).map_err(|error| Error::internal("", "rows cannot be filtered").because(error))
    }
}
