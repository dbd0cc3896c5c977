//! Statistics over the metrics of a run: per class and in total, in one pass and in bounded memory. Knows the columns
//! of the metrics table, no file and no terminal.

mod quantiles;
mod summary;
mod table;

pub use quantiles::{Quantiles, RELATIVE_ERROR, SHARE_STEP};
pub use summary::{Figures, Report, Spread};
pub use table::render;
