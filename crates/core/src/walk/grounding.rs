//! Whether what was used still stands where it came from, now that a text is drawn. Knows what is used and what is shown;
//! refuses to know why.

use super::marks::Piece;
use super::uses::{Found, Line, Text, Uses};

/// Letters and digits of its own surroundings by which a value is known where its line is cut.
const MIN_AROUND: usize = 30;
const MAX_SIDE: usize = 20;

/// Notes which values and facts a text that is drawn as `pieces` is the first to show.
pub(super) fn note(bytes: &[u8], text: &Text, found: &Found, pieces: &[Piece], is_json: bool, uses: &mut Uses) {
    let copies: Vec<(u32, u32)> = pieces
        .iter()
        .filter_map(|piece| match *piece {
            Piece::Copy { from, to } => Some((from, to)),
            Piece::Mark(_) | Piece::Break(_) => None,
        })
        .collect();
    let around = |at: u32| copies[copies.partition_point(|&(_, to)| to <= at)..].first().filter(|copy| copy.0 <= at);
    for number in found.hits.clone() {
        let hit = uses.hit(number);
        let Some(&copy) = around(hit.from).filter(|copy| hit.to <= copy.1) else { continue };
        if is_json || is_in_place(bytes, copy, (hit.from, hit.to), &uses.line_at(found, hit.from)) {
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

/// True when a value on a line of which `copy` is shown stands on a whole line, or in enough of its own surroundings.
fn is_in_place(bytes: &[u8], copy: (u32, u32), (from, to): (u32, u32), line: &Line) -> bool {
    if to > line.to || copy.0 <= line.from && line.to <= copy.1 {
        return true;
    }
    let count = |part: &[u8]| part.iter().filter(|byte| byte.is_ascii_alphanumeric() || **byte >= 0x80).count();
    let left = count(&bytes[copy.0.max(line.from) as usize..from as usize]);
    let right = count(&bytes[to as usize..copy.1.min(line.to) as usize]);
    left.min(MAX_SIDE) + right.min(MAX_SIDE) >= MIN_AROUND
}
