//! Everything that happened in a record, in order: its messages and, of an event log, what beside them reached the API. Knows
//! which events those are; refuses to know who belongs to which conversation.

use std::borrow::Cow;

use crate::model::ShapeName;
use crate::shape::{Decoded, RawJson, member};

/// One thing that happened.
#[derive(Debug, Clone)]
pub(super) enum Step<'a> {
    /// The message with this index.
    Message(usize),
    /// What the user said while the assistant was at work.
    Said(Cow<'a, str>),
    /// What the assistant thinks before its next message.
    Thought(Cow<'a, str>),
    /// What stands for everything before it from here on.
    Compacted(Cow<'a, str>),
    /// What the program told the model before anything else.
    Instructions(Cow<'a, str>),
    /// Nothing that reached the API; others may name it as what was before them.
    Other,
}

/// One thing that happened, with the names that tell what it follows.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) step: Step<'a>,
    /// The JSON of the event or message.
    pub(super) raw: &'a str,
}

/// What happened, in order.
pub(super) fn of<'a>(decoded: &'a Decoded<'_>) -> Vec<Event<'a>> {
    let messages = &decoded.conversation.messages;
    let mut passed = decoded.passed().peekable();
    let mut events = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        while let Some((_, raw)) = passed.next_if(|&(before, _)| before <= index) {
            events.push(Event { step: beside(decoded.shape(), raw), raw });
        }
        let step = if is_summary(decoded.shape(), message.raw) {
            Step::Compacted(Cow::Owned(message.texts().collect::<Vec<_>>().join("\n")))
        } else {
            Step::Message(index)
        };
        events.push(Event { step, raw: message.raw });
    }
    events.extend(passed.map(|(_, raw)| Event { step: beside(decoded.shape(), raw), raw }));
    events
}

/// True for the message with which Claude Code goes on after it compacted its context.
fn is_summary(shape: ShapeName, raw: &str) -> bool {
    shape == ShapeName::ClaudeCode && member(raw, "isCompactSummary").is_some_and(|value| value.text == "true")
}

/// What an event is that carries no message.
fn beside(shape: ShapeName, raw: &str) -> Step<'_> {
    let kind = member(raw, "type").and_then(RawJson::string).unwrap_or_default();
    let found = match (shape, kind.as_ref()) {
        (ShapeName::ClaudeCode, "attachment") => member(raw, "attachment")
            .filter(|what| member(what.text, "type").is_some_and(|kind| kind.text == "\"queued_command\""))
            .and_then(|what| text(member(what.text, "prompt")))
            .map(|said| Step::Said(Cow::Owned(said.into_owned()))),
        (ShapeName::Codex, "response_item") => member(raw, "payload")
            .filter(|what| member(what.text, "type").is_some_and(|kind| kind.text == "\"reasoning\""))
            .and_then(|what| thought(what.text))
            .map(|text| Step::Thought(Cow::Owned(text))),
        (ShapeName::Codex, "session_meta") => member(raw, "payload")
            .and_then(|what| member(what.text, "base_instructions"))
            .and_then(|what| text(member(what.text, "text")))
            .map(|text| Step::Instructions(Cow::Owned(text.into_owned()))),
        (ShapeName::Codex, "compacted") => member(raw, "payload")
            .and_then(|what| text(member(what.text, "message")))
            .map(|text| Step::Compacted(Cow::Owned(text.into_owned()))),
        (ShapeName::Pi, "compaction") => {
            text(member(raw, "summary")).map(|text| Step::Compacted(Cow::Owned(text.into_owned())))
        }
        _ => None,
    };
    found.unwrap_or(Step::Other)
}

/// A text that says something.
fn text(value: Option<RawJson<'_>>) -> Option<Cow<'_, str>> {
    value.and_then(RawJson::string).filter(|text| !text.trim().is_empty())
}

/// The texts of a `reasoning` item of the Responses API: its content, or the summary that is shown of it.
fn thought(item: &str) -> Option<String> {
    let list = |key: &str| {
        let mut texts = Vec::new();
        if let Some(list) = member(item, key).filter(|list| list.is_list()) {
            crate::shape::items(list.text, |part| {
                texts.extend(member(part.text, "text").and_then(RawJson::string).map(Cow::into_owned));
            });
        }
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    };
    list("content").or_else(|| list("summary")).filter(|text| !text.trim().is_empty())
}
