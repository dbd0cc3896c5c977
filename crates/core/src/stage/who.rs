//! Who speaks to whom: which message sets the task, and which are the words of the one user of an assistant. Meetings and
//! chats of many speakers have no such user. Knows roles and names; refuses to know what becomes of a message.

use crate::model::{Conversation, Message, Role, marker};
use crate::text::begins_with_consent;

/// Up to here a message of the user's is what he typed, and says so little that hiding it saves nothing.
const MAX_SHORT_WORDS: usize = 400;
/// Up to here what opens with a yes or a no is a consent; longer ones bring their material along.
const MAX_CONSENT: usize = 1_500;
/// What an agent program puts in front of the first words of its user.
const INJECTED: [&str; 3] = ["<", "# AGENTS.md", "Caveat: "];

/// The first message of a user that a program did not put there; what stands for others by now was not it.
#[must_use]
pub fn task_of(conversation: &Conversation<'_>) -> Option<usize> {
    let is_typed = |text: &str| {
        let text = text.trim_start();
        !INJECTED.iter().any(|head| text.starts_with(head)) && !marker::stands_for_others(text)
    };
    conversation.messages.iter().position(|message| {
        message.role == Role::User && message.provenance.is_none() && message.texts().next().is_some_and(is_typed)
    })
}

/// True where an assistant answers a user: where speakers have names there are several, and none of them is the user of
/// another.
pub(super) fn has_own_user(conversation: &Conversation<'_>) -> bool {
    let mut messages = conversation.messages.iter();
    messages.any(|message| message.role == Role::Assistant && message.name.is_none())
}

/// True for a yes or a no of the user of an assistant, with what he says of it.
#[must_use]
pub fn is_consent(message: &Message<'_>) -> bool {
    let n_chars = || message.texts().map(|text| text.chars().count()).sum::<usize>();
    is_by_user(message) && message.texts().next().is_some_and(begins_with_consent) && n_chars() <= MAX_CONSENT
}

fn is_by_user(message: &Message<'_>) -> bool {
    message.role == Role::User && message.name.is_none() && message.tool_call_id.is_none()
}

/// True for a short message and for a consent or refusal of the user of [`has_own_user`].
pub(super) fn is_own_words(message: &Message<'_>, n_chars: usize) -> bool {
    is_by_user(message) && n_chars <= MAX_SHORT_WORDS || is_consent(message)
}
