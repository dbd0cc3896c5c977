//! What is known of a name and of a line: where each was shown, by whom and how often. Knows messages by their numbers; refuses to
//! know texts.

use std::ops::Range;

use crate::walk::uses::SaidBy;

/// Where something was shown. Messages are counted from 1; 0 is none.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) first: u32,
    pub(super) last: u32,
    /// How many messages show it, and how often it is shown.
    pub(super) n_messages: u32,
    pub(super) n_times: u32,
    /// The last piece before the window that shows it, one of a result where there is any.
    pub(super) home: u32,
    pub(super) is_home_result: bool,
}

impl Shown {
    /// True when a message behind the first `start` shows it.
    pub(super) fn is_since(&self, start: usize) -> bool {
        self.last as usize > start
    }
}

/// A name; as long as a line of the cache of most machines.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
pub(super) struct Name {
    pub(super) hash: u64,
    pub(super) from: u32,
    pub(super) n_bytes: u16,
    /// Its words, as places among those of all names.
    pub(super) n_words: u8,
    pub(super) words: u32,
    pub(super) is_taken_up: bool,
    pub(super) shown: Shown,
    /// How many results there were when one showed it last.
    pub(super) last_result: u32,
    /// Of the messages that show it, those in which a result, an answer or an argument is the first to.
    pub(super) n_results: u32,
    pub(super) n_answers: u32,
    pub(super) n_arguments: u32,
    /// The last message in which the assistant wrote it; whether a result had shown it before is `is_taken_up`.
    pub(super) written: u32,
}

impl Name {
    /// Where it stands for the first time.
    pub(super) fn span(&self) -> Range<usize> {
        let from = self.from as usize;
        from..from + usize::from(self.n_bytes)
    }

    /// Of the messages that show it, those in which somebody else is the first to.
    pub(super) fn n_others(&self) -> u32 {
        self.shown.n_messages - self.n_results - self.n_answers - self.n_arguments
    }
}

/// A whole line.
#[derive(Debug, Clone, Default)]
pub(super) struct QuotedLine {
    pub(super) hash: u64,
    /// Its names, as places among those of all pieces.
    pub(super) names: Range<u32>,
    pub(super) n_bytes: u32,
    pub(super) n_arguments: u32,
    pub(super) shown: Shown,
}

/// Which piece is the home of what several show, of those in the messages before `before`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Homes {
    pub(super) before: usize,
    /// One of a result, where there is any.
    pub(super) prefers_results: bool,
}

/// Where something is shown.
pub(super) struct Sight {
    pub(super) message: u32,
    pub(super) by: SaidBy,
    pub(super) piece: u32,
    pub(super) homes: Homes,
}

impl Sight {
    /// Notes it; true when the message shows it for the first time.
    pub(super) fn show(&self, shown: &mut Shown) -> bool {
        let is_new = shown.last != self.message;
        if shown.first == 0 {
            shown.first = self.message;
        }
        shown.last = self.message;
        shown.n_messages += u32::from(is_new);
        shown.n_times += 1;
        let is_result = self.by == SaidBy::Result;
        let is_before = self.message as usize <= self.homes.before;
        if is_before && (is_result || !shown.is_home_result || !self.homes.prefers_results) {
            (shown.home, shown.is_home_result) = (self.piece, is_result);
        }
        is_new
    }

    pub(super) fn show_name(&self, name: &mut Name, n_results: u32) {
        let is_new = u32::from(self.show(&mut name.shown));
        match self.by {
            SaidBy::Result => {
                name.n_results += is_new;
                name.last_result = n_results;
            }
            SaidBy::Assistant | SaidBy::Thought => name.n_answers += is_new,
            SaidBy::Argument | SaidBy::Copied => name.n_arguments += is_new,
            SaidBy::System | SaidBy::Human | SaidBy::Spoken => {}
        }
        if !self.by.is_source() && self.by != SaidBy::Spoken {
            name.written = self.message;
            name.is_taken_up |= name.last_result > 0;
        }
    }
}
