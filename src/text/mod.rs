//! Everything that is known about a text after one pass over it. Knows language, lines and signs; knows
//! nothing of messages, roles or compression.

pub mod cut;
mod lexed;
mod lexer;
pub mod tokens;

pub use lexed::{
    CharCounts, Cue, CueKind, Fact, FactKind, Fence, FenceKind, Lexed, Line, LineKind, Severity, Span, TextView, Unit,
    UnitKind,
};
pub use lexer::{Lexer, fold_key};
