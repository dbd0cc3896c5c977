//! The names that documents of a run or a store give to files. A document may come from anybody, and its seal is a
//! hash, not a signature: a name is taken only when it stays where the document stands. Touches no file.

use crate::error::{Error, Result};
use crate::pipeline::{Commit, Manifest, TableFile, open_sealed};

/// So many characters of a refused name are shown.
const LONGEST_SHOWN: usize = 100;

/// Reads a commit.
///
/// # Errors
/// `Verification` when a byte differs from what was written, or a name leads out of the run.
pub(crate) fn open_commit(bytes: &[u8], place: &str) -> Result<Commit> {
    let commit: Commit = open_sealed(bytes, place)?;
    check_files(&commit.files, place)?;
    Ok(commit)
}

/// Reads a manifest.
pub(crate) fn open_manifest(bytes: &[u8], place: &str) -> Result<Manifest> {
    let manifest: Manifest = open_sealed(bytes, place)?;
    check_files(&manifest.files, place)?;
    manifest.inputs.iter().try_for_each(|input| check_below(&input.commit, place))?;
    Ok(manifest)
}

fn check_files(files: &[TableFile], place: &str) -> Result<()> {
    files.iter().try_for_each(|file| check_below(&file.path, place))
}

/// Refuses a name that is not one of a file below the folder of the document at `place`, on any system.
pub(crate) fn check_below(name: &str, place: &str) -> Result<()> {
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.contains(|c: char| c.is_control() || c == '\\' || c == ':')
    };
    if name.split('/').all(is_plain) {
        return Ok(());
    }
    let shown: String = name.chars().take(LONGEST_SHOWN).collect();
    Err(Error::verification(place, format!("the file names {shown:?}, which is no name of a file beside it")))
}

#[cfg(test)]
mod tests {
    use super::check_below;

    #[test]
    fn names_stay_below_their_folder() {
        for name in
            ["manifest.json", "conversations/part-00000.parquet", "dataset/train/part-00000.parquet", "00001-a.b"]
        {
            assert!(check_below(name, "run").is_ok(), "{name}");
        }
        for name in ["", ".", "..", "/etc/passwd", "a/../../b", "a//b", "a/", "C:\\x", "C:x", "a\0", "..\\x", "a/./b"] {
            assert!(check_below(name, "run").is_err(), "{name}");
        }
    }
}
