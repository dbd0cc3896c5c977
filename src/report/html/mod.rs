//! Pages: each is one file that fetches nothing, needs no script to be read and shows whatever a transcript holds as text.
//! Knows documents, neither files nor runs.

mod charts;
mod page;
mod pages;
mod pair;
mod writer;

pub use super::pair::Texts;
pub use pages::{drift_page, report_page, sweep_page};
pub use pair::pair_page;
