//! The tables of a run: their names, schemas, row builders and row readers. Knows what the columns mean and nothing
//! of the files that they are written to.

mod build;
mod schema;
mod view;

use std::borrow::Cow;

pub(crate) use build::{
    ConversationsBuilder, DecisionsBuilder, MetricsBuilder, OriginalRow, RecordsBuilder, RowPlace, VerbatimBuilder,
    short_hash,
};
pub use build::{decisions_schema, verbatim_schema};
pub use schema::{conversations_schema, metrics_schema, records_schema};
pub(crate) use view::{ConversationsView, count_column, figure_at, figure_column, text_at, text_column};

/// Longer labels (ids, roles) are cut in the tables: a label stands in every row of its conversation.
const MAX_LABEL_BYTES: usize = 1024;
const CUT_LABEL_BYTES: usize = 256;

/// `text`, or its beginning and its hash when it is too long to stand in every row.
#[must_use]
pub fn label(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_LABEL_BYTES {
        return Cow::Borrowed(text);
    }
    let end = (0..=CUT_LABEL_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let start = text.get(..end).unwrap_or_default();
    Cow::Owned(format!("{start}…{}", blake3::hash(text.as_bytes()).to_hex()))
}

/// The columnar tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableName {
    /// The compressed conversations.
    Conversations,
    /// The originals.
    Verbatim,
    /// One row of figures per conversation.
    Metrics,
    /// One row per message.
    Decisions,
}

impl TableName {
    /// All tables in the order in which they are written.
    pub const ALL: [Self; 4] = [Self::Conversations, Self::Verbatim, Self::Metrics, Self::Decisions];

    /// The name, which is also the name of the folder.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Verbatim => "verbatim",
            Self::Metrics => "metrics",
            Self::Decisions => "decisions",
        }
    }
}

/// What a row of the verbatim table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The original of a replaced message.
    Message,
    /// What a conversation's row needs beside its columns to become the exact record again.
    Layout,
    /// A whole record as it stood in its source.
    Record,
    /// Unusual bytes around a record, as JSON.
    Frame,
}

impl Kind {
    /// The published name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Layout => "layout",
            Self::Record => "record",
            Self::Frame => "frame",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Message, Self::Layout, Self::Record, Self::Frame].into_iter().find(|kind| kind.as_str() == name)
    }
}
