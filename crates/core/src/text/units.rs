//! Cuts a block of joined lines into units: sentences, a fragment at its end, parts of what is too long. Knows
//! lengths and sentence ends; refuses to know lines and facts.

use super::counts;
use super::lexed::{Span, UnitKind};
use super::scan::{self, Piece};
use super::sentences;

/// A list item up to this many bytes is one unit.
const MAX_ITEM: usize = 240;
/// What ends without a sign is cut beyond this many characters; what has an end sign, beyond twice as many.
const MAX_FRAGMENT: usize = 400;
/// A part ends at the first comma beyond this many characters …
const MIN_PART: usize = 200;
/// … or at the first blank beyond this many.
const MAX_PART: usize = 300;

/// What the lines of a block are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Lines of a paragraph.
    Prose,
    /// An item of a list, without its marker.
    Item,
}

/// Calls `emit` with every unit of the block and the pieces that lie in it.
pub(super) fn split(bytes: &[u8], pieces: &[Piece], kind: BlockKind, emit: &mut impl FnMut(Span, UnitKind, &[Piece])) {
    let (Some(head), Some(tail)) = (pieces.first(), pieces.last()) else { return };
    if kind == BlockKind::Item && (tail.end - head.start) as usize <= MAX_ITEM {
        emit(Span { start: head.start, end: tail.end }, UnitKind::ListItem, pieces);
        return;
    }
    let as_kind = |natural| if kind == BlockKind::Item { UnitKind::ListItem } else { natural };
    let mut first = 0;
    let mut at = head.start;
    for (index, piece) in pieces.iter().enumerate() {
        if !piece.has(scan::DOT | scan::END | scan::WIDE_END) {
            continue;
        }
        if piece.has(scan::WIDE_END) {
            let mut from = at.max(piece.start) as usize;
            while let Some(end) = sentences::wide_end(bytes, from, piece.end as usize) {
                if end == piece.end as usize {
                    break;
                }
                cut(bytes, &pieces[first..=index], at, end as u32, as_kind(UnitKind::Sentence), MAX_FRAGMENT, emit);
                at = end as u32;
                from = end;
                first = index;
            }
        }
        if index + 1 < pieces.len() && sentences::is_end(bytes, pieces, first, index) {
            cut(bytes, &pieces[first..=index], at, piece.end, as_kind(UnitKind::Sentence), 2 * MAX_FRAGMENT, emit);
            first = index + 1;
            at = pieces[first].start;
        }
    }
    let is_sentence = sentences::is_end(bytes, pieces, first, pieces.len() - 1);
    let (natural, limit) =
        if is_sentence { (UnitKind::Sentence, 2 * MAX_FRAGMENT) } else { (UnitKind::Fragment, MAX_FRAGMENT) };
    cut(bytes, &pieces[first..], at, tail.end, as_kind(natural), limit, emit);
}

/// Emits `start..end`, in parts when it is longer than `limit` characters.
fn cut(
    bytes: &[u8],
    pieces: &[Piece],
    start: u32,
    end: u32,
    kind: UnitKind,
    limit: usize,
    emit: &mut impl FnMut(Span, UnitKind, &[Piece]),
) {
    let is_long = (end - start) as usize > limit
        && counts::count_chars(bytes.get(start as usize..end as usize).unwrap_or_default()) > limit;
    if !is_long {
        emit(Span { start, end }, kind, pieces);
        return;
    }
    let part_kind = if kind == UnitKind::ListItem { kind } else { UnitKind::Fragment };
    let (mut at, mut first, mut n_chars) = (start, 0, 0);
    for (index, piece) in pieces.iter().enumerate() {
        let from = piece.start.max(start);
        let to = piece.end.min(end);
        let part = bytes.get(from as usize..to as usize).unwrap_or_default();
        let here = if piece.mask & (scan::WIDE | scan::EXT_LETTER | scan::OTHER) == 0 {
            part.len()
        } else {
            counts::count_chars(part)
        };
        if piece.has(scan::WIDE) && n_chars + here > MAX_PART {
            // Text without blanks: cut between characters.
            let mut byte = from as usize;
            while byte < to as usize {
                let (code, len) = scan::decode(bytes, byte);
                byte += len;
                n_chars += 1;
                let is_comma = scan::class_of(code) & scan::WIDE_COMMA != 0;
                if (n_chars >= MAX_PART || (n_chars >= MIN_PART && is_comma)) && (end as usize) > byte {
                    emit(Span { start: at, end: byte as u32 }, part_kind, &pieces[first..=index]);
                    at = byte as u32;
                    first = index;
                    n_chars = 0;
                }
            }
            if at == to {
                // Nothing of this piece is left: the next part begins with the next piece.
                first = index + 1;
                at = pieces.get(first).map_or(at, |next| next.start);
            }
            continue;
        }
        n_chars += here + 1;
        let is_comma = piece.has(scan::COMMA | scan::WIDE_COMMA | scan::COLON) && ends_with_comma(part);
        let rest = (end - to) as usize;
        if (n_chars >= MAX_PART || (n_chars >= MIN_PART && is_comma))
            && rest >= MIN_PART / 2
            && index + 1 < pieces.len()
        {
            emit(Span { start: at, end: to }, part_kind, &pieces[first..=index]);
            first = index + 1;
            at = pieces[first].start;
            n_chars = 0;
        }
    }
    if at < end && first < pieces.len() {
        emit(Span { start: at, end }, kind, &pieces[first..]);
    }
}

fn ends_with_comma(part: &[u8]) -> bool {
    matches!(part, [.., b',' | b';' | b':'] | [.., 0xef, 0xbc, 0x8c | 0x9b | 0x9a] | [.., 0xe3, 0x80, 0x81])
}
