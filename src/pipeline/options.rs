//! What decides about the bytes of the output of a job: plan, commits and manifest hold it. Knows no input.

use serde::{Deserialize, Serialize};

use super::{Compression, ConversationFormat, DatasetShape, LlmOptions, PolicyOptions, Table};
use crate::model::{EngineOptions, ShapeName};

/// A part has at most about this much of a file that can be cut: enough that the files of a part are large, little
/// enough that what a killed job does again is done in seconds.
pub const DEFAULT_SPLIT_BYTES: u64 = 256 << 20;
/// Version of the layout of run directories.
pub const FORMAT_VERSION: u32 = 1;

/// Everything that decides about the bytes of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct JobOptions {
    /// What the engine does.
    pub engine: EngineOptions,
    /// BLAKE3 of the file that `tokenizer` names, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer_blake3: Option<String>,
    /// The model that the engine asks; nothing when it asks none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmOptions>,
    /// How an option set is chosen for each conversation; nothing when all are compressed alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyOptions>,
    /// How tables are written.
    pub format: ConversationFormat,
    /// How they are compressed.
    #[serde(default, skip_serializing_if = "Compression::is_default")]
    pub compression: Compression,
    /// The shape of all records; `null` when it is found out per file.
    pub shape: Option<ShapeName>,
    /// The column of tables that holds the conversations; `null` when it is found out per file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages_column: Option<String>,
    /// Whether the decisions table is written.
    pub trace: bool,
    /// Whether the map from message id to original is written.
    pub verbatim_map: bool,
    /// How streams and tables are cut into batches, in bytes.
    pub batch_bytes: usize,
    /// Longest record, in bytes.
    pub max_record_bytes: usize,
    /// How files are cut into parts, in bytes.
    #[serde(default = "default_split_bytes")]
    pub split_bytes: u64,
    /// Figures only: neither conversations nor originals are written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measure_only: bool,
    /// Training-ready data beside the tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetOptions>,
}

impl JobOptions {
    /// The options of every engine that works for the job, the job's own first.
    pub fn engines(&self) -> impl Iterator<Item = &EngineOptions> {
        [&self.engine].into_iter().chain(self.policy.iter().flat_map(|policy| &policy.tries))
    }

    /// Whether a run with these options has this table.
    #[must_use]
    pub fn writes(&self, table: Table) -> bool {
        match table {
            Table::Metrics => true,
            Table::Decisions => self.trace,
            Table::Conversations | Table::Verbatim => !self.measure_only,
        }
    }
}

/// What decides about training-ready data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DatasetOptions {
    /// How a conversation is written.
    pub shape: DatasetShape,
    /// Share of the conversations that go to `eval`, 0 to 1.
    pub eval_share: f64,
    /// Conversations with more tokens are left out of the data.
    pub drop_over: Option<u64>,
}

fn default_split_bytes() -> u64 {
    DEFAULT_SPLIT_BYTES
}
