//! A conversation as its reader sees it after the engine: roles, texts, calls. Content that is no text is left out.

use std::borrow::Cow;

use crate::model::{Condensed, Content, Conversation, Message, NewBody, Output, Part, Role, ToolCall};

/// What one speaker says at once.
#[derive(Debug)]
pub(super) struct Turn<'c> {
    pub(super) role: &'c Role<'c>,
    pub(super) name: Option<&'c str>,
    pub(super) text: Cow<'c, str>,
    pub(super) calls: &'c [ToolCall<'c>],
    pub(super) call_id: Option<&'c str>,
}

/// The turns of the input.
pub(super) fn turns_before<'c>(conversation: &'c Conversation<'c>) -> Vec<Turn<'c>> {
    conversation.messages.iter().map(|message| turn(message, text_of(&message.content, &[]))).collect()
}

/// The turns of the output.
pub(super) fn turns_after<'c>(conversation: &'c Conversation<'c>, condensed: &'c Condensed) -> Vec<Turn<'c>> {
    let output = condensed.messages.iter().filter_map(|output| match output {
        Output::Kept { index } => {
            let message = conversation.messages.get(*index)?;
            Some(turn(message, text_of(&message.content, &[])))
        }
        Output::Replaced(replacement) => {
            let message = conversation.messages.get(*replacement.sources.first()?)?;
            Some(match &replacement.body {
                NewBody::Text(text) => turn(message, Cow::Borrowed(text)),
                NewBody::Parts(parts) => turn(message, text_of(&message.content, parts)),
            })
        }
    });
    output.collect()
}

fn turn<'c>(message: &'c Message<'c>, text: Cow<'c, str>) -> Turn<'c> {
    Turn {
        role: &message.role,
        name: message.name.as_deref(),
        text,
        calls: &message.tool_calls,
        call_id: message.tool_call_id.as_deref(),
    }
}

/// The texts of a content, one per line group; those in `new` replace the parts at their indices.
fn text_of<'c>(content: &'c Content<'c>, new: &'c [(usize, String)]) -> Cow<'c, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Parts(parts) => {
            let texts = parts.iter().enumerate().filter_map(|(at, part)| match part {
                Part::Text(text) => {
                    Some(new.iter().find(|(index, _)| *index == at).map_or(text.as_ref(), |(_, new)| new.as_str()))
                }
                Part::Media(_) | Part::Opaque => None,
            });
            let mut texts: Vec<&str> = texts.collect();
            if texts.len() == 1 { Cow::Borrowed(texts.remove(0)) } else { Cow::Owned(texts.join("\n")) }
        }
        Content::Absent | Content::Null | Content::Other => Cow::Borrowed(""),
    }
}
