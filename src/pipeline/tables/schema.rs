//! The Arrow schemas of the tables. Every text is `LargeUtf8`: a column may pass 2 GiB.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};

use crate::model::{Getter, metric_columns};
use crate::pipeline::JobOptions;

pub(super) fn field(name: &str, data_type: DataType, nullable: bool) -> Field {
    Field::new(name, data_type, nullable)
}

pub(super) fn place_fields() -> Vec<Field> {
    vec![
        field("conversation_id", DataType::LargeUtf8, false),
        field("source", DataType::LargeUtf8, false),
        field("source_row", DataType::UInt64, false),
    ]
}

pub(super) fn message_fields() -> Fields {
    ["role", "content", "name", "tool_calls", "tool_call_id", "metadata", "extra"]
        .into_iter()
        .map(|name| field(name, DataType::LargeUtf8, true))
        .collect()
}

/// Conversations as columns.
pub fn conversations_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.push(field(
        "messages",
        DataType::List(Arc::new(field("item", DataType::Struct(message_fields()), false))),
        false,
    ));
    fields.push(field("extra", DataType::LargeUtf8, true));
    Arc::new(Schema::new(fields))
}

/// Conversations as records of their own shape.
pub fn records_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![field("record", DataType::LargeUtf8, false)]))
}

/// What a value of the metrics table is.
fn type_of(getter: &Getter) -> DataType {
    match getter {
        Getter::Count(_) => DataType::UInt64,
        Getter::Figure(_) => DataType::Float64,
        Getter::Flag(_) => DataType::Boolean,
        Getter::Text(_) => DataType::LargeUtf8,
    }
}

/// The columns of the metrics table that runs with these options have, by their places in [`metrics_schema`].
pub(crate) fn asked_metrics(options: &JobOptions) -> Vec<usize> {
    let may_have_all = options.llm.is_some() || options.policy.is_some() || options.target_ratio.is_some();
    let is_asked_for =
        |name: &str| metric_columns().find(|of| of.name == name).is_none_or(|of| of.is_asked_for(&options.engine));
    let is_of_ages = |name: &str| matches!(name, "age" | "last_at");
    let fields = metrics_schema();
    let fields = fields.fields().iter().enumerate();
    let is_asked_for = |name: &str| match options.ages {
        _ if !is_of_ages(name) => may_have_all || is_asked_for(name),
        ages => ages.is_some(),
    };
    fields.filter(|(_, field)| is_asked_for(field.name())).map(|(at, _)| at).collect()
}

/// Figures per conversation; a run has the columns that were asked for.
pub fn metrics_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.push(field("class", DataType::LargeUtf8, false));
    fields.push(field("language", DataType::LargeUtf8, true));
    fields.extend(metric_columns().map(|of| field(of.name, type_of(&of.getter), of.is_nullable)));
    fields.push(field("checksum", DataType::LargeUtf8, false));
    Arc::new(Schema::new(fields))
}
