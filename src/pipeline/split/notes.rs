//! What is noted of a conversation before the first part: by what it belongs to others, by what it is like others, its class, and
//! whether it holds a text of an evaluation file. Knows chats; refuses to know what is made of the notes.

use super::contaminate::EvaluationItems;
use super::keys::{GroupKey, KeyKind};
use super::minhash::Fingerprint;
use super::origin::Origin;
use super::tool_group::ToolGroup;
use super::words::{joined, mixed, push_words, text_hash};
use crate::chat::{Alternative, CalledTools, Chat, alternatives, chats, named_tools};
use crate::model::{Conversation, Message, Role};
use crate::pipeline::make_up::class_of;
use crate::pipeline::tables::label;
use crate::shape::Decoded;

/// Classes by their numbers.
const CLASSES: [&str; 5] = ["chat", "code", "long-prose", "other", "tool-heavy"];
/// How many classes there are.
pub const N_CLASSES: usize = CLASSES.len();

/// What is noted of a chat.
#[derive(Debug, Clone)]
pub struct ChatNote {
    /// The place of its input in the plan.
    pub input: usize,
    /// The number of its record there.
    pub row: u64,
    /// Its number in the record.
    pub chat: usize,
    /// Its id.
    pub id: String,
    /// One of [`N_CLASSES`].
    pub class: u8,
    /// How many words it has, system prompts left out.
    pub n_words: u32,
    /// By what it belongs to others.
    pub keys: Vec<GroupKey>,
    /// The hash of all that is said in it.
    pub whole: [u8; 16],
    /// The hash of each of its beginnings up to the end of a message, system prompts left out; the last is that of all.
    pub beginnings: Vec<u64>,
    /// Of the first prompt.
    pub prompt: Option<Fingerprint>,
    /// Of everything but system prompts.
    pub text: Option<Fingerprint>,
    /// The evaluation item that it holds.
    pub item: Option<u32>,
    /// The tools that it calls, where its record names none.
    pub tools: CalledTools,
    /// With what chats it shares its tools.
    pub tool_group: ToolGroup,
}

/// Takes the notes.
#[derive(Debug, Default)]
pub struct Surveyor {
    /// What no conversation should hold.
    pub items: EvaluationItems,
    /// Whether answers that stand beside a conversation are part of it.
    pub has_alternatives: bool,
}

impl Surveyor {
    /// The notes of the chats of a record.
    pub(crate) fn notes(&self, (input, row): (usize, u64), decoded: &Decoded<'_>) -> Vec<ChatNote> {
        let origin = Origin::of(decoded);
        let is_named = named_tools(decoded).is_some();
        let beside = if self.has_alternatives { alternatives(decoded) } else { Vec::new() };
        let beside: Vec<String> = beside.iter().map(Alternative::said).collect();
        let of = |(chat, it): (usize, Chat<'_>)| {
            let tools = if is_named { CalledTools::default() } else { CalledTools::of(&it.conversation) };
            let tool_group = ToolGroup::of(decoded, &it.conversation);
            ChatNote { tools, tool_group, ..self.note((input, row, chat), &it, &beside, &origin) }
        };
        chats(decoded).into_iter().enumerate().map(of).collect()
    }

    fn note(
        &self,
        (input, row, chat): (usize, u64, usize),
        it: &Chat<'_>,
        beside: &[String],
        origin: &Origin,
    ) -> ChatNote {
        let conversation = &it.conversation;
        let mut read = Read::of(it);
        for text in beside {
            read.beside(text);
        }
        let id = label(&conversation.id).into_owned();
        let mut keys = vec![GroupKey::of(KeyKind::Id, id.as_bytes())];
        let named = [(KeyKind::Repository, &origin.repository), (KeyKind::Task, &origin.task)];
        keys.extend(named.iter().filter_map(|(kind, name)| Some(GroupKey::of(*kind, name.as_deref()?.as_bytes()))));
        let whole = read.whole.finalize();
        keys.push(match read.prompt_hash {
            Some(hash) => GroupKey::of(KeyKind::Prompt, &hash),
            None => GroupKey::of(KeyKind::Whole, whole.as_bytes()),
        });
        let mut hash = [0; 16];
        hash.copy_from_slice(&whole.as_bytes()[..16]);
        let is_looked_for = !self.items.is_empty();
        ChatNote {
            input,
            row,
            chat,
            id,
            class: class_number(conversation),
            n_words: u32::try_from(read.words.len()).unwrap_or(u32::MAX),
            keys,
            whole: hash,
            beginnings: read.beginnings,
            prompt: Fingerprint::of(&read.prompt),
            text: Fingerprint::of(&read.words),
            item: is_looked_for.then(|| self.items.held_in(&[read.system, read.words].concat())).flatten(),
            tools: CalledTools::default(),
            tool_group: ToolGroup::default(),
        }
    }
}

/// The number of a conversation's class.
fn class_number(conversation: &Conversation<'_>) -> u8 {
    let class = class_of(conversation);
    CLASSES.iter().position(|name| *name == class).unwrap_or_default() as u8
}

