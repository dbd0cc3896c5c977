//! Rows that were compressed become what they were. Refuses to know how they were compressed.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::compute::{concat, take_record_batch};
use arrow::record_batch::RecordBatch;

use super::sidecar::{ADDED, NAME, REJECTED_COLUMN, SIDECAR_COLUMN, Sidecar, chosen, internal, parsed, read};
use crate::error::{Error, Result};
use crate::pipeline::bridge::guard;
use crate::pipeline::rows::{TextColumn, is_text, with_column};
use crate::pipeline::{CellKind, Container, PartReaders, RestoredSlice, Restorer, TableInput, TableReader};

/// So many bytes of sidecars are restored at once, or those of one row.
const SLICE_BYTES: usize = 64 << 20;

/// The rows that were compressed, without the columns that were added. `column` holds the conversations; without it, the one that
/// each sidecar names.
///
/// # Errors
/// `Input` when a column is missing that this needs; `Verification` when a conversation, or its sidecar, was changed.
pub fn restore_rows(rows: &RecordBatch, column: Option<&str>) -> Result<RecordBatch> {
    let schema = rows.schema();
    let missing = |name: &str| Error::input(name, "the rows do not have this column").hinting(KEEP);
    let found = |name: &str| schema.column_with_name(name).map(|(at, _)| at).ok_or_else(|| missing(name));
    let texts = rows.column(found(SIDECAR_COLUMN)?);
    let texts = TextColumn::of(texts).ok_or_else(|| Error::input(SIDECAR_COLUMN, "the column holds no texts"))?;
    let sidecars: Vec<(usize, &str)> = (0..rows.num_rows()).filter_map(|row| Some((row, texts.get(row)?))).collect();
    if sidecars.len() < rows.num_rows() {
        let rejected = rows.column(found(REJECTED_COLUMN)?);
        if let Some(row) = (0..rows.num_rows()).find(|&row| texts.get(row).is_none() && rejected.is_null(row)) {
            let message = "the sidecar is null although the row was not rejected";
            return Err(Error::verification(format!("row {row}"), message));
        }
    }
    let mut by_column: Vec<(String, Vec<(usize, Sidecar<'_>)>)> = Vec::new();
    for (row, sidecar) in parsed(&sidecars)? {
        let name = column.unwrap_or(&sidecar.column);
        match by_column.iter_mut().find(|(known, _)| known == name) {
            Some((_, of_column)) => of_column.push((row, sidecar)),
            None => by_column.push((name.to_owned(), vec![(row, sidecar)])),
        }
    }
    let mut restored = rows.clone();
    for (name, sidecars) in by_column {
        let index = found(&name)?;
        restored = with_column(&restored, index, originals(rows, index, &sidecars)?).map_err(internal)?;
    }
    let stays = schema.fields().iter().enumerate().filter(|(_, field)| !ADDED.contains(&field.name().as_str()));
    restored.project(&stays.map(|(at, _)| at).collect::<Vec<_>>()).map_err(internal)
}

const KEEP: &str = "restoring takes the column of the conversations, `condenser_sidecar` and, where rows were rejected, `condenser_rejected`";
const SMALLER: &str = "restore fewer rows at a time, or cast the column to large_string";

/// The column at `index` with the conversations of these sidecars as they were.
fn originals(rows: &RecordBatch, index: usize, sidecars: &[(usize, Sidecar<'_>)]) -> Result<ArrayRef> {
    let compressed = rows.project(&[index]).map_err(internal)?;
    let mut pieces = vec![compressed.column(0).slice(0, 0)];
    for range in slices(sidecars) {
        let slice = &sidecars[range];
        let numbers: UInt64Array = slice.iter().map(|(row, _)| *row as u64).collect();
        let rows = take_record_batch(&compressed, &numbers).map_err(internal)?;
        pieces.extend(restored(&rows, slice)?);
    }
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    // The offsets of a string column count 2 GiB.
    let joined = guard(|| concat(&pieces)).map_err(internal)?;
    let joined = joined.map_err(|error| {
        Error::input(rows.schema().field(index).name(), "what is restored does not fit in one batch")
            .because(error)
            .hinting(SMALLER)
    })?;
    if sidecars.len() == rows.num_rows() {
        return Ok(joined);
    }
    let mut places = vec![None; rows.num_rows()];
    for (at, (row, _)) in sidecars.iter().enumerate() {
        places[*row] = Some(at);
    }
    chosen(rows.column(index), &joined, &places)
}

/// Ranges of sidecars of about [`SLICE_BYTES`].
fn slices(sidecars: &[(usize, Sidecar<'_>)]) -> Vec<Range<usize>> {
    let (mut slices, mut start, mut n_bytes) = (Vec::new(), 0, 0);
    for (at, (_, sidecar)) in sidecars.iter().enumerate() {
        if n_bytes > SLICE_BYTES {
            slices.push(start..at);
            (start, n_bytes) = (at, 0);
        }
        n_bytes += sidecar.bytes();
    }
    slices.push(start..sidecars.len());
    slices
}

/// The conversations of `rows`, a single column, as they were.
fn restored(rows: &RecordBatch, sidecars: &[(usize, Sidecar<'_>)]) -> Result<Vec<ArrayRef>> {
    let (schema, (verbatim, checksums)) = (rows.schema(), read(sidecars)?);
    let table = TableInput {
        container: Container::ArrowStream,
        messages: schema.field(0).name().clone(),
        column: 0,
        kind: if is_text(schema.field(0).data_type()) { CellKind::Text } else { CellKind::Structs },
        id_column: None,
        shape: None,
        list_key: None,
        first_row: 0,
    };
    let readers = PartReaders {
        conversations: Box::new(Once(Some(rows.clone()))),
        verbatim: Box::new(Once(Some(verbatim))),
        rejects: Box::new(std::iter::empty()),
        metrics: Some(Box::new(Once(Some(checksums)))),
    };
    let mut restorer = Restorer::rows(readers, table, schema, NAME);
    let mut restored = Vec::new();
    while let Some(slice) = restorer.next_slice().map_err(|error| error.hinting(CHANGED))? {
        if let RestoredSlice::Rows { rows, .. } = slice.slice {
            restored.extend(rows.columns().first().cloned());
        }
    }
    Ok(restored)
}

const CHANGED: &str = "the conversation, its sidecar or the type of its column is not what it was: fields of structs that were added, left out or \
     moved count, too";

/// A table of one batch.
struct Once(Option<RecordBatch>);

impl TableReader for Once {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.0.take())
    }
}
