//! What is known of each distinct bare line of a conversation: one slot for all lines with the same text, in the order in which
//! they are met, so that neighbours stand beside each other. Knows hashes.

use super::index::Index;

/// What a line says, as bits of its slot.
pub(in crate::walk) mod says {
    /// A word of errors.
    pub(in crate::walk) const ERROR: u32 = 1;
    /// How a command ended.
    pub(in crate::walk) const EXIT: u32 = 1 << 1;
    /// It ended with another status than 0.
    pub(in crate::walk) const BAD_EXIT: u32 = 1 << 2;
    /// A total: so many of something.
    pub(in crate::walk) const TOTAL: u32 = 1 << 3;
    /// How something ended: it is never said before.
    pub(in crate::walk) const OUTCOME: u32 = 1 << 4;
    /// That what it belongs to has failed.
    pub(in crate::walk) const FAILURE: u32 = 1 << 5;
    /// A word of failing that counts at the end of an output only.
    pub(in crate::walk) const FAILED: u32 = 1 << 6;
}

/// A source has shown it.
const SHOWN: u32 = 1 << 7;
/// A later argument has it.
const ARGUED: u32 = 1 << 8;
/// A source that was written shows it.
const VISIBLE: u32 = 1 << 9;
/// An argument is this line and nothing else.
const ASKED: u32 = 1 << 10;
/// Where the number of the copied line begins; 0 is none.
const COPIED: u32 = 11;
const SAYS: u32 = SHOWN - 1;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    hash: u64,
    /// One more than the last place among the lines of all sources.
    last: u32,
    marks: u32,
}

/// A line that an edit must repeat.
#[derive(Debug, Clone, Copy)]
struct Copied {
    last_use: u32,
    /// The first call that shows it in its arguments.
    argued: u32,
    /// The first source that has it, and the first that shows it as it is written.
    home: u32,
    visible: u32,
}

/// The slots of all lines.
#[derive(Debug, Default)]
pub(super) struct Slots {
    by_hash: Index,
    known: Vec<Slot>,
    copied: Vec<Copied>,
}

impl Slots {
    pub(super) fn reset(&mut self, n_lines: usize) {
        self.by_hash.reset(n_lines / 2);
        self.known.clear();
        self.copied.clear();
    }

    /// The slot for lines with this hash.
    #[inline]
    pub(super) fn of(&mut self, hash: u64) -> u32 {
        let n = self.known.len() as u32;
        let slot = self.by_hash.get_or_insert(hash, n, |slot| self.known[slot as usize].hash == hash);
        if slot == n {
            self.known.push(Slot { hash, ..Slot::default() });
        }
        slot
    }

    /// Notes that a source shows the line; true for the first time.
    pub(super) fn show(&mut self, slot: u32) -> bool {
        let marks = &mut self.known[slot as usize].marks;
        let is_new = *marks & SHOWN == 0;
        *marks |= SHOWN;
        is_new
    }

    /// Notes that the arguments of a call of `message` have the line; true when no later one had. Messages come in
    /// descending order.
    pub(super) fn argue(&mut self, slot: u32, message: u32) -> bool {
        let marks = &mut self.known[slot as usize].marks;
        let is_new = *marks & ARGUED == 0;
        *marks |= ARGUED;
        if let Some(copied) = (*marks >> COPIED).checked_sub(1) {
            self.copied[copied as usize].argued = message;
        }
        is_new
    }

    /// Notes that an edit of `message` must repeat the line. Messages come in descending order.
    pub(super) fn copy(&mut self, slot: u32, message: u32) {
        let marks = &mut self.known[slot as usize].marks;
        if *marks >> COPIED == 0 && self.copied.len() + 1 < 1 << (u32::BITS - COPIED) {
            self.copied.push(Copied { last_use: message, argued: message, home: u32::MAX, visible: u32::MAX });
            *marks |= (self.copied.len() as u32) << COPIED;
        }
    }

    /// The copied line that `message` is the first to show, in sources and arguments.
    pub(super) fn first_copy(&mut self, slot: u32, message: u32) -> Option<u32> {
        let number = (self.known[slot as usize].marks >> COPIED).checked_sub(1)?;
        let copied = &mut self.copied[number as usize];
        let is_first = copied.home == u32::MAX;
        copied.home = copied.home.min(message);
        (is_first && copied.last_use > message && copied.argued > message).then_some(number)
    }

    pub(super) fn n_copied(&self) -> usize {
        self.copied.len()
    }

    pub(super) fn last_use(&self, copied: u32) -> u32 {
        self.copied[copied as usize].last_use
    }

    pub(super) fn say(&mut self, slot: u32, what: u32) {
        self.known[slot as usize].marks |= what & SAYS;
    }

    /// What the line says: bits of [`says`].
    pub(super) fn says(&self, slot: u32) -> u32 {
        self.known[slot as usize].marks & SAYS
    }

    /// Notes that `message` shows the line as it is written.
    pub(super) fn set_visible(&mut self, slot: u32, message: u32) {
        let marks = &mut self.known[slot as usize].marks;
        *marks |= VISIBLE;
        if let Some(copied) = (*marks >> COPIED).checked_sub(1) {
            self.show_copied(copied as usize, message);
        }
    }

    /// The same of a copied line.
    pub(super) fn show_copied(&mut self, copied: usize, message: u32) {
        let visible = &mut self.copied[copied].visible;
        *visible = message.min(*visible);
    }

    /// Whether a source or an argument before `message` has a copied line, and whether one shows it as it is written.
    pub(super) fn has_before(&self, slot: u32, message: u32) -> Option<(bool, bool)> {
        let copied = self.copied[((self.known[slot as usize].marks >> COPIED).checked_sub(1)?) as usize];
        let is_argued = copied.argued < message;
        Some((is_argued || copied.home < message, is_argued || copied.visible < message))
    }

    /// Notes that an argument is this line and nothing else.
    pub(super) fn ask(&mut self, slot: u32) {
        self.known[slot as usize].marks |= ASKED;
    }

    pub(super) fn is_asked(&self, slot: u32) -> bool {
        self.known[slot as usize].marks & ASKED != 0
    }

    pub(super) fn is_visible(&self, slot: u32) -> bool {
        self.known[slot as usize].marks & VISIBLE != 0
    }

    /// The last place of the line among those of all sources.
    pub(super) fn last(&self, slot: u32) -> Option<u32> {
        self.known[slot as usize].last.checked_sub(1)
    }

    pub(super) fn set_last(&mut self, slot: u32, place: u32) -> Option<u32> {
        std::mem::replace(&mut self.known[slot as usize].last, place + 1).checked_sub(1)
    }
}
