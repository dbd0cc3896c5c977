//! Files wherever they are: on local disk, in S3, Google Cloud Storage and Azure, and, read only, on web servers.
//! Opening, listing, writing whole or not at all. Knows no format, and nothing of runs.

mod blob;
mod config;
#[cfg(feature = "remote")]
mod engine;
#[cfg(feature = "remote")]
mod fetch;
#[cfg(feature = "remote")]
mod lease;
mod local;
mod location;
mod lock;
#[cfg(feature = "remote")]
mod object;
mod owner;
mod place;
#[cfg(feature = "remote")]
mod remote;
#[cfg(not(feature = "remote"))]
#[path = "without.rs"]
mod remote;
mod secrets;
#[cfg(feature = "remote")]
mod trouble;
#[cfg(feature = "remote")]
mod upload;
#[cfg(feature = "remote")]
mod web;
mod writer;

use std::collections::BTreeMap;
use std::time::Duration;

use super::disk::{write_atomic, write_new};
use crate::error::{Error, ErrorKind, Result};
use location::Name;
use remote::Remote;

pub use blob::{Blob, BlobFile, store_error};
pub use config::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_FIRST_BACKOFF, DEFAULT_LEASE, DEFAULT_MAX_RETRIES, DEFAULT_PART_BYTES,
    DEFAULT_RANGE_BYTES, DEFAULT_RETRY_TIMEOUT, DEFAULT_SLOWEST, DEFAULT_STALL_TIMEOUT, MAX_BACKOFF, StoreConfig,
};
pub use local::Change;
pub(crate) use local::mark as mark_of;
pub use location::{Listed, Location};
pub use lock::{Attempt, Lock};
pub use owner::{Owner, Watch};
pub use place::Place;
pub use secrets::without_secrets;
pub use writer::BlobWriter;

/// The longest that [`Stores::settle`] waits.
const LONGEST_SETTLING: Duration = Duration::from_secs(5);

/// All places where files can be. Clones share their connections. What blocks may be called on any thread; on one of
/// an async runtime it holds this thread up.
#[derive(Debug, Clone)]
pub struct Stores {
    remote: Remote,
}

impl Default for Stores {
    fn default() -> Self {
        Self::new(StoreConfig::default())
    }
}

impl Stores {
    /// Stores with these bounds; nothing is connected before it is used.
    #[must_use]
    pub fn new(config: StoreConfig) -> Self {
        Self { remote: Remote::new(config) }
    }

    /// Length and mark of the file at `location`; `None` when there is no file, but perhaps a folder.
    ///
    /// # Errors
    /// `Usage` when the bucket does not exist, `Io` when the store cannot be asked.
    pub fn stat(&self, location: &Location) -> Result<Option<Listed>> {
        match &location.0 {
            Name::Local(path) => local::stat(path),
            _ => Ok(self.remote.find(location)?.map(|blob| blob.listed())),
        }
    }

    /// Opens the file at `location` for reading; later reads see this version of it or fail.
    ///
    /// # Errors
    /// `Io` when it is not there or cannot be read, `Usage` when it is a folder or the bucket does not exist.
    pub fn open(&self, location: &Location) -> Result<Blob> {
        match &location.0 {
            Name::Local(path) => {
                let (file, bytes, mark) = local::LocalFile::open(path)?;
                Ok(Blob::new(location.clone(), Some(bytes), mark, blob::Source::Local(file)))
            }
            _ => self.remote.find(location)?.ok_or_else(|| missing(location)),
        }
    }

    /// Opens the file at `location`; `None` when there is none.
    ///
    /// # Errors
    /// See [`Stores::open`].
    pub fn find(&self, location: &Location) -> Result<Option<Blob>> {
        match &location.0 {
            Name::Local(path) if local::stat(path)?.is_none() => Ok(None),
            Name::Local(_) => self.open(location).map(Some),
            _ => self.remote.find(location),
        }
    }

    /// All files below `folder`, by name; nothing for a folder of a store that holds nothing.
    ///
    /// # Errors
    /// `Io` when it cannot be listed, `Usage` when the bucket does not exist or a web server is asked.
    pub fn list(&self, folder: &Location) -> Result<Vec<Listed>> {
        match &folder.0 {
            Name::Local(path) => local::list(path),
            _ => self.remote.list(folder),
        }
    }

    /// The names of all files below `folder`, with `/` between their parts, and their sizes; nothing when there is no
    /// such folder. Cheaper than [`Stores::list`], since it does not ask for marks.
    ///
    /// # Errors
    /// See [`Stores::list`]; a web server gives nothing.
    pub fn names(&self, folder: &Location) -> Result<BTreeMap<String, u64>> {
        match &folder.0 {
            Name::Local(path) => local::names(path),
            _ => self.remote.names(folder),
        }
    }

