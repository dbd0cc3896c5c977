//! One table as the bytes of a file, for whoever writes it. Knows containers, no disk.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::encoder::TableEncoder;
use crate::error::Result;
use crate::pipeline::{Compression, Container};

/// A table in the making.
pub struct TableWriter {
    encoder: TableEncoder,
}

impl std::fmt::Debug for TableWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").finish_non_exhaustive()
    }
}

impl TableWriter {
    /// A table with this schema, its metadata included. A file of Arrow IPC cannot hold dictionaries that change: with
    /// such columns it becomes a stream.
    ///
    /// # Errors
    /// When the container cannot hold a column.
    pub fn new(container: Container, schema: SchemaRef) -> Result<Self> {
        Ok(Self {
            encoder: TableEncoder::foreign("restored", String::new(), container, schema, Compression::default())?,
        })
    }

    /// Takes rows; gives the bytes that are ready.
    ///
    /// # Errors
    /// When the container cannot hold a column.
    pub fn append(&mut self, rows: &RecordBatch) -> Result<Vec<u8>> {
        self.encoder.append(rows)
    }

    /// The last bytes.
    ///
    /// # Errors
    /// When the rest cannot be encoded.
    pub fn finish(self) -> Result<Vec<u8>> {
        Ok(self.encoder.finish()?.0)
    }
}
