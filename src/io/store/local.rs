//! Files of this machine: read by range without a shared position, listed by name. Writing is
//! the work of [`crate::io::disk`].

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use super::blob::{Content, Fate};
use super::location::Listed;
use crate::error::{Error, Result};
use crate::io::failed;

/// An open file.
#[derive(Debug, Clone)]
pub(super) struct LocalFile {
    file: Arc<File>,
    place: String,
    /// As it was opened.
    opened: State,
}

/// What changes when somebody writes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    bytes: u64,
    mark: String,
    /// The time of the last change of anything about the file, its name and rights too; no program can set it.
    #[cfg(unix)]
    touched: (i64, i64),
}

impl State {
    fn of(metadata: &std::fs::Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            bytes: metadata.len(),
            mark: mark(metadata),
            #[cfg(unix)]
            touched: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl LocalFile {
    /// Opens `path`; gives the file, its length and its change mark.
    pub(super) fn open(path: &Path) -> Result<(Self, u64, String)> {
        let place = path.to_string_lossy().into_owned();
        let open = || -> io::Result<_> {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            Ok((file, metadata))
        };
        let (file, metadata) = open().map_err(|error| failed(&*place, "cannot be opened", error))?;
        if metadata.is_dir() {
            return Err(Error::usage(place, "this is a folder, not a file"));
        }
        let opened = State::of(&metadata);
        let (bytes, mark) = (opened.bytes, opened.mark.clone());
        Ok((Self { file: Arc::new(file), place, opened }, bytes, mark))
    }
}

impl Content for LocalFile {
    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let mut bytes = vec![0; range.end.saturating_sub(range.start) as usize];
        let mut n_read = 0;
        while n_read < bytes.len() {
            match read_at(&self.file, &mut bytes[n_read..], range.start + n_read as u64) {
                Ok(0) => return Err(Error::input(&*self.place, "the file is shorter than it was, or than it says")),
                Ok(n) => n_read += n,
                Err(error) => return Err(failed(&*self.place, "cannot be read", error)),
            }
        }
        Ok(bytes.into())
    }

    fn reader(&self, range: Option<Range<u64>>) -> Box<dyn Read + Send> {
        let Range { start, end } = range.unwrap_or(0..self.opened.bytes);
        Box::new(LocalReader { file: self.clone(), at: start, end: end.max(start) })
    }

    fn modified(&self) -> Option<SystemTime> {
        self.file.metadata().ok()?.modified().ok()
    }

    fn has_its_name(&self) -> bool {
        let Ok(named) = std::fs::symlink_metadata(&self.place) else { return false };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            if !self.file.metadata().is_ok_and(|opened| (opened.dev(), opened.ino()) == (named.dev(), named.ino())) {
                return false;
            }
        }
        State::of(&named) == self.opened
    }

    fn change(&self) -> Result<Fate> {
        let metadata = self.file.metadata().map_err(|error| failed(&*self.place, "cannot be looked at", error))?;
        let (opened, now) = (&self.opened, State::of(&metadata));
        Ok(if *opened == now {
            Fate::None
        } else if now.bytes > opened.bytes {
            Fate::Grown
        } else if (now.bytes, &now.mark) == (opened.bytes, &opened.mark) {
            Fate::Touched
        } else {
            Fate::Written
        })
    }
}

/// Reads some bytes; a signal that comes in between, as network file systems let through, is no end of it.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        #[cfg(unix)]
        let result = std::os::unix::fs::FileExt::read_at(file, buffer, offset);
        #[cfg(windows)]
        let result = std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
        if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
            return result;
        }
    }
}

/// Reads a file from one offset to another.
struct LocalReader {
    file: LocalFile,
    at: u64,
    end: u64,
}

impl Read for LocalReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let n_read = read_at(&self.file.file, &mut buffer[..wanted], self.at)?;
        self.at += n_read as u64;
        if n_read == 0 && wanted > 0 {
            let message = "the file became shorter while it was read";
            return Err(io::Error::other(Error::input(&*self.file.place, message)));
        }
        Ok(n_read)
    }
}

/// Size and mark of the file at `path`; `None` when there is no file.
pub(super) fn stat(path: &Path) -> Result<Option<Listed>> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(None),
        Ok(metadata) => Ok(Some(Listed { location: path.into(), bytes: Some(metadata.len()), mark: mark(&metadata) })),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failed(path.to_string_lossy(), "cannot be opened", error)),
    }
}

/// All files below `folder`, by path.
pub(super) fn list(folder: &Path) -> Result<Vec<Listed>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let place = folder.to_string_lossy().into_owned();
        let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        for entry in entries.map_err(|error| failed(&*place, "the folder cannot be listed", error))? {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.extend(stat(&path)?);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Sizes of all files below `folder` by their names in it; nothing when there is no folder.
pub(super) fn names(folder: &Path) -> Result<BTreeMap<String, u64>> {
    let listed = match list(folder) {
        Err(_) if !folder.is_dir() => return Ok(BTreeMap::new()),
        listed => listed?,
    };
    let below = |listed: Listed| {
        let parts = listed.location.as_local()?.strip_prefix(folder).ok()?.components();
        let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Some((parts.join("/"), listed.bytes?))
    };
    Ok(listed.into_iter().filter_map(below).collect())
}

/// The names of the folders in `folder`; nothing when it is not there.
pub(super) fn folders(folder: &Path) -> Result<Vec<String>> {
    let cannot = |error| failed(folder.to_string_lossy(), "the folder cannot be listed", error);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The files that `pattern` matches, by path.
pub(super) fn matches(pattern: &Path) -> Result<Vec<Listed>> {
    let place = pattern.to_string_lossy();
    let wrong = |error: glob::PatternError| Error::usage(&*place, "this is no pattern").because(error);
    let mut found = Vec::new();
    for path in glob::glob(&place).map_err(wrong)? {
        let path: PathBuf = path.map_err(|error| failed(&*place, "a folder cannot be listed", error.into()))?;
        found.extend(stat(&path)?);
    }
    found.sort();
    Ok(found)
}

/// The whole file; `None` when there is none.
pub(super) fn read_all(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path.to_string_lossy(), "cannot be read", error)),
    }
}

/// The time of the last change in nanoseconds since 1970, and the size where the system keeps no such time.
pub(crate) fn mark(metadata: &std::fs::Metadata) -> String {
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    changed.map_or_else(|| format!("{} bytes", metadata.len()), |since| since.as_nanos().to_string())
}
