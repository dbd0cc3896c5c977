//! What calls did to which files, and when the same was done last. Knows calls; refuses to know texts.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::model::Message;
use crate::walk::calls::{Asked, Call};
use crate::walk::uses::Texts;

const NONE: u32 = u32::MAX;

/// A call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) asks: Call,
    pub(super) is_git: bool,
    file: u32,
    tool: u32,
}

/// What happened to a file. Messages are counted from 1; 0 is none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct File {
    /// The last messages with a call about it, and with one that changes it.
    pub(super) touched: u32,
    pub(super) edited: u32,
    pub(super) n_touches: usize,
}

/// All calls of a conversation; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Activity {
    calls: Vec<Done>,
    /// Number of the call of each text, and of the first one of each message.
    of_text: Vec<u32>,
    first: Vec<u32>,
    files: Vec<File>,
    by_name: HashMap<String, u32, FixedState>,
    /// The last message that used each tool.
    tools: Vec<u32>,
    by_tool: HashMap<u64, u32, FixedState>,
}

impl Activity {
    /// Forgets all calls.
    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.of_text.clear();
        self.first.clear();
        self.files.clear();
        self.by_name.clear();
        self.tools.clear();
        self.by_tool.clear();
    }

    /// Reads what the calls of all `messages` are about.
    pub(super) fn read_all(&mut self, asked: &Asked, messages: &[Message<'_>], texts: &Texts) {
        self.clear();
        self.read((asked, texts), messages, messages.len());
    }

    /// Goes on reading, up to `n_messages` of `messages`.
    pub(super) fn read(&mut self, (asked, texts): (&Asked, &Texts), messages: &[Message<'_>], n_messages: usize) {
        let first = self.first.len();
        for (message, calls) in (first..n_messages).zip(&asked.calls()[first..]) {
            self.first.push(self.calls.len() as u32);
            for about in calls {
                let name = about.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
                let file = name.map_or(NONE, |name| self.touch(name, message as u32 + 1, about.asks == Call::Edit));
                let n = self.tools.len() as u32;
                let tool = *self.by_tool.entry(about.tool).or_insert(n);
                if tool == n {
                    self.tools.push(0);
                }
                self.tools[tool as usize] = message as u32 + 1;
                self.calls.push(Done { asks: about.asks, is_git: about.is_git, file, tool });
            }
        }
        let new = &texts.all()[self.of_text.len()..];
        for text in new.iter().take_while(|text| (text.message as usize) < n_messages) {
            let call = Asked::call_of(messages, text.place());
            self.of_text.push(call.map_or(NONE, |(message, call)| self.first[message] + call as u32));
        }
    }

    fn touch(&mut self, name: &str, message: u32, is_edit: bool) -> u32 {
        let number = self.by_name.get(name).copied().unwrap_or_else(|| {
            self.files.push(File::default());
            self.by_name.insert(name.to_owned(), self.files.len() as u32 - 1);
            self.files.len() as u32 - 1
        });
        let file = &mut self.files[number as usize];
        file.touched = message;
        file.edited = if is_edit { message } else { file.edited };
        file.n_touches += 1;
        number
    }

    /// The call that the text with this number is of.
    pub(super) fn of_text(&self, number: usize) -> Option<&Done> {
        self.calls.get(self.of_text[number] as usize)
    }

    /// What happened to the file that a call is about.
    pub(super) fn file(&self, done: &Done) -> Option<&File> {
        self.files.get(done.file as usize)
    }

    /// The last message that used the same tool in the same way, counted from 1.
    pub(super) fn last_use(&self, done: &Done) -> u32 {
        self.tools[done.tool as usize]
    }
}
