//! Rows as text: Arrow IPC in Base64, for what must stand in JSON or in a text column. Knows no conversation.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::error::Error;
use crate::pipeline::RejectRow;

/// `rows` as text.
pub(super) fn pack(rows: &RecordBatch) -> Result<String, String> {
    // Views would carry whole pages with them.
    let compact = conform(rows, &retype(&rows.schema(), large)).unwrap_or_else(|_| rows.clone());
    let write = || {
        let mut writer = StreamWriter::try_new(Vec::new(), &compact.schema())?;
        writer.write(&compact)?;
        writer.into_inner()
    };
    write().map(|bytes| BASE64.encode(bytes)).map_err(|error| error.to_string())
}

/// The rows that `text` stands for, in the types of `schema`.
pub(crate) fn unpack(text: &str, schema: &SchemaRef) -> Result<RecordBatch, String> {
    let bytes = BASE64.decode(text).map_err(|_| "packed rows are no Base64")?;
    let reader = StreamReader::try_new(&*bytes, None).map_err(|error| error.to_string())?;
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let [batch] = &*batches else { return Err("packed rows are not one batch".to_owned()) };
    conform(batch, schema)
}

/// The row that a reject stands for, in the types of `schema`; `None` when it has none, such as rows that are lost.
pub fn row_of_reject(reject: &RejectRow, schema: &SchemaRef) -> Result<Option<RecordBatch>, Error> {
    let row = reject.row_base64.as_deref().map(|text| unpack(text, schema)).transpose();
    row.map_err(|message| {
        let place = format!("{}: row {}", reject.source, reject.source_row);
        Error::verification(place, message)
    })
}

/// `rows` with the columns cast to the types of `schema`.
pub(super) fn conform(rows: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, String> {
    if rows.num_columns() != schema.fields().len() {
        return Err("the rows have another number of columns".to_owned());
    }
    let columns = rows.columns().iter().zip(schema.fields()).map(|(column, field)| {
        if column.data_type() == field.data_type() { Ok(column.clone()) } else { cast(column, field.data_type()) }
    });
    let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(|error| error.to_string())
}

/// `rows` in the types of `schema`, which differ in how texts are held.
pub fn conform_rows(rows: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    conform(rows, schema).map_err(|message| Error::input("", message))
}

/// `schema` with texts and bytes as views: nothing is copied when they are read, and no batch is too long for them.
pub fn view_schema(schema: &Schema) -> SchemaRef {
    retype(schema, |data_type| match data_type {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        other => other.clone(),
    })
}

/// `schema` with texts as our own tables hold them, whose files do not tell how long a column may be.
pub fn large_schema(schema: &Schema) -> SchemaRef {
    retype(schema, |data_type| match data_type {
        DataType::Utf8 => DataType::LargeUtf8,
        other => other.clone(),
    })
}

/// `schema` with its types changed at all depths.
fn retype(schema: &Schema, change: fn(&DataType) -> DataType) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| retyped(field, change));
    Arc::new(Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone()))
}

/// The field with its types changed at all depths.
pub(super) fn retyped(field: &FieldRef, change: fn(&DataType) -> DataType) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(deep(field.data_type(), change)))
}

/// `data_type` changed at all depths.
pub(super) fn deep(data_type: &DataType, change: fn(&DataType) -> DataType) -> DataType {
    let item = |item: &FieldRef| retyped(item, change);
    match change(data_type) {
        DataType::List(field) => DataType::List(item(&field)),
        DataType::LargeList(field) => DataType::LargeList(item(&field)),
        DataType::ListView(field) => DataType::ListView(item(&field)),
        DataType::LargeListView(field) => DataType::LargeListView(item(&field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(item(&field), size),
        DataType::Map(field, sorted) => DataType::Map(item(&field), sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(item).collect()),
        other => other,
    }
}

fn large(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8View => DataType::LargeUtf8,
        DataType::BinaryView => DataType::LargeBinary,
        other => other.clone(),
    }
}
