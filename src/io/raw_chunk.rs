//! What a file format makes of rows: pieces of a file, as they are ready. Knows no format.

use arrow::record_batch::RecordBatch;

use crate::error::Result;

/// Bytes that are ready to be written.
pub(crate) struct RawChunk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) rows: usize,
    /// The uncompressed text, where it is another one.
    pub(crate) stream: Option<Vec<u8>>,
}

/// A file format.
pub(crate) trait Encoder: Send {
    fn append(&mut self, batch: &RecordBatch) -> Result<Vec<RawChunk>>;
    fn finish(&mut self) -> Result<Vec<RawChunk>>;
}
