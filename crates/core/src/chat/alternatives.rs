//! Answers that stand beside the messages of a record, of which one was preferred. Knows the words of data sets for it; refuses to know
//! which is better.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::chats;
use crate::model::{Message, Role, ToolCall};
use crate::shape::{Decoded, decode, detect};

/// What was answered: a text, calls, or both.
#[derive(Debug, Clone, Default)]
pub struct Alternative {
    /// Empty where it calls alone.
    pub text: String,
    /// In order.
    pub calls: Vec<ToolCall<'static>>,
}

impl Alternative {
    /// Of a text, a message, or the last message of a list.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self { text: text.clone(), calls: Vec::new() }),
            Value::Array(list) => Self::read(list.last()?),
            Value::Object(message) => {
                let list = if message.contains_key("from") { "conversations" } else { "messages" };
                let record = json!({ list: [value] }).to_string();
                let decoded = decode(&record, detect(&record)?, "").ok()?;
                let chat = chats(&decoded).into_iter().next()?;
                let messages = &chat.conversation.messages;
                messages.iter().find(|message| message.role == Role::Assistant).map(Self::of)
            }
            _ => None,
        }
    }

    /// Of a turn.
    #[must_use]
    pub fn of(message: &Message<'_>) -> Self {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(|text| Cow::Owned(text.to_owned()));
        let call = |call: &ToolCall<'_>| ToolCall {
            id: owned(&call.id),
            name: owned(&call.name),
            arguments: Cow::Owned(call.arguments.to_string()),
            place: None,
        };
        Self { text: message.texts().collect(), calls: message.tool_calls.iter().map(call).collect() }
    }

    /// True where nothing was answered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    /// All that it says, whatever calls are called.
    #[must_use]
    pub fn said(&self) -> String {
        let calls = self.calls.iter().flat_map(|call| [call.name.as_deref().unwrap_or_default(), &call.arguments]);
        std::iter::once(self.text.as_str()).chain(calls).collect::<Vec<_>>().join("\n")
    }
}

/// What stands under the keys `chosen` and `rejected` of a record, where those are not its messages.
#[must_use]
pub fn alternatives(decoded: &Decoded<'_>) -> Vec<Alternative> {
    let beside = ["chosen", "rejected"].iter().filter_map(|key| decoded.beside(key));
    beside.filter_map(|text| Alternative::read(&serde_json::from_str(text).ok()?)).collect()
}
