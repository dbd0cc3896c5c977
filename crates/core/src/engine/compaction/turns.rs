//! The archived part of a conversation as the turns of a question: replies whole, each result with the id of its call.
//! Knows how logs cut replies; refuses to know prompts and what an API makes of turns.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::FixedState;

use super::tail::is_result;
use crate::model::{Message, Role, ToolCall, Turn};

/// The turns of `messages`. Content that is no text is left out, and so is a message of which nothing is left.
pub(super) fn turns(messages: &[Message<'_>]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::with_capacity(messages.len());
    // Ids of calls of the last reply that wait for a result.
    let mut open = Open::default();
    for (index, message) in messages.iter().enumerate() {
        let text = message.texts().collect::<Vec<_>>().join("\n");
        if is_result(message) {
            let own = message.tool_call_id.as_deref();
            let call_id = open.take(own).or_else(|| own.map(str::to_owned));
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
        open = Open::default();
        open.extend(ids);
        let role = match message.role {
            Role::Assistant => "assistant",
            Role::System | Role::Developer => "system",
            _ => "user",
        };
        turns.push(Turn { role: role.to_owned(), text, calls, call_id: None });
    }
    turns
}

/// Ids of calls in their order.
#[derive(Default)]
struct Open {
    /// `None` for those that have their result.
    ids: Vec<Option<String>>,
    /// Where each id stands.
    places: HashMap<String, VecDeque<usize>, FixedState>,
    /// No call before this one waits.
    first: usize,
}

impl Open {
    fn extend(&mut self, ids: impl Iterator<Item = String>) {
        for id in ids {
            self.places.entry(id.clone()).or_default().push_back(self.ids.len());
            self.ids.push(Some(id));
        }
    }

    /// The call that a result for `id` answers: where ids do not tell, results come in the order of their calls.
    fn take(&mut self, id: Option<&str>) -> Option<String> {
        if let Some(places) = id.and_then(|id| self.places.get_mut(id)) {
            while let Some(place) = places.pop_front() {
                if let Some(id) = self.ids[place].take() {
                    return Some(id);
                }
            }
        }
        let waiting = self.ids.iter_mut().enumerate().skip(self.first).find(|(_, id)| id.is_some());
        let (first, id) = waiting?;
        self.first = first + 1;
        id.take()
    }
}

/// Id, name and arguments.
fn of_call(call: &ToolCall<'_>, index: usize, nth: usize) -> (String, String, String) {
    let id = call.id.as_deref().map_or_else(|| format!("call_{index}_{nth}"), str::to_owned);
    (id, call.name.as_deref().unwrap_or_default().to_owned(), call.arguments.clone().into_owned())
}
