//! Why a record could not be read. The codes are stable: they stand in files and in documentation.

use serde::Serialize;

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", reason.as_str())]
pub struct Reject {
    /// The stable code.
    pub reason: RejectReason,
    /// One sentence for a person, with the place inside the record and what to do.
    pub detail: String,
}

/// Stable reason codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectReason {
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Not JSON.
    InvalidJson,
    /// JSON, but no conversation in any shape that we know.
    UnknownShape,
    /// The list of messages is missing or no list.
    NoMessages,
    /// A message that is no object.
    MessageNotObject,
    /// A line longer than the limit.
    TooLong,
    /// A compressed stream that ends early or is damaged.
    TornStream,
    /// Rows of a table that are damaged where they are stored.
    DamagedRows,
    /// The engine failed on it: a defect of condenser.
    Internal,
}

impl RejectReason {
    /// The code as it stands in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidUtf8 => "invalid_utf8",
            Self::InvalidJson => "invalid_json",
            Self::UnknownShape => "unknown_shape",
            Self::NoMessages => "no_messages",
            Self::MessageNotObject => "message_not_object",
            Self::TooLong => "too_long",
            Self::TornStream => "torn_stream",
            Self::DamagedRows => "damaged_rows",
            Self::Internal => "internal",
        }
    }
}
