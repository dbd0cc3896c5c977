//! Lines that edits must repeat exactly, and which messages show them. Knows texts and arguments; refuses to know what becomes of them.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;

use super::calls::Asked;
use super::uses::{SaidBy, Texts, bare, exact, is_old_line, lines};
use super::voices;
use crate::model::{Conversation, Role};

/// What the edits of a conversation copy from what stands before them.
#[derive(Debug, Default)]
pub struct Copies {
    /// The numbers of the lines that the edits of a message copy.
    copied: BTreeMap<usize, Vec<usize>>,
    /// The messages that show a line, ascending.
    shown: Vec<Vec<usize>>,
}

impl Copies {
    /// Reads all texts and arguments once.
    #[must_use]
    pub fn of(conversation: &Conversation<'_>) -> Self {
        let (mut texts, mut asked) = (Texts::default(), Asked::default());
        for (index, message) in conversation.messages.iter().enumerate() {
            let by = if message.role == Role::Assistant { SaidBy::Assistant } else { SaidBy::Result };
            voices::push(&mut texts, &mut asked, index, message, |_| Some(by));
        }
        texts.seal();
        let bytes = texts.bytes();
        let mut numbers: HashMap<u64, usize, FixedState> = HashMap::default();
        let mut copies = Self::default();
        for text in texts.all() {
            let is_old = is_old_line(bytes, text);
            lines(bytes, text.from, text.to, |from, to| {
                let (start, end) = bare(bytes, from, to);
                if is_old(from, end - start) {
                    let new = numbers.len();
                    let number = *numbers.entry(exact(bytes, start, end)).or_insert(new);
                    copies.copied.entry(text.message as usize).or_default().push(number);
                }
            });
        }
        copies.shown.resize(numbers.len(), Vec::new());
        for text in texts.all().iter().filter(|_| !numbers.is_empty()) {
            lines(bytes, text.from, text.to, |from, to| {
                let (start, end) = bare(bytes, from, to);
                if let Some(number) = numbers.get(&exact(bytes, start, end)) {
                    let (shown, message) = (&mut copies.shown[*number], text.message as usize);
                    if shown.last() != Some(&message) {
                        shown.push(message);
                    }
                }
            });
        }
        copies
    }

    /// The messages that edit, ascending.
    pub fn messages(&self) -> impl Iterator<Item = usize> {
        self.copied.keys().copied()
    }

    /// Of each line that the edits of a message copy, the first and the last message before it that show it.
    pub fn shown(&self, message: usize) -> impl Iterator<Item = Option<(usize, usize)>> {
        let lines = self.copied.get(&message).into_iter().flatten();
        lines.map(move |&line| {
            let shown = &self.shown[line];
            let n_before = shown.partition_point(|&at| at < message);
            Some((*shown.first()?, *shown.get(n_before.checked_sub(1)?)?))
        })
    }
}
