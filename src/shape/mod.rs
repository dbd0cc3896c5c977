//! Records as bytes on one side, conversations on the other, exact both ways. Knows JSON and the shapes; knows
//! nothing of files, tables and compression.

use std::borrow::Cow;

use crate::model::{Condensed, Conversation, Original, ProvenancePlace, Reject, ShapeName};

/// A record that was read, with what is needed to write it again.
#[derive(Debug)]
pub struct Decoded<'r> {
    /// The record, exactly as it stood in its file, without line end.
    pub record: &'r str,
    /// How it holds the conversation.
    pub shape: ShapeName,
    /// What the engine sees.
    pub conversation: Conversation<'r>,
}

/// One row of the `conversations` table: text columns only, nothing inferred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row<'a> {
    /// `messages: list<struct<…>>`.
    pub messages: Vec<MessageRow<'a>>,
    /// The other keys of the record as one JSON object.
    pub extra: Option<Cow<'a, str>>,
}

/// One element of `messages`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageRow<'a> {
    /// The role as the record writes it.
    pub role: Option<Cow<'a, str>>,
    /// Decoded text, or the JSON text of a content list.
    pub content: Option<Cow<'a, str>>,
    /// The speaker.
    pub name: Option<Cow<'a, str>>,
    /// JSON text.
    pub tool_calls: Option<Cow<'a, str>>,
    /// The call that is answered.
    pub tool_call_id: Option<Cow<'a, str>>,
    /// JSON text.
    pub metadata: Option<Cow<'a, str>>,
    /// All other keys as one JSON object.
    pub extra: Option<Cow<'a, str>>,
}

/// Why a record could not be put together again; a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RestoreError(pub String);

/// The shape of a record, if we know it.
#[must_use]
pub fn detect(record: &str) -> Option<ShapeName> {
    let _ = record;
    None
}

/// Reads a record. `fallback_id` names the conversation when the record has no id.
///
/// # Errors
/// Says why the record holds no conversation in this shape.
pub fn decode<'r>(record: &'r str, shape: ShapeName, fallback_id: &str) -> Result<Decoded<'r>, Reject> {
    let _ = (record, shape, fallback_id);
    unreachable!("placeholder")
}

impl<'r> Decoded<'r> {
    /// The compressed conversation as a record of the same shape; everything unchanged is copied byte for byte.
    #[must_use]
    pub fn condensed_record(&self, condensed: &Condensed, provenance: ProvenancePlace) -> String {
        let _ = (condensed, provenance);
        String::new()
    }
    /// The compressed conversation as a row of columns.
    #[must_use]
    pub fn row(&self, condensed: &Condensed, provenance: ProvenancePlace) -> Row<'r> {
        let _ = (condensed, provenance);
        Row::default()
    }
    /// What [`restore_row`] needs beside the row and the originals: key order, spacing, escapes.
    #[must_use]
    pub fn row_layout(&self, condensed: &Condensed) -> String {
        let _ = condensed;
        String::new()
    }
    /// What [`restore_record`] needs beside the record and the originals; usually nothing.
    #[must_use]
    pub fn record_layout(&self, condensed: &Condensed) -> Option<String> {
        let _ = condensed;
        None
    }
}

/// The exact original record from a row, its layout and the originals of the messages that were replaced.
///
/// # Errors
/// Says what is missing or does not fit.
pub fn restore_row(id: &str, row: &Row<'_>, layout: &str, originals: &[Original<'_>]) -> Result<String, RestoreError> {
    let _ = (id, row, layout, originals);
    Err(RestoreError("placeholder".to_owned()))
}

/// The exact original record from a compressed record of the same shape.
///
/// # Errors
/// Says what is missing or does not fit.
pub fn restore_record(record: &str, layout: Option<&str>, originals: &[Original<'_>]) -> Result<String, RestoreError> {
    let _ = (record, layout, originals);
    Err(RestoreError("placeholder".to_owned()))
}
