//! Rows of a table that holds conversations in one of its columns: finding the column, rows into rows, the proof
//! and the way back. Knows Arrow arrays in memory, no file and no format.

mod cells;
mod encode;
mod fresh;
mod mark;
mod packed;
mod parse;
mod plan;
mod render;
mod restore;
mod structs;

pub use cells::value_bytes;
pub(crate) use encode::encode_rows;
pub use mark::{RowDigest, RowMark, marks};
pub use packed::{conform_rows, row_of_reject, view_schema};
pub use plan::{CellKind, Container, TableInput, TableOptions};
pub use render::{cell_texts, row_records};
pub use restore::{RestoredRows, RowReaders, RowRestorer, verify_rows};

/// Rows that a damaged table did not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRows {
    /// How many; 0 when nobody knows.
    pub rows: u64,
    /// Where and why, in a sentence.
    pub detail: String,
}
