//! Schemas from the types and tables of which they speak: JSON Schema of documents from their types, of tables from
//! their Arrow schemas. Knows no file.

use arrow::datatypes::{DataType, Schema};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::model::EngineOptions;
use crate::pipeline::sweep::SweepDocument;
use crate::pipeline::{
    Commit, JobArgs, Manifest, MapLine, Night, RejectRow, RunPlan, conversations_schema, decisions_schema,
    metrics_schema, verbatim_schema,
};
use crate::report::explained::ExplainedConversation;
use crate::report::pair::Pair;
use crate::report::{Calibration, DriftDocument, ListingDocument, ReportDocument, StoreListing};

/// The schema with this name as indented JSON with a last line feed; `None` when there is none.
pub fn generated(name: &str) -> Option<String> {
    let value = match name {
        "conversations" => {
            table(name, "One row per conversation: what stands for it after compression.", &conversations_schema())
        }
        "verbatim" => table(name, "Originals and what else restores the records byte for byte.", &verbatim_schema()),
        "metrics" => table(name, "One row of figures per conversation.", &metrics_schema()),
        "decisions" => table(name, "One row per input message: what happened to it and why.", &decisions_schema()),
        "rejects" => document::<RejectRow>(),
        "verbatim-map" => document::<MapLine<'_>>(),
        "plan" => document::<RunPlan>(),
        "commit" => document::<Commit>(),
        "manifest" => document::<Manifest>(),
        "night" => document::<Night>(),
        "engine-options" => document::<EngineOptions>(),
        "job" => job(),
        "sweep" => document::<SweepDocument>(),
        "report" => written::<ReportDocument>(),
        "drift" => written::<DriftDocument>(),
        "listing" => written::<ListingDocument>(),
        "store-listing" => written::<StoreListing>(),
        "pair" => written::<Pair>(),
        "calibration" => written::<Calibration>(),
        "explanation" => written::<ExplainedConversation>(),
        _ => return None,
    };
    serde_json::to_string_pretty(&value).ok().map(|text| text + "\n")
}

/// Job files: TOML has no null, and what the engine does by default is shown.
fn job() -> Value {
    let mut value = document::<JobArgs>();
    drop_null(&mut value);
    let defaults = serde_json::to_value(EngineOptions::default()).unwrap_or_default();
    let engine = value.pointer_mut("/$defs/EngineArgs/properties").and_then(Value::as_object_mut);
    for (name, property) in engine.into_iter().flatten() {
        if let (Some(property), Some(default)) = (property.as_object_mut(), defaults.get(name)) {
            property.insert("default".to_owned(), default.clone());
        }
    }
    value
}

fn drop_null(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            let says_nothing = |default: &Value| match default {
                Value::Null => true,
                Value::Object(keys) => keys.values().all(Value::is_null),
                _ => false,
            };
            if entries.get("default").is_some_and(says_nothing) {
                entries.remove("default");
            }
            if let Some(Value::Array(types)) = entries.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = &**types {
                    let only = only.clone();
                    entries.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = entries.get_mut("anyOf") {
                choices.retain(|choice| *choice != json!({ "type": "null" }));
                if let [Value::Object(only)] = &**choices {
                    let only = only.clone();
                    entries.remove("anyOf");
                    entries.extend(only);
                }
            }
            entries.values_mut().for_each(drop_null);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        _ => {}
    }
}

fn document<T: JsonSchema>() -> Value {
    SchemaGenerator::new(SchemaSettings::draft2020_12()).into_root_schema_for::<T>().to_value()
}

/// Of what is only written.
fn written<T: JsonSchema>() -> Value {
    SchemaGenerator::new(SchemaSettings::draft2020_12().for_serialize()).into_root_schema_for::<T>().to_value()
}

fn table(name: &str, description: &str, schema: &Schema) -> Value {
    let mut entries = Map::new();
    entries.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    entries.insert("title".to_owned(), json!(name));
    entries.insert("description".to_owned(), json!(description));
    if let Value::Object(object) = object(schema.fields().iter().map(AsRef::as_ref)) {
        entries.extend(object);
    }
    Value::Object(entries)
}

fn object<'f>(fields: impl Iterator<Item = &'f arrow::datatypes::Field> + Clone) -> Value {
    let required: Vec<&str> =
        fields.clone().filter(|field| !field.is_nullable()).map(|field| field.name().as_str()).collect();
    let properties: Map<String, Value> =
        fields.map(|field| (field.name().clone(), property(field.data_type(), field.is_nullable()))).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn property(data_type: &DataType, nullable: bool) -> Value {
    let mut value = match data_type {
        DataType::UInt64 => json!({ "type": "integer", "minimum": 0 }),
        DataType::Boolean => json!({ "type": "boolean" }),
        DataType::Float64 => json!({ "type": "number" }),
        DataType::Binary => json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
        DataType::List(item) => json!({ "type": "array", "items": property(item.data_type(), item.is_nullable()) }),
        DataType::Struct(fields) => object(fields.iter().map(AsRef::as_ref)),
        _ => json!({ "type": "string" }),
    };
    if let Some(entries) = value.as_object_mut() {
        if nullable && let Some(kind) = entries.get("type").cloned() {
            entries.insert("type".to_owned(), json!([kind, "null"]));
        }
        entries.insert("x-arrow-type".to_owned(), json!(arrow_name(data_type)));
    }
    value
}

fn arrow_name(data_type: &DataType) -> String {
    match data_type {
        DataType::List(_) => "List".to_owned(),
        DataType::Struct(_) => "Struct".to_owned(),
        other => other.to_string(),
    }
}
