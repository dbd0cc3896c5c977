//! What an event is, where it has its message, and what of a log is no message. Knows no program.

use std::borrow::Cow;

use crate::model::Message;
use crate::shape::json::{Key, Kind, Raw};
use crate::shape::member::{Field, Member};

/// What the events of one program look like.
#[derive(Debug)]
pub(in crate::shape) struct EventSpec {
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
pub(in crate::shape) struct Form {
    /// The role, when the event does not write it.
    pub role: Option<&'static str>,
    /// The keys of the event itself that count.
    pub outer: &'static [(&'static str, Field)],
    /// The keys of the body that count; `None` when the body as a whole is a call.
    pub body: Option<&'static [(&'static str, Field)]>,
    /// An object in the body whose keys count too.
    pub inner: Option<Inner>,
    /// Reads what is special.
    pub finish: for<'r> fn(message: &mut Message<'r>, members: &[Member<'r>]),
}

/// An object in a body whose keys count.
#[derive(Debug)]
pub(in crate::shape) struct Inner {
    /// Its key.
    pub key: &'static str,
    /// The keys that lead to it, as they stand before those in it where all are beside each other.
    pub parent: &'static str,
    /// Its keys that count.
    pub keys: &'static [(&'static str, Field)],
}

/// A member with its decoded key.
pub(super) type Named<'r> = (Key<'r>, Raw<'r>);

/// An event that may carry a message.
#[derive(Debug)]
pub(in crate::shape) struct Event<'e, 'r> {
    /// Its members.
    pub outer: &'e [Named<'r>],
    /// The members of its body; empty when it has none, or is of a kind that carries no message.
    pub body: &'e [Named<'r>],
}

impl<'r> Event<'_, 'r> {
    pub(super) fn kind(&self) -> Option<Cow<'r, str>> {
        last(self.outer, "type").and_then(Raw::string)
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind().as_deref() == Some(kind)
    }

    pub(super) fn outer_text(&self, name: &str) -> Option<Raw<'r>> {
        last(self.outer, name).filter(|value| value.kind == Kind::Text)
    }

    pub(super) fn body_string(&self, name: &str) -> Option<Cow<'r, str>> {
        last(self.body, name).and_then(Raw::string)
    }
}

/// The first keys of an event, as far as it was read.
#[derive(Debug, Default)]
pub(in crate::shape) struct Keys<'r> {
    pub(super) found: Vec<(Cow<'r, str>, Kind)>,
    /// The value of `type`.
    pub(super) kind: Option<Cow<'r, str>>,
}

impl Keys<'_> {
    pub(super) fn has(&self, name: &str, kind: Kind) -> bool {
        self.found.iter().any(|(key, found)| key == name && *found == kind)
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }
}

/// The last member called `name`, which is the one that counts.
pub(super) fn last<'r>(members: &[Named<'r>], name: &str) -> Option<Raw<'r>> {
    members.iter().rev().find(|(key, _)| key.name == name).map(|&(_, value)| value)
}

/// Something that passes through: an event without a message, or text that is no JSON.
#[derive(Debug, Clone, Copy)]
pub(in crate::shape) struct Pass<'r> {
    pub text: &'r str,
    pub is_json: bool,
}

/// What an index of an event log holds beside its messages.
#[derive(Debug, Default)]
pub(in crate::shape) struct Log<'r> {
    /// What passes through, in order.
    pub passed: Vec<Pass<'r>>,
    /// For each message how many of `passed` stand before it.
    pub before: Vec<usize>,
    /// The form of each message.
    pub forms: Vec<&'static Form>,
}
