//! Puts records whose lines stood among those of others back into their places. Holds what is not due yet; nothing
//! while all records stand together.

use std::collections::BTreeMap;

/// The stream as it grows.
#[derive(Debug, Default)]
pub(super) struct Weave {
    /// Bytes of the stream that were given.
    at: u64,
    /// Pieces that come later, by their offset.
    waiting: BTreeMap<u64, Vec<u8>>,
}

impl Weave {
    /// Takes the bytes of the next record and appends to `out` what is due now.
    pub(super) fn push(
        &mut self,
        bytes: Vec<u8>,
        places: &[(u64, u64)],
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        if places.is_empty() {
            self.at += bytes.len() as u64;
            if out.is_empty() {
                *out = bytes;
            } else {
                out.extend_from_slice(&bytes);
            }
            return Ok(());
        }
        let mut rest = &*bytes;
        for &(offset, length) in places {
            let cut = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
            let (piece, after) = cut.ok_or("its pieces are longer than the record")?;
            if offset < self.at || self.waiting.insert(offset, piece.to_vec()).is_some() {
                return Err("a piece of it stands where another record stands");
            }
            rest = after;
        }
        if !rest.is_empty() {
            return Err("its pieces are shorter than the record");
        }
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() == self.at) {
            let piece = first.remove();
            self.at += piece.len() as u64;
            out.extend_from_slice(&piece);
        }
        Ok(())
    }

    /// Checks that nothing is left.
    pub(super) fn finish(&self) -> Result<(), &'static str> {
        if self.waiting.is_empty() { Ok(()) } else { Err("lines are missing between those of other records") }
    }
}
