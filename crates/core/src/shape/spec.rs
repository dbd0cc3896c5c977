//! What distinguishes one shape from another: the names of its lists and keys. Adding a shape is one file with one
//! `Spec`; `docs/shapes.md` says how.

use crate::model::ShapeName;

use super::events::{self, EventSpec};
use super::{anthropic, cce, dialogue, gemini, openai, openhands, sharegpt, swe_agent};

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
    /// The name of the only call that the message makes.
    CallName,
    /// The arguments of that call.
    CallArguments,
    /// Its mere presence makes the message a tool result.
    Observation,
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
}

/// What tells the shape of a list of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glimpse<'g> {
    /// The keys of the first message.
    pub keys: &'g [&'g str],
    /// Some message holds blocks as only the Messages API has them, or the record has a `system` beside the list.
    pub has_blocks: bool,
}

impl Glimpse<'_> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(&key)
    }

    /// True for an empty list, or when the first message has this key.
    pub(super) fn may_have(&self, key: &str) -> bool {
        self.keys.is_empty() || self.has(key)
    }
}

/// In the order in which they are tried: the first that fits wins.
pub(super) const SPECS: [&Spec; 8] = [
    &cce::SPEC,
    &anthropic::SPEC,
    &sharegpt::SPEC,
    &openai::SPEC,
    &openhands::SPEC,
    &swe_agent::SPEC,
    &gemini::SPEC,
    &dialogue::SPEC,
];

/// The keys of a record that may hold its id, the best first.
pub(super) const RECORD_IDS: [&str; 7] =
    ["id", "conversation_id", "session_id", "uuid", "sessionId", "dialogue_id", "instance_id"];

impl Spec {
    pub(super) fn of(name: ShapeName) -> &'static Self {
        match name {
            ShapeName::Openai => &openai::SPEC,
            ShapeName::Anthropic => &anthropic::SPEC,
            ShapeName::Cce => &cce::SPEC,
            ShapeName::Sharegpt => &sharegpt::SPEC,
            ShapeName::ClaudeCode => &events::CLAUDE_CODE,
            ShapeName::Codex => &events::CODEX,
            ShapeName::Pi => &events::PI,
            ShapeName::SweAgent => &swe_agent::SPEC,
            ShapeName::GeminiCli => &gemini::SPEC,
            ShapeName::Openhands => &openhands::SPEC,
            ShapeName::Dialogue => &dialogue::SPEC,
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

/// How likely it is that the list under this key is the one with the messages, whatever the shape; 0 when no shape
/// knows the key.
pub(super) fn likelihood(key: &str) -> usize {
    let is_list = |spec: &Spec| spec.lists.first() == Some(&key);
    match SPECS.iter().flat_map(|spec| spec.lists).position(|list| *list == key) {
        _ if is_list(&openai::SPEC) => usize::MAX,
        _ if is_list(&sharegpt::SPEC) => usize::MAX - 1,
        Some(at) => usize::MAX - 2 - at,
        None => 0,
    }
}
