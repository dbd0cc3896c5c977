//! Writes the text that stands for others: extracts of prose, digests of tool output, outlines of data, prose
//! around code. Quotes, never rephrases. Knows texts and formats; does not know which messages are replaced or why.

mod blob;
mod budget;
mod code;
mod draft;
mod entities;
mod harness;
mod outline;
mod prose;
mod score;
mod structured;
mod superseded;

pub use budget::{Style, budget};
pub use code::split_code;
pub use draft::{Draft, Proposal, Wrap};
pub use outline::outline;
pub use prose::{shorten_raw, shows_best_unit, summarize};
pub use score::{Spoken, Voice, is_general};
pub use structured::digest;
pub use superseded::superseded;
