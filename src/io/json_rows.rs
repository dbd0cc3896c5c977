//! Table rows as JSON objects, one per line, and back. Knows the few column types of our tables.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanBuilder, Float64Builder, LargeStringBuilder, ListBuilder, StringBuilder,
    UInt64Builder,
};
use arrow::datatypes::{DataType, Field, Float64Type, SchemaRef, UInt64Type};
use arrow::record_batch::RecordBatch;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Appends every row of `batch` to `out`; a table with the single column `record` gives its text as it is.
pub(crate) fn write_rows(batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
    if let (1, Some(records)) = (batch.num_columns(), batch.column_by_name("record")) {
        for record in records.as_string::<i64>().iter().flatten() {
            out.extend_from_slice(record.as_bytes());
            out.push(b'\n');
        }
        return Ok(());
    }
    let schema = batch.schema();
    let names = schema.fields().iter().map(|field| json(&field.name().as_str())).collect::<Result<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        out.push(b'{');
        let mut separator = "";
        for (name, column) in names.iter().zip(batch.columns()) {
            if column.is_null(row) {
                continue;
            }
            out.extend_from_slice(separator.as_bytes());
            out.extend_from_slice(name);
            out.push(b':');
            write_value(column, row, out)?;
            separator = ",";
        }
        out.extend_from_slice(b"}\n");
    }
    Ok(())
}

/// Appends `value` as one line.
pub(crate) fn write_json<T: serde::Serialize>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(&mut *out, value)
        .map_err(|error| Error::internal("", "a row cannot be written as JSON").because(error))?;
    out.push(b'\n');
    Ok(())
}

fn json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Error::internal("", "a value cannot be written as JSON").because(error))
}

fn write_value(column: &ArrayRef, row: usize, out: &mut Vec<u8>) -> Result<()> {
    let text = match column.data_type() {
        DataType::LargeUtf8 => json(&column.as_string::<i64>().value(row))?,
        DataType::Utf8 => json(&column.as_string::<i32>().value(row))?,
        DataType::Boolean => json(&column.as_boolean().value(row))?,
        DataType::UInt64 => json(&column.as_primitive::<UInt64Type>().value(row))?,
        DataType::Float64 => json(&column.as_primitive::<Float64Type>().value(row))?,
        DataType::List(_) => {
            let values = column.as_list::<i32>().value(row);
            json(&values.as_string::<i32>().iter().collect::<Vec<_>>())?
        }
        other => return Err(unknown(other)),
    };
    out.extend_from_slice(&text);
    Ok(())
}

/// Rows of a table from their objects.
pub(crate) fn read_rows(schema: &SchemaRef, rows: &[Map<String, Value>]) -> Result<RecordBatch> {
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        columns.push(read_column(field, rows.iter().map(|row| row.get(field.name())))?);
    }
    RecordBatch::try_new(schema.clone(), columns)
        .map_err(|error| Error::verification("", "the rows do not fit the table").because(error))
}

fn read_column<'v>(field: &Field, values: impl Iterator<Item = Option<&'v Value>>) -> Result<ArrayRef> {
    Ok(match field.data_type() {
        DataType::LargeUtf8 => {
            let mut builder = LargeStringBuilder::new();
            values.for_each(|value| builder.append_option(value.and_then(Value::as_str)));
            Arc::new(builder.finish())
        }
        DataType::Boolean => {
            let mut builder = BooleanBuilder::new();
            values.for_each(|value| builder.append_option(value.and_then(Value::as_bool)));
            Arc::new(builder.finish())
        }
        DataType::UInt64 => {
            let mut builder = UInt64Builder::new();
            // A count that an earlier version did not know is a count of nothing.
            let unknown = (!field.is_nullable()).then_some(0);
            values.for_each(|value| builder.append_option(value.and_then(Value::as_u64).or(unknown)));
            Arc::new(builder.finish())
        }
        DataType::Float64 => {
            let mut builder = Float64Builder::new();
            values.for_each(|value| builder.append_option(value.and_then(Value::as_f64)));
            Arc::new(builder.finish())
        }
        DataType::List(_) => {
            let mut builder = ListBuilder::new(StringBuilder::new());
            for value in values {
                let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                for item in items {
                    builder.values().append_option(item.as_str());
                }
                builder.append(true);
            }
            Arc::new(builder.finish())
        }
        other => return Err(unknown(other)),
    })
}

fn unknown(data_type: &DataType) -> Error {
    Error::internal("", format!("columns of type {data_type} cannot be written as JSON lines"))
}
