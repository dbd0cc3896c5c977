//! Names of messages inside one conversation: what references show and what provenance carries. Unique even
//! where the ids of the input are missing or repeated.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::model::{Conversation, marker, summary_id};

/// Finds names; built only for conversations in which something is replaced.
#[derive(Debug)]
pub(super) struct Names<'a> {
    conversation: &'a Conversation<'a>,
    /// By id how many messages have it, and the first of them.
    seen: HashMap<&'a str, (usize, usize), FixedState>,
    /// The first message under each summary id of an earlier round.
    first_under: HashMap<&'a str, usize, FixedState>,
}

impl<'a> Names<'a> {
    pub(super) fn new(conversation: &'a Conversation<'a>) -> Self {
        let mut seen: HashMap<&str, (usize, usize), FixedState> = HashMap::default();
        for (index, message) in conversation.messages.iter().enumerate() {
            if let Some(id) = message.id.as_deref() {
                seen.entry(id).or_insert((0, index)).0 += 1;
            }
        }
        let mut first_under: HashMap<&str, usize, FixedState> = HashMap::default();
        for (index, message) in conversation.messages.iter().enumerate() {
            if let Some(provenance) = &message.provenance {
                first_under.entry(&provenance.summary_id).or_insert(index);
            }
        }
        Self { conversation, seen, first_under }
    }

    /// The id of message `index` where it has one of its own, else `m<index>` (with `_` for as long as that is
    /// somebody's id).
    pub(super) fn shown(&self, index: usize) -> String {
        match self.conversation.messages[index].id.as_deref() {
            Some(id) if !id.is_empty() && self.has_own(id).is_some() => id.to_owned(),
            _ => {
                let mut name = numbered(index);
                while self.seen.contains_key(name.as_str()) {
                    name.push('_');
                }
                name
            }
        }
    }

    /// The message that [`Names::shown`] calls `name`.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        let number = || name.strip_prefix('m')?.trim_end_matches('_').parse().ok();
        let found = self.has_own(name).or_else(number);
        found.filter(|&index| index < self.conversation.messages.len() && self.shown(index) == name)
    }

    /// The only message with this id.
    fn has_own(&self, id: &str) -> Option<usize> {
        self.seen.get(id).filter(|(n, _)| *n == 1).map(|(_, index)| *index)
    }

    /// The key of message `index` in a verbatim map. A message that stands for others is kept under its summary
    /// id: under its own name an earlier map holds the original.
    pub(super) fn key(&self, index: usize) -> String {
        let message = &self.conversation.messages[index];
        let earlier = message.provenance.as_ref().map(|provenance| provenance.summary_id.as_str());
        let stands_for_others = || message.texts().next().is_some() && message.texts().all(marker::stands_for_others);
        let mut key = match earlier {
            Some(id) if !id.is_empty() => id.to_owned(),
            Some(_) => summary_id(&[self.shown(index)]),
            None if stands_for_others() => summary_id(&[self.shown(index)]),
            None => return self.shown(index),
        };
        // Two groups may share a summary id: 32 bits are advice, not identity.
        let is_taken = self.first_under.get(key.as_str()).is_some_and(|&first| first < index);
        if is_taken || self.seen.contains_key(key.as_str()) {
            key = format!("{key}#{index}");
        }
        key
    }
}

/// `m<index>`, without the detours of formatting: every message that gives way has one.
fn numbered(index: usize) -> String {
    let mut power = 1;
    while power <= index / 10 {
        power *= 10;
    }
    let mut name = String::with_capacity(8);
    name.push('m');
    while power > 0 {
        name.push(char::from(b'0' + (index / power % 10) as u8));
        power /= 10;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{Names, numbered};
    use crate::model::{Content, Conversation, Message, Role};

    #[test]
    fn names_are_unique_whatever_the_ids() {
        let message = |id: Option<&'static str>| Message {
            raw: "{}",
            id: id.map(Into::into),
            role: Role::User,
            name: None,
            content: Content::Absent,
            tool_calls: Vec::new(),
            tool_call_id: None,
            results: Vec::new(),
            reasoning: Vec::new(),
            provenance: None,
        };
        let ids = [Some("x"), Some("y"), Some("x"), None, Some("m3"), Some(""), Some("__proto__")];
        let conversation = Conversation {
            id: "c".into(),
            messages: ids.into_iter().map(message).collect(),
            ..Conversation::default()
        };
        let names = Names::new(&conversation);
        let shown: Vec<String> = (0..ids.len()).map(|index| names.shown(index)).collect();
        assert_eq!(shown, ["m0", "y", "m2", "m3_", "m3", "m5", "__proto__"]);
    }

    #[test]
    fn numbers_are_written_as_formatting_writes_them() {
        for index in [0, 7, 9, 10, 99, 100, 12_345, usize::MAX] {
            assert_eq!(numbered(index), format!("m{index}"));
        }
    }
}
