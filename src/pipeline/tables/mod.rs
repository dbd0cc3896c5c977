//! The tables of a run: their names, schemas, row builders and row readers. Knows what the columns mean and nothing
//! of the files that they are written to.

mod build;
mod schema;
mod view;

pub(crate) use build::{
    ConversationsBuilder, DecisionsBuilder, MetricsBuilder, OriginalRow, Place, RecordsBuilder, VerbatimBuilder,
    short_hash,
};
pub(crate) use schema::{COUNTS, SHARES};
pub use schema::{conversations_schema, decisions_schema, metrics_schema, records_schema, verbatim_schema};
pub(crate) use view::{ConversationsView, count_column, text_at, text_column};

/// The columnar tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The compressed conversations.
    Conversations,
    /// The originals.
    Verbatim,
    /// One row of figures per conversation.
    Metrics,
    /// One row per message.
    Decisions,
}

impl Table {
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
