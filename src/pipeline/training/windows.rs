//! Chats that fit no context, cut where turns end: every window begins with the system prompt and the task, and says how much of the
//! conversation came before it. Knows chats; refuses to know budgets' reasons.

use std::borrow::Cow;
use std::ops::Range;

use super::turns::turns_after;
use crate::chat::{Chat, Note};
use crate::model::{Condensed, Content, Conversation, Message, Role};

/// Ranges of messages, the task left out, that come to about `max_tokens` each; none when there is nothing to cut.
pub(super) fn cut(chat: &Chat<'_>, condensed: &Condensed, max_tokens: usize) -> Vec<Range<usize>> {
    let messages = &chat.conversation.messages;
    let first = beginning(messages);
    let borders: Vec<usize> = (first..messages.len()).filter(|&at| messages[at].role != Role::Tool).collect();
    if borders.len() < 2 {
        return Vec::new();
    }
    // What each message takes, by its characters.
    let mut chars = vec![0; messages.len()];
    let turns = turns_after(&chat.conversation, condensed);
    for (output, turn) in condensed.messages.iter().zip(&turns) {
        let calls: usize = turn.calls.iter().map(|call| call.arguments.len()).sum();
        if let Some(place) = chars.get_mut(output.first_source()) {
            *place += turn.text.len() + turn.thinking.len() + calls;
        }
    }
    let (total, task): (usize, usize) = (chars.iter().sum(), chars[..first].iter().sum());
    let tokens_per_char = condensed.metrics.tokens_out as f64 / total.max(1) as f64;
    // Nine tenths: what a template adds, and what the estimate misses.
    let room = (max_tokens as f64 * 0.9 / tokens_per_char) as usize;
    let room = room.saturating_sub(task).max(1);
    let n_windows = (total - task).div_ceil(room).clamp(2, borders.len());
    let share = (total - task).div_ceil(n_windows);
    let (mut ranges, mut begin, mut taken) = (Vec::new(), first, 0);
    for (at, &border) in borders.iter().enumerate() {
        let end = borders.get(at + 1).copied().unwrap_or(messages.len());
        let next: usize = chars[border..end].iter().sum();
        if border > begin && taken + next > share && messages[begin..border].iter().any(is_assistant) {
            ranges.push(begin..border);
            (begin, taken) = (border, 0);
        }
        taken += next;
    }
    if messages[begin..].iter().any(is_assistant) || ranges.is_empty() {
        ranges.push(begin..messages.len());
    } else if let Some(last) = ranges.last_mut() {
        // What nobody answers is no window of its own.
        last.end = messages.len();
    }
    if ranges.len() < 2 { Vec::new() } else { ranges }
}

fn is_assistant(message: &Message<'_>) -> bool {
    message.role == Role::Assistant
}

/// How many messages stand at the beginning of every window: the system prompt and the first words of the user.
fn beginning(messages: &[Message<'_>]) -> usize {
    let n_system = messages.iter().take_while(|message| message.role == Role::System).count();
    n_system + usize::from(messages.get(n_system).is_some_and(|message| message.role == Role::User))
}

/// Where the messages of a window stand in its chat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// How many messages it begins with that stand at the beginning of the chat.
    n_first: usize,
    /// Where those behind them begin.
    start: usize,
}

impl Place {
    /// Where the messages of the window in `range` stand in the chat.
    pub(super) fn in_chat(self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| at + self.start - self.n_first;
        place(range.start)..place(range.end)
    }
}

/// The window with these messages of a chat; without a range all of it.
pub(super) fn window<'a>(chat: &Chat<'a>, range: Option<Range<usize>>) -> (Chat<'a>, Place) {
    let Some(range) = range else { return (chat.clone(), Place { n_first: 0, start: 0 }) };
    let messages = &chat.conversation.messages;
    let first = beginning(messages).min(range.start);
    let n_before = range.start - first;
    let mut kept: Vec<Message<'a>> = messages[..first].to_vec();
    let mut notes: Vec<Note> = chat.notes[..first].to_vec();
    let mut rest = range;
    if let Some(task) = kept.last_mut().filter(|message| n_before > 0 && message.role == Role::User) {
        let mut text = text_of(task).into_owned();
        let messages_are = if n_before == 1 { "1 message is" } else { &format!("{n_before} messages are") };
        text.push_str(&format!("\n\n[{messages_are} left out here]"));
        if messages.get(rest.start).is_some_and(|message| message.role == Role::User) {
            text.push_str("\n\n");
            text.push_str(&text_of(&messages[rest.start]));
            rest.start += 1;
        }
        task.content = Content::Text(Cow::Owned(text));
    }
    let place = Place { n_first: kept.len(), start: rest.start };
    kept.extend_from_slice(&messages[rest.clone()]);
    notes.extend_from_slice(&chat.notes[rest]);
    let conversation = Conversation {
        id: chat.conversation.id.clone(),
        messages: kept,
        is_compacted: chat.conversation.is_compacted,
        ..Conversation::default()
    };
    (Chat { conversation, notes, left: chat.left }, place)
}

fn text_of<'m>(message: &'m Message<'_>) -> Cow<'m, str> {
    match &message.content {
        Content::Text(text) => Cow::Borrowed(text.as_ref()),
        _ => Cow::Borrowed(""),
    }
}
