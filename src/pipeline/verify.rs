//! Holds a restored part against what its commit promises and, when wanted, against the original stream.

use std::io::Read;

use super::{Commit, Restorer};
use crate::error::{Error, ErrorKind, Result};

/// After so many breaks in a row with nothing between them a stream is given up.
const MAX_BREAKS: usize = 1000;

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Difference {
    /// Records restored.
    pub records: u64,
    /// Bytes of the restored stream.
    pub bytes: u64,
}

/// Restores a whole part and compares it with its commit and with what `original` gives next, calling `seen` after
/// every slice; `seen` may stop the work with an error.
///
/// # Errors
/// `Verification` names the first difference.
pub fn verify_part(
    restorer: &mut Restorer,
    commit: &Commit,
    mut original: Option<&mut dyn Read>,
    seen: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Difference> {
    let place = format!("part {} ({})", commit.part, commit.source);
    let differs = |message: String| Error::new(ErrorKind::Verification, place.clone(), message);
    let mut hasher = blake3::Hasher::new();
    let mut done = Difference::default();
    let mut expected = Vec::new();
    while let Some(slice) = restorer.next_slice()? {
        hasher.update(&slice.bytes);
        if let Some(original) = original.as_deref_mut() {
            expected.clear();
            read_around_damage(original, slice.bytes.len(), &mut expected);
            if expected != slice.bytes {
                let same = expected.iter().zip(&slice.bytes).take_while(|(a, b)| a == b).count() as u64;
                return Err(differs(format!(
                    "the input differs from the restored stream at byte {}",
                    done.bytes + same
                )));
            }
        }
        done.bytes += slice.bytes.len() as u64;
        done.records += slice.records;
        seen(&slice.bytes)?;
    }
    if done.records != commit.records {
        return Err(differs(format!("{} records were restored, but {} were read", done.records, commit.records)));
    }
    if done.bytes != commit.input.stream_bytes || hasher.finalize().to_hex().as_str() != commit.input.stream_blake3 {
        return Err(differs("the restored stream differs from the one that was read: its hash is another".to_owned()));
    }
    Ok(done)
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
///
/// # Errors
/// `Verification` when it goes on.
pub fn verify_end(commit: &Commit, original: &mut dyn Read) -> Result<()> {
    if original.read(&mut [0]).is_ok_and(|n| n > 0) {
        let place = format!("part {} ({})", commit.part, commit.source);
        return Err(Error::new(ErrorKind::Verification, place, "the input goes on where the restored stream ends"));
    }
    Ok(())
}
