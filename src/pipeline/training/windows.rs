//! Chats that fit no context, cut where turns end. A window has turns that are to be learned, and before them as much of what led there
//! as fits, which is not learned again; it begins with the system prompt, the task and what was asked last. Knows chats; refuses to
//! know engines and why a budget is what it is.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::chat::{self, Chat, Note};
use crate::model::{Content, Conversation, Message, Role};
use crate::walk::Copies;

/// Stands for what came of the last calls, which nobody answers any more.
pub(super) const NOT_READ: &str = "[nothing follows what came of this]";
/// One line in so many of what an edit copies may be unknown where it is learned.
pub(super) const MOST_UNKNOWN: usize = 4;
/// Tokens of a template beside those of a message, about.
const AROUND: usize = 4;
/// Where so much of a window is full it ends before the next words of the user.
const NEARLY_FULL: f64 = 0.7;

/// The chat up to the last turn of the assistant, with the results that an API wants behind its calls.
pub(super) fn ended<'a>(chat: &Chat<'a>) -> Chat<'a> {
    let mut chat = chat.clone();
    let messages = &mut chat.conversation.messages;
    let last = messages.iter().rposition(is_assistant).map_or(0, |last| last + 1);
    let n_results = messages[last..].iter().take_while(|message| message.role == Role::Tool).count();
    messages.truncate(last + n_results);
    chat.notes.truncate(last + n_results);
    for message in &mut messages[last..] {
        if text_of(message).len() > 2 * NOT_READ.len() {
            message.content = Content::Text(Cow::Borrowed(NOT_READ));
        }
    }
    chat
}

/// A chat that is cut into windows.
pub(super) struct Long<'c, 'a> {
    chat: &'c Chat<'a>,
    /// Tokens of each message.
    costs: Vec<usize>,
    /// How many messages stand at the beginning of every window: the system prompt and the first words of the user.
    first: usize,
    /// Where the turn of each message begins: that of a result with its call.
    turns: Vec<usize>,
    /// The last message of the user before each message, behind the beginning.
    asked: Vec<Option<usize>>,
    copies: Copies,
}

impl<'c, 'a> Long<'c, 'a> {
    /// `costs` are the tokens of each message.
    pub(super) fn new(chat: &'c Chat<'a>, costs: Vec<usize>) -> Self {
        let messages = &chat.conversation.messages;
        let n_system = messages.iter().take_while(|message| message.role == Role::System).count();
        let first = n_system + usize::from(messages.get(n_system).is_some_and(|message| message.role == Role::User));
        let (mut turns, mut asked, mut last) = (Vec::new(), Vec::new(), None);
        for (at, message) in messages.iter().enumerate() {
            let before = turns.last().copied().unwrap_or_default();
            turns.push(if message.role == Role::Tool { before } else { at });
            asked.push(last);
            last = (message.role == Role::User && at >= first).then_some(at).or(last);
        }
        Self { chat, costs, first, turns, asked, copies: Copies::of(&chat.conversation) }
    }

    /// Tokens of some messages.
    pub(super) fn cost(&self, range: Range<usize>) -> usize {
        self.costs[range].iter().sum()
    }

    /// All messages behind the beginning.
    pub(super) fn behind(&self) -> Range<usize> {
        self.first..self.costs.len()
    }

    /// The turns of each window that are to be learned, out of those in `range`, where those of a window may have about `room` tokens.
    pub(super) fn cut(&self, range: Range<usize>, room: usize) -> Vec<Range<usize>> {
        let messages = &self.chat.conversation.messages;
        // Of one size, as far as turns allow.
        let total = self.cost(range.clone());
        let room = room.min(total.div_ceil(total.div_ceil(room.max(1)).max(1)));
        let (mut ranges, mut begin, mut taken): (Vec<Range<usize>>, _, _) = (Vec::new(), range.start, 0);
        let mut border = range.start;
        while border < range.end {
            let end = (border + 1..range.end).find(|&at| self.turns[at] == at).unwrap_or(range.end);
            let cost = self.cost(border..end);
            let is_asked = messages[border].role == Role::User;
            let is_full = taken + cost > room || is_asked && taken as f64 > room as f64 * NEARLY_FULL;
            // Who is asked and does not answer says nothing.
            let is_answer = border > begin && !is_asked && messages[border - 1].role == Role::User;
            let cut = if is_answer { border - 1 } else { border };
            if is_full && messages[begin..cut].iter().any(is_assistant) {
                ranges.push(begin..cut);
                taken = self.cost(cut..border);
                begin = cut;
            }
            taken += cost;
            border = end;
        }
        // Few turns go with those before them, unless those fit nowhere.
        let is_little = taken as f64 <= room as f64 * (1.0 - NEARLY_FULL);
        match ranges.last_mut().filter(|last| is_little && self.cost(Range::clone(last)) <= room) {
            Some(last) => last.end = range.end,
            None => ranges.push(begin..range.end),
        }
        ranges
    }

    /// Where a window may begin whose own turns begin at `start`, so that what stands before them comes to at most `room` tokens.
    fn reach(&self, start: usize, room: usize) -> usize {
        let (mut reached, mut taken) = (start, 0);
        for at in (self.first..start).rev() {
            taken += self.costs[at];
            if taken > room {
                break;
            }
            reached = if self.turns[at] == at { at } else { reached };
        }
        reached
    }

