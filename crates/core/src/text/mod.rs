//! Everything that is known about a text after one pass over it. Knows language, lines and signs; knows
//! nothing of messages, roles or compression.

mod atoms;
mod bearing;
mod bears;
pub(crate) mod bytes;
pub(crate) mod classes;
mod constraints;
mod corrections;
mod counts;
mod cues;
pub mod cut;
mod facts;
mod fences;
pub mod greedy;
mod keys;
mod language;
mod lexed;
mod lexer;
pub(crate) mod line;
pub mod linkage;
mod names;
mod noise;
mod numbered;
mod numbers;
mod outcome;
mod replies;
mod requests;
mod scan;
mod seen;
mod sentences;
mod severity;
pub mod similarity;
pub mod tokens;
mod units;
mod view;
mod wide;
pub(crate) mod words;

/// How programs introduce what the user said who refused the use of a tool.
pub(crate) const USER_SAID: &str = "To tell you how to proceed, the user said:";

pub use bears::{Bearing, Pointer};
pub use constraints::names_constraint;
pub use corrections::{Correction, FoundCorrection, Speaker, correction};
pub(crate) use counts::count_chars;
pub use counts::n_chars;
pub use keys::{fold_key, spaced_key};
pub use language::language;
pub use lexed::{
    CharCounts, Cue, CueKind, Fact, FactKind, Fence, Lexed, Line, LineKind, Severity, Span, Unit, UnitKind,
};
pub use lexer::Lexer;
pub use names::is_label;
pub(crate) use noise::tree_depth;
pub use noise::{Cut, CutKind, is_diff, is_tree_entry, names_noise_folder, noise};
pub use numbered::{plain, unnumbered};
pub use outcome::{Outcome, OutcomeKind, outcome, outcome_of, outcomes};
pub use replies::{announces, begins_confirming, begins_with_consent, corrects, is_confirmation, reports_deed};
pub use requests::{Wish, ask, is_question};
pub use view::TextView;
