//! Files below folders: every real folder is entered once and every file found once, however many links lead there, so
//! that a walk ends. What is passed over is told with the reason. Knows names and links, not what files hold.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs::{FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::failed;
use crate::error::Result;

/// Something that was found and is not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassedOver {
    /// Where it was found.
    pub path: PathBuf,
    /// Why it is not read.
    pub why: Why,
}

/// Why something is passed over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// A link to a folder or file that is read under this name.
    ReadAs(PathBuf),
    /// A pipe, a socket or a device: reading might never end.
    NoFile(&'static str),
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.why {
            Why::ReadAs(other) => write!(f, "{path} is passed over: it links to what is read as {}", other.display()),
            Why::NoFile(kind) => write!(f, "{path} is passed over: it is a {kind}; to read it, name it"),
        }
    }
}

/// A walk over folders.
pub(super) struct Walk<'w> {
    /// Which folders are entered.
    pub(super) enters: &'w dyn Fn(&Path) -> bool,
    /// Which files are wanted.
    pub(super) wants: &'w dyn Fn(&Path) -> bool,
    seen: Seen,
    /// Links that were found; where they lead is looked at when all that is real was found.
    links: BTreeSet<PathBuf>,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Seen {
    /// The names of folders and files by their real paths.
    names: HashMap<PathBuf, PathBuf>,
    files: Vec<PathBuf>,
    passed_over: Vec<PassedOver>,
}

impl Seen {
    /// True when nothing was found under this real path before; else the name is passed over.
    fn is_new(&mut self, real: PathBuf, name: &Path) -> bool {
        if let Some(other) = self.names.get(&real) {
            self.passed_over.push(PassedOver { path: name.to_owned(), why: Why::ReadAs(other.clone()) });
            return false;
        }
        self.names.insert(real, name.to_owned());
        true
    }

    fn file(&mut self, real: PathBuf, name: PathBuf) {
        if self.is_new(real, &name) {
            self.files.push(name);
        }
    }

    fn no_file(&mut self, path: PathBuf, kind: FileType) {
        self.passed_over.push(PassedOver { path, why: Why::NoFile(kind_of(kind)) });
    }

    /// What was found, by name.
    fn sorted(mut self) -> (Vec<PathBuf>, Vec<PassedOver>) {
        self.files.sort();
        self.passed_over.sort();
        (self.files, self.passed_over)
    }
}

impl<'w> Walk<'w> {
    pub(super) fn new(enters: &'w dyn Fn(&Path) -> bool, wants: &'w dyn Fn(&Path) -> bool) -> Self {
        Self { enters, wants, seen: Seen::default(), links: BTreeSet::new() }
    }

    /// The files below `roots`, and what was passed over.
    pub(super) fn run(mut self, roots: Vec<PathBuf>) -> Result<(Vec<PathBuf>, Vec<PassedOver>)> {
        let (links, real): (Vec<PathBuf>, Vec<PathBuf>) =
            roots.into_iter().partition(|root| std::fs::symlink_metadata(root).is_ok_and(|found| found.is_symlink()));
        for root in real.into_iter().chain(links) {
            self.folder(root)?;
        }
        while let Some(link) = self.links.pop_first() {
            self.follow(link)?;
        }
        Ok(self.seen.sorted())
    }

    /// Enters a folder that was named or that a link leads to, and all real ones below it.
    fn folder(&mut self, folder: PathBuf) -> Result<()> {
        let listed = |error| failed(folder.to_string_lossy(), "the folder cannot be listed", error);
        let real = real_path(&folder).map_err(listed)?;
        if !self.seen.is_new(real.clone(), &folder) {
            return Ok(());
        }
        let mut folders = vec![(folder, real)];
        while let Some((folder, real)) = folders.pop() {
            let listed = |error| failed(folder.to_string_lossy(), "the folder cannot be listed", error);
            let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            for entry in std::fs::read_dir(here).map_err(listed)? {
                let entry = entry.map_err(listed)?;
                let (path, real) = (folder.join(entry.file_name()), real.join(entry.file_name()));
                let kind = entry.file_type().map_err(listed)?;
                if kind.is_symlink() {
                    self.links.insert(path);
                } else if kind.is_dir() {
                    if (self.enters)(&path) && self.seen.is_new(real.clone(), &path) {
                        folders.push((path, real));
                    }
                } else if !(self.wants)(&path) {
                } else if kind.is_file() {
                    self.seen.file(real, path);
                } else {
                    self.seen.no_file(path, kind);
                }
            }
        }
        Ok(())
    }

    fn follow(&mut self, link: PathBuf) -> Result<()> {
        let target = std::fs::metadata(&link);
        if target.as_ref().is_ok_and(Metadata::is_dir) {
            return if (self.enters)(&link) { self.folder(link) } else { Ok(()) };
        }
        if !(self.wants)(&link) {
            return Ok(());
        }
        match target {
            Ok(target) if !target.is_file() => self.seen.no_file(link, target.file_type()),
            Ok(_) => match real_path(&link) {
                Ok(real) => self.seen.file(real, link),
                Err(_) => self.seen.files.push(link),
            },
            // It leads nowhere: who opens it says so.
            Err(_) => self.seen.files.push(link),
        }
        Ok(())
    }
}

/// The files among `paths`, each once, and what was passed over: a path without links goes before one with them.
pub(super) fn each_once(paths: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PassedOver>) {
    let mut seen = Seen::default();
    let mut found: BTreeMap<(bool, PathBuf), PathBuf> = BTreeMap::new();
    for path in paths {
        match std::fs::metadata(&path) {
            Ok(target) if target.is_dir() => {}
            Ok(target) if !target.is_file() => seen.no_file(path, target.file_type()),
            Ok(_) => {
                let real = real_path(&path).unwrap_or_else(|_| path.clone());
                let is_linked = std::path::absolute(&path).is_ok_and(|path| path != real);
                found.insert((is_linked, path), real);
            }
            Err(_) => {}
        }
    }
    for ((_, path), real) in found {
        seen.file(real, path);
    }
    seen.sorted()
}

fn real_path(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}

#[cfg(unix)]
fn kind_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    }
}

#[cfg(not(unix))]
fn kind_of(_kind: FileType) -> &'static str {
    "device"
}
