//! Writes the text that stands for others: extracts of prose, digests of tool output, outlines of data, prose
//! around code. Quotes, never rephrases. Knows texts and formats; does not know which messages are replaced or why.

pub mod adapters;
mod budget;
mod clauses;
mod code;
mod discourse;
mod draft;
mod edits;
mod ending;
mod entities;
mod harness;
mod outline;
mod packing;
mod plugins;
mod prose;
mod score;
mod selection;
mod spoken;
mod structured;
mod superseded;
mod talk;
mod telling;
mod tokens;

pub use adapters::{Adapter, Wanted, adapters, pays};
pub use budget::{Style, budget, budget_of, talk_budget, total_budget};
pub use code::split_code;
pub use draft::{Draft, Passage, Proposal, Quote, Slot, Wrap, keys, shorten, shorten_raw, unit_key};
pub use edits::prepass;
pub use entities::{Entity, entities};
pub use outline::outline;
pub use plugins::{EntropyScorer, TokenClassifier, TokenDecision, decisions_of, scores_of};
pub use prose::{least_chars, most_chars, summarize};
pub use score::is_general;
pub use selection::{Chosen, choose};
pub use spoken::{Hints, Keys, Spoken, UnitScores, Voice};
pub use structured::digest;
pub use superseded::superseded;
pub use talk::{least_talk_chars, most_talk_chars, talk};
pub use telling::{chain, topic};
