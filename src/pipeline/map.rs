//! Lines of the verbatim map: per conversation the originals by id, as other tools read them, and what binds them to the
//! record that they belong to. Knows no file.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::{OutputRow, Product, one_line};
use super::tables::RowPlace;
use crate::shape::{self, summaries, value_hash};

/// One line. A map of another tool has `conversation_id` and `verbatim` only.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "verbatim-map"))]
pub struct MapLine<'m> {
    /// The id of the conversation as it stands in the tables.
    pub conversation_id: String,
    /// The source as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Number of the record in its source, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_row: Option<u64>,
    /// The hash of the compressed record: the first 128 bits of BLAKE3 over its JSON in compact form with sorted keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_hash: Option<String>,
    /// The same hash of every message of the compressed record that stands for others, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_hashes: Option<Vec<String>>,
    /// The exact original of each message by its id. The last key: what follows it is the map alone.
    #[serde(borrow)]
    #[cfg_attr(
        feature = "schemas",
        schemars(with = "std::collections::BTreeMap<String, serde_json::Map<String, serde_json::Value>>")
    )]
    pub verbatim: &'m RawValue,
}

/// The line of a record when a message in it was replaced and a map can hold the originals: it has one place per id, the
/// verbatim table has them all.
pub(crate) fn map_line(place: RowPlace<'_>, product: &Product<'_>, written: &OutputRow<'_>) -> Option<String> {
    if product.condensed.is_unchanged() {
        return None;
    }
    let OutputRow::Record(record) = written else { return None };
    let map = RawValue::from_string(shape::verbatim_map(&product.decoded, &product.condensed).ok()?).ok()?;
    let seen = summaries(record, product.decoded.read_as).ok()?;
    let line = MapLine {
        conversation_id: place.id.to_owned(),
        source: Some(place.source.to_owned()),
        source_row: Some(place.row),
        record_hash: Some(value_hash(record)),
        summary_hashes: Some(seen.iter().map(|summary| value_hash(summary.json)).collect()),
        verbatim: &map,
    };
    serde_json::to_string(&line).ok().map(one_line)
}
