//! Which pieces stay: most of what is likely to be used again for the fewest bytes, as one order. Knows pieces, likelihoods and
//! what a mark costs; refuses to know features.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::scale::{CERTAIN, log2};
use super::values::{LONG, NONE, Values};

/// Bytes of a mark, with its line break.
const MARK: i64 = 13;
/// Added to the bytes of a piece, so that the shortest ones are not for nothing.
const BESIDE: i64 = 2;
/// Bytes count to the power of four fifths.
const POWER: (i32, i32) = (4, 5);
/// Added to a worth, so that it is never negative.
const LEAST: i32 = 1 << 13;
/// What a line counts for that will be quoted, where a name that will be used counts for one.
const QUOTED: u64 = 8;
/// What a byte of the last message counts for by itself: of what is worth nothing the oldest gives way first.
const RECENT: u64 = 1;

/// What a line gains that tells what a text was: a sixteenth of a name that will be used.
const TELLS: u64 = CERTAIN as u64 / 16;

/// The worth of what always stays.
const STAYS: u32 = u32::MAX;

/// The order in which pieces are chosen; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Worth of each piece when it was chosen; 0 when it is not, [`STAYS`] when it was never asked about.
    pub(super) worth: Vec<u32>,
    /// What each name is worth and how likely each line is quoted, as long as nothing that stays shows it.
    pub(super) names: Vec<u32>,
    pub(super) lines: Vec<u32>,
    /// What stays shows them.
    is_name_shown: Vec<bool>,
    is_line_shown: Vec<bool>,
    /// Entries of pieces as they were at first, ascending, and of those that are worth something else since.
    first: Vec<u64>,
    changed: BinaryHeap<u64>,
}

impl Choice {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.worth.clear();
        self.names.clear();
        self.lines.clear();
        self.is_name_shown.clear();
        self.is_line_shown.clear();
    }

    /// Makes room for what `values` have read since; every piece stays.
    pub(super) fn grow(&mut self, values: &Values) {
        self.worth.resize(values.pieces.len(), STAYS);
        self.names.resize(values.names.len(), 0);
        self.lines.resize(values.lines.len(), 0);
        self.is_name_shown.resize(values.names.len(), false);
        self.is_line_shown.resize(values.lines.len(), false);
    }

    /// True when something that stays shows the name, so that it is worth nothing.
    pub(super) fn shows_name(&self, name: u32) -> bool {
        self.is_name_shown[name as usize]
    }

    /// The same of a line.
    pub(super) fn shows_line(&self, line: u32) -> bool {
        self.is_line_shown[line as usize]
    }

    /// Pieces of texts that are not asked about stay, and what they show is visible.
    pub(super) fn show(&mut self, values: &Values, piece: usize) {
        for &name in values.names_in(piece) {
            self.names[name as usize] = 0;
            self.is_name_shown[name as usize] = true;
        }
        let line = values.pieces[piece].line as usize;
        if line < self.lines.len() {
            self.lines[line] = 0;
            self.is_line_shown[line] = true;
        }
    }

    /// Chooses among the pieces `of` worth 0 all that are worth `threshold` or more; `age` tells of a text how many messages
    /// it is behind.
    pub(super) fn choose(&mut self, values: &Values, of: Range<usize>, threshold: u32, age: impl Fn(u32) -> u64) {
        self.first.clear();
        for piece in of {
            if self.worth[piece] == 0 {
                // One that is worth less is asked again when its neighbour is chosen.
                let worth = self.worth_of(values, piece, &age);
                if worth >= threshold {
                    self.first.push(entry(worth, piece as u32));
                }
            }
        }
        self.first.sort_unstable();
        let mut last = STAYS - 1;
        while let Some((worth, number)) = self.next() {
            let piece = number as usize;
            if self.worth[piece] != 0 {
                continue;
            }
            let now = self.worth_of(values, piece, &age);
            if now < worth {
                if now >= threshold {
                    self.changed.push(entry(now, number));
                }
                continue;
            }
            last = last.min(now);
            self.worth[piece] = last;
            self.show(values, piece);
            let of_text = &values.of_text[values.pieces[piece].text as usize];
            // Beside a piece that stays another one costs less.
            for beside in [number.wrapping_sub(1), number + 1] {
                if of_text.contains(&beside) && self.worth[beside as usize] == 0 {
                    let worth = self.worth_of(values, beside as usize, &age);
                    if worth >= threshold {
                        self.changed.push(entry(worth, beside));
                    }
                }
            }
        }
    }

    /// The best entry that is left. An entry may be out of date: then the piece is worth less, or stays by now.
    fn next(&mut self) -> Option<(u32, u32)> {
        let entry = match (self.first.last(), self.changed.peek()) {
            (first, changed) if first >= changed => self.first.pop(),
            _ => self.changed.pop(),
        }?;
        Some(((entry >> u32::BITS) as u32, !(entry as u32)))
    }

    /// What a piece gains for what it costs, as a logarithm.
    fn worth_of(&self, values: &Values, number: usize, age: &impl Fn(u32) -> u64) -> u32 {
        let piece = &values.pieces[number];
        let n_bytes = i64::from(piece.to - piece.from);
        let names: u64 = values.names_in(number).iter().map(|&name| u64::from(self.names[name as usize])).sum();
        let quoted = if piece.line == NONE { 0 } else { u64::from(self.lines[piece.line as usize]) };
        let gain = names + quoted * QUOTED + RECENT * n_bytes as u64 / (1 + age(piece.text));
        let of_text = &values.of_text[piece.text as usize];
        let number = number as u32;
        let stays = |at: u32| i64::from(!of_text.contains(&at) || self.worth[at as usize] != 0);
        let marks = 1 - stays(number.wrapping_sub(1)) - stays(number + 1);
        per_cost(gain, n_bytes + 1 + MARK * marks)
    }
}

/// What a line of so many bytes is worth that tells what a text was.
pub(in crate::walk) fn tells(n_bytes: u32) -> u32 {
    per_cost(TELLS, i64::from(n_bytes.min(LONG as u32)) + 1 + MARK)
}

/// What is worth more comes first, of the same worth what stands first.
fn entry(worth: u32, piece: u32) -> u64 {
    u64::from(worth) << u32::BITS | u64::from(!piece)
}

/// A gain for so many bytes, as a logarithm.
fn per_cost(gain: u64, n_bytes: i64) -> u32 {
    let cost = n_bytes.max(0) + BESIDE - 1;
    let worth = LEAST + log2(gain) - log2(cost as u64) * POWER.0 / POWER.1;
    worth.max(1) as u32
}
