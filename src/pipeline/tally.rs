//! What a run read and wrote, summed over its commits, for those who tell of it. Knows commits, not how they are told.

use std::collections::BTreeMap;

use super::sketch::RejectShare;
use super::{Commit, Merge, TableFile, Totals, TrainingTally};

/// Sums over the parts of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// What was counted.
    pub totals: Totals,
    /// Bytes of the inputs as stored.
    pub bytes_stored: u64,
    /// Bytes of the inputs uncompressed.
    pub bytes_stream: u64,
    /// What was written, by table.
    pub written: BTreeMap<String, Written>,
    /// Rejected records by reason.
    pub rejects: BTreeMap<String, RejectShare>,
    /// Values that the assistants used, of conversations that were measured by them.
    pub used: u64,
    /// Those of them that still stand before their use.
    pub used_in_place: u64,
    /// What training data came to, where some was made.
    pub training: Option<TrainingTally>,
}

/// What was written into a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows of it.
    pub rows: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

impl Tally {
    /// Adds a part.
    pub fn add(&mut self, commit: &Commit) {
        self.totals.absorb(&commit.totals);
        self.bytes_stored = self.bytes_stored.saturating_add(commit.input.bytes);
        self.bytes_stream = self.bytes_stream.saturating_add(commit.input.stream_bytes);
        commit.files.iter().for_each(|file| self.add_file(file));
        if let Some(sketch) = &commit.sketch {
            self.rejects.absorb(&sketch.rejects);
            self.training.absorb(&sketch.training);
            for class in sketch.figures.classes.values() {
                self.used += class.sum("used");
                self.used_in_place += class.sum("used_in_place");
            }
        }
    }

    /// Adds a file of a table.
    pub fn add_file(&mut self, file: &TableFile) {
        let table = self.written.entry(file.table.clone()).or_default();
        table.rows = table.rows.saturating_add(file.rows);
        table.bytes = table.bytes.saturating_add(file.bytes);
    }

    /// Adds files that belong to no table, such as commits, under the name of their kind.
    pub fn add_documents(&mut self, kind: &str, n_files: usize, n_bytes: u64) {
        let documents = self.written.entry(kind.to_owned()).or_default();
        documents.rows += n_files as u64;
        documents.bytes += n_bytes;
    }

    /// The share of what assistants used that still stands before its use; `None` where nobody measured it.
    pub fn grounding(&self) -> Option<f64> {
        (self.used > 0).then(|| self.used_in_place as f64 / self.used as f64)
    }

    /// Bytes of everything that was written.
    pub fn bytes_written(&self) -> u64 {
        self.written.values().map(|table| table.bytes).sum()
    }

    /// What was written into a table; nothing when there is none.
    pub fn table(&self, name: &str) -> Written {
        self.written.get(name).copied().unwrap_or_default()
    }
}
