//! Records that were rejected: the lines of the rejects file, and the bytes that they stand for. Knows no table.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::model::{Reject, RejectReason};

/// A record that was rejected, as a line of the rejects file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RejectRow {
    /// The source as given.
    pub source: String,
    /// Number of the record in its source, from 0.
    pub source_row: u64,
    /// Number of the line, from 1.
    pub line: u64,
    /// Where the line begins in the uncompressed stream, in bytes.
    pub offset: u64,
    /// The stable code of the reason; empty for a further piece of a long line.
    pub reason: String,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// The line as it stood there, when it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The line in Base64, when it is not UTF-8, or is long and full of control characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_base64: Option<String>,
    /// A row of a table as an Arrow IPC stream in Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_base64: Option<String>,
    /// How many rows of a damaged table could not be read here, and will not come back; 0 when nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_rows: Option<u64>,
    /// Blank bytes before the line, when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The line end, when it is not one line feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Where the pieces of all these bytes stand in the stream (offset and length), when they do not stand together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<(u64, u64)>,
}

impl RejectRow {
    /// The record at `source_row` of `source`, and why.
    pub fn new(source: &str, source_row: u64, reject: Reject) -> Self {
        let Reject { reason, detail } = reject;
        Self { source: source.to_owned(), source_row, reason: reason.as_str().to_owned(), detail, ..Self::default() }
    }

    /// True where its source was damaged or cut off.
    pub fn is_torn(&self) -> bool {
        self.reason == RejectReason::TornStream.as_str()
    }
}

/// The bytes that a reject stands for: blank bytes before it, the record, its line end; nothing for a row of a table.
pub fn raw_of_reject(reject: &RejectRow) -> crate::error::Result<Vec<u8>> {
    let before = reject.before.as_deref().unwrap_or_default();
    let mut bytes = match (&reject.raw, &reject.raw_base64) {
        (Some(raw), _) => [before, raw].concat().into_bytes(),
        (None, Some(raw)) => {
            let mut raw = BASE64.decode(raw).map_err(|_| no_base64(reject))?;
            raw.splice(0..0, before.bytes());
            raw
        }
        (None, None) => before.as_bytes().to_vec(),
    };
    bytes.extend_from_slice(reject.end.as_deref().unwrap_or("\n").as_bytes());
    Ok(bytes)
}

/// How many bytes [`raw_of_reject`] gives, when the reject is whole.
pub(super) fn raw_len_of_reject(reject: &RejectRow) -> u64 {
    let raw = match (&reject.raw, &reject.raw_base64) {
        (Some(raw), _) => raw.len(),
        (None, Some(raw)) => raw.trim_end_matches('=').len() * 3 / 4,
        (None, None) => 0,
    };
    let around = reject.before.as_ref().map_or(0, String::len) + reject.end.as_ref().map_or(1, String::len);
    (raw + around) as u64
}

fn no_base64(reject: &RejectRow) -> Error {
    let place = format!("{}: row {}", reject.source, reject.source_row);
    Error::verification(place, "the raw bytes of a reject are no Base64")
}
