//! Files that appear whole or not at all: written beside their place under a temporary name, synced, renamed.
//! Knows nothing of what they hold.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};
use tokio::io::AsyncWriteExt;

use super::{failed, hash_of};
use crate::durable::{self, Access, folder_of};
use crate::error::{Error, Result};
use crate::pipeline::bridge::Bridge;

/// A file in the making; dropped before [`AtomicFile::commit`] it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    temp: NamedTempFile,
    file: tokio::fs::File,
    target: PathBuf,
}

impl AtomicFile {
    /// Starts the file `target`; its folder is made when needed.
    pub(crate) fn create(target: &Path) -> Result<Self> {
        let temp = begin(target)?;
        let file = temp.as_file().try_clone().map_err(|error| unwritten(target, error))?;
        Ok(Self { temp, file: tokio::fs::File::from_std(file), target: target.to_owned() })
    }

    /// Appends `bytes`.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .await
            .map_err(|error| failed(self.target.to_string_lossy(), "cannot be written", error))
    }

    /// Makes the file stand under its name, on disk; unless it `replaces` one, a file that is there stays: then `false`.
    pub(crate) async fn commit(mut self, replaces: bool) -> Result<bool> {
        self.file.flush().await.map_err(|error| unwritten(&self.target, error))?;
        put_in_place(self.temp, self.target, replaces).await
    }
}

/// Writes a small file at once; unless it `replaces` one, a file that is there stays: then `false`.
pub(crate) async fn write_atomic(target: &Path, bytes: &[u8], replaces: bool) -> Result<bool> {
    let mut file = AtomicFile::create(target)?;
    file.write(bytes).await?;
    file.commit(replaces).await
}

/// A file in the making, for code that blocks; dropped before [`BlockingFile::commit`] it leaves nothing behind.
#[derive(Debug)]
pub struct BlockingFile {
    temp: std::io::BufWriter<NamedTempFile>,
    target: PathBuf,
    replaces: bool,
}

impl BlockingFile {
    /// Starts the file `target`; its folder is made when needed.
    pub fn create_new(target: &Path) -> Result<Self> {
        // A link that leads nowhere is there, too.
        if target.symlink_metadata().is_ok() {
            return Err(exists(target));
        }
        Ok(Self { replaces: false, ..Self::create(target)? })
    }

    /// Starts the file `target`, which takes the place of one that is there; its folder is made when needed.
    pub fn create(target: &Path) -> Result<Self> {
        let temp = begin(target)?;
        Ok(Self { temp: std::io::BufWriter::with_capacity(1 << 20, temp), target: target.to_owned(), replaces: true })
    }

    /// Lets go of the file for a while: of many that grow by turns few are open.
    pub fn pause(self) -> Result<PausedFile> {
        let Self { temp, target, replaces } = self;
        let temp = temp.into_inner().map_err(|error| unwritten(&target, error.into_error()))?;
        Ok(PausedFile { temp: temp.into_temp_path(), target, replaces })
    }

    /// Makes the file stand under its name, on disk.
    pub fn commit(self) -> Result<()> {
        let target = self.target.clone();
        self.place()?;
        sync_folder(folder_of(&target))
    }

    /// Makes the file stand under its name, its bytes on disk; the name is when [`sync_folder`] is done with its folder.
    pub fn place(self) -> Result<()> {
        let target = self.target;
        let temp = self.temp.into_inner().map_err(|error| unwritten(&target, error.into_error()))?;
        let (written, replaces) = (temp.reopen(), self.replaces);
        match durable::give_name(temp, &target, replaces) {
            Ok(()) => Ok(()),
            // Another process was quicker. What says the same may stay.
            Err(error) if !replaces && error.kind() == std::io::ErrorKind::AlreadyExists => {
                let hash = |file: std::io::Result<File>| file.and_then(hash_of).ok();
                let same = hash(written).is_some_and(|written| Some(written) == hash(File::open(&target)));
                if same { Ok(()) } else { Err(exists(&target)) }
            }
            Err(error) => Err(unwritten(&target, error)),
        }
    }
}

/// A file in the making that is not open.
#[derive(Debug)]
pub struct PausedFile {
    temp: TempPath,
    target: PathBuf,
    replaces: bool,
}

impl PausedFile {
    /// Goes on at its end.
    pub fn go_on(self) -> Result<BlockingFile> {
        let Self { temp, target, replaces } = self;
        let file = File::options().read(true).append(true).open(&temp).map_err(|error| unwritten(&target, error))?;
        let temp = std::io::BufWriter::with_capacity(1 << 20, NamedTempFile::from_parts(file, temp));
        Ok(BlockingFile { temp, target, replaces })
    }
}

impl std::io::Write for BlockingFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.temp.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.temp.flush()
    }
}

/// Makes the names in `folder` last.
pub fn sync_folder(folder: &Path) -> Result<()> {
    durable::sync_folder(folder).map_err(|error| unwritten(folder, error))
}

fn exists(target: &Path) -> Error {
    Error::usage(target.to_string_lossy(), "the file exists already and is not overwritten")
        .hinting("remove the file or choose another name")
}

fn unwritten(target: &Path, error: std::io::Error) -> Error {
    failed(target.to_string_lossy(), "cannot be written", error)
}

/// A temporary file beside `target`; its folder is made when needed.
fn begin(target: &Path) -> Result<NamedTempFile> {
    let folder = folder_of(target);
    let place = || target.to_string_lossy();
    // A file of that name would take its place, even that of `/dev/null`.
    if target.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let hint = "write a file, or `-` for stdout where the command has it";
        return Err(Error::usage(place(), "this is a device, a pipe or a socket, not a file").hinting(hint));
    }
    durable::make_folder(folder).map_err(|error| failed(place(), "its folder cannot be made", error))?;
    durable::temp_in(folder, Access::Usual).map_err(|error| unwritten(target, error))
}

/// Gives a temporary file its name; `false` when it replaces nothing and there is a file. Disks take their time, so this
/// happens where it may block.
async fn put_in_place(temp: NamedTempFile, target: PathBuf, replaces: bool) -> Result<bool> {
    Bridge::run_blocking("write", move || match durable::put_in_place(temp, &target, replaces) {
        Ok(()) => Ok(true),
        Err(error) if !replaces && error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unwritten(&target, error)),
    })
    .await
}

/// True when the file system of `folder`, which is made when needed, takes names for the same that differ in nothing but
/// capitals.
pub fn folds_case(folder: &Path) -> Result<bool> {
    let place = || folder.to_string_lossy();
    durable::make_folder(folder).map_err(|error| failed(place(), "the folder cannot be made", error))?;
    let temp = durable::temp_in(folder, Access::Usual).map_err(|error| failed(place(), "cannot be written", error))?;
    let name = temp.path().file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    Ok(folder.join(name).exists())
}

/// Takes away what writers in the folder of `target` left behind when they were killed, and nothing of those that are at
/// work.
pub fn sweep_beside(target: &Path) {
    durable::sweep_unfinished(folder_of(target));
}
