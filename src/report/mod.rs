//! What people read of a run: statistics over its metrics, per class and in total, in one pass and in bounded memory, and
//! conversations as Markdown or before and after. Knows the columns of the metrics table and messages, no file and no
//! terminal.

pub mod markdown;
pub mod pair;
mod quantiles;
mod summary;
pub mod sweep;
mod table;

pub use quantiles::{Quantiles, RELATIVE_ERROR, SHARE_STEP};
pub use summary::{Figures, Report, Spread};
pub use table::render;
