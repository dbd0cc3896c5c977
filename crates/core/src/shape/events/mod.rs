//! Event logs: one event per line, all lines of a session as one record. Events that carry a message become messages,
//! all others pass through. Knows how an event is cut and put back; `programs` tells what the events of one look like.

mod detect;
mod event;
mod log;
mod programs;
mod write;

pub use detect::{SessionOf, detect_events, session_id};
pub(super) use event::{EventSpec, Form, Log};
pub(super) use log::cut;
pub(super) use programs::SPECS;
pub(super) use write::{Item, extra, gap, items, push_pass, record_template};
