//! What people read of a run: statistics over its metrics, per class and in total, in one pass and in bounded memory, and
//! conversations as Markdown or before and after. Knows the columns of the metrics table and messages, no file and no
//! terminal.

mod calibration;
mod compile;
mod damage;
mod document;
pub mod explained;
pub mod markdown;
pub mod pair;
pub mod plain;
mod quantiles;
mod schemas;
mod side_by_side;
mod summary;
pub mod sweep;
mod table;

pub use calibration::{CALIBRATED, Calibration, Calibrator, DetectionRate};
pub use document::{
    Bar, BreakdownFacts, BreakdownRow, CellFacts, ConversationFacts, DensityFacts, Distribution, FIGURES, Money,
    REPORT_VERSION, RejectFacts, RepeatFacts, Repeated, ReportDocument, RunFacts, SourceFacts, TotalFacts,
};
pub use quantiles::{Quantiles, RELATIVE_ERROR, SHARE_STEP};
pub use schemas::{SCHEMA_NAMES, schema};
pub use side_by_side::{Layout, MIN_BESIDE, side_by_side};
pub use summary::{Figures, Report, Spread};
pub use table::render;
