//! What an API saw of a record: its messages, what stands in for what is not in the log, and what of the log is no part of it.

use std::borrow::Cow;

use crate::model::{Content, Conversation, Message, Role};

/// Stands where a call has no result: nothing else may follow a call.
pub const NO_RESULT: &str = "[no result was recorded]";
/// Stands before what an assistant says first, since templates let the user begin.
pub const ASSISTANT_FIRST: &str = "[the assistant speaks first]";
/// Stands before a result whose call is not in the log.
pub const LOST_CALL: &str = "[result of a call that is not in this log]";

/// A conversation as the API saw it.
#[derive(Debug, Clone)]
pub struct Chat<'a> {
    /// Its messages: at most one system prompt, which is the first; then a user and an assistant by turns, the results of an
    /// assistant's calls behind it, in the order of the calls. Content is text. The id is that of the record, with what tells
    /// apart the chats of one record behind it.
    pub conversation: Conversation<'a>,
    /// What happened to the message at the same index.
    pub notes: Vec<Note>,
    /// What of the log is no part of it.
    pub left: LeftOut,
}

/// What happened to a message before it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Note {
    /// A reply that broke off: an error, or somebody stopped it.
    pub is_cut: bool,
    /// The record says that it is not for learning.
    pub is_masked: bool,
    /// Nothing of the log: it stands where an API wants something.
    pub is_filler: bool,
}

/// Counts of what stands in a log and in none of its chats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Messages of attempts that the user took back to ask something else.
    pub taken_back: usize,
    /// Replies that are no model's words: errors that the program wrote in its place.
    pub not_said: usize,
    /// Results of calls that the user made.
    pub of_user: usize,
    /// Replies that broke off and were tried again at once.
    pub retried: usize,
}

/// A message that stands in no record.
#[must_use]
pub fn said<'a>(role: Role<'a>, text: Cow<'a, str>) -> Message<'a> {
    Message {
        raw: "",
        id: None,
        role,
        name: None,
        content: Content::Text(text),
        tool_calls: Vec::new(),
        tool_call_id: None,
        results: Vec::new(),
        reasoning: Vec::new(),
        provenance: None,
    }
}
