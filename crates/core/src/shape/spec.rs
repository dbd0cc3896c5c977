//! What distinguishes one shape from another: the names of its lists and keys. Knows no shape; all of them stand in
//! `shapes`.

use std::borrow::Cow;

use crate::model::ShapeName;

use super::events::EventSpec;
use super::member::Field;

/// A shape.
#[derive(Debug)]
pub(super) struct Spec {
    pub name: ShapeName,
    /// The keys of the record that may hold the list of messages, the best one first.
    pub lists: &'static [&'static str],
    /// True when the record may be the list itself.
    pub bare: bool,
    /// The keys of a message, for each field the best one first; all others pass through.
    pub keys: &'static [(&'static str, Field)],
    /// Names of speakers that only this shape knows, with their canonical names.
    pub roles: &'static [(&'static str, &'static str)],
    /// The role whose content is a call.
    pub call_role: Option<&'static str>,
    /// True when this is the shape of a list that looks like this.
    pub fits: fn(list: &Glimpse<'_>) -> bool,
    /// What its events look like, when it is an event log.
    pub events: Option<&'static EventSpec>,
    /// True when its records are no JSON.
    pub is_text: bool,
}

/// What tells the shape of a list of messages.
#[derive(Debug, Default)]
pub(super) struct Glimpse<'r> {
    /// The keys of the first message.
    pub keys: Vec<Cow<'r, str>>,
    /// Some message holds blocks as only the Messages API has them, or the record has a `system` beside the list.
    pub has_blocks: bool,
    /// Who speaks in the first message is called as those are who talk with a model.
    pub has_known_role: bool,
    /// It is what two people say in turn, under a key that says so.
    pub is_talk: bool,
}

impl Glimpse<'_> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    /// True for a list without messages.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && !self.is_talk
    }

    /// True for an empty list, or when the first message has this key.
    pub(super) fn may_have(&self, key: &str) -> bool {
        self.is_empty() || self.has(key)
    }
}

/// The keys of a record that may hold its id, the best first.
pub(super) const RECORD_IDS: [&str; 7] =
    ["id", "conversation_id", "session_id", "uuid", "sessionId", "dialogue_id", "instance_id"];

impl Spec {
    /// The spec of an event log: of what other shapes have it needs only how a new member is called.
    pub(super) const fn of_events(name: ShapeName, events: &'static EventSpec) -> Self {
        Self {
            name,
            lists: &[],
            bare: false,
            keys: &[("content", Field::Content), ("metadata", Field::Metadata)],
            roles: &[("toolResult", "tool")],
            call_role: None,
            fits: |_| false,
            events: Some(events),
            is_text: false,
        }
    }

    /// The spec of texts that are no JSON, which are cut by themselves.
    pub(super) const fn of_text(name: ShapeName) -> Self {
        Self {
            name,
            lists: &[],
            bare: false,
            keys: &[],
            roles: &[],
            call_role: None,
            fits: |_| false,
            events: None,
            is_text: true,
        }
    }

    /// What a key holds, and its rank: of two keys for one field the one with the lower rank counts.
    pub(super) fn field(&self, key: &str) -> (Field, usize) {
        let found = self.keys.iter().enumerate().find(|(_, (name, _))| *name == key);
        found.map_or((Field::Other, self.keys.len()), |(rank, &(_, field))| (field, rank))
    }

    /// The key as the record writes it when nothing tells otherwise.
    pub(super) fn key_of(&self, field: Field) -> &'static str {
        self.keys.iter().find(|(_, known)| *known == field).map_or("metadata", |&(name, _)| name)
    }

    /// The rank of a key among those that may hold the list: the lowest one counts.
    pub(super) fn list_rank(&self, key: &str) -> Option<usize> {
        self.lists.iter().position(|list| *list == key)
    }
}
