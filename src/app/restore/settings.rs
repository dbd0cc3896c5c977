//! What is restored, how, and what it came to.

use std::path::PathBuf;

use crate::app::output::Stdout;
use crate::io::LeftRun;
use crate::io::store::Stores;
use crate::model::{FieldMap, ShapeName};

/// What is restored, from what.
#[derive(Debug, Clone)]
pub enum Restoring {
    /// All sources of a run, or one conversation of it.
    Run {
        /// The run.
        run: PathBuf,
        /// The runs that it came through, the last round first.
        through: Vec<PathBuf>,
        /// Only the conversation with this id.
        conversation: Option<String>,
        /// Of a store, the night as of which its logs come back; the last one without it.
        night: Option<String>,
    },
    /// What came out of the filter, with its sidecar.
    Filter {
        /// The file of records; stdin without one.
        records: Option<PathBuf>,
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// Records that another tool compacted, or condenser with a verbatim map.
    Verbatim {
        /// The file of records.
        records: PathBuf,
        /// The map from id to original.
        map: PathBuf,
        /// Whether summaries among the originals are expanded too.
        is_recursive: bool,
        /// The shape of the records, where it is known.
        shape: Option<ShapeName>,
        /// Where they have their conversation, when that is told.
        fields: Option<FieldMap>,
    },
}

/// How a restore is done.
pub struct RestoreSettings<'s> {
    /// What is restored.
    pub what: Restoring,
    /// A folder for all sources of a run, else a file; `-` and nothing stand for `stdout`.
    pub output: Option<String>,
    /// The stream for that.
    pub stdout: &'s Stdout<'s>,
    /// Workers; 0 for one per core.
    pub threads: usize,
    /// Where runs lie.
    pub stores: Stores,
}

shows!(RestoreSettings<'_> { what, output });

/// A source that was restored to a file.
#[derive(Debug, Clone, Default)]
pub struct RestoredFile {
    /// Its name as the run has it.
    pub source: String,
    /// The file, from the folder on.
    pub file: PathBuf,
    /// Whether it was there already, byte for byte.
    pub was_there: bool,
    /// Whether its own name was taken.
    pub is_renamed: bool,
    /// Rows that were damaged in the source and come back from nowhere.
    pub n_lost_rows: u64,
    /// Whether it was damaged or cut off when it was read, so that it comes back as far as it could be.
    pub is_torn: bool,
}

/// What a restore came to.
#[derive(Debug, Clone, Default)]
pub struct RestoreOutcome {
    /// The sources of a run; where a stream was written, what is to be told of them.
    pub files: Vec<RestoredFile>,
    /// Where they are; `None` when they went to the stream.
    pub folder: Option<PathBuf>,
    /// Of a night that is not whole any more: what is kept of it.
    pub part_of: Option<PartOfNight>,
    /// Of a store: runs that nothing knows any more.
    pub lost: Vec<LeftRun>,
    /// Of a verbatim map: ids that have no original in it.
    pub n_missing: usize,
}

/// What is kept of a night that was merged with others, without its every state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartOfNight {
    /// The name of its run.
    pub night: String,
    /// Logs of which its state is kept.
    pub n_logs: usize,
}
