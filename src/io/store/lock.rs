//! A name that one process holds at a time, on local disk or in a store; the document under it says who. Knows
//! neither what is protected nor how long one waits. On local disk the system itself lets go of what a process held
//! when it ends, however it ends; in a store see [`super::lease`].

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::owner::Owner;
use crate::error::Result;
use crate::io::failed;

/// A document that says who holds a lock is shorter.
const MAX_DOCUMENT: u64 = 64 << 10;

/// What became of an attempt to take a lock; else which process holds it, if it has said so yet.
pub type Attempt = std::result::Result<Lock, Option<Owner>>;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock(Box<dyn Hold>);

/// What holds a lock until it is dropped.
pub(super) trait Hold: std::fmt::Debug + Send + Sync {
    /// An error when another one holds it by now.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Hold for LocalLock {}

impl Lock {
    pub(super) fn of(held: impl Hold + 'static) -> Self {
        Self(Box::new(held))
    }

    pub(super) fn local(path: &Path) -> Result<Attempt> {
        let taken = LocalLock::take(path).map_err(|error| failed(path.to_string_lossy(), "cannot be locked", error))?;
        Ok(taken.map(Self::of))
    }

    /// Looks whether it is still held.
    ///
    /// # Errors
    /// `Io` when this process was not heard of for so long that another one took the lock.
    pub fn check(&self) -> Result<()> {
        self.0.check()
    }
}

/// A locked file, taken away when it is dropped.
#[derive(Debug)]
struct LocalLock {
    /// Its lock ends when it is closed.
    _file: File,
    path: PathBuf,
}

impl LocalLock {
    fn take(path: &Path) -> io::Result<std::result::Result<Self, Option<Owner>>> {
        loop {
            if let Some(folder) = path.parent() {
                let made = std::fs::create_dir_all(folder);
                match std::fs::symlink_metadata(folder) {
                    Ok(found) if !found.is_dir() => return Err(foreign()),
                    // It was there when it was to be made, and went together with the lock of another process.
                    Err(_) if made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) => {
                        continue;
                    }
                    _ => made?,
                }
            }
            let mut file = match open_own(path) {
                // The folder, or the file, may go together with the lock of another process.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Err(owner_in(&file))),
                // A file system without locks: the plan and the commits are compared before a run is complete.
                Err(TryLockError::Error(error)) if has_no_locks(&error) => {
                    tracing::warn!("{}: this file system cannot lock; see that only one job writes", path.display());
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Who held it before may have taken the file away between the opening and the lock.
            if is_at(&file, path)? {
                file.set_len(0)?;
                file.write_all(serde_json::to_string(&Owner::here())?.as_bytes())?;
                return Ok(Ok(Self { _file: file, path: path.to_owned() }));
            }
        }
    }
}

impl Drop for LocalLock {
    fn drop(&mut self) {
        // What stays does no harm: it is locked by nobody. A folder with other locks in it stays, and should.
        drop(std::fs::remove_file(&self.path));
        drop(self.path.parent().map(std::fs::remove_dir));
    }
}

/// Opens the file at `path`, or makes it; never what a link leads to, since what is written would destroy it.
fn open_own(path: &Path) -> io::Result<File> {
    match OpenOptions::new().create_new(true).read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    if !is_own(&std::fs::symlink_metadata(path)?) {
        return Err(foreign());
    }
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // The name may have become a link between the two calls.
    if is_own(&file.metadata()?) && is_at(&file, path)? { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// True for a file that has one name.
fn is_own(found: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // A file that is just taken away has none.
        if found.nlink() > 1 {
            return false;
        }
    }
    found.is_file()
}

fn foreign() -> io::Error {
    io::Error::other("this is no lock of a job but a link, a folder or something else; take it away")
}

fn has_no_locks(error: &io::Error) -> bool {
    /// What Linux says of a network file system whose lock service does not run.
    const NO_LOCKS: i32 = 37;
    error.kind() == io::ErrorKind::Unsupported || cfg!(target_os = "linux") && error.raw_os_error() == Some(NO_LOCKS)
}

/// Who says in `file` that it is his; `None` when it is no such document, or not yet.
fn owner_in(mut file: &File) -> Option<Owner> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.take(MAX_DOCUMENT).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let opened = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

#[cfg(test)]
mod tests {
    use super::LocalLock;

    #[test]
    fn folders_that_go_with_the_locks_of_others_are_made_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let take = |name: &str| drop(LocalLock::take(&dir.path().join("locks").join(name)).expect("held or busy"));
        std::thread::scope(|scope| {
            for name in ["a", "b", "b"] {
                scope.spawn(move || (0..600).for_each(|_| take(name)));
            }
        });
    }
}
