//! What distinguishes one shape from another: the names of its keys. Adding a shape is one file with one `Spec`.

use crate::model::ShapeName;

use super::events::{self, EventSpec};
use super::{cce, openai, sharegpt};

/// What a key of a message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Id,
    Role,
    Content,
    Name,
    ToolCalls,
    FunctionCall,
    ToolCallId,
    Metadata,
    Other,
    /// A known key that comes again later in the message: the later one counts.
    Shadowed,
}

/// Number of fields.
pub(super) const N_FIELDS: usize = Field::Shadowed as usize + 1;

/// A shape.
#[derive(Debug)]
pub(super) struct Spec {
    pub name: ShapeName,
    /// The key of the record that holds the list of messages.
    pub list: &'static str,
    /// True when the record may be the list itself.
    pub bare: bool,
    /// The keys of a message, for each field the best one first; all others pass through.
    pub keys: &'static [(&'static str, Field)],
    /// The role whose content is a call.
    pub call_role: Option<&'static str>,
    /// True when this is the shape of the first message that has these keys.
    pub fits: fn(keys: &[&str]) -> bool,
    /// What its events look like, when it is an event log.
    pub events: Option<&'static EventSpec>,
}

/// In the order in which they are tried: the first that fits wins.
pub(super) const SPECS: [&Spec; 3] = [&cce::SPEC, &sharegpt::SPEC, &openai::SPEC];

/// The keys of a record that may hold its id, the best first.
pub(super) const RECORD_IDS: [&str; 4] = ["id", "conversation_id", "session_id", "uuid"];

impl Spec {
    pub(super) fn of(name: ShapeName) -> &'static Self {
        match name {
            ShapeName::Openai => &openai::SPEC,
            ShapeName::Cce => &cce::SPEC,
            ShapeName::Sharegpt => &sharegpt::SPEC,
            ShapeName::ClaudeCode => &events::CLAUDE_CODE,
            ShapeName::Codex => &events::CODEX,
            ShapeName::Pi => &events::PI,
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
}
