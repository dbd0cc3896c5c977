//! From rows to the bytes of a file, piece by piece, with the hash of every piece: the CPU half of writing, which
//! runs on workers. Knows no disk.

use std::io::Write as _;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use flate2::write::GzEncoder;

use super::arrow_table::ArrowEncoder;
use super::json_rows::{write_json, write_rows};
use super::parquet_encoder::ParquetEncoder;
use super::raw_chunk::{Encoder, RawChunk};
use crate::error::{Error, Result};
use crate::pipeline::{Compression, Container, Piece, TableFile};

/// Lines are compressed in pieces of this size, so that a damage is placed and readers may start in the middle.
const FRAME_BYTES: usize = 4 << 20;
/// What `gzip` takes when it is not told.
const GZIP_LEVEL: u32 = 6;

/// A table in the making with what its commit will say.
pub struct TableEncoder {
    format: Format,
    hasher: blake3::Hasher,
    stream: Option<blake3::Hasher>,
    file: TableFile,
}

shows!(TableEncoder { file });

enum Format {
    Columns(Box<dyn Encoder>),
    Lines(LinesEncoder),
}

impl Format {
    fn encoder(&mut self) -> &mut dyn Encoder {
        match self {
            Self::Columns(encoder) => &mut **encoder,
            Self::Lines(encoder) => encoder,
        }
    }
}

impl TableEncoder {
    pub(crate) fn parquet(table: &str, path: String, schema: SchemaRef, compression: Compression) -> Result<Self> {
        Ok(Self::columns(table, path, ParquetEncoder::new(schema, compression)?))
    }

    /// A table with this schema, its metadata included. A file of Arrow IPC cannot hold dictionaries that change: with
    /// such columns it becomes a stream.
    pub(crate) fn foreign(
        table: &str,
        path: String,
        container: Container,
        schema: SchemaRef,
        compression: Compression,
    ) -> Result<Self> {
        let stream = match container {
            Container::Parquet => return Ok(Self::columns(table, path, ParquetEncoder::foreign(schema, compression))),
            Container::ArrowFile => false,
            Container::ArrowStream => true,
        };
        Ok(Self::columns(table, path, ArrowEncoder::new(schema, stream, compression)?))
    }

    /// A table for whoever writes it.
    pub fn restored(container: Container, schema: SchemaRef) -> Result<Self> {
        Self::foreign("restored", String::new(), container, schema, Compression::default())
    }

    /// Lines of a table, whose text has a hash of its own.
    pub(crate) fn lines(table: &str, path: String, compression: Compression) -> Self {
        let encoder = LinesEncoder { buffer: Vec::new(), rows: 0, compression, written: false };
        Self::new(table, path, Format::Lines(encoder), Some(blake3::Hasher::new()))
    }

    /// Lines that people look at.
    pub(crate) fn plain_lines(table: &str, path: String) -> Self {
        Self { stream: None, ..Self::lines(table, path, Compression::None) }
    }

    fn columns(table: &str, path: String, encoder: impl Encoder + 'static) -> Self {
        Self::new(table, path, Format::Columns(Box::new(encoder)), None)
    }

    fn new(table: &str, path: String, format: Format, stream: Option<blake3::Hasher>) -> Self {
        let file = TableFile {
            table: table.to_owned(),
            path,
            rows: 0,
            bytes: 0,
            blake3: String::new(),
            stream_blake3: None,
            pieces: Vec::new(),
        };
        Self { format, hasher: blake3::Hasher::new(), stream, file }
    }

