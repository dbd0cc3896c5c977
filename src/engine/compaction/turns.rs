//! The archived part of a conversation as turns that every chat API takes: each call is answered, each answer has its
//! call. Knows what APIs ask of turns; refuses to know prompts.

use serde::de::IgnoredAny;

use super::tail::{is_result, is_system};
use crate::model::{Message, Role, ToolCall, Turn};

/// Stands for the result of a call that has none of its own.
const NO_RESULT: &str = "(no further result)";

/// The turns of `messages`. Content that is no text is left out, and so is a message of which nothing is left.
pub(super) fn turns(messages: &[Message<'_>]) -> Vec<Turn> {
    let mut turns = Turns::default();
    for (index, message) in messages.iter().enumerate() {
        turns.push(index, message);
    }
    turns.close();
    turns.all
}

#[derive(Default)]
struct Turns {
    all: Vec<Turn>,
    /// Ids of calls without a result, in order.
    open: Vec<String>,
}

impl Turns {
    fn push(&mut self, index: usize, message: &Message<'_>) {
        let text = message.texts().collect::<Vec<_>>().join("\n");
        if is_result(message) {
            return self.result(message, text);
        }
        if text.trim().is_empty() && message.tool_calls.is_empty() {
            return;
        }
        let calls: Vec<_> = message.tool_calls.iter().enumerate().map(|(nth, call)| of_call(call, index, nth)).collect();
        let ids = calls.iter().map(|(id, _, _)| id.clone());
        // Logs write one reply as several messages.
        if message.role == Role::Assistant
            && let Some(reply) = self.all.last_mut().filter(|turn| turn.role == "assistant")
        {
            if !reply.text.is_empty() && !text.is_empty() {
                reply.text.push('\n');
            }
            reply.text.push_str(&text);
            self.open.extend(ids);
            reply.calls.extend(calls);
            return;
        }
        self.close();
        self.open.extend(ids);
        let role = match &message.role {
            Role::Assistant => "assistant",
            role if is_system(role) => "system",
            _ => "user",
        };
        self.all.push(Turn { role: role.to_owned(), text, calls, call_id: None });
    }

    /// The result of the call that it names, or of the first one that waits.
    fn result(&mut self, message: &Message<'_>, text: String) {
        let named = message.tool_call_id.as_deref().and_then(|id| self.open.iter().position(|open| open == id));
        if self.open.is_empty() {
            self.all.push(Turn { role: "user".to_owned(), text: format!("Result of a tool:\n{text}"), ..Turn::default() });
            return;
        }
        let id = self.open.remove(named.unwrap_or(0));
        self.all.push(Turn { role: "tool".to_owned(), text, calls: Vec::new(), call_id: Some(id) });
    }

    /// Answers the calls that nobody answered.
    fn close(&mut self) {
        for id in std::mem::take(&mut self.open) {
            self.all.push(Turn {
                role: "tool".to_owned(),
                text: NO_RESULT.to_owned(),
                calls: Vec::new(),
                call_id: Some(id),
            });
        }
    }
}

/// Id, name and arguments; the arguments are one JSON object.
fn of_call(call: &ToolCall<'_>, index: usize, nth: usize) -> (String, String, String) {
    let id = call.id.as_deref().map_or_else(|| format!("call_{index}_{nth}"), str::to_owned);
    let name = call.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("tool").to_owned();
    let arguments = call.arguments.trim();
    let is_object = arguments.starts_with('{') && serde_json::from_str::<IgnoredAny>(arguments).is_ok();
    let arguments = match arguments {
        "" => "{}".to_owned(),
        object if is_object => object.to_owned(),
        other => serde_json::json!({ "input": other }).to_string(),
    };
    (id, name, arguments)
}
