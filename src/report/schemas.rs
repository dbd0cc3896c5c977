//! The published schemas of what is shown as JSON. Knows types, no file.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};

use super::calibration::Calibration;
use super::explained::ExplainedConversation;
use super::pair::Pair;
use super::{DriftDocument, ReportDocument};

/// Names that [`schema`] knows.
pub const SCHEMA_NAMES: [&str; 5] = ["report", "drift", "pair", "explanation", "calibration"];

/// The schema with this name as indented JSON with a last line feed; `None` when there is none.
#[must_use]
pub fn schema(name: &str) -> Option<String> {
    match name {
        "report" => document::<ReportDocument>(),
        "drift" => document::<DriftDocument>(),
        "pair" => document::<Pair>(),
        "calibration" => document::<Calibration>(),
        "explanation" => document::<ExplainedConversation>(),
        _ => None,
    }
}

fn document<T: JsonSchema>() -> Option<String> {
    let schema = SchemaGenerator::new(SchemaSettings::draft2020_12().for_serialize()).into_root_schema_for::<T>();
    serde_json::to_string_pretty(&schema.to_value()).ok().map(|text| text + "\n")
}