    /// Turns before `start` that show last what edits among `own` copy, in at most `room` tokens, those first that show most of it.
    fn brought(&self, start: usize, own: &Range<usize>, room: usize) -> Vec<Range<usize>> {
        let mut wanted: BTreeMap<usize, usize> = BTreeMap::new();
        for (first, last) in own.clone().flat_map(|message| self.copies.shown(message)).flatten() {
            let turn = self.turns[last];
            if first >= self.first && last < start && is_assistant(&self.chat.conversation.messages[turn]) {
                *wanted.entry(turn).or_default() += 1;
            }
        }
        let mut wanted: Vec<(usize, usize)> = wanted.into_iter().collect();
        wanted.sort_by_key(|&(turn, n_lines)| (Reverse(n_lines), Reverse(turn)));
        let (mut left, mut brought) = (room, Vec::new());
        for (turn, _) in wanted {
            let n_messages = self.turns[turn..].iter().take_while(|of| **of == turn).count();
            let range = turn..turn + n_messages;
            if let Some(rest) = left.checked_sub(self.cost(range.clone())) {
                left = rest;
                brought.push(range);
            }
        }
        brought.sort_by_key(|range| range.start);
        brought
    }

    /// The window whose `own` turns are to be learned, with about `room` tokens before them: what its edits copy, and what led there.
    pub(super) fn window(&self, own: &Range<usize>, room: usize) -> Chat<'a> {
        let nearest = self.reach(own.start, room);
        let brought = self.brought(nearest, own, room / 2);
        let taken: usize = brought.iter().map(|range| self.cost(range.clone())).sum();
        let start = self.reach(own.start, room - taken);
        let brought = self.brought(start, own, taken);
        self.told(&brought, start, own)
    }

    /// The window that shows some turns, and all messages from `start` on.
    fn told(&self, brought: &[Range<usize>], start: usize, own: &Range<usize>) -> Chat<'a> {
        let chat = self.chat;
        let first = self.first.min(start);
        // What was asked last where it begins.
        let asked = self.asked[start].map(|at| at..at + 1);
        let mut pieces: Vec<Range<usize>> = brought.iter().cloned().chain(asked).collect();
        pieces.sort_by_key(|range| range.start);
        pieces.push(start..own.end);
        let is_there = |at: usize| at < first || pieces.iter().any(|range| range.contains(&at));
        let is_known = |at: usize| {
            let shown = || self.copies.shown(at).flatten();
            let n_unknown = shown().filter(|&(first, last)| !is_there(first) && !is_there(last)).count();
            n_unknown * MOST_UNKNOWN <= shown().count()
        };
        let (mut told, mut end) = (Told::default(), 0);
        for range in std::iter::once(0..first).chain(pieces.iter().cloned()) {
            match range.start - end {
                0 => {}
                1 => told.say("[1 message is left out here]"),
                n => told.say(&format!("[{n} messages are left out here]")),
            }
            end = range.end;
            for at in range {
                let note = chat.notes[at];
                let is_own = own.contains(&at);
                told.push(
                    &chat.conversation.messages[at],
                    Note { is_masked: note.is_masked || !is_own || !is_known(at), ..note },
                );
            }
        }
        let conversation = Conversation {
            id: chat.conversation.id.clone(),
            messages: told.messages,
            is_compacted: chat.conversation.is_compacted,
            ..Conversation::default()
        };
        ended(&Chat { conversation, notes: told.notes, left: chat.left })
    }
}

/// The messages of a window so far; neighbours of the user are one.
#[derive(Default)]
struct Told<'a> {
    messages: Vec<Message<'a>>,
    notes: Vec<Note>,
}

impl<'a> Told<'a> {
    fn push(&mut self, message: &Message<'a>, note: Note) {
        if message.role == Role::User && self.messages.last().is_some_and(|last| last.role == Role::User) {
            return self.say(text_of(message));
        }
        self.messages.push(message.clone());
        self.notes.push(note);
    }

    /// Something stands in the place of the user.
    fn say(&mut self, text: &str) {
        if let Some(last) = self.messages.last_mut().filter(|last| last.role == Role::User) {
            last.content = Content::Text(Cow::Owned(format!("{}\n\n{text}", text_of(last))));
            return;
        }
        self.messages.push(chat::said(Role::User, Cow::Owned(text.to_owned())));
        self.notes.push(Note { is_filler: true, ..Note::default() });
    }
}

fn is_assistant(message: &Message<'_>) -> bool {
    message.role == Role::Assistant
}

fn text_of<'m>(message: &'m Message<'_>) -> &'m str {
    match &message.content {
        Content::Text(text) => text,
        _ => "",
    }
}

/// Tokens of each message, about: they share those of the row by their lengths.
pub(super) fn costs(conversation: &Conversation<'_>, n_tokens: usize) -> Vec<usize> {
    let lengths = lengths(conversation);
    let share = n_tokens as f64 / lengths.iter().sum::<usize>().max(1) as f64;
    lengths.into_iter().map(|length| AROUND + (length as f64 * share) as usize).collect()
}

/// Bytes of each message.
pub(super) fn lengths(conversation: &Conversation<'_>) -> Vec<usize> {
    let length = |message: &Message<'_>| {
        let calls: usize = message.tool_calls.iter().map(|call| call.arguments.len()).sum();
        let thoughts: usize = message.reasoning.iter().map(|thought| thought.text.len()).sum();
        message.texts().map(str::len).sum::<usize>() + calls + thoughts
    };
    conversation.messages.iter().map(length).collect()
}
