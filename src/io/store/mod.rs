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
mod place;
mod secrets;
#[cfg(feature = "remote")]
mod trouble;
#[cfg(feature = "remote")]
mod upload;
#[cfg(feature = "remote")]
mod web;
#[cfg(not(feature = "remote"))]
mod without;
mod writer;

use std::collections::BTreeMap;
#[cfg(feature = "remote")]
use std::collections::HashMap;
#[cfg(feature = "remote")]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use blob::{Blob, BlobFile, Change, store_error};
pub use config::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_FIRST_BACKOFF, DEFAULT_LEASE, DEFAULT_MAX_RETRIES, DEFAULT_PART_BYTES,
    DEFAULT_RANGE_BYTES, DEFAULT_RETRY_TIMEOUT, DEFAULT_SLOWEST, DEFAULT_STALL_TIMEOUT, MAX_BACKOFF, StoreConfig,
};
pub(crate) use local::mark as mark_of;
pub use location::Location;
pub use lock::{Attempt, Lock, Owner, Watch};
pub use place::Place;
pub use secrets::without_secrets;
pub use writer::BlobWriter;

use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "remote")]
use futures::{StreamExt, TryStreamExt, stream};
use location::Name;
#[cfg(feature = "remote")]
use object_store::PutMode;

/// The longest that [`Stores::settle`] waits.
const LONGEST_SETTLING: Duration = Duration::from_secs(5);

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Where it is.
    pub location: Location,
    /// Its length in bytes; `None` on a web server that does not tell.
    pub bytes: Option<u64>,
    /// See [`Blob::mark`]; the same as that of the open file.
    pub mark: String,
}

/// All places where files can be. Clones share their connections. What blocks may be called on any thread; on one of
/// an async runtime it holds this thread up.
#[derive(Debug, Clone)]
pub struct Stores {
    #[cfg(feature = "remote")]
    engine: engine::Engine,
    #[cfg(feature = "remote")]
    clients: Arc<Mutex<Clients>>,
}

#[cfg(feature = "remote")]
#[derive(Debug, Default)]
struct Clients {
    buckets: HashMap<String, object::Bucket>,
    web: Option<object_store::client::HttpClient>,
}

impl Default for Stores {
    fn default() -> Self {
        Self::new(StoreConfig::default())
    }
}

#[cfg(feature = "remote")]
impl Stores {
    /// Stores with these bounds; nothing is connected before it is used.
    #[must_use]
    pub fn new(config: StoreConfig) -> Self {
        Self { engine: engine::Engine::new(config), clients: Arc::default() }
    }

    fn bucket(&self, name: &str) -> Result<object::Bucket> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = clients.buckets.get(name) {
            return Ok(bucket.clone());
        }
        let bucket = object::Bucket::open(name, &self.engine.config())?;
        clients.buckets.insert(name.to_owned(), bucket.clone());
        Ok(bucket)
    }

    fn web(&self, location: &Location) -> Result<web::WebFile> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let config = self.engine.config();
        let client = match &clients.web {
            Some(client) => client.clone(),
            None => clients.web.insert(web::client(&config)?).clone(),
        };
        Ok(web::WebFile::new(location, client, &config))
    }

    fn remote_stat(&self, location: &Location) -> Result<Option<(Blob, Listed)>> {
        let (origin, version, bytes, ranges) = if let Name::Object { bucket, key } = &location.0 {
            if key.is_empty() {
                return Ok(None);
            }
            let (bucket, path) = (self.bucket(bucket)?, object::path_of(location)?);
            let (asked, key) = (bucket.clone(), path.clone());
            let Some(version) = self.engine.wait(async move { asked.stat(&key).await })? else { return Ok(None) };
            let bytes = Some(version.bytes);
            (fetch::Origin::Object(bucket, path), version, bytes, true)
        } else {
            let web = self.web(location)?;
            let asked = web.clone();
            let Some(stat) = self.engine.wait(async move { asked.stat().await })? else { return Ok(None) };
            (fetch::Origin::Web(web), stat.version, stat.bytes, stat.ranges)
        };
        let mark = version.mark();
        let listed = Listed { location: location.clone(), bytes, mark: mark.clone() };
        let file = fetch::RemoteFile::new(location.clone(), origin, version, ranges, self.engine.clone());
        Ok(Some((Blob::new(location.clone(), bytes, mark, blob::Source::Remote(file)), listed)))
    }

    fn remote_list(&self, folder: &Location) -> Result<Vec<Listed>> {
        let Name::Object { bucket, .. } = &folder.0 else {
            let message = "a web server lists no files; name every file";
            return Err(Error::new(ErrorKind::Usage, folder.to_string(), message));
        };
        let (bucket, path) = (self.bucket(bucket)?, object::path_of(folder)?);
        self.engine.wait(async move { bucket.list(&path).await })
    }

    fn remote_names(&self, folder: &Location) -> Result<BTreeMap<String, u64>> {
        let Name::Object { bucket, .. } = &folder.0 else { return Ok(BTreeMap::new()) };
        let (bucket, path) = (self.bucket(bucket)?, object::path_of(folder)?);
        self.engine.wait(async move { bucket.names(&path).await })
    }

    /// Small objects, several at once.
    fn remote_documents(&self, locations: &[Location]) -> Result<Vec<Option<Vec<u8>>>> {
        let asked = locations.iter().map(|location| match &location.0 {
            Name::Object { bucket, key } if !key.is_empty() => {
                Ok(Some((self.bucket(bucket)?, object::path_of(location)?)))
            }
            _ => Ok(None),
        });
        let asked = asked.collect::<Result<Vec<_>>>()?;
        let read = async |asked: Option<(object::Bucket, object_store::path::Path)>| match asked {
            Some((bucket, path)) => Ok(bucket.read(&path).await?.map(|bytes| bytes.to_vec())),
            None => Ok(None),
        };
        self.engine
            .wait(async move { stream::iter(asked).map(read).buffered(object::REQUESTS_AT_ONCE).try_collect().await })
    }

    fn remote_create(&self, location: &Location) -> Result<BlobWriter> {
        let (bucket, path) = self.written(location)?;
        Ok(BlobWriter::remote(upload::Upload::new(bucket, path, location.clone(), self.engine.clone())))
    }

    async fn remote_put(&self, location: &Location, bytes: &[u8], create: bool) -> Result<bool> {
        let ((bucket, path), bytes) = (self.written(location)?, bytes.to_vec());
        let mode = if create { PutMode::Create } else { PutMode::Overwrite };
        self.engine.run(async move { Ok(bucket.put(&path, bytes, &mode).await?.is_some()) }).await
    }

    fn remote_lock(&self, location: &Location, watch: &mut Watch) -> Result<Attempt> {
        let (bucket, path) = self.written(location)?;
        let (engine, seen) = (self.engine.clone(), std::mem::take(watch));
        let take = lease::Lease::take(bucket, path, location.clone(), engine, seen);
        let (attempt, seen) = self.engine.wait(take)?;
        *watch = seen;
        Ok(attempt)
    }

    fn written(&self, location: &Location) -> Result<(object::Bucket, object_store::path::Path)> {
        let usage = |message: &str| Err(Error::new(ErrorKind::Usage, location.to_string(), message));
        match &location.0 {
            Name::Object { key, .. } if key.is_empty() => usage("this is a bucket, not the name of a file"),
            Name::Object { bucket, .. } => Ok((self.bucket(bucket)?, object::path_of(location)?)),
            _ => usage("a web server is only read; write to a local path, s3://, gs:// or az://"),
        }
    }

    /// Waits some seconds until uploads that were given up are cleaned away; for the end of a process.
    pub fn settle(&self) {
        self.engine.settle(LONGEST_SETTLING);
    }
}

