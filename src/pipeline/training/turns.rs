//! A chat as its reader sees it after the engine: roles, texts, thoughts, calls. Knows neither targets nor rows.

use std::borrow::Cow;

use crate::chat::{Chat, Note};
use crate::model::{Condensed, Content, Conversation, Message, NewBody, Output, Role, ToolCall};

/// What one speaker says at once.
#[derive(Debug, Clone)]
pub(super) struct Turn<'c> {
    pub(super) role: &'c Role<'c>,
    pub(super) name: Option<&'c str>,
    pub(super) text: Cow<'c, str>,
    /// What an assistant thinks before.
    pub(super) thinking: String,
    pub(super) calls: &'c [ToolCall<'c>],
    pub(super) call_id: Option<&'c str>,
    /// Whether a model should learn to say it.
    pub(super) is_target: bool,
    /// Whether something is hidden of it.
    pub(super) is_compacted: bool,
}

/// The turns of the input.
pub(super) fn turns_before<'c>(conversation: &'c Conversation<'c>) -> Vec<Turn<'c>> {
    conversation.messages.iter().map(|message| turn(message, text_of(&message.content), Note::default())).collect()
}

/// The turns of the output.
pub(super) fn turns_after<'c>(conversation: &'c Conversation<'c>, condensed: &'c Condensed) -> Vec<Turn<'c>> {
    turns(conversation, &[], condensed)
}

/// The turns of a chat, with what is to be learned of them.
pub(super) fn turns_of<'c>(chat: &'c Chat<'_>, condensed: &'c Condensed) -> Vec<Turn<'c>> {
    turns(&chat.conversation, &chat.notes, condensed)
}

fn turns<'c>(conversation: &'c Conversation<'_>, notes: &[Note], condensed: &'c Condensed) -> Vec<Turn<'c>> {
    let note = |index: usize| notes.get(index).copied().unwrap_or_default();
    let output = condensed.messages.iter().filter_map(|output| match output {
        Output::Kept { index } => {
            let message = conversation.messages.get(*index)?;
            Some(turn(message, text_of(&message.content), note(*index)))
        }
        Output::Replaced(replacement) => {
            let index = *replacement.sources.first()?;
            let message = conversation.messages.get(index)?;
            let text = match &replacement.body {
                NewBody::Text(text) => Cow::Borrowed(text.as_str()),
                NewBody::Parts(parts) => {
                    Cow::Owned(parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n"))
                }
            };
            Some(Turn { is_compacted: true, ..turn(message, text, note(index)) })
        }
    });
    output.collect()
}

fn turn<'c>(message: &'c Message<'_>, text: Cow<'c, str>, note: Note) -> Turn<'c> {
    let thoughts: Vec<&str> = message.reasoning.iter().map(|thought| thought.text.as_ref()).collect();
    Turn {
        role: &message.role,
        name: message.name.as_deref(),
        text,
        thinking: thoughts.join("\n\n"),
        calls: &message.tool_calls,
        call_id: message.tool_call_id.as_deref(),
        is_target: message.role == Role::Assistant && !note.is_cut && !note.is_masked,
        is_compacted: false,
    }
}

/// Chats have texts and nothing else.
fn text_of<'c>(content: &'c Content<'_>) -> Cow<'c, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text.as_ref()),
        _ => Cow::Borrowed(""),
    }
}
