//! Fillers: lines that no one uses and that tell a reader what is in a text, as far as there is room: headings and
//! signatures of files, heads of diffs. Knows lines and what was asked for; refuses to know
//! values.

use super::calls::Asks;
use super::said::Said;
use super::units::{LONG, Units, state};
use super::uses::Line;
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<128>, "signatures": FIRST);

/// Lines of one text that fill.
const MAX_LINES: usize = 2;
/// Bytes of a line that may fill.
const MAX_LINE: u32 = 140;
/// What a line costs beside its own bytes: it splits a mark.
const OVERHEAD: u32 = 18;

/// How much a line tells.
const HEADING: u32 = 40;
const SIGNATURE: u32 = 30;
const HEAD_OF_DIFF: u32 = 60;
const CHANGED: u32 = 20;

/// Shows lines of a text that are hidden, best per byte first, in at most `room` bytes; gives how many it took.
pub(super) fn fill(bytes: &[u8], lines: &[Line], units: &mut Units, asks: Asks, is_prose: bool, room: usize) -> usize {
    if units.is_document || room == 0 {
        return 0;
    }
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = &bytes[line.from as usize..line.to as usize];
        let unit = units.first[at] as usize;
        if line.len == 0 || line.to - line.from > MAX_LINE || units.units[unit].is_shown() {
            continue;
        }
        let worth = match asks {
            Asks::Matches | Asks::Edit => 0,
            Asks::File | Asks::Other => worth(text, is_prose, asks == Asks::File),
        };
        if worth > 0 {
            let n_bytes = line.to - line.from + OVERHEAD;
            found.push(((u64::from(worth) << 32) / u64::from(n_bytes), at, n_bytes as usize));
        }
    }
    found.sort_unstable_by_key(|&(gain, at, _)| (std::cmp::Reverse(gain), at));
    let mut n_taken = 0;
    for (_, at, n_bytes) in found.into_iter().take(MAX_LINES) {
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

fn worth(text: &[u8], is_prose: bool, is_file: bool) -> u32 {
    let numbered = text.iter().position(|byte| !byte.is_ascii_digit() && !byte.is_ascii_whitespace());
    let text = match numbered.map(|at| text.split_at(at)) {
        // The number that a viewer puts in front, and the arrow behind it.
        Some((lead, rest)) if lead.iter().any(u8::is_ascii_digit) => {
            rest.strip_prefix("→".as_bytes()).unwrap_or(if lead.ends_with(b"\t") { rest } else { text })
        }
        _ => text,
    };
    if is_prose {
        let n_signs = text.iter().take_while(|&&byte| byte == b'#').count();
        let is_heading = (1..=6).contains(&n_signs) && text.get(n_signs) == Some(&b' ');
        return if is_heading { HEADING } else { 0 };
    }
    if text.starts_with(b"diff --git ") || text.starts_with(b"@@ ") {
        return HEAD_OF_DIFF;
    }
    if !is_file {
        return 0;
    }
    let indent = text.iter().take_while(|byte| b" \t".contains(byte)).count();
    let code = text.trim_ascii();
    let word = code.split(|byte| b" (<".contains(byte)).next().unwrap_or_default();
    let ends = code.last().is_some_and(|byte| b"{:(,)".contains(byte));
    if indent == 0 && ends && WORDS.of(word) & FIRST != 0 {
        SIGNATURE
    } else if text.starts_with(b"+ ") || text.starts_with(b"- ") {
        CHANGED
    } else {
        0
    }
}

const _: () = assert!(MAX_LINE < LONG, "a filler is never cut");