impl Stores {
    /// Length and mark of the file at `location`; `None` when there is no file, but perhaps a folder.
    ///
    /// # Errors
    /// `Usage` when the bucket does not exist, `Io` when the store cannot be asked.
    pub fn stat(&self, location: &Location) -> Result<Option<Listed>> {
        match &location.0 {
            Name::Local(path) => local::stat(path),
            _ => Ok(self.remote_stat(location)?.map(|(_, listed)| listed)),
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
            _ => self.remote_stat(location)?.map(|(blob, _)| blob).ok_or_else(|| missing(location)),
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
            _ => Ok(self.remote_stat(location)?.map(|(blob, _)| blob)),
        }
    }

    /// All files below `folder`, by name; nothing for a folder of a store that holds nothing.
    ///
    /// # Errors
    /// `Io` when it cannot be listed, `Usage` when the bucket does not exist or a web server is asked.
    pub fn list(&self, folder: &Location) -> Result<Vec<Listed>> {
        match &folder.0 {
            Name::Local(path) => local::list(path),
            _ => self.remote_list(folder),
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
            _ => self.remote_names(folder),
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
            Name::Web(_) => return self.remote_list(location),
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
                return Ok(self.remote_documents(std::slice::from_ref(location))?.pop().flatten());
            }
            Name::Web(_) => {}
        }
        let Some((blob, _)) = self.remote_stat(location)? else { return Ok(None) };
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
            Some(Location(Name::Object { .. })) => self.remote_documents(locations),
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
            _ => self.remote_create(location),
        }
    }

    /// Writes a small file at once; one that is there is replaced.
    ///
    /// # Errors
    /// `Io` when it cannot be written, `Usage` on a web server.
    pub async fn write_atomic(&self, location: &Location, bytes: &[u8]) -> Result<()> {
        match &location.0 {
            Name::Local(path) => crate::io::disk::write_atomic(path, bytes).await,
            _ => self.remote_put(location, bytes, false).await.map(drop),
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
            _ => self.remote_lock(location, watch),
        }
    }

    /// Writes a small file unless there is one: `false` when there was, which then stays as it is. Of several writers
    /// at once, one gets `true`; after a lost answer none may.
    ///
    /// # Errors
    /// See [`Stores::write_atomic`].
    pub async fn put_if_absent(&self, location: &Location, bytes: &[u8]) -> Result<bool> {
        match &location.0 {
            Name::Local(path) => crate::io::disk::write_new(path, bytes).await,
            _ => self.remote_put(location, bytes, true).await,
        }
    }
}

#[cfg(feature = "remote")]
fn missing(location: &Location) -> Error {
    Error::new(ErrorKind::Io, location.to_string(), "cannot be read: there is nothing under this name")
}

#[cfg(not(feature = "remote"))]
fn missing(location: &Location) -> Error {
    without::not_built(location)
}
