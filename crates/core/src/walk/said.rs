//! Lines that earlier sources have: runs of them that are visible there give way to a reference to that place. Knows lines
//! by their slots; refuses to know how a reference reads.

use super::uses::{Line, Uses, says};

/// Earlier places of a line that are tried.
const MAX_TRIES: usize = 8;
/// A run is at least so many lines and bytes, or so many bytes.
const RUN: (usize, u32) = (3, 40);
const LONG_RUN: u32 = 200;
/// Bytes of a line that says how something ended.
const MAX_OUTCOME: u32 = 300;
/// Between texts.
const GAP: u32 = u32::MAX;

/// The run of earlier lines that a line is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    /// The message that has it.
    pub(super) by: u32,
    /// The line is visible there.
    pub(super) is_visible: bool,
}

/// The lines of all sources so far; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Slots, with gaps between texts.
    lines: Vec<u32>,
    is_visible: Vec<bool>,
    /// For each the last place of the same line before it.
    before: Vec<Option<u32>>,
    /// Where the lines of each message begin.
    messages: Vec<(u32, u32)>,
    /// Lines of the text at hand that are not blank.
    solid: Vec<u32>,
}

impl Known {
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.is_visible.clear();
        self.before.clear();
        self.messages.clear();
    }

    /// A text of `message` comes next.
    pub(super) fn begin(&mut self, message: u32) {
        self.add(GAP, false, None);
        self.messages.push((self.lines.len() as u32, message));
    }

    fn add(&mut self, slot: u32, is_visible: bool, before: Option<u32>) {
        self.lines.push(slot);
        self.is_visible.push(is_visible);
        self.before.push(before);
    }

    /// The next line of it.
    pub(super) fn push(&mut self, line: &Line, is_visible: bool, uses: &mut Uses) {
        if line.len > 0 {
            let before = uses.set_place(line.slot, self.lines.len() as u32);
            self.add(line.slot, is_visible, before);
            if is_visible {
                let message = self.messages.last().map_or(0, |&(_, message)| message);
                uses.set_visible(line.slot, message);
            }
        }
    }

    /// What each of `lines` repeats, where it is part of a run.
    pub(super) fn find(&mut self, lines: &[Line], uses: &Uses, is_result: bool, said: &mut Vec<Option<Said>>) {
        said.clear();
        said.resize(lines.len(), None);
        let mut solid = std::mem::take(&mut self.solid);
        solid.clear();
        solid.extend((0..lines.len() as u32).filter(|&at| lines[at as usize].len > 0));
        let mut rest = &solid[..];
        while let Some(&first) = rest.first() {
            let (n, place) = self.longest(lines, rest, uses);
            let n_bytes = rest[..n].iter().map(|&at| lines[at as usize].len).sum::<u32>();
            if n == 0 || n_bytes < LONG_RUN && (n < RUN.0 || n_bytes < RUN.1) {
                rest = &rest[1..];
                continue;
            }
            let by = self.message_at(place);
            let mut place = place as usize;
            let mut is_visible = true;
            for at in first..=rest[n - 1] {
                let line = &lines[at as usize];
                if line.len > 0 {
                    is_visible = self.is_visible[place];
                    place += 1;
                }
                let is_outcome = line.to - line.from < MAX_OUTCOME && line.len > 0;
                if !(is_result && is_outcome && uses.says(line.slot) & says::OUTCOME != 0) {
                    said[at as usize] = Some(Said { by, is_visible });
                }
            }
            rest = &rest[n..];
        }
        self.solid = solid;
    }

    /// The longest earlier run that begins like `rest`, and where it stands.
    fn longest(&self, lines: &[Line], rest: &[u32], uses: &Uses) -> (usize, u32) {
        let places =
            std::iter::successors(uses.last_place(lines[rest[0] as usize].slot), |&place| self.before[place as usize]);
        let mut best = (0, 0);
        for place in places.take(MAX_TRIES) {
            let seen = &self.lines[place as usize..];
            let n = rest.iter().zip(seen).take_while(|&(&at, &slot)| lines[at as usize].slot == slot).count();
            if n > best.0 {
                best = (n, place);
            }
        }
        best
    }

    fn message_at(&self, place: u32) -> u32 {
        let behind = self.messages.partition_point(|&(first, _)| first <= place);
        self.messages[behind - 1].1
    }
}