/// A chat as words.
struct Read {
    system: Vec<u64>,
    /// Of everything else.
    words: Vec<u64>,
    prompt: Vec<u64>,
    prompt_hash: Option<[u8; 32]>,
    whole: blake3::Hasher,
    beginnings: Vec<u64>,
}

impl Read {
    fn of(chat: &Chat<'_>) -> Self {
        let mut read = Self {
            system: Vec::new(),
            words: Vec::new(),
            prompt: Vec::new(),
            prompt_hash: None,
            whole: blake3::Hasher::new(),
            beginnings: Vec::new(),
        };
        let mut before = 0;
        for (message, note) in chat.conversation.messages.iter().zip(&chat.notes) {
            // What stands there only because an API wants something says nothing.
            if note.is_filler {
                continue;
            }
            let hash = read.message(message);
            if message.role != Role::System {
                before = joined(before, hash);
                read.beginnings.push(before);
            }
        }
        read
    }

    /// Reads an answer that stands beside the messages.
    fn beside(&mut self, text: &str) {
        let first = self.words.len();
        push_words(text, &mut self.words);
        let hash = joined(role_hash(&Role::Assistant), text_hash(text, &self.words[first..]));
        self.whole.update(&hash.to_le_bytes());
        self.beginnings.push(joined(self.beginnings.last().copied().unwrap_or_default(), hash));
    }

    /// Reads a message and gives its hash.
    fn message(&mut self, message: &Message<'_>) -> u64 {
        let is_system = message.role == Role::System;
        let words = if is_system { &mut self.system } else { &mut self.words };
        let first = words.len();
        let mut hash = role_hash(&message.role);
        for text in message.texts() {
            let begin = words.len();
            push_words(text, words);
            hash = joined(hash, text_hash(text, &words[begin..]));
        }
        for call in &message.tool_calls {
            let begin = words.len();
            let name = call.name.as_deref().unwrap_or_default();
            push_words(name, words);
            push_words(&call.arguments, words);
            hash = joined(hash, text_hash(name, &words[begin..]));
        }
        if message.role == Role::User && self.prompt_hash.is_none() {
            self.prompt = words[first..].to_vec();
            self.prompt_hash = Some(*blake3::hash(&hash.to_le_bytes()).as_bytes());
        }
        self.whole.update(&hash.to_le_bytes());
        for thought in &message.reasoning {
            let mut words = Vec::new();
            push_words(&thought.text, &mut words);
            self.whole.update(&text_hash(&thought.text, &words).to_le_bytes());
        }
        hash
    }
}

fn role_hash(role: &Role<'_>) -> u64 {
    mixed(match role {
        Role::System | Role::Developer => 1,
        Role::User => 2,
        Role::Assistant => 3,
        Role::Tool | Role::Function => 4,
        Role::Other(_) | Role::Missing => 5,
    })
}

#[cfg(test)]
mod tests {
    use super::{ChatNote, KeyKind, Surveyor};
    use crate::pipeline::decode_record;
    use serde_json::json;

    fn note(messages: &serde_json::Value) -> ChatNote {
        let record = json!({"id": "a", "messages": messages}).to_string();
        let decoded = decode_record(&record, None, false, "f#0").expect("a record");
        Surveyor::default().notes((0, 0), &decoded).remove(0)
    }

    #[test]
    fn case_spacing_and_system_prompts_make_no_other_conversation() {
        let plain =
            note(&json!([{"role": "user", "content": "Find a train"}, {"role": "assistant", "content": "Done."}]));
        let loud =
            note(&json!([{"role": "user", "content": "FIND  a\ntrain"}, {"role": "assistant", "content": "done"}]));
        let system = note(&json!([
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Find a train"},
            {"role": "assistant", "content": "Done."}
        ]));
        assert_eq!((plain.whole, &plain.keys, &plain.beginnings), (loud.whole, &loud.keys, &loud.beginnings));
        assert_ne!(plain.whole, system.whole);
        assert_eq!((&plain.keys, &plain.beginnings), (&system.keys, &system.beginnings));
        assert_eq!((plain.n_words, system.n_words), (4, 4));
    }

    #[test]
    fn a_conversation_that_goes_on_begins_as_before() {
        let said = [("user", "Find a train"), ("assistant", "Which?"), ("user", "?"), ("assistant", "Done.")];
        let messages: Vec<_> = said.iter().map(|(role, text)| json!({"role": role, "content": text})).collect();
        let (short, long) = (note(&json!(messages[..2])), note(&json!(messages)));
        assert_eq!((short.beginnings.len(), long.beginnings.len()), (2, 4));
        assert!(long.beginnings.starts_with(&short.beginnings));
        let kinds: Vec<u8> = long.keys.iter().map(|key| key.0[0]).collect();
        assert_eq!(kinds, [KeyKind::Id as u8, KeyKind::Prompt as u8]);
    }
}
