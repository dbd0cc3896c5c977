//! Fillers: lines that no one uses and that tell a reader what is in a text, as far as there is room. Knows lines and what
//! they are worth; refuses to know formats and values.

use super::formats::LineRole;
use super::said::Said;
use super::units::{LONG, Units, state};
use super::uses::Line;

/// Bytes of a line that may fill.
const MAX_LINE: u32 = 140;
/// What a line costs beside its own bytes: it splits a mark.
const OVERHEAD: u32 = 18;

/// Shows lines of a text that are hidden, best per byte first, in at most `room` bytes and `max_lines`; gives how many bytes
/// it took.
pub(super) fn fill(lines: &[Line], units: &mut Units, roles: &[LineRole], room: usize, max_lines: usize) -> usize {
    if room == 0 {
        return 0;
    }
    let mut found = Vec::new();
    for (at, (line, role)) in lines.iter().zip(roles).enumerate().filter(|(_, (_, role))| role.worth > 0) {
        if line.to - line.from <= MAX_LINE && !units.units[units.first[at] as usize].is_shown() {
            let n_bytes = line.to - line.from + OVERHEAD;
            found.push(((u64::from(role.worth) << 32) / u64::from(n_bytes), at, n_bytes as usize));
        }
    }
    found.sort_unstable_by_key(|&(gain, at, _)| (std::cmp::Reverse(gain), at));
    let mut n_taken = 0;
    for (_, at, n_bytes) in found.into_iter().take(max_lines) {
        if n_taken + n_bytes <= room {
            n_taken += n_bytes;
            units.units[units.first[at] as usize].state |= state::FILLER;
        }
    }
    n_taken
}

/// Shows some stretches that nothing uses, about `share` of them; which, `seed` and their places say.
pub(super) fn distract(units: &mut Units, lines: &[Line], said: &[Option<Said>], share: f64, seed: u64) {
    let is_said = |line: usize| !units.is_document && said[line].is_some();
    let starts: Vec<usize> =
        (0..lines.len()).filter(|&line| is_said(line)).map(|line| units.first[line] as usize).collect();
    let mut stays = None;
    for at in 0..units.units.len() {
        let unit = &mut units.units[at];
        if unit.is_shown() || starts.binary_search(&at).is_ok() {
            stays = None;
            continue;
        }
        let first = unit.from;
        if *stays.get_or_insert_with(|| part_of_one(seed, first) < share) {
            unit.state |= state::DISTRACTOR;
        }
    }
}

/// A number from 0 to below 1, by chance but always the same.
fn part_of_one(seed: u64, place: u32) -> f64 {
    let mix = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product >> 64) as u64 ^ product as u64
    };
    let mixed = mix(mix(seed ^ 0x9E37_79B9_7F4A_7C15, u64::from(place) ^ 0xD1B5_4A32_D192_ED03), 0xA076_1D64_78BD_642F);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

const _: () = assert!(MAX_LINE < LONG, "a filler is never cut");
