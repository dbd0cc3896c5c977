//! Rows that others hold in memory: row in, row out, with what brings the row back and its figures in columns beside it.
//! Each row stands for itself, so that rows may be filtered, sorted and joined before they are restored. Knows Arrow
//! batches; refuses to know who holds them.

mod compress;
mod restore;
mod sidecar;

pub use compress::RowCompressor;
pub use restore::restore_rows;
pub use sidecar::{METRICS_COLUMN, REJECTED_COLUMN, SIDECAR_COLUMN};
