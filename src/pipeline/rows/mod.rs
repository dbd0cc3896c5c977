//! Rows of a table that holds conversations in one of its columns: finding the column, rows into rows, the proof
//! and the way back. Knows Arrow arrays in memory, no file and no format.

mod batch;
mod cells;
mod encode;
mod fresh;
mod mark;
mod packed;
mod parse;
mod plan;
mod render;
mod structs;

pub use cells::value_bytes;
pub(crate) use cells::{TextColumn, is_text, texts_like, with_column};
pub(crate) use encode::encode_rows;
pub use mark::{RowDigest, RowMark, marks};
pub(crate) use packed::unpack;
pub use packed::{conform_rows, large_schema, row_of_reject, view_schema};
pub(crate) use parse::structs as json_structs;
pub use plan::{CellKind, Container, TableInput, TableOptions};
pub(crate) use structs::{CellEntries, restore_lists};

/// Rows that a damaged table did not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRows {
    /// How many; 0 when nobody knows.
    pub rows: u64,
    /// Where and why, in a sentence.
    pub detail: String,
}
