//! Table rows as JSON objects, one per line, and back. Knows the few column types of our tables.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, UInt64Array};
use arrow::compute::{filter, is_not_null};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type, SchemaRef, UInt64Type};
use arrow::record_batch::RecordBatch;

use crate::error::{Error, Result};
use crate::pipeline::json_structs;
use crate::pipeline::tables::{packed, unpacked};

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
        DataType::List(_) => json(&column.as_list::<i32>().value(row).as_string::<i32>().iter().collect::<Vec<_>>())?,
        DataType::Binary => {
            let numbers = unpacked(column.as_binary::<i32>().value(row));
            json(&numbers.ok_or_else(|| Error::internal("", "the numbers of a row are torn"))?)?
        }
        other => return Err(unknown(other)),
    };
    out.extend_from_slice(&text);
    Ok(())
}

/// Rows of a table from the JSON objects that `texts` are; with a tag, from those that stand under it.
pub(crate) fn read_rows(
    schema: &SchemaRef,
    texts: &[&str],
    tag: Option<&str>,
) -> std::result::Result<RecordBatch, String> {
    let listed = |data_type: &DataType| match data_type {
        DataType::Binary => DataType::List(Arc::new(Field::new("item", DataType::UInt64, true))),
        other => other.clone(),
    };
    let field = |field: &FieldRef| Field::new(field.name(), listed(field.data_type()), true);
    let fields: Fields = schema.fields().iter().map(field).collect();
    let row = DataType::Struct(fields);
    let rows = match tag {
        None => json_structs(texts, &row)?,
        Some(tag) => {
            let tagged = json_structs(texts, &DataType::Struct(vec![Field::new(tag, row, true)].into()))?;
            let rows = tagged.as_struct().column(0);
            is_not_null(rows).and_then(|mask| filter(rows, &mask)).map_err(|error| error.to_string())?
        }
    };
    let columns =
        schema.fields().iter().zip(rows.as_struct().columns()).map(|(field, column)| match field.data_type() {
            // A count that an earlier version did not know is a count of nothing.
            DataType::UInt64 if !field.is_nullable() && column.null_count() > 0 => {
                let counts = column.as_primitive::<UInt64Type>().iter();
                Arc::new(counts.map(|count| count.unwrap_or(0)).collect::<UInt64Array>()) as ArrayRef
            }
            DataType::Binary => {
                let numbers = |list: ArrayRef| packed(list.as_primitive::<UInt64Type>().iter().flatten());
                let lists = column.as_list::<i32>().iter();
                Arc::new(lists.map(|list| list.map(numbers)).collect::<BinaryArray>())
            }
            _ => column.clone(),
        });
    RecordBatch::try_new(schema.clone(), columns.collect()).map_err(|error| error.to_string())
}

fn unknown(data_type: &DataType) -> Error {
    Error::internal("", format!("columns of type {data_type} cannot be written as JSON lines"))
}
