//! Reads tables of JSON lines: records as they are, rows by their schema. Knows no directory.

use std::io::{BufReader, Read};
use std::sync::Arc;

use arrow::array::{LargeStringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::json_rows::read_rows;
use super::store::Blob;
use super::{LineSource, failed, open_codec};
use crate::error::{Error, Result};
use crate::pipeline::{BatchOptions, LineRole, Source, TableReader, records_schema};

const READ_BYTES: usize = 64 << 10;

/// What a line is.
enum Lines {
    /// A record, as it is.
    Records,
    /// A row of a table; with a tag only the lines `{"tag": row}` count.
    Rows(SchemaRef, Option<&'static str>),
}

/// A table of lines.
pub(crate) struct LineTable {
    source: LineSource,
    lines: Lines,
    /// Ordinals and source rows of the only records that are wanted.
    wanted: Option<Vec<(u64, u64)>>,
    ordinal: u64,
}

/// The uncompressed stream of a file.
pub(crate) fn open_stream(file: &Blob) -> Result<Box<dyn Read + Send>> {
    let reader = BufReader::with_capacity(READ_BYTES, file.stream());
    let place = || file.location().to_string();
    let (_, stream) = open_codec(reader)
        .map_err(|error| file.failure().unwrap_or_else(|| failed(place(), "cannot be read", error)))?;
    Ok(stream)
}

fn unlimited() -> BatchOptions {
    BatchOptions { max_record_bytes: usize::MAX / 2, ..BatchOptions::default() }
}

impl LineTable {
    /// Records of `stream`; `name` stands in errors.
    pub(crate) fn records(name: &str, stream: Box<dyn Read + Send>) -> Self {
        Self { source: LineSource::new(name, stream, unlimited()), lines: Lines::Records, wanted: None, ordinal: 0 }
    }

    /// Rows of `stream`, or those under `tag`.
    pub(crate) fn rows(name: &str, stream: Box<dyn Read + Send>, schema: SchemaRef, tag: Option<&'static str>) -> Self {
        let lines = Lines::Rows(schema, tag);
        Self { source: LineSource::new(name, stream, unlimited()), lines, wanted: None, ordinal: 0 }
    }

    /// Only the records with these ordinals, together with their source rows.
    pub(crate) fn only(mut self, wanted: Vec<(u64, u64)>) -> Self {
        self.wanted = Some(wanted);
        self
    }

    fn damaged(&self, message: impl std::fmt::Display) -> Error {
        Error::verification(self.source.name(), format!("the table cannot be read: {message}"))
    }
}

impl TableReader for LineTable {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.source.next_lines() else { return Ok(None) };
        let mut texts = Vec::with_capacity(batch.lines.len());
        for line in &batch.lines {
            match &line.kind {
                LineRole::Record | LineRole::Scattered(_) => {
                    // A record ends where its line ends: a carriage return belongs to it.
                    let bytes = &batch.bytes[line.span.clone()];
                    let text = std::str::from_utf8(bytes.strip_suffix(b"\n").unwrap_or(bytes));
                    texts.push(text.map_err(|error| self.damaged(error))?);
                }
                LineRole::Tail => {}
                LineRole::Torn(message) => return Err(self.damaged(message)),
                LineRole::Piece { .. } => return Err(self.damaged("a line is too long")),
            }
        }
        match &self.lines {
            Lines::Records => {
                let start = self.ordinal;
                self.ordinal += texts.len() as u64;
                let built = match &self.wanted {
                    None => RecordBatch::try_new(
                        records_schema(),
                        vec![Arc::new(LargeStringArray::from_iter_values(texts))],
                    ),
                    Some(wanted) => {
                        let here = wanted.iter().filter(|(ordinal, _)| (start..self.ordinal).contains(ordinal));
                        let rows: UInt64Array = here.clone().map(|&(_, row)| row).collect();
                        let texts = here.map(|&(ordinal, _)| texts[(ordinal - start) as usize]);
                        let record = Field::new("record", DataType::LargeUtf8, false);
                        let schema = Schema::new(vec![record, Field::new("source_row", DataType::UInt64, false)]);
                        let texts = LargeStringArray::from_iter_values(texts);
                        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(texts), Arc::new(rows)])
                    }
                };
                built.map(Some).map_err(|error| self.damaged(error))
            }
            Lines::Rows(schema, tag) => {
                let rows = read_rows(schema, &texts, *tag);
                rows.map(Some).map_err(|message| self.damaged(message))
            }
        }
    }
}
