//! Texts of a list under which nobody's name stands: whether two people say them in turn. Knows keys and sentences; refuses
//! to know what a list that somebody describes is.

use super::json::{Kind, Raw};

/// Keys under which data sets keep dialogues whose speakers take turns.
const KEYS: [&str; 4] = ["dialog", "dialogue", "utterances", "conversation"];
/// Keys of a turn that may hold what is said.
const TEXTS: [&str; 4] = ["text", "utterance", "content", "message"];
/// What ends a sentence.
const ENDS: [char; 11] = ['.', '?', '!', '…', '。', '？', '！', '।', '؟', '۔', '‽'];
/// Words of a text that is one without such a sign.
const WORDS: usize = 3;
/// Who speaks, in turn.
const SPEAKERS: [&str; 2] = ["user", "assistant"];

/// What is seen of the texts of a list.
#[derive(Debug, Default)]
pub(super) struct Talk {
    n_texts: usize,
    n_sentences: usize,
    /// Something in the list is neither a string nor an object.
    has_others: bool,
    n_strings: usize,
    n_objects: usize,
}

impl Talk {
    /// Sees an item that is no object.
    pub(super) fn item(&mut self, item: Raw<'_>) {
        self.has_others |= item.kind != Kind::Text;
        self.n_strings += 1;
        self.text(item);
    }

    /// Sees a member of an item that is one.
    pub(super) fn member(&mut self, key: &str, value: Raw<'_>) {
        if TEXTS.contains(&key) {
            self.text(value);
        }
    }

    /// Sees that an item is an object.
    pub(super) fn object(&mut self) {
        self.n_objects += 1;
    }

    fn text(&mut self, value: Raw<'_>) {
        let Some(text) = value.string() else { return };
        self.n_texts += 1;
        let text = text.trim_end().trim_end_matches(['"', '\'', '”', '’', '»', '」', ')']);
        let is_sentence = text.ends_with(ENDS) || text.split_whitespace().nth(WORDS - 1).is_some();
        self.n_sentences += usize::from(is_sentence);
    }

    /// True when these are strings alone, or objects alone, with a text each of which several are sentences.
    pub(super) fn is_dialogue(&self) -> bool {
        let n_items = self.n_strings + self.n_objects;
        let are_alike = !self.has_others && (self.n_strings == 0 || self.n_objects == 0);
        are_alike && self.n_texts == n_items && self.n_sentences >= 2 && self.n_sentences * 3 >= n_items
    }
}

/// True for a key that holds what is said, not what something is.
pub(super) fn is_key(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Who says message `at` where nobody's name stands: the one who begins, then the one who answers.
pub(super) fn speaker(at: usize) -> &'static str {
    SPEAKERS[at % SPEAKERS.len()]
}
