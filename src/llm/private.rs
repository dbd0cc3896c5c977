//! Files that only their owner may read, since they hold what people said: new ones under unique names, and whole ones
//! that appear at once or not at all. Knows nothing of what they hold.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::durable::{self, Access, folder_of, temp_in};
use crate::error::{Error, Result};

/// Random letters in the name of a file that several processes, also of several machines, make in one folder.
const RANDOM_LETTERS: usize = 16;

/// An error of a file.
pub(super) fn failed(place: &Path, message: &str, error: std::io::Error) -> Error {
    Error::io(place.to_string_lossy(), message).because(error)
}

/// Makes `folder` and those above it.
pub(super) fn make_folder(folder: &Path) -> Result<()> {
    durable::make_folder(folder).map_err(|error| failed(folder, "the folder cannot be made", error))
}

/// A new file in `folder` under a name that no other process has.
pub(super) fn create_unique(folder: &Path, suffix: &str) -> Result<(File, PathBuf)> {
    make_folder(folder)?;
    let file = tempfile::Builder::new().prefix("").suffix(suffix).rand_bytes(RANDOM_LETTERS).tempfile_in(folder);
    let file = file.map_err(|error| failed(folder, "no file can be made here", error))?;
    file.keep().map_err(|error| failed(folder, "no file can be made here", error.error))
}

/// A file in the making beside `target`; [`put_in_place`] gives it its name.
pub(super) fn begin_file(target: &Path) -> Result<NamedTempFile> {
    let folder = folder_of(target);
    make_folder(folder)?;
    temp_in(folder, Access::Private).map_err(|error| failed(target, "cannot be written", error))
}

/// Makes a file stand under its name, on disk.
pub(super) fn put_in_place(file: NamedTempFile, target: &Path) -> Result<()> {
    durable::put_in_place(file, target, true).map_err(|error| failed(target, "cannot be written", error))
}

/// Writes a small file, whole or not at all.
pub(super) fn write_whole(target: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = begin_file(target)?;
    file.write_all(bytes).map_err(|error| failed(target, "cannot be written", error))?;
    put_in_place(file, target)
}
