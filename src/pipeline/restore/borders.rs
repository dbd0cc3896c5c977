//! Where the inputs of a part begin among its records and bytes. Tables number the records of each input by itself; on the
//! way back those of a part have running numbers, so that a walk over its tables needs to know of no input. Knows commits;
//! refuses to know how records are put together.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, UInt64Array};
use arrow::datatypes::UInt64Type;
use arrow::record_batch::RecordBatch;

use crate::error::{Error, Result};
use crate::pipeline::reject::RejectRow;
use crate::pipeline::tables::text_column;
use crate::pipeline::{Commit, PackedInput, ReadInput, TableReader};

#[derive(Debug)]
struct Border {
    source: String,
    /// The running number of its first record.
    first_row: u64,
    /// The number that has in its input.
    from: u64,
    /// Where it begins in the stream of the part.
    first_byte: u64,
}

/// Where inputs that share a part begin; nothing where it holds one.
#[derive(Debug, Clone, Default)]
pub struct Borders(Arc<[Border]>);

impl Borders {
    /// The borders in the part of `commit`.
    pub fn of(commit: &Commit) -> Self {
        if commit.packed.is_empty() {
            return Self::default();
        }
        let (mut first_row, mut first_byte) = (0, 0);
        let border = |(input, packed): (ReadInput<'_>, &PackedInput)| {
            let border = Border { source: input.source.to_owned(), first_row, from: packed.first_row, first_byte };
            first_row += input.totals.conversations + input.totals.rejects;
            first_byte += input.input.stream_bytes;
            border
        };
        Self(commit.inputs().zip(&commit.packed).map(border).collect())
    }

    /// The input of the record with this running number: the last that begins there, since those before it hold none.
    fn at(&self, row: u64) -> Option<&Border> {
        self.0.get(self.0.partition_point(|border| border.first_row <= row).checked_sub(1)?)
    }

    /// The source of the record with this running number, where several inputs share the part, and its number there.
    pub fn in_input(&self, row: u64) -> (Option<String>, u64) {
        self.at(row).map_or((None, row), |border| (Some(border.source.clone()), row - border.first_row + border.from))
    }

    /// Where the input of the record with this running number begins in the stream.
    pub(super) fn first_byte(&self, row: u64) -> u64 {
        self.at(row).map_or(0, |border| border.first_byte)
    }

    /// Where a record stands, for messages.
    pub(super) fn place(&self, place: &str, row: u64) -> String {
        match self.at(row) {
            Some(border) => format!("{place}: row {} of {}", row - border.first_row + border.from, border.source),
            None => format!("{place}: row {row}"),
        }
    }

    /// The tables of `reader` with running numbers instead of those in their inputs.
    pub fn numbered(&self, reader: Box<dyn TableReader>) -> Box<dyn TableReader> {
        if self.0.is_empty() { reader } else { Box::new(Numbered { reader, numbers: Numbers::of(self) }) }
    }

    pub(super) fn numbered_rejects(&self, rejects: Rejects) -> Rejects {
        if self.0.is_empty() {
            return rejects;
        }
        let mut numbers = Numbers::of(self);
        Box::new(rejects.map(move |reject| {
            let mut reject = reject?;
            reject.source_row = numbers.number(&reject.source, reject.source_row)?;
            Ok(reject)
        }))
    }
}

/// Rejects in order.
pub(super) type Rejects = Box<dyn Iterator<Item = Result<RejectRow>> + Send>;

/// Numbers rows of a table in the order of the part.
struct Numbers {
    borders: Borders,
    /// The input of the row before.
    at: usize,
}

impl Numbers {
    fn of(borders: &Borders) -> Self {
        Self { borders: borders.clone(), at: 0 }
    }

    fn number(&mut self, source: &str, row: u64) -> Result<u64> {
        let inputs = self.borders.0.get(self.at..).unwrap_or_default();
        let Some(further) = inputs.iter().position(|border| border.source == source) else {
            let message = "a row of this source stands where its part has none";
            return Err(Error::verification(source, message));
        };
        self.at += further;
        let border = &self.borders.0[self.at];
        let wrong = || Error::verification(source, "a row of this source stands before its first one");
        let ahead = row.checked_sub(border.from).ok_or_else(wrong)?;
        Ok(border.first_row.saturating_add(ahead))
    }
}

struct Numbered {
    reader: Box<dyn TableReader>,
    numbers: Numbers,
}

impl TableReader for Numbered {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.reader.next_rows()? else { return Ok(None) };
        let schema = batch.schema();
        // Records do not say where they stood.
        let (Ok(_), Ok(at)) = (schema.index_of("source"), schema.index_of("source_row")) else {
            return Ok(Some(batch));
        };
        let sources = text_column(&batch, "source")?;
        let Some(rows) = batch.column(at).as_primitive_opt::<UInt64Type>() else { return Ok(Some(batch)) };
        let numbers = (0..rows.len()).map(|index| self.numbers.number(sources.value(index), rows.value(index)));
        let numbers: UInt64Array = numbers.collect::<Result<Vec<u64>>>()?.into();
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        columns[at] = Arc::new(numbers);
        let numbered = RecordBatch::try_new(schema, columns);
        numbered.map(Some).map_err(|error| Error::internal("", "rows cannot be numbered").because(error))
    }
}
