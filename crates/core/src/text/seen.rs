//! What occurs in the pieces of a unit, in one look at them for all who ask. Knows classes and word flags; refuses to know what
//! they mean.

use super::scan::{PLAIN, Piece};

/// What occurs in pieces, OR-ed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub mask: u32,
    pub word: u32,
    /// Of those that are words.
    pub bears: u32,
    /// Of those with letters not all are words.
    pub has_others: bool,
    /// Some have no letters.
    pub has_signs: bool,
}

impl Seen {
    pub(super) fn of(pieces: &[Piece]) -> Self {
        let mut seen = Self::default();
        for piece in pieces {
            seen.mask |= piece.mask;
            seen.word |= piece.word;
            seen.bears |= if piece.is_word() { piece.bears } else { 0 };
            seen.has_others |= !piece.is_word() && piece.has(PLAIN);
            seen.has_signs |= !piece.has(PLAIN);
        }
        seen
    }
}
