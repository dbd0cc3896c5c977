//! Files and streams: opening inputs, codecs, the tables as Parquet or JSON lines, run directories and the
//! sidecar of the filter. Implements the ports of the pipeline; knows nothing of conversations.

mod arrow_batches;
mod arrow_table;
mod blob_files;
mod codec;
mod cuts;
mod disk;
mod documents;
mod encoder;
mod events;
mod extent;
mod feed;
mod filter;
mod gathered;
mod growing;
mod guarded;
mod input;
mod json_rows;
mod line_table;
mod lines;
mod metered;
mod nights;
mod open;
mod parquet_encoder;
mod parquet_pages;
mod parquet_rows;
mod parquet_table;
mod range;
mod raw_chunk;
mod restored_names;
mod retry;
mod row_files;
mod run_begin;
mod run_cards;
mod run_documents;
mod run_find;
mod run_lock;
mod run_names;
mod run_pairs;
mod run_reader;
mod run_so_far;
mod run_writer;
mod sessions;
mod split;
mod steady;
mod step_back;
pub mod store;
mod stored_texts;
mod stream;
mod through;
mod walk;

pub use codec::{Codec, open_codec};
pub use cuts::PlannedSlices;
pub use disk::{BlockingFile, PausedFile, folds_case, sweep_beside, sync_folder};
pub use documents::{DocumentSource, is_document};
pub use encoder::TableEncoder;
pub use events::{EventSource, SESSION_WINDOW_BYTES, sniff_events};
pub use filter::{FilterPart, FilterSink, OpenSidecar};
pub use growing::GrowingFiles;
pub use input::{Input, Listing, expand};
pub use lines::LineSource;
pub use nights::{
    Begun, Beside, Extent, KnownLogs, LeftRun, LineOfStates, ListedNights, NightInputs, RunFate, RunOrStore, Selection,
    SourceNames, StatesAsOf, Store, Stretches, Torn, Version,
};
pub use open::{Inputs, open_input};
pub use restored_names::{restored_name, restored_names};
pub use retry::Rejects;
pub use row_files::{restored_table_name, sniff_table};
pub use run_begin::check_writable;
pub use run_documents::{of_night, plan_at};
pub use run_find::{Behind, DecisionRow, FoundConversation, Shown, ShownMessage};
pub use run_lock::{Waits, sweep_locks};
pub use run_reader::Run;
pub use run_so_far::RunSoFar;
pub use run_writer::{PartWriter, RunWriter};
pub use split::{Made, Splitter, VerdictFile, read_evaluation};
pub use stored_texts::StoredTexts;
pub use through::Through;
pub use walk::{PassedOver, Why};

use std::io::Read;

use crate::error::Error;

/// The ledger of a store of the first version; a directory that holds one is no run.
const LEDGER: &str = "ledger.jsonl";

/// An error of a file.
pub(crate) fn failed(place: impl Into<String>, message: &str, error: std::io::Error) -> Error {
    Error::io(place, message).because(error)
}

/// BLAKE3 of everything that `reader` gives, in hex.
pub fn hash_of(reader: impl Read) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(reader)?;
    Ok(hasher.finalize().to_hex().to_string())
}
