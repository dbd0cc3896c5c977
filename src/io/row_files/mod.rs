//! Tables as sources of rows: what a file is by its first bytes, batches bounded by bytes, what was lost. Knows
//! containers, not what the columns mean.

mod ipc;
mod parquet;
mod stream;

use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::restored_name;
use super::store::Blob;
use crate::error::{Error, Result};
use crate::pipeline::{
    Batch, BatchOptions, Container, MAX_ROW_BYTES, RowBatch, RowDigest, Source, SourceDigest, TableInput, TableOptions,
    marks,
};

pub(crate) use parquet::row_groups;
pub(crate) use stream::{RowChunk, RowStream};

/// Bytes that tell what a file is.
pub(crate) const MAGIC_BYTES: usize = 8;

/// The container that the first bytes of a file announce.
pub fn sniff_table(first: &[u8]) -> Option<Container> {
    match first {
        _ if first.starts_with(b"PAR1") => Some(Container::Parquet),
        _ if first.starts_with(b"ARROW1") => Some(Container::ArrowFile),
        // A continuation mark and the length of the schema, which is short and padded to eight bytes.
        [0xFF, 0xFF, 0xFF, 0xFF, low, _, _, 0, ..] if low % 8 == 0 => Some(Container::ArrowStream),
        _ => None,
    }
}

/// The container that a file's name announces.
pub(crate) fn named_table(path: &Path) -> Option<Container> {
    let ending = path.extension()?.to_string_lossy().to_ascii_lowercase();
    match &*ending {
        "parquet" | "pq" | "parq" => Some(Container::Parquet),
        "arrow" | "feather" | "ipc" => Some(Container::ArrowFile),
        "arrows" => Some(Container::ArrowStream),
        _ => None,
    }
}

/// Opens the table in a file, or some row groups of it.
pub(crate) fn open_table(
    name: &str,
    blob: Blob,
    container: Container,
    groups: Option<Range<usize>>,
    batches: BatchOptions,
    tables: &TableOptions,
) -> Result<Box<dyn Source>> {
    let stream: Box<dyn RowStream> = match container {
        Container::Parquet => Box::new(parquet::ParquetRows::open(name, blob, groups, batches.batch_bytes)?),
        Container::ArrowFile => ipc::open_file(name, &blob)?,
        Container::ArrowStream => Box::new(ipc::IpcStream::open(name, blob.reader(0..u64::MAX), None)?),
    };
    Ok(Box::new(RowSource::new(name, container, stream, batches, tables)?))
}

/// Rows that are read already, as a source.
pub(crate) fn open_row_stream(
    name: &str,
    container: Container,
    stream: Box<dyn RowStream>,
    batches: BatchOptions,
    tables: &TableOptions,
) -> Result<Box<dyn Source>> {
    Ok(Box::new(RowSource::new(name, container, stream, batches, tables)?))
}

/// Opens a table that comes as a stream.
///
/// # Errors
/// `Usage` for a container that is read from its end, `Input` when the stream is damaged or holds no conversations.
pub(crate) fn open_table_stream(
    name: &str,
    stream: Box<dyn Read + Send>,
    container: Container,
    batches: BatchOptions,
    tables: &TableOptions,
) -> Result<Box<dyn Source>> {
    if container != Container::ArrowStream {
        let message = "Parquet and Arrow files are read from their end, which neither a stream nor a server without \
                       ranges shows: name the file, or a copy of it";
        return Err(Error::usage(name, message));
    }
    let stream = ipc::IpcStream::open(name, stream, None)?;
    Ok(Box::new(RowSource::new(name, container, Box::new(stream), batches, tables)?))
}

