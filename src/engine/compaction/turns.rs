//! The archived part of a conversation as the turns of a question: replies whole, each result with the id of its call.
//! Knows how logs cut replies; refuses to know prompts and what an API makes of turns.

use super::tail::is_result;
use crate::model::{Message, Role, ToolCall, Turn};

/// The turns of `messages`. Content that is no text is left out, and so is a message of which nothing is left.
pub(super) fn turns(messages: &[Message<'_>]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::with_capacity(messages.len());
    // Ids of calls of the last reply that wait for a result.
    let mut open: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let text = message.texts().collect::<Vec<_>>().join("\n");
        if is_result(message) {
            let named = message.tool_call_id.as_deref().and_then(|id| open.iter().position(|open| open == id));
            // Where ids do not tell, results come in the order of their calls.
            let own = message.tool_call_id.as_deref().map(str::to_owned);
            let call_id = if open.is_empty() { own } else { Some(open.remove(named.unwrap_or(0))) };
            turns.push(Turn { role: "tool".to_owned(), text, calls: Vec::new(), call_id });
            continue;
        }
        if text.trim().is_empty() && message.tool_calls.is_empty() {
            continue;
        }
        let calls: Vec<_> =
            message.tool_calls.iter().enumerate().map(|(nth, call)| of_call(call, index, nth)).collect();
        let ids = calls.iter().map(|(id, _, _)| id.clone());
        // Logs write one reply as several messages.
        if message.role == Role::Assistant
            && let Some(reply) = turns.last_mut().filter(|turn| turn.role == "assistant")
        {
            reply.text.push_str(if reply.text.is_empty() || text.is_empty() { "" } else { "\n" });
            reply.text.push_str(&text);
            open.extend(ids);
            reply.calls.extend(calls);
            continue;
        }
        open = ids.collect();
        let role = match message.role {
            Role::Assistant => "assistant",
            Role::System | Role::Developer => "system",
            _ => "user",
        };
        turns.push(Turn { role: role.to_owned(), text, calls, call_id: None });
    }
    turns
}

/// Id, name and arguments.
fn of_call(call: &ToolCall<'_>, index: usize, nth: usize) -> (String, String, String) {
    let id = call.id.as_deref().map_or_else(|| format!("call_{index}_{nth}"), str::to_owned);
    (id, call.name.as_deref().unwrap_or_default().to_owned(), call.arguments.clone().into_owned())
}
