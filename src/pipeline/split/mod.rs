//! The split of a data set: which conversations are trained on and which are evaluated on, so that nothing of one side stands on
//! the other, and which are on none since another says the same or an evaluation file holds them. Pure: what is noted and decided,
//! nothing of files.

mod contaminate;
mod groups;
mod keys;
mod minhash;
mod notes;
mod origin;
mod planned;
mod survey;
mod tool_group;
mod verdict;
mod words;

pub use contaminate::EvaluationItems;
pub use groups::{Strata, Unions};
pub use keys::{GroupKey, KeyKind};
pub use minhash::{Fingerprint, N_BANDS};
pub use notes::{ChatNote, N_CLASSES, Surveyor};
pub use planned::PlannedSplit;
pub use survey::{NoteSink, survey};
pub use tool_group::{ToolGroup, ToolLists};
pub use verdict::{ById, ChatPlace, Excluded, Side, SplitVerdict, Verdicts};