    /// Takes rows; gives the bytes that are ready.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<Vec<u8>> {
        let chunks = self.format.encoder().append(batch)?;
        Ok(self.account(chunks))
    }

    /// Takes text that ends with a line feed; only for lines.
    pub(crate) fn append_lines(&mut self, lines: &[u8], rows: usize) -> Result<Vec<u8>> {
        let Format::Lines(encoder) = &mut self.format else { return Err(self.no_lines()) };
        encoder.buffer.extend_from_slice(lines);
        encoder.rows += rows;
        let chunks = encoder.chunks(FRAME_BYTES)?;
        Ok(self.account(chunks))
    }

    /// Takes rows as JSON, each given up when it is written; only for lines.
    pub(crate) fn append_rows<T: serde::Serialize>(&mut self, rows: impl IntoIterator<Item = T>) -> Result<Vec<u8>> {
        let Format::Lines(encoder) = &mut self.format else { return Err(self.no_lines()) };
        for row in rows {
            write_json(&row, &mut encoder.buffer)?;
            encoder.rows += 1;
        }
        let chunks = encoder.chunks(FRAME_BYTES)?;
        Ok(self.account(chunks))
    }

    fn no_lines(&self) -> Error {
        Error::internal(&self.file.path, "lines do not go to a table of columns")
    }

    /// The last bytes and what the file is.
    pub fn finish(mut self) -> Result<(Vec<u8>, TableFile)> {
        let chunks = self.format.encoder().finish()?;
        let bytes = self.account(chunks);
        self.file.blake3 = self.hasher.finalize().to_hex().to_string();
        self.file.stream_blake3 = self.stream.map(|stream| stream.finalize().to_hex().to_string());
        Ok((bytes, self.file))
    }

    fn account(&mut self, chunks: Vec<RawChunk>) -> Vec<u8> {
        let mut out = Vec::new();
        for chunk in chunks {
            self.hasher.update(&chunk.bytes);
            if let Some(hasher) = &mut self.stream {
                hasher.update(chunk.stream.as_ref().unwrap_or(&chunk.bytes));
            }
            self.file.rows += chunk.rows as u64;
            self.file.bytes += chunk.bytes.len() as u64;
            self.file.pieces.push(Piece {
                bytes: chunk.bytes.len() as u64,
                rows: chunk.rows as u64,
                blake3: blake3::hash(&chunk.bytes).to_hex().to_string(),
            });
            if out.is_empty() {
                out = chunk.bytes;
            } else {
                out.extend_from_slice(&chunk.bytes);
            }
        }
        out
    }
}

/// JSON lines, plain or in pieces that are compressed each for itself.
struct LinesEncoder {
    buffer: Vec<u8>,
    rows: usize,
    compression: Compression,
    written: bool,
}

impl LinesEncoder {
    fn chunks(&mut self, bound: usize) -> Result<Vec<RawChunk>> {
        if self.buffer.len() < bound {
            return Ok(Vec::new());
        }
        self.written = true;
        let text = std::mem::take(&mut self.buffer);
        let rows = std::mem::take(&mut self.rows);
        let compressed = match self.compression {
            Compression::None => return Ok(vec![RawChunk { bytes: text, rows, stream: None }]),
            Compression::Gzip => gzip(&text),
            Compression::Zstd(level) => zstd_frame(&text, level.into()),
        };
        let bytes = compressed.map_err(|error| Error::internal("", "lines cannot be compressed").because(error))?;
        Ok(vec![RawChunk { bytes, rows, stream: Some(text) }])
    }
}

impl Encoder for LinesEncoder {
    fn append(&mut self, batch: &RecordBatch) -> Result<Vec<RawChunk>> {
        write_rows(batch, &mut self.buffer)?;
        self.rows += batch.num_rows();
        self.chunks(FRAME_BYTES)
    }

    fn finish(&mut self) -> Result<Vec<RawChunk>> {
        // An empty table is an empty frame or member: a valid file.
        let bound = usize::from(self.written || self.compression == Compression::None);
        self.chunks(bound)
    }
}

/// A frame with a checksum: the sidecar of a filter has no commit that holds its hash.
fn zstd_frame(text: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(level)?;
    compressor.include_checksum(true)?;
    compressor.compress(text)
}

/// A member without a time.
fn gzip(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::new(GZIP_LEVEL));
    encoder.write_all(text)?;
    encoder.finish()
}
