//! From pieces to turns: neighbours of one speaker are one turn, results stand behind their calls, each call has one. Knows what
//! chat templates and APIs want; refuses to know logs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::model::{Conversation, Message, Role, ShapeName, Thought};
use crate::shape::Decoded;

use super::flow::Step;
use super::openhands;
use super::pieces::{self, Piece, Reply};
use super::seen::{ASSISTANT_FIRST, Chat, LOST_CALL, LeftOut, NO_RESULT, Note, said};
use super::speakers::{self, Speakers};
use super::threads::Thread;
use super::tools::{final_reply, system_beside};
use super::waiting::Waiting;

/// What Claude Code writes in the user's name behind a turn that he stopped, or a call that he refused.
const INTERRUPTED: &str = "[Request interrupted by user";

/// The result of a call that the user of Claude Code did not allow.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";

/// What one speaker says at once.
#[derive(Debug)]
enum Turn<'a> {
    System(Vec<Cow<'a, str>>),
    Human(Vec<Cow<'a, str>>),
    Assistant { reply: Reply<'a>, results: Vec<Option<Cow<'a, str>>>, has_results: bool },
}

/// The conversation of a thread.
pub(super) fn chat<'a>(decoded: &'a Decoded<'_>, thread: Thread<'a>) -> Chat<'a> {
    let mut left = LeftOut { taken_back: thread.taken_back, ..LeftOut::default() };
    let pieces = pieces_of(decoded, thread.system, thread.steps, &mut left);
    let mut turns = Turns::of(&pieces);
    for piece in pieces {
        turns.take(piece, &mut left);
    }
    let id = Cow::Owned(format!("{}{}", decoded.conversation.id, thread.name));
    let (messages, notes) = turns.messages();
    let conversation =
        Conversation { id, messages, is_compacted: decoded.conversation.is_compacted, ..Conversation::default() };
    Chat { conversation, notes, left }
}

/// Everything that is said, in the order of the log.
fn pieces_of<'a>(
    decoded: &'a Decoded<'_>,
    system: Vec<Step<'a>>,
    steps: Vec<Step<'a>>,
    left: &mut LeftOut,
) -> Vec<Piece<'a>> {
    let conversation = &decoded.conversation;
    let speakers = speakers::of(&conversation.messages);
    let mut out = Vec::new();
    out.extend(system_beside(decoded).map(Piece::System));
    let mut thoughts = Vec::new();
    let steps = system.into_iter().chain(steps);
    // What a simulated user calls and gets is not what the assistant sees.
    let others = conversation.messages.iter().filter(|message| message.role == Role::User);
    let of_others: BTreeSet<&str> =
        others.flat_map(|message| &message.tool_calls).filter_map(|call| call.id.as_deref()).collect();
    for step in steps {
        let first = out.len();
        match step {
            Step::Message(at) => message(decoded, at, speakers, &mut out),
            Step::Said(text) | Step::Compacted(text) => out.push(Piece::Human { name: None, text }),
            Step::Thought(text) => thoughts.push(text),
            Step::Instructions(text) => out.push(Piece::System(text)),
            Step::Other => {}
        }
        for piece in out.iter_mut().skip(first) {
            match piece {
                Piece::Reply(reply) => drop(reply.thoughts.splice(0..0, thoughts.drain(..))),
                // What was thought before is of a reply that never came.
                Piece::Human { .. } => thoughts.clear(),
                _ => {}
            }
        }
        let is_of_other = |piece: &Piece<'_>| match piece {
            Piece::Result { call: Some(call), .. } => of_others.contains(call.as_ref()),
            _ => false,
        };
        if !of_others.is_empty() {
            let new = out.split_off(first);
            let n_new = new.len();
            out.extend(new.into_iter().filter(|piece| !is_of_other(piece)));
            left.of_user += n_new + first - out.len();
        }
        left.not_said += out.iter().skip(first).filter(|piece| matches!(piece, Piece::NotSaid)).count();
    }
    out.extend(final_reply(decoded).map(Piece::Reply));
    out
}

fn message<'a>(decoded: &'a Decoded<'_>, at: usize, speakers: Speakers<'a>, out: &mut Vec<Piece<'a>>) {
    let Some(message) = decoded.conversation.messages.get(at) else { return };
    // Its events tell by themselves what they are.
    if decoded.shape() == ShapeName::Openhands {
        return openhands::event(message, out);
    }
    if !message.results.is_empty() {
        return pieces::results(message, out);
    }
    match speakers {
        Speakers::Assistant(name) if speakers::speaker(message) == Some(name) => {
            out.push(Piece::Reply(Reply { texts: vec![pieces::text(&message.content)], ..Reply::default() }));
        }
        Speakers::Assistant(_) if matches!(message.role, Role::User | Role::Other(_)) => {
            out.push(Piece::Human { name: None, text: pieces::text(&message.content) });
        }
        Speakers::ByRole if message.role == Role::User => {
            out.push(Piece::Human { name: None, text: pieces::text(&message.content) });
        }
        _ => pieces::of(decoded, &decoded.conversation, at, out),
    }
}

