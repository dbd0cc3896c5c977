//! A key of a message with its value, and what a key may hold, whatever the shape calls it.

use std::borrow::Cow;

use crate::model::ToolCall;

use super::json::Raw;

/// A key with its value, as written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'r> {
    /// With its quotes.
    pub key: &'r str,
    pub value: Raw<'r>,
    pub field: Field,
    /// The key of the object inside the message or record that it stands in, as written and without quotes; empty for the
    /// message or record itself.
    pub parent: &'r str,
}

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

/// The arguments of a call: what a string says, or anything else as it is written.
pub(super) fn take_arguments<'r>(call: &mut ToolCall<'r>, value: Raw<'r>) {
    call.arguments = value.string().unwrap_or(Cow::Borrowed(value.text));
    call.place = Some(value.text);
}
