//! The tables of a run: their names, schemas, row builders and row readers. Knows what the columns mean and nothing
//! of the files that they are written to.

mod build;
mod numbers;
mod schema;
mod view;

use std::borrow::Cow;
use std::fmt;

use crate::model::named;

pub(crate) use build::{
    ConversationsBuilder, DecisionsBuilder, MetricsBuilder, OriginalRow, RecordsBuilder, RowPlace, VerbatimBuilder,
};
pub use build::{decisions_schema, verbatim_schema};
pub(crate) use numbers::{first as first_number, packed, unpacked};
pub(crate) use schema::asked_metrics;
pub use schema::{conversations_schema, metrics_schema, records_schema};
pub(crate) use view::{
    ConversationsView, count_column, figure_at, figure_column, numbers_at, numbers_column, text_at, text_column,
    with_views,
};

/// The checksum of a record or row: the first 64 bits of its BLAKE3 in hex, or all of them, as runs of the first version have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checksum(pub(crate) blake3::Hash);

/// Digits of a checksum.
pub(crate) const CHECKSUM_DIGITS: usize = 16;

impl Checksum {
    /// True when this is what was stored.
    pub(crate) fn is(self, stored: &str) -> bool {
        stored.len() >= CHECKSUM_DIGITS && self.0.to_hex().starts_with(stored)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_hex().get(..CHECKSUM_DIGITS).unwrap_or_default())
    }
}

/// Longer labels (ids, roles) are cut in the tables: a label stands in every row of its conversation.
const MAX_LABEL_BYTES: usize = 1024;
const CUT_LABEL_BYTES: usize = 256;

/// `text`, or its beginning and its hash when it is too long to stand in every row.
pub fn label(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_LABEL_BYTES {
        return Cow::Borrowed(text);
    }
    let end = (0..=CUT_LABEL_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let start = text.get(..end).unwrap_or_default();
    Cow::Owned(format!("{start}…{}", blake3::hash(text.as_bytes()).to_hex()))
}

named! {
    /// The columnar tables, in the order in which they are written; the name is also that of the folder.
    pub enum TableName {
        /// The compressed conversations.
        Conversations = "conversations",
        /// The originals.
        Verbatim = "verbatim",
        /// One row of figures per conversation.
        Metrics = "metrics",
        /// One row per message.
        Decisions = "decisions",
    }

    /// What a row of the verbatim table is.
    pub enum Kind {
        /// The original of a replaced message.
        Message = "message",
        /// What a conversation's row needs beside its columns to become the exact record again.
        Layout = "layout",
        /// A whole record as it stood in its source.
        Record = "record",
        /// Unusual bytes around a record, as JSON.
        Frame = "frame",
        /// A record that a store has from an earlier night: what is new of it.
        Again = "again",
        /// What is shown of a record that comes again.
        View = "view",
    }
}

impl Kind {
    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
