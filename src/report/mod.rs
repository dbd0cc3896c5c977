//! What people read of a run: statistics over its metrics, per class and in total, in one pass and in bounded memory, and
//! conversations as Markdown or before and after. Knows the columns of the metrics table and messages, no file and no
//! terminal.

mod calibration;
mod compile;
mod damage;
mod document;
mod drift;
pub mod explained;
mod held;
mod hidden;
pub mod html;
mod listing;
mod mail;
pub mod markdown;
mod nights;
pub mod numbers;
pub mod pair;
pub mod plain;
mod schemas;
pub mod shell;
mod side_by_side;
mod terminal;
mod vanished;
mod view;
mod views;

pub use calibration::{Calibration, Calibrator, Fall, Planted};
pub use compile::Price;
pub use document::{
    Bar, BreakdownFacts, BreakdownRow, ConversationFacts, DensityFacts, Distribution, KindFacts, Money, REPORT_VERSION,
    RejectFacts, RepeatFacts, Repeated, ReportDocument, RunFacts, SourceFacts, TotalFacts,
};
pub use drift::{
    BarPair, Breach, BreakdownDrift, Change, ChangeFinder, Changes, DRIFT_VERSION, DriftDocument, FigureDrift, Ks,
    MAX_HELD, Novelty, Psi, ShareDrift, SideFacts, breaches, unmeasured,
};
pub use held::larger;
pub use hidden::{Hidden, hidden_text};
pub use listing::{FileFacts, FileStatus, LISTING_VERSION, ListingDocument, ListingTotals};
pub use nights::{LogFacts, StoreListing, night_line};
#[cfg(feature = "schemas")]
pub use schemas::generated;
pub use schemas::{schema, schema_names};
pub use side_by_side::{Layout, MIN_BESIDE, side_by_side};
pub use terminal::{Screen, sweep_text};
