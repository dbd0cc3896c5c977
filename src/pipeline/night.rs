//! What a night wrote down: of each log that it took in, in which parts of which runs its bytes stand. Touches no file.

use serde::{Deserialize, Serialize};

use super::{AgedRow, Commit, KeptLog, PlannedInput, ReadInput, RunPlan};
use crate::error::Result;

/// Version of the layout of stores.
pub const STORE_VERSION: u32 = 1;

/// The document of a night, `nights/00007.json.zst` of a store; written once, after its run is complete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Night {
    /// Version of the layout of stores.
    pub store_version: u32,
    /// Name of its run in `runs/`.
    pub run: String,
    /// The logs that were new, had grown or were changed, as they were then.
    pub logs: Vec<LogState>,
    /// Of a run that took the place of nights: those of which every state comes back from it, by the names of their runs; logs have states of others too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nights: Vec<String>,
    /// The runs of which it took the place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<String>,
    /// Of such a run: the files of texts that its parts have once between them, `blobs/00007-00000.parquet` and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<TextFile>,
    /// What nights came to: its own run, behind those of which it took the place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<NightFigures>,
    /// BLAKE3 of the document of the conversations that were not at rest, as stored, in hex; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_blake3: Option<String>,
}

/// A file of texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TextFile {
    /// Its bytes.
    pub bytes: u64,
    /// BLAKE3 of these, in hex.
    pub blake3: String,
}

/// What a night came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NightFigures {
    /// Its run.
    pub run: String,
    /// True for a run that took the place of others, which adds nothing to them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_merge: bool,
    /// Logs that were new, had grown or were changed.
    pub logs: u64,
    /// Conversations that were compacted.
    pub conversations: u64,
    /// Rejected records.
    pub rejects: u64,
    /// Bytes of logs that were read, as stored.
    pub bytes_read: u64,
    /// Bytes of all files of the run.
    pub bytes_stored: u64,
    /// `bytes_read` over `bytes_stored`.
    pub bytes_ratio: f64,
    /// Characters of the conversations, and of what is shown of them.
    pub chars_in: u64,
    /// What is shown.
    pub chars_out: u64,
    /// `chars_in` over `chars_out`.
    pub ratio: f64,
    /// Share of what was used that still stands in its place; `null` where nothing was.
    pub grounding: Option<f64>,
    /// The largest population stability index of a figure against the night before; `null` where there is none, see docs/reports.md.
    pub drift: Option<f64>,
}

/// The document `open/00007.json.zst` of a store: the conversations that were not at rest after a night, of it and of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OpenConversations {
    /// The run of the night.
    pub run: String,
    /// By logs.
    pub logs: Vec<OpenLog>,
}

/// The conversations of a log that were not at rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OpenLog {
    /// The log, from the root, or its address.
    pub path: String,
    /// The name under which runs know it.
    pub source: String,
    /// Their records.
    pub rows: Vec<AgedRow>,
}

/// A log as it was in a night.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LogState {
    /// The file, from the root, or its address.
    pub path: String,
    /// The name under which runs know it.
    pub source: String,
    /// Bytes as stored.
    pub size: u64,
    /// BLAKE3 of the bytes as stored, in hex, where one part has read all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
    /// What tells that the file was changed: the time of its last change, or the entity tag of a store.
    pub mark: Option<String>,
    /// Of a run that took the place of nights: the night that left this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub night: Option<String>,
    /// The night before in which the log was a beginning of what it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// When it was last written to, in milliseconds since 1970, where the age of conversations counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_at: Option<u64>,
    /// True for a table, which comes back with equal rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_table: bool,
    /// Its beginning, when an earlier night has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<KeptLog>,
    /// What the run of the night has of it, in order.
    pub parts: Vec<HeldPart>,
}

/// The bytes of a log that a part holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HeldPart {
    /// The part.
    pub part: usize,
    /// Which of the inputs that share the part it is.
    #[serde(default, skip_serializing_if = "super::stored::is_first")]
    pub input: usize,
    /// Bytes of the uncompressed stream; of a table, canonical bytes of its rows.
    pub bytes: u64,
    /// BLAKE3 of these, in hex.
    pub blake3: String,
    /// True when the part has more of the log than it had then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl Night {
    /// The night that made a complete run with this plan and these commits; `path_of` gives the full name of a source. Inputs that the
    /// run does not hold are left out and named.
    pub fn of_run(
        run: &str,
        plan: &RunPlan,
        commits: &[Commit],
        missing: &[String],
        path_of: &dyn Fn(&str) -> Result<String>,
    ) -> Result<(Self, Vec<String>)> {
        let mut held: Vec<Vec<HeldPart>> = vec![Vec::new(); plan.inputs.len()];
        let mut whole: Vec<Option<(&Commit, ReadInput<'_>)>> = vec![None; plan.inputs.len()];
        for commit in commits {
            let Some(planned) = plan.parts.get(commit.part) else { continue };
            let mut input = 0;
            for (index, read) in planned.inputs().zip(commit.read_of(plan.inputs_of(commit.part))) {
                let (Some(read), Some(held), Some(whole)) = (read, held.get_mut(index), whole.get_mut(index)) else {
                    continue;
                };
                let (bytes, blake3) = (read.input.stream_bytes, read.input.stream_blake3.clone());
                held.push(HeldPart { part: commit.part, input, bytes, blake3, is_cut: false });
                *whole = Some((commit, read));
                input += 1;
            }
        }
        let (mut logs, mut left_out) = (Vec::new(), missing.to_vec());
        for ((planned, parts), last) in plan.inputs.iter().zip(held).zip(whole) {
            if missing.contains(&planned.source) || !planned.looks_again.is_empty() {
                continue;
            }
            let (Some(size), Some((commit, read))) = (planned.bytes, last) else {
                left_out.push(planned.source.clone());
                continue;
            };
            let PlannedInput { source, mark, keeps, extends, written_at, .. } = planned.clone();
            let blake3 = (keeps.is_none() && read.input.bytes == size).then(|| read.input.blake3.clone());
            let (path, is_table) = (path_of(&source)?, commit.table.is_some());
            logs.push(LogState {
                path,
                source,
                size,
                blake3,
                mark,
                night: None,
                extends,
                written_at,
                is_table,
                keeps,
                parts,
            });
        }
        Ok((Self { store_version: STORE_VERSION, run: run.to_owned(), logs, ..Self::default() }, left_out))
    }

    /// The nights of which every state comes back from its run, by the names of their runs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.nights.is_empty().then_some(&*self.run);
        self.nights.iter().map(String::as_str).chain(own)
    }
}

impl LogState {
    /// Bytes of its uncompressed stream.
    pub fn stream_bytes(&self) -> u64 {
        let held: u64 = self.parts.iter().map(|held| held.bytes).sum();
        self.keeps.as_ref().map_or(0, |kept| kept.bytes) + held
    }
}
