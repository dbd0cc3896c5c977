//! A table that is open, and what it gives. Knows no container.

use std::ops::Range;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use crate::error::Result;
use crate::io::failed;
use crate::io::store::{Blob, store_error};
use crate::pipeline::LostRows;

/// What to do about damage.
pub(super) const ADVICE: &str = "fetch or write the file again";

/// What a table gives next.
pub(crate) enum RowChunk {
    Rows(RecordBatch),
    Lost(LostRows),
}

/// A table that is open.
pub(crate) trait RowStream: Send {
    /// The schema as stored.
    fn schema(&self) -> SchemaRef;
    /// Number of the first row that it gives.
    fn first_row(&self) -> u64 {
        0
    }
    /// The first rows of the whole table, which may be none.
    fn head(&mut self) -> Result<RecordBatch>;
    /// The next rows or what could not be read; `None` at the end.
    fn next(&mut self) -> Result<Option<RowChunk>>;
    /// Bytes as stored that were read so far, nearly; 0 where nobody knows.
    fn stored_bytes(&self) -> u64 {
        0
    }
    /// Size and BLAKE3 of what was stored.
    fn stored(&mut self) -> Result<(u64, String)>;
}

/// Size and BLAKE3 of `range` of a file, or of all of it.
pub(super) fn hash_blob(name: &str, blob: &Blob, range: Option<Range<u64>>) -> Result<(u64, String)> {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update_reader(blob.reader(range.unwrap_or(0..u64::MAX)))
        .map_err(|error| store_error(&error).unwrap_or_else(|| failed(name, "cannot be read", error)))?;
    Ok((hasher.count(), hasher.finalize().to_hex().to_string()))
}
