//! What kind of conversation it is: its class and its language. Knows messages, no table.

use crate::model::{Content, Conversation, Message, Part, Role};
use crate::text::language;

/// What kind of conversation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MakeUp {
    /// See [`class_of`].
    pub(crate) class: &'static str,
    /// The ISO 639-1 code of the language that most is said in.
    pub(crate) language: Option<&'static str>,
}

impl MakeUp {
    pub(crate) fn of(conversation: &Conversation<'_>) -> Self {
        // What people and models say, not what tools print; the beginnings of a few messages tell enough.
        let is_spoken = |role: &Role<'_>| !matches!(role, Role::System | Role::Developer | Role::Tool | Role::Function);
        let spoken = conversation.messages.iter().filter(|message| is_spoken(&message.role));
        Self { class: class_of(conversation), language: language(spoken.flat_map(Message::texts)) }
    }
}

/// The class of a conversation, from its make-up alone: `tool-heavy` when a quarter of its messages call tools or
/// carry results, else `code` when a fifth of them have a fenced block, else `long-prose` when a message has
/// 1,500 bytes of text on average, else `chat`; `other` when nobody says anything.
pub(crate) fn class_of(conversation: &Conversation<'_>) -> &'static str {
    let (mut tools, mut fenced, mut bytes, mut spoken) = (0, 0, 0, 0);
    let fence = memchr::memmem::Finder::new("```");
    for message in &conversation.messages {
        if !message.tool_calls.is_empty() || matches!(message.role, Role::Tool | Role::Function) {
            tools += 1;
        }
        let (mut has_fence, mut length) = (false, 0);
        for text in message.texts() {
            has_fence = has_fence || fence.find(text.as_bytes()).is_some();
            length += text.len();
        }
        fenced += usize::from(has_fence);
        spoken += usize::from(
            length > 0
                || matches!(&message.content, Content::Parts(parts) if parts.iter().any(|part| !matches!(part, Part::Text(_)))),
        );
        bytes += length;
    }
    let n_messages = conversation.messages.len();
    if spoken == 0 && tools == 0 {
        "other"
    } else if tools * 4 >= n_messages {
        "tool-heavy"
    } else if fenced * 5 >= n_messages {
        "code"
    } else if bytes >= 1500 * spoken {
        "long-prose"
    } else {
        "chat"
    }
}
