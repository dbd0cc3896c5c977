//! Who is the assistant where no message says so: of two people the one who answers. Refuses to guess among more.

use crate::model::{Message, Role};

/// How the speakers of a conversation are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Speakers<'a> {
    /// By their roles.
    ByRole,
    /// The one with this name is the assistant.
    Assistant(&'a str),
    /// Several people, whose names stand before what they say.
    Many,
}

/// Looks at all messages of a conversation.
pub(super) fn of<'a>(messages: &'a [Message<'_>]) -> Speakers<'a> {
    let mut names: Vec<&str> = Vec::new();
    for message in messages {
        match speaker(message) {
            Some(name) if !names.contains(&name) && names.len() < 3 => names.push(name),
            _ => {}
        }
    }
    let has_assistant = messages.iter().any(|message| message.role == Role::Assistant);
    match *names {
        [_, answers] if !has_assistant => Speakers::Assistant(answers),
        [_, _, ..] => Speakers::Many,
        _ => Speakers::ByRole,
    }
}

/// The name of somebody who is neither an assistant nor a tool.
pub(super) fn speaker<'a>(message: &'a Message<'_>) -> Option<&'a str> {
    match &message.role {
        Role::User => message.name.as_deref(),
        Role::Other(name) => Some(name),
        _ => None,
    }
}
