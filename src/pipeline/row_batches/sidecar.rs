//! What stands beside a row: the columns, and the text that brings the row back. Refuses to know how rows are compressed.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{ArrayRef, LargeStringArray, UInt64Array};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::json::{LineDelimitedWriter, ReaderBuilder};
use arrow::record_batch::RecordBatch;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::pipeline::rows::value_bytes;
use crate::pipeline::tables::count_column;
use crate::pipeline::verbatim_schema;

/// The column with what brings the row back: JSON, null where the row was rejected.
pub const SIDECAR_COLUMN: &str = "condenser_sidecar";
/// The column with the figures: a struct, null where the row was rejected.
pub const METRICS_COLUMN: &str = "condenser_metrics";
/// The column that says why a row was rejected, which stands there as it came; else null.
pub const REJECTED_COLUMN: &str = "condenser_rejected";

/// The columns that are added.
pub(super) const ADDED: [&str; 3] = [SIDECAR_COLUMN, METRICS_COLUMN, REJECTED_COLUMN];
/// Columns of tables that say where a row stands; rows in memory stand nowhere.
pub(super) const PLACE: [&str; 3] = ["conversation_id", "source", "source_row"];
/// What names rows in errors.
pub(super) const NAME: &str = "rows";

/// A row of the sidecar as it is written.
#[derive(Deserialize)]
pub(super) struct Sidecar<'s> {
    /// The column that holds the conversation.
    #[serde(borrow)]
    pub(super) column: Cow<'s, str>,
    checksum: &'s str,
    #[serde(borrow)]
    rows: Vec<&'s RawValue>,
}

impl Sidecar<'_> {
    /// Length of what it holds.
    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.get().len()).sum()
    }
}

/// What restores each row: the rows of the verbatim table that are about it, as JSON.
pub(super) fn written(
    verbatim: &RecordBatch,
    (column, checksums): (&str, &LargeStringArray),
    start: u64,
    places: &[Option<usize>],
) -> Result<Vec<Option<String>>> {
    let column = serde_json::to_string(column).map_err(internal)?;
    let numbers = count_column(verbatim, "source_row")?;
    let shown: Vec<usize> = beside_place(&verbatim.schema());
    let mut lines = LineDelimitedWriter::new(Vec::with_capacity(value_bytes(verbatim) * 9 / 8));
    lines.write(&verbatim.project(&shown).map_err(internal)?).map_err(internal)?;
    let lines = String::from_utf8(lines.into_inner()).map_err(internal)?;
    let mut lines = lines.lines().zip(numbers.values()).peekable();
    let mut sidecar = |(row, place): (usize, &Option<usize>)| {
        let at = (*place)?;
        let mut text = format!("{{\"column\":{column},\"checksum\":\"{}\",\"rows\":[", checksums.value(at));
        let mut between = "";
        while let Some((line, _)) = lines.next_if(|(_, number)| **number == start + row as u64) {
            text.push_str(std::mem::replace(&mut between, ","));
            text.push_str(line);
        }
        text.push_str("]}");
        Some(text)
    };
    Ok(places.iter().enumerate().map(&mut sidecar).collect())
}

/// The columns that do not say where a row stands.
fn beside_place(schema: &Schema) -> Vec<usize> {
    let fields = schema.fields().iter().enumerate();
    fields.filter(|(_, field)| !PLACE.contains(&field.name().as_str())).map(|(at, _)| at).collect()
}

/// Of each row the one among `some`, where it has a place there, else the one among `all`.
pub(super) fn chosen(all: &ArrayRef, some: &ArrayRef, places: &[Option<usize>]) -> Result<ArrayRef> {
    let from: Vec<(usize, usize)> =
        places.iter().enumerate().map(|(row, place)| place.map_or((0, row), |at| (1, at))).collect();
    interleave(&[all.as_ref(), some.as_ref()], &from).map_err(internal)
}

/// What the sidecars say.
pub(super) fn parsed<'t>(texts: &[(usize, &'t str)]) -> Result<Vec<(usize, Sidecar<'t>)>> {
    let parse = |&(row, text): &(usize, &'t str)| {
        let broken = |error| Error::verification(format!("row {row}"), "its sidecar cannot be read").because(error);
        Ok((row, serde_json::from_str(text).map_err(broken)?))
    };
    texts.iter().map(parse).collect()
}

/// The rows of the verbatim table that the sidecars stand for, and the checksums.
pub(super) fn read(sidecars: &[(usize, Sidecar<'_>)]) -> Result<(RecordBatch, RecordBatch)> {
    let (mut lines, mut numbers, mut checksums) = (String::new(), Vec::new(), Vec::new());
    for (row, (_, sidecar)) in sidecars.iter().enumerate() {
        checksums.push(sidecar.checksum);
        for line in &sidecar.rows {
            lines.push_str(line.get());
            lines.push('\n');
            numbers.push(row as u64);
        }
    }
    let broken = |error| Error::verification(SIDECAR_COLUMN, "the sidecars cannot be read").because(error);
    let schema = verbatim_schema();
    let shown = beside_place(&schema);
    let of_json = Arc::new(schema.project(&shown).map_err(internal)?);
    let mut decoder =
        ReaderBuilder::new(of_json.clone()).with_batch_size(numbers.len().max(1)).build_decoder().map_err(internal)?;
    decoder.decode(lines.as_bytes()).map_err(broken)?;
    let read = decoder.flush().map_err(broken)?.unwrap_or_else(|| RecordBatch::new_empty(of_json));
    if read.num_rows() != numbers.len() {
        return Err(Error::verification(SIDECAR_COLUMN, "the sidecars hold another number of originals"));
    }
    let empty: ArrayRef = Arc::new(LargeStringArray::from(vec![""; numbers.len()]));
    let numbers: ArrayRef = Arc::new(UInt64Array::from(numbers));
    let mut columns = vec![empty.clone(), empty, numbers];
    columns.extend(read.columns().iter().cloned());
    let of_checksums = Arc::new(Schema::new(vec![Field::new("checksum", DataType::LargeUtf8, false)]));
    let checksums: ArrayRef = Arc::new(LargeStringArray::from(checksums));
    Ok((
        RecordBatch::try_new(schema, columns).map_err(internal)?,
        RecordBatch::try_new(of_checksums, vec![checksums]).map_err(internal)?,
    ))
}

pub(super) fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(NAME, error.to_string())
}
