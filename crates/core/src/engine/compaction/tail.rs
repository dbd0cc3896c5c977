//! Where the archived part of a conversation ends and its recent messages begin. Calls and their results stay on one
//! side. Knows roles and ids of calls, by index and never by equality; refuses to know texts.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use crate::model::{Content, Conversation, EngineOptions, Message, Part, Role};

/// The places where a conversation may be cut.
#[derive(Debug)]
pub(super) struct Cuts<'c> {
    conversation: &'c Conversation<'c>,
    /// Number of messages at the head that stay.
    head: usize,
    /// For each index the first message that a tail must begin with to have every call whose result is at that index or
    /// behind it; one more entry for the empty tail.
    lowest: Vec<usize>,
}

impl<'c> Cuts<'c> {
    pub(super) fn of(conversation: &'c Conversation<'c>, options: &EngineOptions) -> Self {
        let messages = &conversation.messages;
        let is_head = |message: &Message<'_>| {
            is_system(&message.role) || options.preserve.iter().any(|role| role == message.role.as_str())
        };
        let head = messages.iter().take_while(|message| is_head(message)).count();
        let mut lowest = owners(conversation);
        lowest.push(messages.len());
        for at in (0..messages.len()).rev() {
            lowest[at] = lowest[at].min(lowest[at + 1]).min(at);
        }
        Self { conversation, head, lowest }
    }

    /// What goes to the archive when `n_recent` messages stay, systems not counted. A call that a result brings along
    /// counts; the results beside it do not.
    pub(super) fn archived(&self, n_recent: usize) -> Range<usize> {
        let messages = &self.conversation.messages;
        let (mut start, mut n_taken) = (messages.len(), 0);
        while n_taken < n_recent && start > self.head {
            start -= 1;
            if is_system(&messages[start].role) {
                continue;
            }
            n_taken += 1;
            if self.lowest[start] < start {
                start = self.lowest[start];
                n_taken += 1;
            }
        }
        self.up_to(start)
    }

    /// What goes to the archive when the tail begins at `start`, or before it where the cut would do harm.
    pub(super) fn up_to(&self, start: usize) -> Range<usize> {
        let messages = &self.conversation.messages;
        let role = |at: usize| messages.get(at).map(|message| &message.role);
        let calls = |at: usize| messages.get(at).is_some_and(|message| !message.tool_calls.is_empty());
        let mut start = start.min(messages.len());
        loop {
            let whole = self.lowest[start];
            // Behind the summary, which a user says, stands no user: no two neighbours of one role.
            let follows_user = role(start) == Some(&Role::User);
            // Logs write one reply as several messages, and one message may answer the calls of all of them.
            let is_one_reply = start > 0
                && role(start) == Some(&Role::Assistant)
                && role(start - 1) == Some(&Role::Assistant)
                && (calls(start) || calls(start - 1));
            if start <= self.head {
                return self.head..self.head;
            } else if whole < start {
                start = whole;
            } else if follows_user || is_one_reply {
                start -= 1;
            } else {
                return self.head..start;
            }
        }
    }
}

/// True for what holds for the whole conversation.
pub(super) fn is_system(role: &Role<'_>) -> bool {
    matches!(role, Role::System | Role::Developer)
}

/// True for what a tool gave.
pub(super) fn is_result(message: &Message<'_>) -> bool {
    matches!(message.role, Role::Tool | Role::Function) || message.tool_call_id.is_some()
}

/// True for a message whose copy can carry a summary: of a user without a name, with one text, and no part of a pair.
pub(super) fn can_carry_summary(message: &Message<'_>) -> bool {
    let has_one_text = match &message.content {
        Content::Text(_) => true,
        Content::Parts(parts) => parts.iter().filter(|part| matches!(part, Part::Text(_))).count() == 1,
        Content::Absent | Content::Null | Content::Other => false,
    };
    message.role == Role::User
        && has_one_text
        && message.name.is_none()
        && message.tool_calls.is_empty()
        && !is_result(message)
}

/// For each message the one whose call it answers; itself for all others. Where ids do not tell, it is the nearest message
/// before it that is no result.
fn owners(conversation: &Conversation<'_>) -> Vec<usize> {
    let mut callers: HashMap<&str, usize, FixedState> = HashMap::default();
    let mut speaker = 0;
    let mut owners = Vec::with_capacity(conversation.messages.len() + 1);
    for (index, message) in conversation.messages.iter().enumerate() {
        let is_result = is_result(message);
        let caller = message.tool_call_id.as_deref().and_then(|id| callers.get(id).copied());
        owners.push(if is_result { caller.unwrap_or(speaker) } else { index });
        if !is_result {
            speaker = index;
        }
        callers.extend(message.tool_calls.iter().filter_map(|call| Some((call.id.as_deref()?, index))));
    }
    owners
}
