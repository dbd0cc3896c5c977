//! Whether what was used still stands where it came from, now that a text is drawn, by the walk or by whomever. Knows what is
//! used and what is shown; refuses to know why.

use super::calls::Asked;
use super::marks::{Mark, Piece};
use super::uses::{Found, Line, SaidBy, Text, Texts, Users, Uses};
use super::voices::{push, who_says};
use crate::model::{Conversation, Grounding};

/// Letters and digits of its own surroundings by which a value is known where its line is cut.
const MIN_AROUND: usize = 30;
const MAX_SIDE: usize = 20;
/// Bytes on either side that are compared.
const MAX_SAME: usize = 1_000;

/// Notes which values and facts a text that is drawn as `pieces` is the first to show.
pub(super) fn note(bytes: &[u8], text: &Text, found: &Found, pieces: &[Piece], is_json: bool, uses: &mut Uses) {
    let is_inner = |at: Option<usize>| {
        let piece = at.and_then(|at| pieces.get(at));
        matches!(piece, Some(Piece::Mark(Mark::InnerLines(_) | Mark::Chars { .. })))
    };
    // Stretches, and whether a string of JSON is cut at one of their ends.
    let mut copies: Vec<(u32, u32, bool)> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        if let Piece::Copy { from, to } = *piece {
            copies.push((from, to, is_inner(at.checked_sub(1)) || is_inner(Some(at + 1))));
        }
    }
    let around = |at: u32| copies[copies.partition_point(|&(_, to, _)| to <= at)..].first().filter(|copy| copy.0 <= at);
    for number in found.hits.clone() {
        let hit = uses.hit(number);
        let Some(&(from, to, is_cut)) = around(hit.from).filter(|copy| hit.to <= copy.1) else { continue };
        let is_member = is_json && !is_cut;
        if is_member || is_in_place(bytes, (from, to), (hit.from, hit.to), &uses.line_at(found, hit.from)) {
            uses.show(hit.value, text.message);
        }
    }
    for number in found.facts.clone() {
        let fact = uses.fact(number);
        if around(fact.number).is_some() && around(fact.subject).is_some() {
            uses.show_fact(fact.fact, text.message);
        }
    }
}

/// What is used of a conversation as it is written; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Judge {
    texts: Texts,
    uses: Uses,
}

impl Judge {
    /// How much of what was used `before` stands in its own surroundings in what `written` gives for each message.
    pub(super) fn judge<'w>(
        &mut self,
        before: (&Texts, &Uses),
        (conversation, said_by): (&Conversation<'_>, &[SaidBy]),
        written: &dyn Fn(usize) -> Vec<&'w str>,
    ) -> Grounding {
        self.texts.clear();
        let mut asked = Asked::default();
        for (index, (message, &by)) in conversation.messages.iter().zip(said_by).enumerate() {
            push(&mut self.texts, &mut asked, index, message, |part| match who_says(message, part, by) {
                SaidBy::Human => Some(SaidBy::Spoken),
                by => Some(by).filter(|by| !by.is_source()),
            });
            if by.is_source() {
                let by = if by == SaidBy::Human { SaidBy::Result } else { by };
                for text in written(index) {
                    self.texts.push(index, 0, by, text);
                }
            }
        }
        self.texts.seal();
        self.uses.read(&self.texts, Users::Speakers);
        let mut homes: Vec<Home> = Vec::new();
        for found in before.1.found() {
            homes.extend(before.1.hits(found).iter().map(|hit| Home {
                value: hit.value,
                from: hit.from as usize,
                to: hit.to as usize,
                line: before.1.line_at(found, hit.from),
            }));
        }
        homes.sort_by_key(|home| home.value);
        for (text, found) in self.texts.all().iter().zip(self.uses.found().to_vec()) {
            for line in self.uses.lines(&found).to_vec().into_iter().filter(|line| line.len > 0) {
                self.uses.set_visible(line.slot, text.message);
            }
            for number in found.hits {
                let hit = self.uses.hit(number);
                let first = homes.partition_point(|home| home.value < hit.value);
                let mut homes = homes[first..].iter().take_while(|home| home.value == hit.value);
                if homes.any(|home| home.is_at(before.0.bytes(), self.texts.bytes(), hit.from as usize)) {
                    self.uses.show(hit.value, text.message);
                }
            }
            for number in found.facts {
                self.uses.show_fact(self.uses.fact(number).fact, text.message);
            }
        }
        before.1.grounding(&self.uses)
    }
}

/// A place where a value stood first.
#[derive(Debug)]
struct Home {
    value: u32,
    from: usize,
    to: usize,
    line: Line,
}

impl Home {
    /// True when the value at `at` of `written` stands in the surroundings that it had in `bytes`: a whole line, or letters
    /// enough of it, or a record.
    fn is_at(&self, bytes: &[u8], written: &[u8], at: usize) -> bool {
        let (start, end) = self.line.bare(bytes);
        let to = at + self.to - self.from;
        let same = |a: &&u8, b: &&u8| a == b;
        let left = bytes[start.min(self.from)..self.from].iter().rev().zip(written[..at].iter().rev()).take(MAX_SAME);
        let right = bytes[self.to..end.max(self.to)].iter().zip(&written[to..]).take(MAX_SAME);
        let n_left = left.take_while(|(a, b)| same(a, b)).count();
        let n_right = right.take_while(|(a, b)| same(a, b)).count();
        if self.from - n_left <= start && self.to + n_right >= end {
            return true;
        }
        let count = |part: &[u8]| part.iter().filter(|byte| byte.is_ascii_alphanumeric() || **byte >= 0x80).count();
        let sides = (count(&bytes[self.from - n_left..self.from]), count(&bytes[self.to..self.to + n_right]));
        let is_record = matches!(bytes.get(start), Some(b'{' | b'['));
        is_record || sides.0.min(MAX_SIDE) + sides.1.min(MAX_SIDE) >= MIN_AROUND
    }
}

/// True when a value on a line of which `copy` is shown stands on a whole line, or in enough of its own surroundings.
fn is_in_place(bytes: &[u8], copy: (u32, u32), (from, to): (u32, u32), line: &Line) -> bool {
    if to > line.to || copy.0 <= line.from && line.to <= copy.1 {
        return true;
    }
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte >= 0x80;
    // No more is looked at than counts: a line may be as long as its text.
    let left = bytes[copy.0.max(line.from) as usize..from as usize].iter().rev().filter(is_part).take(MAX_SIDE).count();
    let right = bytes[to as usize..copy.1.min(line.to) as usize].iter().filter(is_part).take(MAX_SIDE).count();
    left + right >= MIN_AROUND
}
