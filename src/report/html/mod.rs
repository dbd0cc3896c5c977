//! Pages: a report, and a conversation before and after, each as one file that fetches nothing, needs no script to be read
//! and shows whatever a transcript holds as text. Knows documents, neither files nor runs.

mod breakdowns;
mod charts;
mod conversations;
mod drift;
mod figures;
mod frame;
mod notes;
mod pair;
mod report;
mod sweep;
mod table;
mod writer;

pub use conversations::Texts;
pub use drift::drift_page;
pub use pair::pair_page;
pub use report::report_page;
pub use sweep::sweep_page;
