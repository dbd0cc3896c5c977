//! Event logs: one event per line, all lines of a session as one record. Events that carry a message become messages,
//! all others pass through. Knows how an event is cut and put back; what an event of one program looks like
//! is told in one file per program.

mod claude_code;
mod codex;
mod detect;
mod log;
mod pi;
mod restore;
mod write;

use std::borrow::Cow;

use crate::model::{Message, ShapeName};

use super::index::Member;
use super::json::{Kind, Raw};
use super::spec::{Field, Spec};

pub use detect::{SessionOf, detect_events, session_id};
pub(super) use log::{Log, cut};
pub(super) use restore::{Passed, restore_list};
pub(super) use write::{condensed_record, extra, gap, record_layout, record_template};

pub(super) use claude_code::SPEC as CLAUDE_CODE;
pub(super) use codex::SPEC as CODEX;
pub(super) use pi::SPEC as PI;

/// In the order in which they are tried.
const SPECS: [&Spec; 3] = [&CODEX, &CLAUDE_CODE, &PI];

/// The spec of an event log: of what other shapes have it needs only how a new member is called.
const fn spec(name: ShapeName, events: &'static EventSpec) -> Spec {
    Spec {
        name,
        lists: &[],
        bare: false,
        keys: &[("content", Field::Content), ("metadata", Field::Metadata)],
        roles: &[("toolResult", "tool")],
        call_role: None,
        fits: |_| false,
        events: Some(events),
    }
}

/// What the events of one program look like.
#[derive(Debug)]
pub(super) struct EventSpec {
    /// The kinds of events that may carry a message.
    pub carriers: &'static [&'static str],
    /// The key of an event that holds the message.
    pub body: &'static str,
    /// The message that an event carries, if any.
    pub form: fn(event: &Event<'_, '_>) -> Option<&'static Form>,
    /// The id of the session, when this event tells it.
    pub id: for<'r> fn(event: &Event<'_, 'r>) -> Option<Raw<'r>>,
    /// True when an event that begins with these keys is one of this program.
    pub fits: fn(keys: &Keys<'_>) -> bool,
}

/// Where a kind of message has its parts.
#[derive(Debug)]
pub(super) struct Form {
    /// The role, when the event does not write it.
    pub role: Option<&'static str>,
    /// The keys of the event itself that count.
    pub outer: &'static [(&'static str, Field)],
    /// The keys of the body that count; `None` when the body as a whole is a call.
    pub body: Option<&'static [(&'static str, Field)]>,
    /// Reads what is special.
    pub finish: for<'r> fn(message: &mut Message<'r>, members: &[Member<'r>]),
}

/// A member with its decoded key.
#[derive(Debug)]
pub(super) struct Named<'r> {
    pub name: Cow<'r, str>,
    /// With its quotes.
    pub key: &'r str,
    pub value: Raw<'r>,
}

/// An event that may carry a message.
#[derive(Debug)]
pub(super) struct Event<'e, 'r> {
    /// Its members.
    pub outer: &'e [Named<'r>],
    /// The members of its body; empty when it has none, or is of a kind that carries no message.
    pub body: &'e [Named<'r>],
}

impl<'r> Event<'_, 'r> {
    fn kind(&self) -> Option<Cow<'r, str>> {
        last(self.outer, "type").and_then(Raw::string)
    }

    fn outer_text(&self, name: &str) -> Option<Raw<'r>> {
        last(self.outer, name).filter(|value| value.kind == Kind::Text)
    }

    fn body_string(&self, name: &str) -> Option<Cow<'r, str>> {
        last(self.body, name).and_then(Raw::string)
    }
}

/// The first keys of an event, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Keys<'r> {
    found: Vec<(Cow<'r, str>, Kind)>,
    /// The value of `type`.
    kind: Option<Cow<'r, str>>,
}

impl Keys<'_> {
    fn has(&self, name: &str, kind: Kind) -> bool {
        self.found.iter().any(|(key, found)| key == name && *found == kind)
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }
}

/// The last member called `name`, which is the one that counts.
fn last<'r>(members: &[Named<'r>], name: &str) -> Option<Raw<'r>> {
    members.iter().rev().find(|member| member.name == name).map(|member| member.value)
}

/// For forms without anything special.
fn nothing(_message: &mut Message<'_>, _members: &[Member<'_>]) {}
