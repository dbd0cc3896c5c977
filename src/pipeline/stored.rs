//! What a night of a store has from the nights before: beginnings of logs, records by their places, and their texts. Knows neither files nor tables.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::model::Age;

/// A record in a run of a store: `00012/0/345` is number 345, from 0, of part 0 of the run 00012. Or a text of its blobs: `blobs-00012/0/345`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(with = "String"))]
pub struct StoredRow {
    /// The name of the run.
    pub run: String,
    /// The part.
    pub part: usize,
    /// Its running number in the part.
    pub row: u64,
}

impl fmt::Display for StoredRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.run, self.part, self.row)
    }
}

impl From<StoredRow> for String {
    fn from(row: StoredRow) -> Self {
        row.to_string()
    }
}

impl TryFrom<String> for StoredRow {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl FromStr for StoredRow {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed = || {
            let mut parts = text.split('/');
            let is_odd = |c: char| c.is_control() || c == '\\' || c == ':';
            let is_name = |run: &&str| !run.is_empty() && !run.starts_with('.') && !run.contains(is_odd);
            let run = parts.next().filter(is_name)?.to_owned();
            let (part, row) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            parts.next().is_none().then_some(Self { run, part, row })
        };
        parsed().ok_or_else(|| format!("`{text}` names no record of a store"))
    }
}

/// A stretch of a log: what a part of a run has of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HeldIn {
    /// The name of the run.
    pub run: String,
    /// The part.
    pub part: usize,
    /// Which of the inputs that share the part.
    #[serde(default, skip_serializing_if = "is_first")]
    pub input: usize,
}

/// A record of a store that was not at rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AgedRow {
    /// The record: `RUN/PART/RECORD`.
    pub row: StoredRow,
    /// Where its log has it.
    pub held: HeldIn,
    /// The id of the conversation.
    pub id: String,
    /// When it was last written to, in milliseconds since 1970.
    pub last_at: u64,
    /// How old it was.
    pub age: Age,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(super) fn is_first(input: &usize) -> bool {
    *input == 0
}

/// The beginning of a log as a run of a store, and those that it goes on from, hold it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct KeptLog {
    /// The name of the run.
    pub run: String,
    /// Bytes of the uncompressed stream.
    pub bytes: u64,
    /// Records in them; absent where an earlier version planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// As many bytes as stored; 0 of a compressed file, which is unpacked from its beginning.
    pub stored_bytes: u64,
    /// BLAKE3 of what is kept of the last part of which something is kept, in hex, where that is not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_blake3: Option<String>,
}

impl KeptLog {
    /// The number of the first record behind it.
    pub fn first_row(&self) -> u64 {
        self.records.unwrap_or(self.bytes)
    }
}

/// What earlier nights of a store hold of conversations.
pub trait EarlierNights: fmt::Debug + Send + Sync {
    /// Where text of `record` stands, the conversation `id` of `source`: the records that came before, all that hold some of it, or blobs.
    fn rows(&self, source: &str, id: &str, record: &str) -> Cow<'_, [StoredRow]>;
    /// The texts that these records hold themselves, one behind the other.
    ///
    /// # Errors
    /// When one cannot be read.
    fn text(&self, rows: &[StoredRow]) -> Result<String>;
    /// When the conversation `id` of `source` was last written to, in milliseconds since 1970, as far as it is known.
    fn last_at(&self, source: &str, id: &str) -> Option<u64> {
        let _ = (source, id);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::StoredRow;

    #[test]
    fn records_of_a_store_are_named() {
        let row = StoredRow { run: "00012-monday".to_owned(), part: 3, row: 45 };
        assert_eq!(row.to_string().parse(), Ok(row));
        for wrong in ["", "00012", "00012/1", "00012/1/2/3", "../1/2", "/1/2", "a/b/c", "C:/1/2", "a\\b/1/2"] {
            assert!(wrong.parse::<StoredRow>().is_err(), "{wrong}");
        }
    }
}
