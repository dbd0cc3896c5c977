//! Writes the text that stands for others: extracts of prose, digests of tool output, outlines of data, prose
//! around code. Quotes, never rephrases. Knows texts and formats; does not know which messages are replaced or why.

pub mod adapters;
mod blob;
mod budget;
mod code;
mod draft;
mod edits;
mod entities;
mod harness;
mod outline;
mod prepass;
mod prose;
mod score;
mod structured;

pub use adapters::{Adapter, Wanted, adapters, pays};
pub use budget::{Style, budget};
pub use code::split_code;
pub use draft::{Draft, Proposal, Wrap};
pub use outline::outline;
pub use prepass::prepass;
pub use prose::{shorten_raw, shows_best_unit, summarize};
pub use score::{Spoken, Voice, is_general};
pub use structured::digest;
