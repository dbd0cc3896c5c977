//! Reads the rows of tables without copying them.

use arrow::array::{Array, AsArray, BinaryArray, Float64Array, LargeStringArray, ListArray, UInt64Array};
use arrow::datatypes::{Float64Type, UInt64Type};
use arrow::record_batch::RecordBatch;

use super::build::{ConversationsBuilder, RecordsBuilder, RowPlace};
use super::numbers::unpacked;
use super::schema::message_fields;
use crate::error::{Error, ErrorKind, Result};
use crate::shape::{MessageRow, Row, row_of_text};

/// Place of the contents among the columns of a message.
const CONTENT: usize = 1;

/// A text column of a table that was read.
pub(crate) fn text_column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b LargeStringArray> {
    batch.column_by_name(name).and_then(|column| column.as_string_opt::<i64>()).ok_or_else(|| missing_column(name))
}

/// A count column of a table that was read.
pub(crate) fn count_column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b UInt64Array> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_primitive_opt::<UInt64Type>())
        .ok_or_else(|| missing_column(name))
}

/// A column of packed numbers of a table that was read.
pub(crate) fn numbers_column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b BinaryArray> {
    batch.column_by_name(name).and_then(|column| column.as_binary_opt::<i32>()).ok_or_else(|| missing_column(name))
}

/// The numbers of a row; `None` where it has none.
///
/// # Errors
/// Says that they are torn.
pub(crate) fn numbers_at(column: &BinaryArray, index: usize) -> std::result::Result<Option<Vec<u64>>, &'static str> {
    let bytes = column.is_valid(index).then(|| column.value(index));
    bytes.map(|bytes| unpacked(bytes).ok_or("its numbers are torn")).transpose()
}

/// A column of figures of a table that was read.
pub(crate) fn figure_column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b Float64Array> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_primitive_opt::<Float64Type>())
        .ok_or_else(|| missing_column(name))
}

/// A value of a column of figures.
pub(crate) fn figure_at(column: &Float64Array, index: usize) -> Option<f64> {
    column.is_valid(index).then(|| column.value(index))
}

/// A value of a text column.
pub(crate) fn text_at(column: &LargeStringArray, index: usize) -> Option<&str> {
    (index < column.len() && column.is_valid(index)).then(|| column.value(index))
}

/// Reads rows of the conversations table as columns.
#[derive(Debug)]
pub(crate) struct ConversationsView<'b> {
    pub(crate) id: &'b LargeStringArray,
    list: &'b ListArray,
    columns: Vec<&'b LargeStringArray>,
    extra: &'b LargeStringArray,
}

impl<'b> ConversationsView<'b> {
    pub(crate) fn new(batch: &'b RecordBatch) -> Result<Self> {
        let list = batch
            .column_by_name("messages")
            .and_then(|column| column.as_list_opt::<i32>())
            .ok_or_else(|| missing_column("messages"))?;
        let messages = list.values().as_struct_opt().ok_or_else(|| missing_column("messages"))?;
        let columns = message_fields()
            .iter()
            .map(|field| {
                let column = messages.column_by_name(field.name());
                column.and_then(|column| column.as_string_opt::<i64>()).ok_or_else(|| missing_column(field.name()))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { id: text_column(batch, "conversation_id")?, list, columns, extra: text_column(batch, "extra")? })
    }

    /// Bytes of the contents of the row at `index`.
    pub(crate) fn content_bytes(&self, index: usize) -> usize {
        let (rows, texts) = (self.list.value_offsets(), self.columns[CONTENT].value_offsets());
        (texts[rows[index + 1] as usize] - texts[rows[index] as usize]) as usize
    }

    /// The row at `index`, borrowed from the table.
    pub(crate) fn row(&self, index: usize) -> Row<'b> {
        let offsets = self.list.value_offsets();
        let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
        let value = |column: usize, at: usize| text_at(self.columns[column], at).map(Into::into);
        let messages = (start..end)
            .map(|at| MessageRow {
                role: value(0, at),
                content: value(1, at),
                name: value(2, at),
                tool_calls: value(3, at),
                tool_call_id: value(4, at),
                metadata: value(5, at),
                extra: value(6, at),
            })
            .collect();
        Row { messages, extra: text_at(self.extra, index).map(Into::into) }
    }
}

/// These conversations, those with a view as that tells them.
pub(crate) fn with_views(batch: &RecordBatch, views: &[Option<String>]) -> Result<RecordBatch> {
    if views.iter().all(Option::is_none) {
        return Ok(batch.clone());
    }
    let view_at = |at: usize| views.get(at).and_then(Option::as_deref);
    if batch.column_by_name("messages").is_none() {
        let (records, mut shown) = (text_column(batch, "record")?, RecordsBuilder::default());
        (0..batch.num_rows()).for_each(|at| shown.push(view_at(at).unwrap_or_else(|| records.value(at))));
        return shown.finish();
    }
    let (conversations, sources, rows) =
        (ConversationsView::new(batch)?, text_column(batch, "source")?, count_column(batch, "source_row")?);
    let mut shown = ConversationsBuilder::default();
    for at in 0..batch.num_rows() {
        let place = RowPlace { id: conversations.id.value(at), source: sources.value(at), row: rows.value(at) };
        let damaged = |error| Error::new(ErrorKind::Verification, "", "a conversation cannot be read").because(error);
        match view_at(at) {
            Some(view) => shown.push(place, &row_of_text(view).map_err(damaged)?),
            None => shown.push(place, &conversations.row(at)),
        }
    }
    shown.finish()
}

fn missing_column(name: &str) -> Error {
    Error::new(ErrorKind::Verification, "", format!("the table has no column `{name}` of the expected type"))
}
