//! A file or a folder together with the stores that reach it, so that who works on it needs to carry one thing: looking,
//! listing, opening, writing whole or not at all, locking, wherever it is.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::blob::{Blob, store_error};
use super::location::{Listed, Location, Name};
use super::lock::{Attempt, Lock};
use super::owner::Sighting;
use super::writer::BlobWriter;
use super::{Stores, local};
use crate::error::{Error, Result};
use crate::io::disk::write_atomic;
use crate::io::failed;

/// A file or a folder that can be reached. `Display` as for [`Location`].
#[derive(Clone)]
pub struct Place {
    stores: Stores,
    location: Location,
}

impl Place {
    /// The place `location`, reached through `stores`.
    pub fn new(stores: &Stores, location: Location) -> Self {
        Self { stores: stores.clone(), location }
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The path of a local place.
    pub fn as_local(&self) -> Option<&Path> {
        self.location.as_local()
    }

    /// See [`Location::join`].
    pub fn join(&self, relative: &str) -> Self {
        Self { stores: self.stores.clone(), location: self.location.join(relative) }
    }

    /// The folder that it is in.
    pub fn folder(&self) -> Self {
        Self { stores: self.stores.clone(), location: self.location.folder() }
    }

    /// Length and mark of the file here; `None` when there is no file, but perhaps a folder.
    pub fn stat(&self) -> Result<Option<Listed>> {
        match &self.location.0 {
            Name::Local(path) => local::stat(path),
            _ => Ok(self.stores.remote.find(&self.location)?.map(|blob| blob.listed())),
        }
    }

    /// Opens the file here for reading; later reads see this version of it or fail.
    ///
    /// # Errors
    /// `Io` when it is not there or cannot be read, `Usage` when it is a folder or the bucket does not exist.
    pub fn open(&self) -> Result<Blob> {
        match &self.location.0 {
            Name::Local(path) => {
                let (file, bytes, mark) = local::LocalFile::open(path)?;
                Ok(Blob::new(self.location.clone(), Some(bytes), mark, file))
            }
            _ => self.stores.remote.find(&self.location)?.ok_or_else(|| {
                let message = "cannot be read: there is nothing under this name";
                Error::io(self.to_string(), message)
            }),
        }
    }

    /// Opens the file here; `None` when there is none.
    pub fn find(&self) -> Result<Option<Blob>> {
        match &self.location.0 {
            Name::Local(path) if local::stat(path)?.is_none() => Ok(None),
            Name::Local(_) => self.open().map(Some),
            _ => self.stores.remote.find(&self.location),
        }
    }

    /// All files below it, by name; nothing for a folder of a store that holds nothing.
    ///
    /// # Errors
    /// `Io` when it cannot be listed, `Usage` when the bucket does not exist or a web server is asked.
    pub fn list(&self) -> Result<Vec<Listed>> {
        match &self.location.0 {
            Name::Local(path) => local::list(path),
            _ => self.stores.remote.list(&self.location),
        }
    }

    /// The names of all files below it, with `/` between their parts, and their sizes; nothing when there is no
    /// such folder. Cheaper than [`Place::list`], since it does not ask for marks.
    pub fn names(&self) -> Result<BTreeMap<String, u64>> {
        match &self.location.0 {
            Name::Local(path) => local::names(path),
            _ => self.stores.remote.names(&self.location),
        }
    }

    /// The names of the folders in it.
    pub fn folders(&self) -> Result<Vec<String>> {
        if let Name::Local(path) = &self.location.0 {
            return local::folders(path);
        }
        let mut names: Vec<String> = Vec::new();
        for name in self.names()?.into_keys() {
            let folder = name.split_once('/').map(|(folder, _)| folder.to_owned());
            names.extend(folder.filter(|folder| names.last() != Some(folder)));
        }
        Ok(names)
    }

    /// The files that the pattern of its name matches, by name: `*` and `?` stand for what lies within one part of
    /// a name, `**` for any number of parts, `[…]` for one of some letters.
    ///
    /// # Errors
    /// `Usage` when it is no pattern; see also [`Place::list`].
    pub fn matches(&self) -> Result<Vec<Listed>> {
        let (bucket, key) = match &self.location.0 {
            Name::Local(path) => return local::matches(path),
            Name::Object { bucket, key } => (bucket, key),
            Name::Web(_) => return self.stores.remote.list(&self.location),
        };
        let wrong = |error| Error::usage(self.to_string(), "this is no pattern").because(error);
        let pattern = glob::Pattern::new(key).map_err(|error: glob::PatternError| wrong(error))?;
        let literal = key.split(['*', '?', '[']).next().unwrap_or_default();
        let folder = literal.rsplit_once('/').map_or("", |(folder, _)| folder);
        let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::default() };
        let mut found =
            Self::new(&self.stores, Location(Name::Object { bucket: bucket.clone(), key: folder.to_owned() }))
                .list()?;
        found.retain(|listed| match &listed.location.0 {
            Name::Object { key, .. } => pattern.matches_with(key, options),
            _ => false,
        });
        Ok(found)
    }