    /// The files that the pattern of `location` matches, by name: `*` and `?` stand for what lies within one part of
    /// a name, `**` for any number of parts, `[…]` for one of some letters.
    ///
    /// # Errors
    /// `Usage` when it is no pattern; see also [`Stores::list`].
    pub fn matches(&self, location: &Location) -> Result<Vec<Listed>> {
        let (bucket, key) = match &location.0 {
            Name::Local(path) => return local::matches(path),
            Name::Object { bucket, key } => (bucket, key),
            Name::Web(_) => return self.remote.list(location),
        };
        let wrong = |error| Error::new(ErrorKind::Usage, location.to_string(), "this is no pattern").because(error);
        let pattern = glob::Pattern::new(key).map_err(|error: glob::PatternError| wrong(error))?;
        let literal = key.split(['*', '?', '[']).next().unwrap_or_default();
        let folder = literal.rsplit_once('/').map_or("", |(folder, _)| folder);
        let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::default() };
        let mut found = self.list(&Location(Name::Object { bucket: bucket.clone(), key: folder.to_owned() }))?;
        found.retain(|listed| match &listed.location.0 {
            Name::Object { key, .. } => pattern.matches_with(key, options),
            _ => false,
        });
        Ok(found)
    }

    /// The whole file, for documents; `None` when there is none.
    ///
    /// # Errors
    /// See [`Stores::open`].
    pub fn read_all(&self, location: &Location) -> Result<Option<Vec<u8>>> {
        match &location.0 {
            Name::Local(path) => return local::read_all(path),
            Name::Object { .. } => {
                return Ok(self.remote.documents(std::slice::from_ref(location))?.pop().flatten());
            }
            Name::Web(_) => {}
        }
        let Some(blob) = self.remote.find(location)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let failed = |error: std::io::Error| {
            store_error(&error).unwrap_or_else(|| super::failed(location.to_string(), "cannot be read", error))
        };
        std::io::Read::read_to_end(&mut blob.stream(), &mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    }

    /// Several documents, each as [`Stores::read_all`] gives it; in a store many are asked for at once.
    ///
    /// # Errors
    /// See [`Stores::open`].
    pub fn read_each(&self, locations: &[Location]) -> Result<Vec<Option<Vec<u8>>>> {
        match locations.first() {
            Some(Location(Name::Object { .. })) => self.remote.documents(locations),
            _ => locations.iter().map(|location| self.read_all(location)).collect(),
        }
    }

    /// True when there is a file at `location`.
    ///
    /// # Errors
    /// See [`Stores::stat`].
    pub fn exists(&self, location: &Location) -> Result<bool> {
        Ok(self.stat(location)?.is_some())
    }

    /// Starts a file that appears whole at `location`, or not at all; one that is there is replaced.
    ///
    /// # Errors
    /// `Io` when it cannot be started, `Usage` on a web server.
    pub fn create(&self, location: &Location) -> Result<BlobWriter> {
        match &location.0 {
            Name::Local(path) => BlobWriter::local(path),
            _ => self.remote.create(location),
        }
    }

    /// Writes a small file at once; one that is there is replaced.
    ///
    /// # Errors
    /// `Io` when it cannot be written, `Usage` on a web server.
    pub async fn write_atomic(&self, location: &Location, bytes: &[u8]) -> Result<()> {
        match &location.0 {
            Name::Local(path) => write_atomic(path, bytes).await,
            _ => self.remote.put(location, bytes, false).await.map(drop),
        }
    }

    /// Tries to become the one who holds the name `location`: until what this gives is dropped nobody else does. What
    /// was seen of others stands in `watch`, which is handed to the next attempt.
    ///
    /// # Errors
    /// `Io` when the file cannot be made or the store not be asked, `Usage` on a web server.
    pub fn try_lock(&self, location: &Location, watch: &mut Watch) -> Result<Attempt> {
        match &location.0 {
            Name::Local(path) => Lock::local(path),
            _ => self.remote.lock(location, watch),
        }
    }

    /// Writes a small file unless there is one: `false` when there was, which then stays as it is. Of several writers
    /// at once, one gets `true`; after a lost answer none may.
    ///
    /// # Errors
    /// See [`Stores::write_atomic`].
    pub async fn put_if_absent(&self, location: &Location, bytes: &[u8]) -> Result<bool> {
        match &location.0 {
            Name::Local(path) => write_new(path, bytes).await,
            _ => self.remote.put(location, bytes, true).await,
        }
    }

    /// Waits some seconds until uploads that were given up are cleaned away; for the end of a process.
    pub fn settle(&self) {
        self.remote.settle(LONGEST_SETTLING);
    }
}

fn missing(location: &Location) -> Error {
    Error::new(ErrorKind::Io, location.to_string(), "cannot be read: there is nothing under this name")
}
