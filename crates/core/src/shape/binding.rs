//! What binds an original to the place where it stood: the summaries that are seen in a record, and hashes of what is
//! seen. A tool that reads and writes a record again may order, space and escape its JSON otherwise; the hash stays.

use serde_json::Value;

use crate::model::{ReadAs, Reject};

use super::cut::cut;
use super::json::member;
use super::read::provenance;

/// Hex digits of a hash: 128 bits name what is seen.
const HASH_DIGITS: usize = 32;

/// A message that stands for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary<'r> {
    /// Its JSON.
    pub json: &'r str,
    /// The ids of the messages that it stands for, in order.
    pub ids: Vec<String>,
}

/// The summaries of a record, in order.
///
/// # Errors
/// Says why the record holds no conversation in this shape.
pub fn summaries<'r>(record: &'r str, read_as: impl Into<ReadAs<'r>>) -> Result<Vec<Summary<'r>>, Reject> {
    let index = cut(record, read_as.into())?;
    Ok(index.messages.iter().filter_map(|json| Some(Summary { json, ids: ids_of(json)? })).collect())
}

/// The ids that the provenance of a message names.
pub(super) fn ids_of(message: &str) -> Option<Vec<String>> {
    Some(member(message, "metadata").and_then(provenance)?.ids)
}

/// The hash of a JSON text as a value: the first 128 bits of BLAKE3 over it in compact form with sorted keys, in hex; over
/// its bytes when nobody can read it as a value, such as one with lone surrogates.
#[must_use]
pub fn value_hash(json: &str) -> String {
    let canonical = serde_json::from_str::<Value>(json).map(|mut value| {
        value.sort_all_objects();
        value.to_string()
    });
    let text = canonical.as_deref().unwrap_or(json);
    blake3::hash(text.as_bytes()).to_hex().as_str().chars().take(HASH_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::{summaries, value_hash};
    use crate::model::ShapeName;

    #[test]
    fn a_hash_is_that_of_the_value() {
        let hash = value_hash(r#"{"b": {"y": 1, "x": "é"}, "a": [1, 2]}"#);
        assert_eq!(hash, value_hash("{\"a\":[1,2],\n \"b\":{\"x\":\"\\u00e9\",\"y\":1}}"));
        assert_eq!(hash.len(), 32);
        assert_ne!(hash, value_hash(r#"{"b": {"y": 1, "x": "é"}, "a": [2, 1]}"#));
        assert_ne!(value_hash(r#""\ud800""#), value_hash(r#""\ud801""#));
    }

    #[test]
    fn summaries_are_messages_that_name_others() {
        let record = r#"{"messages": [{"content": "a"}, {"content": "[summary: b]", "metadata": {"_cce_original": {"ids": ["x", 7]}}}]}"#;
        let found = summaries(record, ShapeName::Openai).expect("a record");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ids, ["x", "7"]);
        assert!(found[0].json.starts_with("{\"content\": \"[summary"));
    }
}
