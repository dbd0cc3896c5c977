//! What terminals print that is no text: codes of colours and of places. Where a text is full of them they are hidden behind one
//! mark, in the place of the first. Knows the form of such codes; refuses to know texts.

use super::marks::{Mark, Piece};

const ESCAPE: u8 = 0x1B;
const BELL: u8 = 0x07;
/// Codes that are shown of a text at most; a mark takes as much room as four of them.
const FEW: u32 = 5;

/// The pieces of `bytes[from..to]` without codes, when these are many.
pub(super) fn without(bytes: &[u8], (from, to): (usize, usize), pieces: Vec<Piece>) -> Vec<Piece> {
    if memchr::memchr(ESCAPE, &bytes[from..to]).is_none() {
        return pieces;
    }
    let count = |piece: &Piece| match *piece {
        Piece::Copy { from, to } => memchr::memchr_iter(ESCAPE, &bytes[from as usize..to as usize]).count() as u32,
        _ => 0,
    };
    let n_codes = pieces.iter().map(count).sum::<u32>();
    if n_codes <= FEW {
        return pieces;
    }
    let mut out = Vec::with_capacity(pieces.len() + n_codes as usize);
    let mut is_told = false;
    for piece in pieces {
        let Piece::Copy { mut from, to } = piece else {
            out.push(piece);
            continue;
        };
        let end = to as usize;
        while let Some(skip) = memchr::memchr(ESCAPE, &bytes[from as usize..end]) {
            let at = from as usize + skip;
            let may_tell = !is_told && (at as u32 > from || !matches!(out.last(), Some(Piece::Mark(_))));
            if at as u32 > from {
                out.push(Piece::Copy { from, to: at as u32 });
            }
            if may_tell {
                out.push(Piece::Mark(Mark::Codes(n_codes)));
                is_told = true;
            }
            from = (at + length(&bytes[at..end])) as u32;
        }
        if from < to || piece == (Piece::Copy { from, to }) {
            out.push(Piece::Copy { from, to });
        }
    }
    out
}

/// Bytes of the code with which `text` begins.
fn length(text: &[u8]) -> usize {
    let behind = |n: usize, is_last: fn(&u8) -> bool| {
        let rest = text.get(n..).unwrap_or_default();
        rest.iter().position(is_last).map_or(n.min(text.len()), |at| n + at + 1)
    };
    match text.get(1) {
        Some(b'[') => behind(2, |byte| (0x40..=0x7E).contains(byte)),
        Some(b']') => behind(2, |byte| *byte == BELL || *byte == b'\n'),
        Some(b'\n') | None => 1,
        Some(_) => {
            if text[1].is_ascii() {
                2
            } else {
                1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_length() {
        for (text, n) in [
            ("\u{1b}[0;33mx", 7),
            ("\u{1b}[K", 3),
            ("\u{1b}]0;title\u{7}x", 10),
            ("\u{1b}(B", 2),
            ("\u{1b}", 1),
            ("\u{1b}ü", 1),
        ] {
            assert_eq!(length(text.as_bytes()), n, "{text:?}");
        }
    }

    #[test]
    fn many_codes_give_way_to_one_mark_and_few_stay() {
        let text = "a\u{1b}[1mb\u{1b}[0m".repeat(4);
        let bytes = text.as_bytes();
        let whole = vec![Piece::Copy { from: 0, to: bytes.len() as u32 }];
        let pieces = without(bytes, (0, bytes.len()), whole.clone());
        let shown: Vec<u8> = pieces
            .iter()
            .flat_map(|piece| match *piece {
                Piece::Copy { from, to } => bytes[from as usize..to as usize].to_vec(),
                _ => b"|".to_vec(),
            })
            .collect();
        assert_eq!(String::from_utf8_lossy(&shown), "a|bababab");
        let few = "a\u{1b}[1mb\u{1b}[0m";
        let whole = vec![Piece::Copy { from: 0, to: few.len() as u32 }];
        assert_eq!(without(few.as_bytes(), (0, few.len()), whole.clone()), whole);
    }
}
