//! Which of the events of a log belong to which conversation: sub-agents have their own, a compaction begins a new one, and what the
//! user took back belongs to none. Knows the names that events have for each other; refuses to know what they say.

use std::collections::BTreeMap;

use crate::model::{Message, Role};
use crate::shape::{Decoded, RawJson, member};

use super::flow::{Event, Step};

/// The events of one conversation.
#[derive(Debug, Default)]
pub(super) struct Thread<'a> {
    /// What stands behind the id of the record.
    pub(super) name: String,
    pub(super) steps: Vec<Step<'a>>,
    /// What an earlier thread began with and this one too: system prompts.
    pub(super) system: Vec<Step<'a>>,
    /// How many messages the user took back.
    pub(super) taken_back: usize,
}

/// Under which names events know themselves and what was before them.
const LINKS: [(&str, &str); 2] = [("uuid", "parentUuid"), ("id", "parentId")];

/// The conversations of a log, or the only one of another record.
pub(super) fn of<'a>(decoded: &Decoded<'_>, events: Vec<Event<'a>>) -> Vec<Thread<'a>> {
    let messages = &decoded.conversation.messages;
    if !decoded.shape().is_event_log() {
        let steps = events.into_iter().map(|event| event.step).collect();
        return vec![Thread { steps, ..Thread::default() }];
    }
    let links = Links::of(&events);
    let taken_back = links.taken_back(&events, messages);
    let (mut threads, mut agents): (Vec<Thread<'a>>, BTreeMap<String, Thread<'a>>) =
        (vec![Thread::default()], BTreeMap::new());
    let mut seen = std::collections::BTreeSet::new();
    for (at, event) in events.into_iter().enumerate() {
        let name = links.own[at];
        // A session that is resumed repeats what it goes on from.
        if matches!(event.step, Step::Other) || name.is_some_and(|name| !seen.insert(name)) {
            continue;
        }
        let thread = if is_side(event.raw) {
            let own = member(event.raw, "agentId").and_then(RawJson::string);
            let name = own.map_or_else(|| format!("agent-{}", links.roots[at]), |own| format!("agent-{own}"));
            agents.entry(name.clone()).or_insert_with(|| Thread { name: format!("/{name}"), ..Thread::default() })
        } else {
            if matches!(event.step, Step::Compacted(_)) {
                next(&mut threads, messages);
            }
            threads.last_mut().expect("there is always one")
        };
        if taken_back[at] {
            thread.taken_back += 1;
        } else {
            thread.steps.push(event.step);
        }
    }
    threads.extend(agents.into_values());
    threads.retain(|thread| thread.taken_back > 0 || !thread.steps.is_empty());
    threads
}

/// Begins the conversation that goes on after a compaction, with the system prompts of the one before.
fn next(threads: &mut Vec<Thread<'_>>, messages: &[Message<'_>]) {
    let Some(last) = threads.last().filter(|last| !last.steps.is_empty()) else { return };
    let is_system = |step: &&Step<'_>| match step {
        Step::Message(index) => {
            messages.get(*index).is_some_and(|message| matches!(message.role, Role::System | Role::Developer))
        }
        Step::Instructions(_) => true,
        _ => false,
    };
    let first = last.steps.iter().take_while(is_system).cloned();
    let system = last.system.iter().cloned().chain(first).collect();
    let name = format!("/{}", threads.len() + 1);
    threads.push(Thread { name, system, ..Thread::default() });
}

/// True for an event of a sub-agent of Claude Code.
fn is_side(raw: &str) -> bool {
    member(raw, "isSidechain").is_some_and(|value| value.text == "true")
}

/// What each event follows.
struct Links<'a> {
    own: Vec<Option<&'a str>>,
    /// The index of the event before.
    parents: Vec<Option<usize>>,
    /// The index of the first event of its chain.
    roots: Vec<usize>,
}

impl<'a> Links<'a> {
    fn of(events: &[Event<'a>]) -> Self {
        let named = |raw: &'a str, key: &str| member(raw, key).map(|value| value.text).filter(|text| *text != "null");
        let (own, before): (Vec<_>, Vec<_>) = events
            .iter()
            .map(|event| {
                let found = LINKS
                    .iter()
                    .find(|(own, before)| member(event.raw, before).is_some() && member(event.raw, own).is_some());
                found.map_or((None, None), |(own, before)| (named(event.raw, own), named(event.raw, before)))
            })
            .unzip();
        let mut places = BTreeMap::new();
        let mut parents = Vec::with_capacity(events.len());
        for at in 0..events.len() {
            // What names something that comes later names nothing.
            parents.push(before[at].and_then(|name: &str| places.get(name).copied()));
            if let Some(name) = own[at] {
                places.entry(name).or_insert(at);
            }
        }
        let mut roots: Vec<usize> = Vec::with_capacity(parents.len());
        for (at, parent) in parents.iter().enumerate() {
            roots.push(parent.map_or(at, |parent: usize| roots[parent]));
        }
        Self { own, parents, roots }
    }

    /// Of each event whether the user took it back: somebody's words that stand beside later ones after the same message, and all
    /// that follows them.
    fn taken_back(&self, events: &[Event<'_>], messages: &[Message<'_>]) -> Vec<bool> {
        let is_message = |at: usize| !matches!(events[at].step, Step::Other);
        // The message that each event follows, whatever else stands between; an event comes after its parent.
        let mut follows: Vec<Option<usize>> = Vec::with_capacity(events.len());
        for parent in &self.parents {
            follows.push(parent.and_then(|parent| if is_message(parent) { Some(parent) } else { follows[parent] }));
        }
        let is_human = |at: usize| match events[at].step {
            Step::Message(index) => messages.get(index).is_some_and(|message| message.role == Role::User),
            _ => false,
        };
        // The last event of what goes on from each: of words that stand beside each other those are alive from which the log goes on last.
        let mut last: Vec<usize> = (0..events.len()).collect();
        for at in (0..events.len()).rev() {
            if let Some(parent) = follows[at] {
                last[parent] = last[parent].max(last[at]);
            }
        }
        let mut last_of: BTreeMap<usize, usize> = BTreeMap::new();
        for at in (0..events.len()).filter(|&at| is_human(at)) {
            if let Some(parent) = follows[at] {
                let alive = last_of.entry(parent).or_insert(at);
                *alive = if last[at] >= last[*alive] { at } else { *alive };
            }
        }
        let mut is_back = Vec::with_capacity(events.len());
        for (at, follows) in follows.iter().enumerate() {
            let is_first = is_human(at) && follows.is_some_and(|parent| last_of.get(&parent) != Some(&at));
            is_back.push(is_first || follows.is_some_and(|parent| is_back[parent]));
        }
        is_back
    }
}
