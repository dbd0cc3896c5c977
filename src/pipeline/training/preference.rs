//! Two answers to one prompt, of which one was preferred: read beside the messages of a record, and put where the engine sees what both
//! use. Knows the words of data sets for it; refuses to know rows.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::chat::{self, Chat, Note};
use crate::model::{Message, Role, Thought};
use crate::shape::Decoded;

/// The two answers, each a list of one message.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) chosen: Value,
    pub(super) rejected: Value,
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
    let is_list_chosen = chosen_beside.is_none();
    let rejected = answer(rejected)?;
    let messages = &mut chat.conversation.messages;
    let chosen = if let Some(chosen) = chosen_beside {
        answer(chosen)?
    } else {
        // The messages are those that end with the preferred answer.
        let text: String = messages.pop_if(|last| last.role == Role::Assistant)?.texts().collect();
        chat.notes.pop();
        text
    };
    if chosen == rejected || !is_list_chosen && messages.last().is_some_and(|last| last.role == Role::Assistant) {
        return None;
    }
    let rejects = vec![Thought { text: Cow::Owned(rejected.clone()), places: Vec::new() }];
    messages.push(Message { reasoning: rejects, ..chat::said(Role::Assistant, Cow::Owned(chosen.clone())) });
    chat.notes.push(Note::default());
    let said = |text: String| json!([{ "role": "assistant", "content": text }]);
    Some(Pair { chosen: said(chosen), rejected: said(rejected) })
}

fn all_but_last(list: &Value) -> &[Value] {
    list.as_array().and_then(|list| list.split_last()).map_or(&[], |(_, before)| before)
}

/// The text of an answer: a text, a message, or the last message of a list.
fn answer(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(mut list) => answer(list.pop()?),
        Value::Object(message) => {
            let text = message.get("content").or_else(|| message.get("value"))?;
            text.as_str().map(str::to_owned)
        }
        _ => None,
    }
}
