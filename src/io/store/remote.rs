//! Buckets and web servers as one: each name goes to the client that reaches it, which is made when it is first asked.
//! Knows no local file; `without.rs` stands for it in a build without remote stores.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::PutMode;
use object_store::client::HttpClient;
use object_store::path::Path;

use super::blob::Blob;
use super::config::StoreConfig;
use super::engine::Engine;
use super::fetch::{Origin, RemoteFile};
use super::lease::Lease;
use super::location::{Listed, Location, Name};
use super::lock::{Attempt, Lock};
use super::object::{Bucket, REQUESTS_AT_ONCE, path_of};
use super::owner::Sighting;
use super::upload::Upload;
use super::web::{WebFile, client};
use super::writer::BlobWriter;
use crate::error::{Error, Result};

/// All that is remote. Clones share their connections.
#[derive(Debug, Clone)]
pub(super) struct Remote {
    engine: Engine,
    clients: Arc<Mutex<Clients>>,
}

#[derive(Debug, Default)]
struct Clients {
    buckets: HashMap<String, Bucket>,
    web: Option<HttpClient>,
}

impl Remote {
    pub(super) fn new(config: StoreConfig) -> Self {
        Self { engine: Engine::new(config), clients: Arc::default() }
    }

    fn bucket(&self, name: &str) -> Result<Bucket> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = clients.buckets.get(name) {
            return Ok(bucket.clone());
        }
        let bucket = Bucket::open(name, &self.engine.config())?;
        clients.buckets.insert(name.to_owned(), bucket.clone());
        Ok(bucket)
    }

    fn web(&self, location: &Location) -> Result<WebFile> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let config = self.engine.config();
        let client = match &clients.web {
            Some(client) => client.clone(),
            None => clients.web.insert(client(&config)?).clone(),
        };
        Ok(WebFile::new(location, client, &config))
    }

    /// The file, open for reading; `None` when there is none.
    pub(super) fn find(&self, location: &Location) -> Result<Option<Blob>> {
        let (origin, version, bytes, ranges) = if let Name::Object { bucket, key } = &location.0 {
            if key.is_empty() {
                return Ok(None);
            }
            let (bucket, path) = (self.bucket(bucket)?, path_of(location)?);
            let (asked, key) = (bucket.clone(), path.clone());
            let Some(version) = self.engine.wait(async move { asked.stat(&key).await })? else { return Ok(None) };
            let bytes = Some(version.bytes);
            (Origin::Object(bucket, path), version, bytes, true)
        } else {
            let web = self.web(location)?;
            let asked = web.clone();
            let Some(stat) = self.engine.wait(async move { asked.stat().await })? else { return Ok(None) };
            (Origin::Web(web), stat.version, stat.bytes, stat.ranges)
        };
        let mark = version.mark();
        let file = RemoteFile::new(location.clone(), origin, version, ranges, self.engine.clone());
        Ok(Some(Blob::new(location.clone(), bytes, mark, file)))
    }

    pub(super) fn list(&self, folder: &Location) -> Result<Vec<Listed>> {
        let Name::Object { bucket, .. } = &folder.0 else {
            return Err(Error::usage(folder.to_string(), "a web server lists no files; name every file"));
        };
        let (bucket, path) = (self.bucket(bucket)?, path_of(folder)?);
        self.engine.wait(async move { bucket.list(&path).await })
    }

    pub(super) fn names(&self, folder: &Location) -> Result<BTreeMap<String, u64>> {
        let Name::Object { bucket, .. } = &folder.0 else { return Ok(BTreeMap::new()) };
        let (bucket, path) = (self.bucket(bucket)?, path_of(folder)?);
        self.engine.wait(async move { bucket.names(&path).await })
    }

    /// Small objects, several at once.
    pub(super) fn documents(&self, locations: &[Location]) -> Result<Vec<Option<Vec<u8>>>> {
        let asked = locations.iter().map(|location| match &location.0 {
            Name::Object { bucket, key } if !key.is_empty() => Ok(Some((self.bucket(bucket)?, path_of(location)?))),
            _ => Ok(None),
        });
        let asked = asked.collect::<Result<Vec<_>>>()?;
        let read = async |asked: Option<(Bucket, Path)>| match asked {
            Some((bucket, path)) => Ok(bucket.read_version(&path).await?.map(|(bytes, _)| bytes.to_vec())),
            None => Ok(None),
        };
        self.engine.wait(async move { stream::iter(asked).map(read).buffered(REQUESTS_AT_ONCE).try_collect().await })
    }

    pub(super) fn create(&self, location: &Location) -> Result<BlobWriter> {
        let (bucket, path) = self.written(location)?;
        Ok(BlobWriter::remote(Upload::new(bucket, path, location.clone(), self.engine.clone())))
    }

    /// Writes a small object; with `create` only where there is none, and says whether it did.
    pub(super) async fn put(&self, location: &Location, bytes: &[u8], create: bool) -> Result<bool> {
        let ((bucket, path), bytes) = (self.written(location)?, bytes.to_vec());
        let mode = if create { PutMode::Create } else { PutMode::Overwrite };
        self.engine.run(async move { Ok(bucket.put(&path, bytes, &mode).await?.is_some()) }).await
    }

    pub(super) fn lock(&self, location: &Location, watch: &mut Sighting) -> Result<Attempt> {
        let (bucket, path) = self.written(location)?;
        let (engine, seen) = (self.engine.clone(), std::mem::take(watch));
        let (taken, seen) = self.engine.wait(Lease::take(bucket, path, location.clone(), engine, seen))?;
        *watch = seen;
        Ok(taken.map(Lock::of))
    }

    /// Deletes an object.
    pub(super) async fn delete(&self, location: &Location) -> Result<()> {
        let (bucket, path) = self.written(location)?;
        self.engine.run(async move { bucket.delete(&path).await }).await
    }

    fn written(&self, location: &Location) -> Result<(Bucket, Path)> {
        let usage = |message: &str| Err(Error::usage(location.to_string(), message));
        match &location.0 {
            Name::Object { key, .. } if key.is_empty() => usage("this is a bucket, not the name of a file"),
            Name::Object { bucket, .. } => Ok((self.bucket(bucket)?, path_of(location)?)),
            _ => usage("a web server is only read; write to a local path, s3://, gs:// or az://"),
        }
    }

    /// Waits for uploads that were given up to be cleaned away, at most so long.
    pub(super) fn settle(&self, longest: Duration) {
        self.engine.settle(longest);
    }
}
