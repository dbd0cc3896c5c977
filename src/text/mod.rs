//! Everything that is known about a text after one pass over it. Knows language, lines and signs; knows
//! nothing of messages, roles or compression.

mod amounts;
mod atoms;
mod classes;
mod counts;
mod cues;
pub mod cut;
mod facts;
mod fences;
mod keys;
mod lexed;
mod lexer;
mod lines;
mod logs;
mod names;
mod noise;
mod numbered;
mod numbers;
mod paths;
mod quotes;
mod requests;
mod scan;
mod sentences;
mod severity;
mod source;
pub mod tokens;
mod units;
mod view;
mod wide;
mod wordlist;
mod words;

pub use keys::fold_key;
pub use lexed::{
    CharCounts, Cue, CueKind, Fact, FactKind, Fence, FenceKind, Lexed, Line, LineKind, Severity, Span, Unit, UnitKind,
};
pub use lexer::Lexer;
pub use noise::{Cut, CutKind, is_diff, names_noise_folder, noise};
pub use numbered::{plain, unnumbered};
pub use requests::{Ask, ask, is_question};
pub use view::TextView;
