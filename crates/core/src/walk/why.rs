//! Why each unit of a text stays or goes, told when it is drawn. Knows units, pins and lines; decides nothing.

use super::marks::{Mark, Piece};
use super::pins::Pins;
use super::said::Said;
use super::units::{Unit, Units, state};
use super::uses::{Found, Text, Uses};
use crate::model::{UnitCounts, UnitNote, UnitReason};

/// Bytes of what is used that are told.
const MAX_VALUE: usize = 80;

/// What is known of a text that was drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Why<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) units: &'t Units,
    /// Their states when nothing gives way, where something does.
    pub(super) stood: &'t [u8],
    pub(super) said: &'t [Option<Said>],
    pub(super) pieces: &'t [Piece],
    /// What stays was guessed.
    pub(super) is_guessed: bool,
}

impl Why<'_> {
    /// How many units there are of each reason.
    pub(super) fn counts(self) -> UnitCounts {
        let mut counts = UnitCounts::default();
        self.each(|_, _, reason, _| counts.add(reason, 1));
        counts
    }

    /// The reasons of all units in their order, neighbours with the same one as one.
    pub(super) fn notes(self, text: &Text, pins: &Pins, uses: &Uses, found: &Found) -> Vec<UnitNote> {
        let mut because = pins.because.clone();
        because.sort_unstable();
        let mut notes: Vec<UnitNote> = Vec::new();
        // The line of the byte up to which lines were counted.
        let (mut line, mut counted) = (1, text.from);
        self.each(|number, unit, reason, said_by| {
            let (from, to) = (unit.from as usize, unit.to as usize);
            line += n_breaks(&self.bytes[counted..from.max(counted)]);
            counted = from.max(counted);
            let last = line + n_breaks(&self.bytes[from..to.max(from + 1) - 1]);
            let first = because[because.partition_point(|because| because.0 < number)..].first();
            let value = first.filter(|because| because.0 == number).map(|because| because.1);
            let used_by = value.and_then(|value| self.used_by(unit, value, uses, found));
            let note = UnitNote {
                part: text.part as usize,
                lines: (line, last),
                bytes: (from - text.from, to - text.from),
                reason,
                used_by,
                said_by,
            };
            match notes.last_mut() {
                Some(before)
                    if before.reason == reason && before.said_by == said_by && before.used_by == note.used_by =>
                {
                    before.lines.1 = note.lines.1;
                    before.bytes.1 = note.bytes.1;
                }
                _ => notes.push(note),
            }
        });
        notes
    }

    /// Calls `each` with number, unit and reason of all units that are not empty, and the message that has it already.
    fn each(self, mut each: impl FnMut(u32, &Unit, UnitReason, Option<usize>)) {
        let whole = match self.pieces {
            [Piece::Mark(Mark::Value { by, .. })] => Some(*by),
            _ => None,
        };
        for line in 0..self.units.forms.len() {
            let (first, end) = (self.units.first[line] as usize, self.units.first[line + 1] as usize);
            let said = self.said.get(line).and_then(|said| said.as_ref()).filter(|_| !self.units.is_document);
            let said = said.map(|said| said.by);
            for (at, unit) in self.units.units[first..end].iter().enumerate() {
                if unit.from == unit.to {
                    continue;
                }
                let said_by = whole.or(if unit.is_shown() { None } else { said });
                let reason = match unit.state {
                    _ if whole.is_some() => UnitReason::SaidBefore,
                    0 if self.stood.get(first + at).is_some_and(|&stood| stood != 0) => UnitReason::Budget,
                    0 if said_by.is_some() => UnitReason::SaidBefore,
                    0 => UnitReason::Unused,
                    state if state & state::PIN != 0 && self.is_guessed => UnitReason::Likely,
                    state if state & state::PIN != 0 => UnitReason::Pin,
                    state if state & (state::SKELETON | state::WHOLE | state::OWN) != 0 => UnitReason::Skeleton,
                    state if state & state::FILLER != 0 => UnitReason::Filler,
                    state if state & state::DISTRACTOR != 0 => UnitReason::Distractor,
                    state if state & state::BRIDGE != 0 => UnitReason::Bridge,
                    _ => UnitReason::Unused,
                };
                each((first + at) as u32, unit, reason, said_by.and_then(|by| by.message().ok()));
            }
        }
    }

    /// The last message that uses a value, tells a fact or speaks of a unit, and what that is.
    fn used_by(self, unit: &Unit, value: u32, uses: &Uses, found: &Found) -> Option<(usize, String)> {
        let told = |from: u32, to: u32| {
            let bytes = &self.bytes[from as usize..(to as usize).min(from as usize + MAX_VALUE)];
            String::from_utf8_lossy(bytes).trim_end_matches('\u{fffd}').to_owned()
        };
        if let Some(answer) = value.checked_sub((uses.n_values() + uses.n_facts()) as u32) {
            return Some((answer as usize, told(unit.from, unit.to)));
        }
        if let Some(fact) = value.checked_sub(uses.n_values() as u32) {
            let place = uses.facts(found).iter().find(|place| place.fact == fact)?;
            let [number, subject] = [place.number, place.subject].map(|at| told(at, at + word_at(self.bytes, at)));
            return Some((uses.last_telling(fact) as usize, format!("{number} … {subject}")));
        }
        let hit = uses.hits(found).iter().find(|hit| hit.value == value)?;
        Some((uses.last_use(value) as usize, told(hit.from, hit.to)))
    }
}

fn n_breaks(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// Bytes of the word or number at a place.
fn word_at(bytes: &[u8], at: u32) -> u32 {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-./:%#".contains(byte) || **byte >= 0x80;
    bytes[at as usize..].iter().take_while(is_part).count() as u32
}
