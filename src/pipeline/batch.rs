//! What comes in, in batches bounded by bytes: raw lines or rows of a table. A batch of lines is a slice of the
//! uncompressed stream and its lines tile it, so that what is proven for every line is proven for the stream.
//! Knows no file and no JSON.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::{LostRows, RowMark, TableInput};

/// Two MiB keep two workers busy on files of a few MB and hold the whole pipeline under 100 MB.
pub const DEFAULT_BATCH_BYTES: usize = 2 << 20;
/// As much as the memory of a job by default: a longer record is more often damage than a conversation, and who has such
/// conversations can say so.
pub const DEFAULT_MAX_RECORD_BYTES: usize = 256 << 20;
/// Files of conversations unpack to 2 to 50 times their size; what passes this is named as a decompression bomb.
pub const BOMB_RATIO: u64 = 200;
/// What no record may exceed: a page of Parquet holds less than 2 GiB, all texts of a conversation stand in one page,
/// and its page may begin with others.
pub const MAX_RECORD_BYTES: usize = (2 << 30) - (4 << 20);
/// The same for a row of a table, which may have to be stored in Base64.
pub const MAX_ROW_BYTES: usize = MAX_RECORD_BYTES / 4 * 3 - (1 << 20);

/// How a stream is cut. The cuts depend on the bytes of the stream and on these two numbers only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchOptions {
    /// A batch holds the lines that fit into this many bytes, or one longer line.
    pub batch_bytes: usize,
    /// Longer lines are rejected in pieces of `batch_bytes`.
    pub max_record_bytes: usize,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self { batch_bytes: DEFAULT_BATCH_BYTES, max_record_bytes: DEFAULT_MAX_RECORD_BYTES }
    }
}

/// What a worker gets at a time.
#[derive(Debug)]
pub enum Batch {
    /// A slice of a stream.
    Lines(LineBatch),
    /// Rows of a table.
    Rows(RowBatch),
}

impl Batch {
    /// Bytes that admission counts: rows hold the decoded pages that they come from, half as much again.
    pub(super) fn charged_bytes(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.bytes.len(),
            Self::Rows(rows) => rows.n_bytes + rows.n_bytes / 2,
        }
    }

    /// Bytes of the records.
    pub fn n_bytes(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.bytes.len(),
            Self::Rows(rows) => rows.n_bytes,
        }
    }
}

/// Rows of a table in order.
#[derive(Debug)]
pub struct RowBatch {
    /// The rows with all columns of the input. Texts may be views of what `schema` says.
    pub rows: RecordBatch,
    /// The schema of the input.
    pub schema: SchemaRef,
    /// Which column holds the conversations.
    pub table: Arc<TableInput>,
    /// The mark of every row.
    pub marks: Vec<RowMark>,
    /// Number of the first row in its source, from 0.
    pub first_row: u64,
    /// What the rows take in memory.
    pub n_bytes: usize,
    /// Longer rows are rejected, in canonical bytes.
    pub max_row_bytes: u64,
    /// Instead of rows: what could not be read.
    pub lost: Option<LostRows>,
}

/// A slice of the stream with its lines in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LineBatch {
    /// The bytes of the slice.
    pub bytes: Vec<u8>,
    /// Where the slice begins in the uncompressed stream.
    pub offset: u64,
    /// Of a stream that was unpacked from a file: how many times its stored size it has at least, when that is
    /// [`BOMB_RATIO`] or more.
    pub unpacked: Option<u64>,
    /// The lines; their spans follow each other without gaps from 0 to the end of `bytes`.
    pub lines: Vec<RecordLine>,
    /// Of records that come from a store, in the order of the lines: what is known of each; else nothing.
    pub known: Vec<KnownRecord>,
}

/// A record of which the store knows more than it says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRecord {
    /// The id of the conversation, for one that names none.
    pub id: String,
    /// When it was last written to, in milliseconds since 1970, where it does not say.
    pub last_at: u64,
}

/// One record with the bytes around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLine {
    /// Number of the record in its source, from 0; blank lines do not count.
    pub row: u64,
    /// Number of the line in its source, from 1.
    pub number: u64,
    /// Everything that belongs to this record: blank lines before it, the record, its line end.
    pub span: Range<usize>,
    /// The record alone, without line end; empty for `Tail`.
    pub record: Range<usize>,
    /// What it is.
    pub kind: LineRole,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineRole {
    /// A line that should hold a record, or the lines of a session.
    Record,
    /// A record whose lines do not stand together in the stream: where its pieces stand (offset and length in bytes), in
    /// the order in which `span` has them. The pieces of all such records that follow each other tile their part of the stream.
    Scattered(Vec<(u64, u64)>),
    /// A piece of a line that is too long; all its pieces carry the same row.
    Piece {
        /// The first piece stands for the reject, the others only carry bytes.
        first: bool,
    },
    /// What was left of a line when the compressed stream broke, and how it broke.
    Torn(String),
    /// Blank bytes after the last record.
    Tail,
}

impl LineRole {
    /// True when there should be a conversation in it.
    pub fn is_record(&self) -> bool {
        matches!(self, Self::Record | Self::Scattered(_))
    }
}
