//! Event logs: one event per line, all lines of a session as one record. Events that carry a message become messages,
//! all others pass through. Knows how an event is cut and put back; what an event of one program looks like
//! is told in one file per program.

mod claude_code;
mod codex;
mod detect;
mod event;
mod log;
mod pi;
mod write;

pub use detect::{SessionOf, detect_events, session_id};
pub(super) use event::{EventSpec, Form, Log};
pub(super) use log::cut;
pub(super) use write::{Item, extra, gap, items, push_pass, record_template};

pub(super) use claude_code::SPEC as CLAUDE_CODE;
pub(super) use codex::SPEC as CODEX;
pub(super) use pi::SPEC as PI;
