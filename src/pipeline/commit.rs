//! The documents of a run: the commit of a part, written last, and the manifest. No clock times stand in them:
//! the same input gives the same bytes. Knows no file system.

use serde::{Deserialize, Serialize};

use super::merge::merges;
use super::plan::{is_one, one};
use super::sketch::Sketch;
use super::{ConversationFormat, JobOptions, PlannedInput, Slice, TableInput};
use crate::model::{Condensed, Conversation};

fn whole() -> Slice {
    Slice::Whole
}

fn is_whole(slice: &Slice) -> bool {
    *slice == Slice::Whole
}

/// Sizes and hashes of an input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SourceDigest {
    /// Bytes as stored.
    pub bytes: u64,
    /// BLAKE3 of the bytes as stored, in hex.
    pub blake3: String,
    /// Bytes of the uncompressed stream, as far as it is undamaged; of a table, canonical bytes of its rows.
    pub stream_bytes: u64,
    /// BLAKE3 of the uncompressed stream, or of the hashes of all rows of a table, in hex.
    pub stream_blake3: String,
    /// Rows of a damaged table that could not be read and that no restore gives back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_rows: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl SourceDigest {
    /// Several inputs together: sums, and the hashes of their hashes, each in hex and with a line feed behind it.
    pub fn of_all(inputs: &[PackedInput]) -> Self {
        if let [PackedInput { input, .. }] = inputs {
            return input.clone();
        }
        let sum = |count: fn(&Self) -> u64| inputs.iter().map(|read| count(&read.input)).sum();
        let hash = |hash: fn(&Self) -> &str| {
            let mut hasher = blake3::Hasher::new();
            for read in inputs {
                hasher.update(hash(&read.input).as_bytes()).update(b"\n");
            }
            hasher.finalize().to_hex().to_string()
        };
        Self {
            bytes: sum(|digest| digest.bytes),
            blake3: hash(|digest| &digest.blake3),
            stream_bytes: sum(|digest| digest.stream_bytes),
            stream_blake3: hash(|digest| &digest.stream_blake3),
            lost_rows: sum(|digest| digest.lost_rows),
        }
    }

    /// The digest of a stream; `stored` is what it was read from when that differs, such as a compressed file.
    pub fn of_stream(stream_bytes: u64, hasher: &blake3::Hasher, stored: Option<(u64, String)>) -> Self {
        let stream_blake3 = hasher.finalize().to_hex().to_string();
        let (bytes, blake3) = stored.unwrap_or_else(|| (stream_bytes, stream_blake3.clone()));
        Self { bytes, blake3, stream_bytes, stream_blake3, lost_rows: 0 }
    }
}

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Conversations written.
    pub conversations: u64,
    /// Records rejected.
    pub rejects: u64,
    /// Input messages.
    pub messages_in: u64,
    /// Output messages.
    pub messages_out: u64,
    /// Input characters.
    pub chars_in: u64,
    /// Output characters.
    pub chars_out: u64,
    /// Input tokens.
    pub tokens_in: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// Conversations with more tokens than their token budget.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub over_budget: u64,
}

impl Totals {
    /// What a conversation adds.
    pub fn of(conversation: &Conversation<'_>, condensed: &Condensed) -> Self {
        let metrics = &condensed.metrics;
        Self {
            conversations: 1,
            rejects: 0,
            messages_in: conversation.messages.len() as u64,
            messages_out: condensed.messages.len() as u64,
            chars_in: metrics.chars_in as u64,
            chars_out: metrics.chars_out as u64,
            tokens_in: metrics.tokens_in as u64,
            tokens_out: metrics.tokens_out as u64,
            over_budget: u64::from(metrics.budget.is_some_and(|budget| !budget.fits)),
        }
    }
}

merges!(Totals {
    conversations,
    rejects,
    messages_in,
    messages_out,
    chars_in,
    chars_out,
    tokens_in,
    tokens_out,
    over_budget,
});

/// What was proven before the part was committed: every byte of the stream was restored from what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Proof {
    /// Records restored from their row or record and compared.
    pub restored: u64,
    /// Of these, records whose raw text had to be stored.
    pub raw_records: u64,
    /// Original messages in the sidecar.
    pub originals: u64,
    /// Bytes compared, rejects and frames included; equals the length of the stream.
    pub bytes: u64,
}

merges!(Proof { restored, raw_records, originals, bytes });

/// A run of bytes of a file with the rows that it holds: a row group, a frame, a footer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Piece {
    /// Number of bytes.
    pub bytes: u64,
    /// Number of rows; 0 for a footer.
    pub rows: u64,
    /// BLAKE3 of the bytes, in hex.
    pub blake3: String,
}

/// One file of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TableFile {
    /// The table.
    pub table: String,
    /// The path in the run directory.
    pub path: String,
    /// Rows in the file.
    pub rows: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 of the whole file, in hex.
    pub blake3: String,
    /// BLAKE3 of the uncompressed lines, for tables of JSON lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_blake3: Option<String>,
    /// The file in pieces, so that a damage can be placed.
    pub pieces: Vec<Piece>,
}

