//! A batch of rows on a worker: every row becomes a row or a reject, with figures, originals and the proof. Knows
//! nothing of order and of threads.

use arrow::array::ArrayRef;

use super::batch::{admit, finish, kept, measure, reject};
use super::cells::{TextColumn, texts_like, with_column};
use super::plan::CellKind;
use super::structs;
use crate::engine::Scratch;
use crate::error::{Error, Result};
use crate::model::{ReadAs, Reject, RejectReason};
use crate::pipeline::accumulate::Accumulator;
use crate::pipeline::record::{Form, OutputRow, Recipe, process};
use crate::pipeline::tables::{RowPlace, label};
use crate::pipeline::task::{SCRATCH, Task};
use crate::pipeline::{EncodedBatch, RejectRow, RowBatch};
use crate::shape::Decoded;

/// Turns rows into rows.
pub(crate) fn encode_rows(task: &Task<'_>, batch: &RowBatch) -> Result<EncodedBatch> {
    if task.recipe.form == Form::Line {
        let message = "the input is a table, but --format jsonl writes records of JSON lines; use --format parquet or \
                       --format arrow, which keep its columns";
        return Err(Error::usage(task.source, message));
    }
    if batch.marks.len() != batch.rows.num_rows() {
        return Err(Error::internal(task.source, "the rows of a batch have no marks"));
    }
    if let Some(lost) = &batch.lost {
        let mut sum = Accumulator::new(task);
        let reject = Reject { reason: RejectReason::DamagedRows, detail: lost.detail.clone() };
        let row = RejectRow::new(task.source, batch.first_row, reject);
        sum.reject(RejectRow { lost_rows: Some(lost.rows), ..row });
        return finish(sum, batch, batch.rows.clone());
    }
    match batch.table.kind {
        // What cannot be written in the column's own types is left as it is, a batch at a time; that is rare: a
        // dictionary with more texts than its keys can count.
        CellKind::Structs => structs::encode(task, batch, false).or_else(|_| structs::encode(task, batch, true)),
        CellKind::Text => texts(task, batch),
    }
}

/// Conversations as JSON text.
fn texts(task: &Task<'_>, batch: &RowBatch) -> Result<EncodedBatch> {
    let internal = |message: String| Error::internal(task.source, message);
    let column = batch.rows.column(batch.table.column);
    let texts = TextColumn::of(column).ok_or_else(|| internal("the conversations are no texts".to_owned()))?;
    let read_as = task.recipe.read_as.or(batch.table.shape.map(ReadAs::Shape));
    let recipe = Recipe { form: Form::Cell, read_as, ..task.recipe };
    let mut sum = Accumulator::new(task);
    let (mut keep, mut written, mut is_same) = (Vec::new(), Vec::new(), true);
    SCRATCH.with(|scratch| -> Result<()> {
        let scratch = &mut *scratch.borrow_mut();
        for (row, id) in batch.table.ids(&batch.rows).into_iter().enumerate() {
            let cell = admit(batch, row, texts.get(row))
                .and_then(|record| cell(&mut sum, &recipe, batch, (row, id), record, scratch));
            keep.push(cell.is_ok());
            match cell {
                Ok(cell) => {
                    is_same = is_same && cell.is_same;
                    written.push(cell.text);
                }
                Err(rejected) => reject(&mut sum, batch, row, rejected)?,
            }
        }
        Ok(())
    })?;
    let rows = kept(batch, keep).map_err(internal)?;
    if is_same {
        return finish(sum, batch, rows);
    }
    let texts: ArrayRef = texts_like(column.data_type(), written.iter().map(|text| Some(text.as_str())))
        .map_err(|error| internal(error.to_string()))?;
    let rows = with_column(&rows, batch.table.column, texts).map_err(internal)?;
    finish(sum, batch, rows)
}

/// A text as it is written.
struct Cell {
    text: String,
    is_same: bool,
}

fn cell(
    sum: &mut Accumulator<'_>,
    recipe: &Recipe<'_>,
    batch: &RowBatch,
    (row, id): (usize, Option<String>),
    record: &str,
    scratch: &mut Scratch,
) -> std::result::Result<Cell, Reject> {
    let source_row = batch.first_row + row as u64;
    let fallback = format!("{}#{source_row}", sum.task.source);
    let name = |decoded: &mut Decoded<'_>| {
        if let Some(id) = id {
            decoded.conversation.id = id.into();
        }
    };
    let product = process(recipe, record, &fallback, scratch, name)?;
    let encoded = product.encode(recipe, scratch)?;
    let id = label(&product.decoded.conversation.id);
    let place = RowPlace { id: &id, source: sum.task.source, row: source_row };
    measure(sum, batch, row, place, &product, scratch);
    sum.originals(
        place,
        encoded.style,
        encoded.needs_raw.then_some(record),
        encoded.layout.as_deref(),
        product.originals(&encoded),
    );
    let is_same = product.condensed.is_unchanged();
    let OutputRow::Record(text) = encoded.written else { unreachable!("a cell is written as a text") };
    Ok(Cell { text, is_same })
}