/// The path under which a table is restored: that of its source, with an ending that says what it is.
pub fn restored_table_name(source: &str, container: Container) -> PathBuf {
    let ending = match container {
        Container::Parquet => "parquet",
        Container::ArrowFile => "arrow",
        Container::ArrowStream => "arrows",
    };
    let path = if source == "-" { PathBuf::from("stdin") } else { restored_name(source) };
    if named_table(&path).is_some() {
        return path;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{name}.{ending}"))
}

/// Rows of a table in batches.
struct RowSource {
    name: String,
    stream: Box<dyn RowStream>,
    schema: SchemaRef,
    /// The schema of the rows as they are held.
    held: SchemaRef,
    /// Nothing was given yet.
    is_fresh: bool,
    table: Arc<TableInput>,
    options: BatchOptions,
    pending: VecDeque<RowBatch>,
    next_row: u64,
    digest: RowDigest,
    lost: u64,
}

impl RowSource {
    fn new(
        name: &str,
        container: Container,
        mut stream: Box<dyn RowStream>,
        options: BatchOptions,
        tables: &TableOptions,
    ) -> Result<Self> {
        let head = stream.head()?;
        let mut table = TableInput::find(name, container, &head, tables)?;
        table.first_row = stream.first_row();
        Ok(Self {
            name: name.to_owned(),
            schema: stream.schema(),
            held: head.schema(),
            is_fresh: true,
            next_row: table.first_row,
            table: Arc::new(table),
            stream,
            options,
            pending: VecDeque::new(),
            digest: RowDigest::default(),
            lost: 0,
        })
    }

    fn batch(&self, rows: RecordBatch) -> RowBatch {
        RowBatch {
            rows,
            schema: self.schema.clone(),
            table: self.table.clone(),
            marks: Vec::new(),
            first_row: self.next_row,
            n_bytes: 0,
            max_row_bytes: self.options.max_record_bytes.min(MAX_ROW_BYTES) as u64,
            lost: None,
        }
    }

    /// Cuts rows into batches by their canonical size, which does not depend on how they are held.
    fn cut(&mut self, rows: &RecordBatch) {
        let marks = marks(rows);
        self.digest.push(&marks);
        let (mut start, mut n_bytes) = (0, 0);
        for end in 1..=marks.len() {
            n_bytes += marks[end - 1].bytes as usize;
            let next = marks.get(end).map_or(usize::MAX / 2, |mark| mark.bytes as usize);
            if n_bytes + next > self.options.batch_bytes {
                let batch = RowBatch {
                    marks: marks[start..end].to_vec(),
                    n_bytes: std::mem::take(&mut n_bytes),
                    ..self.batch(rows.slice(start, end - start))
                };
                self.pending.push_back(batch);
                self.next_row += (end - start) as u64;
                start = end;
            }
        }
    }
}

impl Source for RowSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> Option<SchemaRef> {
        Some(self.schema.clone())
    }

    fn table(&self) -> Option<TableInput> {
        Some(TableInput::clone(&self.table))
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.pending.pop_front() {
                self.is_fresh = false;
                return Ok(Some(Batch::Rows(batch)));
            }
            match self.stream.next()? {
                // A table without rows still has a schema.
                None if std::mem::take(&mut self.is_fresh) => {
                    return Ok(Some(Batch::Rows(self.batch(RecordBatch::new_empty(self.held.clone())))));
                }
                None => return Ok(None),
                Some(RowChunk::Rows(rows)) => self.cut(&rows),
                Some(RowChunk::Lost(lost)) => {
                    let empty = RecordBatch::new_empty(self.held.clone());
                    let batch = RowBatch { lost: Some(lost.clone()), ..self.batch(empty) };
                    self.pending.push_back(batch);
                    self.next_row += lost.rows;
                    self.lost += lost.rows;
                }
            }
        }
    }

    fn stored_bytes(&self) -> u64 {
        self.stream.stored_bytes()
    }

    fn digest(&mut self) -> Result<SourceDigest> {
        let (bytes, blake3) = self.stream.stored()?;
        let (stream_bytes, stream_blake3) = self.digest.finish();
        Ok(SourceDigest { bytes, blake3, stream_bytes, stream_blake3, lost_rows: self.lost })
    }
}
