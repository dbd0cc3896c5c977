//! Files of texts that stand once for many records of a store, `blobs/00007-00000.parquet` and so on for the run 00007, with rows that are
//! named `blobs-00007/0/12`. Knows their layout; refuses to know which texts stand there.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{AsArray, LargeStringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;

use super::encoder::TableEncoder;
use super::gathered::Gathered;
use super::parquet_table::{ParquetTable, WantedRows};
use super::store::Place;
use crate::error::{Error, Result};
use crate::pipeline::{Compression, StoredRow, TableReader};

/// The folder of these files.
pub(super) const BLOBS: &str = "blobs";
/// Stands before the number of a run in the name of its blobs.
const PREFIX: &str = "blobs-";
const LEVEL: u8 = 9;
const TEXT: &str = "text";

/// The name of the blobs of a run.
pub(super) fn name_of_blobs(number: u64) -> String {
    format!("{PREFIX}{number:05}")
}

/// The file with this number of the blobs of a run, in its store.
pub(super) fn blob_file(number: u64, file: usize) -> String {
    format!("{BLOBS}/{number:05}-{file:05}.parquet")
}

/// The number of the run that has blobs of this name; `None` for a run itself.
pub(super) fn run_of_blobs(name: &str) -> Option<u64> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// Adds the texts in these places to `gathered`: rows of a file of the blobs with this `name`, beside the folder `runs`.
///
/// # Errors
/// `Verification` when one is not there.
pub(super) fn gather_blobs(
    gathered: &Gathered,
    runs: &Place,
    (name, file): (&str, usize),
    mut wanted: BTreeSet<u64>,
) -> Result<()> {
    let place = runs.folder().join(&blob_file(run_of_blobs(name).unwrap_or_default(), file));
    let lacking = || Error::verification(place.to_string(), "a text is missing that conversations go by");
    let (mut table, mut first) = (ParquetTable::open(place.find()?.ok_or_else(lacking)?, &WantedRows::All)?, 0);
    while !wanted.is_empty()
        && let Some(batch) = table.next_rows()?
    {
        let texts = batch.column_by_name(TEXT).and_then(|column| column.as_string_opt::<i64>()).ok_or_else(lacking)?;
        let end = first + batch.num_rows() as u64;
        for &row in wanted.range(first..end) {
            let at = usize::try_from(row - first).map_err(|error| lacking().because(error))?;
            gathered.add(StoredRow { run: name.to_owned(), part: file, row }, texts.value(at))?;
        }
        wanted = wanted.split_off(&end);
        first = end;
    }
    if wanted.is_empty() { Ok(()) } else { Err(lacking()) }
}

/// The bytes of a file of these texts.
pub(super) fn blob_table(texts: Vec<String>) -> Result<Vec<u8>> {
    let schema = Arc::new(Schema::new(vec![Field::new(TEXT, DataType::LargeUtf8, false)]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(LargeStringArray::from(texts))]);
    let batch = batch.map_err(|error| Error::internal("", "a table cannot be made").because(error))?;
    let mut encoder = TableEncoder::parquet(BLOBS, String::new(), schema, Compression::Zstd(LEVEL))?;
    let mut bytes = encoder.append(&batch)?;
    bytes.extend(encoder.finish()?.0);
    Ok(bytes)
}
