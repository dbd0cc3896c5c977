//! JSON texts as structs of a given type. Whether a struct comes back exactly is found out by comparing.

use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray, new_empty_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::json::ReaderBuilder;

use super::packed::deep;

/// One struct of type `target` per text; a text is a JSON object. Unknown keys are left out, missing ones are null.
pub(crate) fn structs(texts: &[&str], target: &DataType) -> Result<ArrayRef, String> {
    if texts.is_empty() {
        return Ok(new_empty_array(target));
    }
    let DataType::Struct(fields) = nullable(&deep(target, undictionary)) else {
        return Err("the messages are no structs".to_owned());
    };
    let read = || {
        let schema = Arc::new(Schema::new(fields));
        let mut decoder = ReaderBuilder::new(schema).with_batch_size(texts.len()).build_decoder()?;
        for text in texts {
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let n = decoder.decode(rest)?;
                rest = rest.get(n..).filter(|_| n > 0).unwrap_or_default();
            }
            decoder.decode(b"\n")?;
        }
        let batch = decoder.flush()?;
        let structs: ArrayRef = Arc::new(batch.map(StructArray::from).ok_or_else(|| none(texts.len()))?);
        if structs.len() != texts.len() {
            return Err(none(texts.len()));
        }
        if structs.data_type() == target { Ok(structs) } else { cast(&structs, target) }
    };
    read().map_err(|error| error.to_string())
}

fn none(expected: usize) -> arrow::error::ArrowError {
    arrow::error::ArrowError::JsonError(format!("expected {expected} messages"))
}

fn undictionary(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, value) => undictionary(value),
        other => other.clone(),
    }
}

/// The type with nulls allowed at all depths but in the parts of maps, which never are null.
pub(super) fn nullable(data_type: &DataType) -> DataType {
    let item = |field: &FieldRef| -> FieldRef {
        Arc::new(Field::clone(field).with_data_type(nullable(field.data_type())).with_nullable(true))
    };
    match data_type {
        DataType::List(field) => DataType::List(item(field)),
        DataType::LargeList(field) => DataType::LargeList(item(field)),
        DataType::ListView(field) => DataType::ListView(item(field)),
        DataType::LargeListView(field) => DataType::LargeListView(item(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(item(field), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(item).collect()),
        other => other.clone(),
    }
}