    /// The whole file, for documents; `None` when there is none.
    pub fn read_all(&self) -> Result<Option<Vec<u8>>> {
        match &self.location.0 {
            Name::Local(path) => return local::read_all(path),
            Name::Object { .. } => {
                return Ok(self.stores.remote.documents(std::slice::from_ref(&self.location))?.pop().flatten());
            }
            Name::Web(_) => {}
        }
        let Some(blob) = self.stores.remote.find(&self.location)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let cannot = |error| store_error(&error).unwrap_or_else(|| failed(self.to_string(), "cannot be read", error));
        blob.stream().read_to_end(&mut bytes).map_err(cannot)?;
        Ok(Some(bytes))
    }

    /// Documents below this folder, each as [`Place::read_all`] gives it; in a store many are asked for at once.
    pub fn read_each(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
        if let Name::Object { .. } = self.location.0 {
            let locations: Vec<Location> = names.iter().map(|name| self.location.join(name)).collect();
            return self.stores.remote.documents(&locations);
        }
        names.iter().map(|name| self.join(name).read_all()).collect()
    }

    /// True when there is a file here.
    pub fn exists(&self) -> Result<bool> {
        Ok(self.stat()?.is_some())
    }

    /// Starts a file that appears whole here, or not at all; one that is there is replaced.
    ///
    /// # Errors
    /// `Io` when it cannot be started, `Usage` on a web server.
    pub fn create(&self) -> Result<BlobWriter> {
        match &self.location.0 {
            Name::Local(path) => BlobWriter::local(path),
            _ => self.stores.remote.create(&self.location),
        }
    }

    /// Writes a small file at once; one that is there is replaced.
    ///
    /// # Errors
    /// `Io` when it cannot be written, `Usage` on a web server.
    pub async fn write_atomic(&self, bytes: &[u8]) -> Result<()> {
        match &self.location.0 {
            Name::Local(path) => write_atomic(path, bytes, true).await.map(drop),
            _ => self.stores.remote.put(&self.location, bytes, false).await.map(drop),
        }
    }

    /// Tries to become the one who holds the name: until what this gives is dropped nobody else does. What
    /// was seen of others stands in `watch`, which is handed to the next attempt.
    ///
    /// # Errors
    /// `Io` when the file cannot be made or the store not be asked, `Usage` on a web server.
    pub fn try_lock(&self, watch: &mut Sighting) -> Result<Attempt> {
        match &self.location.0 {
            Name::Local(path) => Lock::local(path),
            _ => self.stores.remote.lock(&self.location, watch),
        }
    }

    /// Writes a small file unless there is one: `false` when there was, which then stays as it is. Of several writers
    /// at once, one gets `true`; after a lost answer none may.
    pub async fn put_if_absent(&self, bytes: &[u8]) -> Result<bool> {
        match &self.location.0 {
            Name::Local(path) => write_atomic(path, bytes, false).await,
            _ => self.stores.remote.put(&self.location, bytes, true).await,
        }
    }

    /// Deletes the file here; one that is gone already is as well.
    ///
    /// # Errors
    /// `Io` when it cannot be deleted, `Usage` on a web server.
    pub async fn delete(&self) -> Result<()> {
        match &self.location.0 {
            Name::Local(path) => match std::fs::remove_file(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                done => done.map_err(|error| failed(self.to_string(), "cannot be deleted", error)),
            },
            _ => self.stores.remote.delete(&self.location).await,
        }
    }

    /// See [`Stores::settle`].
    pub fn settle(&self) {
        self.stores.settle();
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        Self { stores: Stores::default(), location: path.into() }
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self { stores: Stores::default(), location: path.into() }
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.location == other.location
    }
}

impl Eq for Place {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.location.fmt(f)
    }
}

shows!(Place { location });