/// One of several inputs that share a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PackedInput {
    /// The source as given.
    pub source: String,
    /// What was read of it.
    pub input: SourceDigest,
    /// What was counted of it.
    pub totals: Totals,
    /// The number of its first record, where its beginning was not read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_row: u64,
    /// Bytes of that beginning; where they are absent, as many as `first_row` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<u64>,
}

impl PackedInput {
    /// Bytes of the stream that were not read, at its beginning.
    pub fn first_byte(&self) -> u64 {
        self.first_byte.unwrap_or(self.first_row)
    }
}

/// One of several inputs that share a part, which could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FailedInput {
    /// The source as given.
    pub source: String,
    /// Why.
    pub error: String,
}

/// An input of a part, or the slice of it that the part holds.
#[derive(Debug, Clone, Copy)]
pub struct ReadInput<'c> {
    /// The source as given.
    pub source: &'c str,
    /// What was read of it.
    pub input: &'c SourceDigest,
    /// What was counted of it.
    pub totals: &'c Totals,
}

/// What a part is and what it promises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Commit {
    /// Version of the layout of run directories.
    pub format_version: u32,
    /// Version of condenser.
    pub engine_version: String,
    /// BLAKE3 of the job's options as JSON, in hex.
    pub config_blake3: String,
    /// Number of the part.
    pub part: usize,
    /// The source as given; of several that share the part, the first.
    pub source: String,
    /// The slice of the source: `whole`, `bytes A..B` (the lines that begin there) or `row groups A..B from row R`.
    pub split: Slice,
    /// What the numbers of records begin with, where the beginning of the source was not read: the number of records there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_row: u64,
    /// Bytes of that beginning; where they are absent, as many as `first_row` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<u64>,
    /// Where several inputs share the part: what was read of them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packed: Vec<PackedInput>,
    /// Of several inputs that share the part those that could not be read, in order; called again, the job does the part again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedInput>,
    /// Format of the conversations table.
    pub format: ConversationFormat,
    /// What was read; of several inputs the sums, and the hashes of their hashes.
    pub input: SourceDigest,
    /// How the input holds conversations, when it is a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableInput>,
    /// Records of the source, rejected ones included.
    pub records: u64,
    /// The runs of the store without which the part does not restore, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<String>,
    /// What was counted.
    pub totals: Totals,
    /// What was proven.
    pub proof: Proof,
    /// What a report reads instead of the tables; older versions wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Sketch>,
    /// The files, tables first.
    pub files: Vec<TableFile>,
}

impl Commit {
    /// Bytes of the stream that were not read, at its beginning.
    pub fn first_byte(&self) -> u64 {
        self.first_byte.unwrap_or(self.first_row)
    }

    /// The inputs of the part, in order: one, unless several share it.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = ReadInput<'_>> + Clone {
        (0..self.packed.len().max(1)).map(|index| self.input_at(index))
    }

    /// The input at `index` of them.
    pub fn input_at(&self, index: usize) -> ReadInput<'_> {
        match self.packed.get(index) {
            Some(PackedInput { source, input, totals, .. }) => ReadInput { source, input, totals },
            None => ReadInput { source: &self.source, input: &self.input, totals: &self.totals },
        }
    }

    /// What was read of each of the inputs that were planned for the part; `None` of one that could not be.
    pub fn read_of<'c>(&'c self, planned: &'c [PlannedInput]) -> impl Iterator<Item = Option<ReadInput<'c>>> {
        let mut read = self.inputs().peekable();
        planned.iter().map(move |planned| read.next_if(|read| read.source == planned.source))
    }

    /// True when the part holds what was read of `source`.
    pub fn holds(&self, source: &str) -> bool {
        self.inputs().any(|input| input.source == source)
    }

    /// What the part was made of, for messages: `a.jsonl`, or `a.jsonl and 41 more`.
    pub fn sources(&self) -> String {
        sources_of(&self.source, self.inputs().len())
    }
}

/// The first of some sources and how many more there are.
pub(super) fn sources_of(first: &str, n_sources: usize) -> String {
    if n_sources > 1 { format!("{first} and {} more", n_sources - 1) } else { first.to_owned() }
}

/// A part, and the slice of an input or the inputs that it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct InputEntry {
    /// The path as given; of several inputs that share the part, the first.
    pub source: String,
    /// How many inputs the part holds.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub n_inputs: usize,
    /// What told that the input was not changed; see the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The slice.
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub slice: Slice,
    /// What was read.
    pub digest: SourceDigest,
    /// Number of the part.
    pub part: usize,
    /// Path of the commit in the run directory.
    pub commit: String,
    /// BLAKE3 of the commit, in hex.
    pub commit_blake3: String,
}

/// The run as a whole, written after the last commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// Version of the layout of run directories.
    pub format_version: u32,
    /// Version of condenser.
    pub engine_version: String,
    /// `complete`, or `partial` when inputs are missing.
    pub status: String,
    /// The options as resolved.
    pub options: JobOptions,
    /// BLAKE3 of the options as JSON, in hex.
    pub config_blake3: String,
    /// BLAKE3 of the plan, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_blake3: Option<String>,
    /// The parts with what they were made of, in order.
    pub inputs: Vec<InputEntry>,
    /// Inputs that were left out because a part of them is not committed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The tables that were written.
    pub tables: Vec<String>,
    /// Sums over all parts.
    pub totals: Totals,
    /// Further files of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TableFile>,
}
