//! Holds a restored part against what its commit promises and, when wanted, against the original.

use std::collections::VecDeque;
use std::io::Read;

use super::rows::{RowDigest, RowMark};
use super::{Batch, Commit, Restored, RestoredSlice, Restorer, Source};
use crate::error::{Error, Result};

/// After so many breaks in a row with nothing between them a stream is given up.
const MAX_BREAKS: usize = 1000;

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Difference {
    /// Records restored.
    pub records: u64,
    /// Bytes of the restored stream, canonical bytes of restored rows.
    pub bytes: u64,
}

/// What a part was made of.
pub enum Against<'a> {
    /// A stream.
    Stream(&'a mut dyn Read),
    /// A table.
    Rows(&'a mut dyn Source),
}

impl std::fmt::Debug for Against<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stream(_) => "Stream",
            Self::Rows(_) => "Rows",
        })
    }
}

/// Restores a whole part and compares it with its commit and with what `original` gives next, calling `seen` after
/// every slice; `seen` may stop the work with an error.
pub fn verify_part(
    restorer: &mut Restorer,
    commit: &Commit,
    mut original: Option<Against<'_>>,
    seen: &mut dyn FnMut(&Restored) -> Result<()>,
) -> Result<Difference> {
    let place = format!("part {} ({})", commit.part, commit.source);
    let differs = |message: String| Error::verification(place.clone(), message);
    let (mut stream, mut digest) = (blake3::Hasher::new(), RowDigest::default());
    let (mut records, mut row) = (0, 0_u64);
    let (mut read, mut expected) = (Vec::new(), VecDeque::new());
    while let Some(restored) = restorer.next_slice()? {
        match (&restored.slice, &mut original) {
            (RestoredSlice::Bytes(bytes), Some(Against::Stream(original))) => {
                read.clear();
                read_around_damage(original, bytes.len(), &mut read);
                if read != *bytes {
                    let same = read.iter().zip(bytes).take_while(|(a, b)| a == b).count() as u64;
                    let at = stream.count() + same;
                    return Err(differs(format!("the input differs from the restored stream at byte {at}")));
                }
            }
            (RestoredSlice::Rows { marks, .. }, Some(Against::Rows(original))) => {
                for mark in marks {
                    if next_mark(*original, &mut expected)?.as_ref() != Some(mark) {
                        return Err(differs(format!("the input differs from the restored table at row {row}")));
                    }
                    row += 1;
                }
            }
            (_, None) => {}
            _ => return Err(differs("the input is a table, or the run was made of one".to_owned())),
        }
        match &restored.slice {
            RestoredSlice::Bytes(bytes) => drop(stream.update(bytes)),
            RestoredSlice::Rows { marks, .. } => digest.push(marks),
        }
        records += restored.records;
        seen(&restored)?;
    }
    if let Some(Against::Rows(original)) = original
        && next_mark(original, &mut expected)?.is_some()
    {
        return Err(differs(format!("the input goes on after row {row}, where the restored table ends")));
    }
    if records != commit.records {
        return Err(differs(format!("{records} records were restored, but {} were read", commit.records)));
    }
    let (what, (bytes, hash)) = match commit.table {
        Some(_) => ("table", digest.finish()),
        None => ("stream", (stream.count(), stream.finalize().to_hex().to_string())),
    };
    if bytes != commit.input.stream_bytes || hash != commit.input.stream_blake3 {
        return Err(differs(format!("the restored {what} differs from the one that was read: its hash is another")));
    }
    Ok(Difference { records, bytes })
}

/// The mark of the next row of a source.
fn next_mark(source: &mut dyn Source, expected: &mut VecDeque<RowMark>) -> Result<Option<RowMark>> {
    while expected.is_empty() {
        match source.next_batch()? {
            Some(Batch::Rows(rows)) => expected.extend(rows.marks),
            Some(Batch::Lines(_)) => return Err(Error::input(source.name(), "this is no table")),
            None => return Ok(None),
        }
    }
    Ok(expected.pop_front())
}

/// Reads up to `n` bytes. What stands before and behind damage counts; a stream that only breaks is given up.
fn read_around_damage(stream: &mut dyn Read, n: usize, bytes: &mut Vec<u8>) {
    let mut n_breaks = 0;
    while bytes.len() < n && n_breaks < MAX_BREAKS {
        let before = bytes.len();
        match stream.take((n - before) as u64).read_to_end(bytes) {
            Ok(_) => return,
            Err(_) if bytes.len() > before => n_breaks = 0,
            Err(_) => n_breaks += 1,
        }
    }
}

/// Checks that nothing is left of an original after its last part.
pub fn verify_end(commit: &Commit, original: &mut dyn Read) -> Result<()> {
    if original.read(&mut [0]).is_ok_and(|n| n > 0) {
        let place = format!("part {} ({})", commit.part, commit.source);
        return Err(Error::verification(place, "the input goes on where the restored stream ends"));
    }
    Ok(())
}