/// The turns so far.
struct Turns<'a> {
    done: Vec<Turn<'a>>,
    /// The calls that the conversation has, anywhere.
    known: BTreeSet<Cow<'a, str>>,
    /// Calls that were made: their turn and their places in it, the newest turn under their id.
    made: BTreeMap<Cow<'a, str>, (usize, VecDeque<usize>)>,
    /// Results that came before their call, as logs of things that run at once have them.
    early: BTreeMap<Cow<'a, str>, Option<Cow<'a, str>>>,
    waiting: Waiting<'a>,
    /// What was thought in a reply that says and calls nothing, what the API calls it, and whether somebody spoke since.
    thoughts: Vec<Cow<'a, str>>,
    thought_in: Option<Cow<'a, str>>,
    is_stopped: bool,
}

impl<'a> Turns<'a> {
    fn of(pieces: &[Piece<'a>]) -> Self {
        let calls = pieces.iter().flat_map(|piece| match piece {
            Piece::Reply(reply) => reply.calls.as_slice(),
            _ => &[],
        });
        let known = calls.filter_map(|call| call.id.clone()).collect();
        Self {
            done: Vec::new(),
            known,
            made: BTreeMap::new(),
            early: BTreeMap::new(),
            waiting: Waiting::default(),
            thoughts: Vec::new(),
            thought_in: None,
            is_stopped: false,
        }
    }

    fn take(&mut self, piece: Piece<'a>, left: &mut LeftOut) {
        match piece {
            Piece::System(text) => self.system(text),
            Piece::Human { name, text } => self.human(match name {
                Some(name) => Cow::Owned(format!("{name}: {text}")),
                None => text,
            }),
            Piece::Reply(reply) => self.reply(reply, left),
            Piece::Result { call, name, text } => self.result(call.as_ref(), name, text),
            Piece::NotSaid => {}
        }
    }

    /// What comes later than the beginning is what the program says in the user's place.
    fn system(&mut self, text: Cow<'a, str>) {
        if text.trim().is_empty() {
            return;
        }
        match &mut *self.done {
            [] => self.done.push(Turn::System(vec![text])),
            [Turn::System(texts)] => texts.push(text),
            _ => self.human(Cow::Owned(format!("<system>\n{text}\n</system>"))),
        }
    }

    fn human(&mut self, text: Cow<'a, str>) {
        if text.trim().is_empty() {
            return;
        }
        self.is_stopped = true;
        if text.trim_start().starts_with(INTERRUPTED)
            && let Some(Turn::Assistant { reply, .. }) = self.done.last_mut()
        {
            reply.is_cut = true;
        }
        match self.done.last_mut() {
            Some(Turn::Human(texts)) => texts.push(text),
            _ => self.done.push(Turn::Human(vec![text])),
        }
    }

    fn reply(&mut self, mut reply: Reply<'a>, left: &mut LeftOut) {
        if reply.texts.iter().all(|text| text.trim().is_empty()) && reply.calls.is_empty() {
            // What was thought belongs to what is said next.
            if !reply.is_cut {
                self.thoughts.append(&mut reply.thoughts);
                (self.thought_in, self.is_stopped) = (reply.name, false);
            }
            return;
        }
        // A reply that somebody stopped goes on in none.
        if self.is_stopped && (self.thought_in.is_none() || self.thought_in != reply.name) {
            self.thoughts.clear();
        }
        reply.thoughts.splice(0..0, self.thoughts.drain(..));
        // What broke off before anything came of it, and was tried again.
        if let Some(Turn::Assistant { reply: retried, .. }) = self.done.pop_if(|turn| is_retried(turn)) {
            left.retried += 1;
            // What comes of its calls all the same is of no call that is there.
            for id in retried.calls.iter().filter_map(|call| call.id.as_ref()) {
                self.made.remove(id);
                self.known.remove(id);
            }
            self.waiting = Waiting::default();
        }
        let goes_on = match self.done.last() {
            Some(Turn::Assistant { reply: last, has_results, .. }) => {
                !has_results || reply.name.is_some() && last.name == reply.name
            }
            _ => false,
        };
        if !goes_on {
            self.waiting = Waiting::default();
            self.done.push(Turn::Assistant {
                reply: Reply { name: reply.name.clone(), ..Reply::default() },
                results: Vec::new(),
                has_results: false,
            });
        }
        let turn = self.done.len() - 1;
        let Some(Turn::Assistant { reply: last, results, has_results }) = self.done.last_mut() else { return };
        for call in reply.calls {
            let early = call.id.as_ref().and_then(|id| self.early.remove(id)).flatten();
            self.waiting.add(&call, last.calls.len());
            if let Some(id) = &call.id {
                let made = self.made.entry(id.clone()).or_default();
                if made.0 != turn {
                    *made = (turn, VecDeque::new());
                }
                made.1.push_back(last.calls.len());
            }
            last.calls.push(call);
            *has_results |= early.is_some();
            results.push(early);
        }
        last.name = reply.name.or(last.name.take());
        last.texts.append(&mut reply.texts);
        last.thoughts.append(&mut reply.thoughts);
        last.is_cut |= reply.is_cut;
        last.is_masked |= reply.is_masked;
    }

    fn result(&mut self, call: Option<&Cow<'a, str>>, name: Option<&str>, text: Cow<'a, str>) {
        if let Some(id) = call {
            // Of calls with one id the first that waits.
            let made = self.made.get_mut(id).map(|(turn, places)| {
                let place = if places.len() > 1 { places.pop_front() } else { places.front().copied() };
                (*turn, place.unwrap_or_default())
            });
            if let Some((turn, place)) = made {
                return self.put(turn, place, text);
            }
            if self.known.contains(id) {
                return also(self.early.entry(id.clone()).or_default(), text);
            }
        }
        let turn = self.done.len().saturating_sub(1);
        let waits = match self.done.last() {
            Some(Turn::Assistant { results, .. }) => self.waiting.first(results, call.is_some(), name),
            None | Some(Turn::System(_) | Turn::Human(_)) => None,
        };
        match waits {
            Some(place) => self.put(turn, place, text),
            None => self.human(Cow::Owned(format!("{LOST_CALL}\n{text}"))),
        }
    }

    /// A call that answers twice has both in its result.
    fn put(&mut self, turn: usize, place: usize, text: Cow<'a, str>) {
        if let Some(Turn::Assistant { results, has_results, .. }) = self.done.get_mut(turn) {
            *has_results = true;
            also(&mut results[place], text);
        }
    }

    fn messages(self) -> (Vec<Message<'a>>, Vec<Note>) {
        let (mut messages, mut notes) = (Vec::new(), Vec::new());
        let mut n_unnamed = 0;
        let begins = |turn: &Turn<'_>| !matches!(turn, Turn::System(_));
        let is_assistant_first = matches!(self.done.iter().find(|turn| begins(turn)), Some(Turn::Assistant { .. }));
        let mut needs_user = is_assistant_first;
        let mut push = |message: Message<'a>, note: Note| {
            messages.push(message);
            notes.push(note);
        };
        let filler = Note { is_filler: true, ..Note::default() };
        let n_turns = self.done.len();
        for (at, turn) in self.done.into_iter().enumerate() {
            if needs_user && begins(&turn) {
                push(said(Role::User, Cow::Borrowed(ASSISTANT_FIRST)), filler);
                needs_user = false;
            }
            match turn {
                Turn::System(texts) => push(said(Role::System, joined(texts)), Note::default()),
                Turn::Human(texts) => push(said(Role::User, joined(texts)), Note::default()),
                Turn::Assistant { reply, results, .. } => {
                    // Calls of which none was made, while the conversation goes on: somebody stopped them.
                    let is_stopped = at + 1 < n_turns && !results.is_empty() && results.iter().all(Option::is_none);
                    let is_refused = |result: &Option<Cow<'_, str>>| {
                        result.as_ref().is_some_and(|result| result.starts_with(REFUSED))
                    };
                    let is_refused = results.iter().any(is_refused);
                    let is_cut = reply.is_cut || is_stopped || is_refused;
                    let note = Note { is_cut, is_masked: reply.is_masked, ..Note::default() };
                    let mut calls = reply.calls;
                    let mut seen = BTreeSet::new();
                    for call in &mut calls {
                        let id = call.id.get_or_insert_with(|| {
                            n_unnamed += 1;
                            Cow::Owned(format!("call_{n_unnamed}"))
                        });
                        // Two calls of a turn have two ids.
                        while !seen.insert(id.to_string()) {
                            *id = Cow::Owned(format!("{id}_{}", seen.len()));
                        }
                    }
                    let answers: Vec<_> = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
                    let thought = |text| Thought { text, places: Vec::new() };
                    push(
                        Message {
                            tool_calls: calls,
                            reasoning: reply.thoughts.into_iter().map(thought).collect(),
                            ..said(Role::Assistant, joined(reply.texts))
                        },
                        note,
                    );
                    for ((id, name), result) in answers.into_iter().zip(results) {
                        let note = if result.is_some() { Note::default() } else { filler };
                        let text = result.unwrap_or(Cow::Borrowed(NO_RESULT));
                        push(Message { tool_call_id: id, name, ..said(Role::Tool, text) }, note);
                    }
                }
            }
        }
        (messages, notes)
    }
}

fn is_retried(turn: &Turn<'_>) -> bool {
    matches!(turn, Turn::Assistant { reply, has_results: false, .. } if reply.is_cut)
}

/// Adds a result to what is there.
fn also<'a>(result: &mut Option<Cow<'a, str>>, text: Cow<'a, str>) {
    match result {
        Some(before) if *before != text => {
            let before = before.to_mut();
            before.push('\n');
            before.push_str(&text);
        }
        Some(_) => {}
        None => *result = Some(text),
    }
}

fn joined(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    if texts.len() == 1 { texts.remove(0) } else { Cow::Owned(texts.join("\n\n")) }
}
