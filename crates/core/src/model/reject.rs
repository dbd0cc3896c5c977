//! Why a record could not be read. The codes are stable: they stand in files and in documentation.

use super::named::named;

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", reason.as_str())]
pub struct Reject {
    /// The stable code.
    pub reason: RejectReason,
    /// One sentence for a person, with the place inside the record and what to do.
    pub detail: String,
}

named! {
    /// Stable reason codes.
    pub enum RejectReason {
        /// Bytes that are not UTF-8.
        InvalidUtf8 = "invalid_utf8",
        /// Not JSON.
        InvalidJson = "invalid_json",
        /// JSON, but no conversation in any shape that we know.
        UnknownShape = "unknown_shape",
        /// The list of messages is missing or no list.
        NoMessages = "no_messages",
        /// A message that is no object.
        MessageNotObject = "message_not_object",
        /// A line longer than the limit.
        TooLong = "too_long",
        /// A compressed stream that ends early or is damaged.
        TornStream = "torn_stream",
        /// Rows of a table that are damaged where they are stored.
        DamagedRows = "damaged_rows",
        /// The engine failed on it: a defect of condenser.
        Internal = "internal",
    }
}
