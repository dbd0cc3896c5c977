//! Two answers to one prompt, of which one was preferred: read beside the messages of a record, and put where the engine sees what both
//! use. Knows the words of data sets for it; refuses to know rows.

use std::borrow::Cow;

use serde_json::Value;

use crate::chat::{self, Alternative, Chat, Note};
use crate::model::{Message, Role, Thought};
use crate::shape::Decoded;

/// The two answers.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) chosen: Alternative,
    pub(super) rejected: Alternative,
}

/// Takes the answers of a record. Afterwards the last message of `chat` is the preferred one, which thinks what the other one says, so that
/// nothing is hidden that either of them uses; `None` where the record has no pair.
pub(super) fn pair(decoded: &Decoded<'_>, chat: &mut Chat<'_>) -> Option<Pair> {
    let member = |key: &str| decoded.beside(key).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let (chosen_beside, rejected) = (member("chosen"), member("rejected")?);
    // What stands before the answers must be one and the same.
    let of_record = || decoded.conversation.messages.iter().map(|message| serde_json::from_str(message.raw).ok());
    let before: Vec<Value> = match &chosen_beside {
        Some(chosen) => all_but_last(chosen).to_vec(),
        None => of_record().collect::<Option<Vec<Value>>>()?.split_last()?.1.to_vec(),
    };
    if all_but_last(&rejected) != before || chosen_beside.is_some() && !before.is_empty() {
        return None;
    }
    let rejected = Alternative::read(&rejected)?;
    let messages = &mut chat.conversation.messages;
    let chosen = if let Some(chosen) = chosen_beside {
        let chosen = Alternative::read(&chosen)?;
        // The prompt asks for an answer.
        if messages.last().is_some_and(|last| last.role == Role::Assistant) {
            return None;
        }
        chosen
    } else {
        // The messages are those that end with the preferred answer; its calls have no results.
        while messages.pop_if(|last| last.role == Role::Tool).is_some() {}
        let chosen = Alternative::of(&messages.pop_if(|last| last.role == Role::Assistant)?);
        chat.notes.truncate(messages.len());
        chosen
    };
    if chosen.said() == rejected.said() || chosen.is_empty() || rejected.is_empty() {
        return None;
    }
    let rejects = vec![Thought { text: Cow::Owned(rejected.said()), places: Vec::new() }];
    let said = chat::said(Role::Assistant, Cow::Owned(chosen.text.clone()));
    messages.push(Message { reasoning: rejects, tool_calls: chosen.calls.clone(), ..said });
    chat.notes.push(Note::default());
    Some(Pair { chosen, rejected })
}

fn all_but_last(list: &Value) -> &[Value] {
    list.as_array().and_then(|list| list.split_last()).map_or(&[], |(_, before)| before)
}
