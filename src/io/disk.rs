//! Files that appear whole or not at all: written beside their place under a temporary name, synced, renamed.
//! Knows nothing of what they hold.

use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;

use super::failed;
use crate::error::{Error, ErrorKind, Result};

const TEMP_PREFIX: &str = ".condenser-";
const TEMP_SUFFIX: &str = ".tmp";

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
        let place = target.to_string_lossy();
        let folder = folder_of(target);
        std::fs::create_dir_all(folder).map_err(|error| failed(place.clone(), "its folder cannot be made", error))?;
        let temp = temp_in(folder).map_err(|error| failed(place.clone(), "cannot be written", error))?;
        let file = temp.as_file().try_clone().map_err(|error| failed(place.clone(), "cannot be written", error))?;
        Ok(Self { temp, file: tokio::fs::File::from_std(file), target: target.to_owned() })
    }

    /// Appends `bytes`.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .await
            .map_err(|error| failed(self.target.to_string_lossy(), "cannot be written", error))
    }

    /// Makes the file stand under its name, on disk.
    pub(crate) async fn commit(mut self) -> Result<()> {
        self.sync().await?;
        self.temp.persist(&self.target).map_err(|error| unwritten(&self.target, error.error))?;
        sync_folder(folder_of(&self.target)).await;
        Ok(())
    }

    /// Like [`AtomicFile::commit`], but a file that is there stays: then `false`.
    pub(crate) async fn commit_new(mut self) -> Result<bool> {
        self.sync().await?;
        match self.temp.persist_noclobber(&self.target) {
            Ok(_) => {}
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(unwritten(&self.target, error.error)),
        }
        sync_folder(folder_of(&self.target)).await;
        Ok(true)
    }

    async fn sync(&mut self) -> Result<()> {
        let write = |error| unwritten(&self.target, error);
        self.file.flush().await.map_err(write)?;
        self.file.sync_all().await.map_err(write)
    }
}

/// Writes a small file at once.
pub(crate) async fn write_atomic(target: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(target)?;
    file.write(bytes).await?;
    file.commit().await
}

/// Writes a small file at once unless there is one: `false` when there was.
pub(crate) async fn write_new(target: &Path, bytes: &[u8]) -> Result<bool> {
    let mut file = AtomicFile::create(target)?;
    file.write(bytes).await?;
    file.commit_new().await
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
    ///
    /// # Errors
    /// When the folder cannot be written to, or the file exists already.
    pub fn create_new(target: &Path) -> Result<Self> {
        let place = target.to_string_lossy().into_owned();
        if target.exists() {
            return Err(Error::new(ErrorKind::Usage, place, "the file exists already and is not overwritten"));
        }
        Ok(Self { replaces: false, ..Self::create(target)? })
    }

    /// Starts the file `target`, which takes the place of one that is there; its folder is made when needed.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn create(target: &Path) -> Result<Self> {
        let place = target.to_string_lossy().into_owned();
        let folder = folder_of(target);
        std::fs::create_dir_all(folder).map_err(|error| failed(place.clone(), "its folder cannot be made", error))?;
        let temp = temp_in(folder).map_err(|error| failed(place, "cannot be written", error))?;
        Ok(Self { temp: std::io::BufWriter::with_capacity(1 << 20, temp), target: target.to_owned(), replaces: true })
    }

    /// Makes the file stand under its name, on disk.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn commit(self) -> Result<()> {
        let place = self.target.to_string_lossy().into_owned();
        let write = |error| failed(place.clone(), "cannot be written", error);
        let temp = self.temp.into_inner().map_err(|error| write(error.into_error()))?;
        temp.as_file().sync_all().map_err(write)?;
        let persisted = if self.replaces { temp.persist(&self.target) } else { temp.persist_noclobber(&self.target) };
        persisted.map_err(|error| write(error.error))?;
        Ok(())
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

fn unwritten(target: &Path, error: std::io::Error) -> Error {
    failed(target.to_string_lossy(), "cannot be written", error)
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// True when the file system of `folder`, which is made when needed, takes names for the same that differ in nothing but
/// capitals.
///
/// # Errors
/// When the folder cannot be written to.
pub fn folds_case(folder: &Path) -> Result<bool> {
    let place = || folder.to_string_lossy();
    std::fs::create_dir_all(folder).map_err(|error| failed(place(), "the folder cannot be made", error))?;
    let temp = temp_in(folder).map_err(|error| failed(place(), "cannot be written", error))?;
    let name = temp.path().file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    Ok(folder.join(name).exists())
}

/// True for the name of a file that was never finished.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX)
}

fn temp_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX);
    #[cfg(unix)]
    {
        // The usual rights of a new file, less the umask; the crate's own default is private.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Makes a rename durable. Not every system can open a folder; the rename itself has happened.
async fn sync_folder(folder: &Path) {
    if let Ok(folder) = tokio::fs::File::open(folder).await {
        drop(folder.sync_all().await);
    }
}
