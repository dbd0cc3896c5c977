//! Names that last: folders that are made and synced, temporary files that say whether their writer still lives, and the
//! sweeping of those whose writer does not. Knows no format, no record and no error but that of the system.
//!
//! The writer of a temporary file holds an advisory lock on it, which ends with the process, however that ends. So a file
//! that another process can lock belongs to nobody any more.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

const TEMP_PREFIX: &str = ".condenser-";
const TEMP_SUFFIX: &str = ".tmp";
/// A sweeper takes a file away in the moment between its birth and its lock at most so often in a row.
const MAX_BIRTHS: usize = 64;

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The usual rights of a new file, less the umask.
    Usual,
    /// Its owner alone.
    #[cfg_attr(not(feature = "llm"), allow(dead_code, reason = "only kept replies are private"))]
    Private,
}

/// The folder of a file.
pub(crate) fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes `folder` and those above it that are not there, and makes their names last.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let is_new = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let made: Vec<&Path> = folder.ancestors().take_while(is_new).collect();
    std::fs::create_dir_all(folder)?;
    made.into_iter().try_for_each(|made| sync_folder(folder_of(made)))
}

/// Makes the names in `folder` last: a file that was renamed is safe from then on.
///
/// # Errors
/// When the system could not write it. A system that cannot sync a folder at all is forgiven, since the rename itself has
/// happened.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = match File::open(folder) {
        Ok(folder) => folder,
        Err(error) if cannot_be_opened(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    folder.sync_all().or_else(|error| if cannot_be_synced(&error) { Ok(()) } else { Err(error) })
}

/// A folder may be written to and not be read; some systems open none.
fn cannot_be_opened(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied || cannot_be_synced(error)
}

fn cannot_be_synced(error: &io::Error) -> bool {
    // Windows denies what it does not know.
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
        || cfg!(windows) && error.kind() == io::ErrorKind::PermissionDenied
}

/// True for the name of a file that was never finished.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX)
}

/// A new temporary file in `folder`, locked for as long as this process holds it.
pub(crate) fn temp_in(folder: &Path, access: Access) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX);
    #[cfg(unix)]
    if access == Access::Usual {
        // The crate's own default is private.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    for _ in 0..MAX_BIRTHS {
        let temp = builder.tempfile_in(folder)?;
        match temp.as_file().lock() {
            // A sweeper may have been quicker.
            Ok(()) if temp.path().exists() => return Ok(temp),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Where nothing can be locked nothing is swept: see [`sweep`].
            Err(_) => return Ok(temp),
        }
    }
    Err(io::Error::other("temporary files vanish as soon as they are made"))
}

/// Gives a temporary file its name, on disk: its bytes, then its name. With `replaces` it takes the place of a file that
/// is there; without, that is an error of the kind `AlreadyExists`.
pub(crate) fn put_in_place(temp: NamedTempFile, target: &Path, replaces: bool) -> io::Result<()> {
    give_name(temp, target, replaces)?;
    sync_folder(folder_of(target))
}

/// The same, but that the name lasts only when its folder is synced.
pub(crate) fn give_name(temp: NamedTempFile, target: &Path, replaces: bool) -> io::Result<()> {
    temp.as_file().sync_all()?;
    let placed = if replaces { temp.persist(target) } else { temp.persist_noclobber(target) };
    placed.map(drop).map_err(|error| error.error)
}

/// Takes away the temporary files in `folder` whose writers are gone; the files of those that are at work stay. What
/// cannot be looked at or removed does no harm and stays.
pub(crate) fn sweep_unfinished(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let unfinished = entries.flatten().filter(|entry| is_unfinished(&entry.file_name().to_string_lossy()));
    for path in unfinished.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path())
    {
        sweep(&path);
    }
}

fn sweep(path: &PathBuf) {
    let Ok(file) = File::options().read(true).write(true).open(path) else { return };
    match file.try_lock() {
        // The lock is held until the name is gone: its writer, if it is just being born, waits and looks again.
        Ok(()) => drop(std::fs::remove_file(path)),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::Path;

    use super::{Access, cannot_be_opened, cannot_be_synced, make_folder, sweep_unfinished, sync_folder, temp_in};

    #[test]
    fn only_systems_that_sync_no_folders_are_forgiven() {
        for kind in [ErrorKind::InvalidInput, ErrorKind::Unsupported] {
            assert!(cannot_be_synced(&Error::from(kind)) && cannot_be_opened(&Error::from(kind)));
        }
        assert!(cannot_be_opened(&Error::from(ErrorKind::PermissionDenied)));
        #[cfg(target_os = "linux")]
        for (code, forgiven) in [(5, false), (28, false), (24, false), (30, false), (22, true), (95, true)] {
            assert_eq!(cannot_be_synced(&Error::from_raw_os_error(code)), forgiven, "{code}");
            assert_eq!(cannot_be_opened(&Error::from_raw_os_error(code)), forgiven, "{code}");
        }
        assert!(sync_folder(Path::new("no/such/folder")).is_err());
    }

    #[test]
    fn only_files_without_a_living_writer_are_swept() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("a/b");
        make_folder(&folder).expect("it can be made");
        make_folder(&folder).expect("it is there");
        let alive = temp_in(&folder, Access::Usual).expect("a file");
        let dead = temp_in(&folder, Access::Private).expect("a file");
        let (file, dead) = dead.keep().expect("it stays");
        sweep_unfinished(&folder);
        assert!(alive.path().exists() && dead.exists());
        drop(file);
        sweep_unfinished(&folder);
        assert!(alive.path().exists() && !dead.exists());
    }
}
