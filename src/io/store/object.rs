//! Buckets through the crate `object_store`: clients with credentials from the environment, heads, listings, small
//! writes. Ranges are the work of [`super::fetch`], uploads in parts that of [`super::upload`].

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, RetryConfig, UpdateVersion,
};

use super::config::{MAX_BACKOFF, StoreConfig};
use super::location::{Listed, Location, Name};
use super::trouble::{Failure, PLAIN_HTTP, Tries, credentials, retrying};
use crate::error::{Error, ErrorKind, Result};

/// So many small requests are under way at once, where one needs many.
pub(super) const REQUESTS_AT_ONCE: usize = 16;

/// A bucket.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    /// `s3://bucket`
    name: String,
    /// Tries nothing again: reading does so itself, since it also continues broken bodies.
    pub(super) once: Arc<dyn ObjectStore>,
    /// Tries requests again.
    pub(super) retrying: Arc<dyn ObjectStore>,
    pub(super) config: Arc<StoreConfig>,
}

/// What tells one version of an object from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) bytes: u64,
    pub(super) e_tag: Option<String>,
    /// Milliseconds since 1970, or the header as sent.
    pub(super) modified: Option<String>,
}

impl Version {
    pub(super) fn of(meta: &ObjectMeta) -> Self {
        let modified = Some(meta.last_modified.timestamp_millis().to_string());
        Self { bytes: meta.size, e_tag: meta.e_tag.clone(), modified }
    }

    /// The change mark.
    pub(super) fn mark(&self) -> String {
        match (&self.e_tag, &self.modified) {
            (Some(tag), _) => tag.clone(),
            (None, Some(modified)) => modified.clone(),
            (None, None) => format!("{} bytes", self.bytes),
        }
    }

    /// True when both may be the same version.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let same = match (&self.e_tag, &other.e_tag) {
            (Some(tag), Some(other)) => tag == other,
            _ => self.modified == other.modified || self.modified.is_none() || other.modified.is_none(),
        };
        same && self.bytes == other.bytes
    }

    /// The tag, when a server compares it: weak ones never match.
    pub(super) fn strong_tag(&self) -> Option<&String> {
        self.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"))
    }
}

impl Bucket {
    /// The clients of the bucket `name`, such as `s3://bucket`.
    pub(super) fn open(name: &str, config: &Arc<StoreConfig>) -> Result<Self> {
        check_endpoint(name, config)?;
        let client = |max_retries| {
            let retry = RetryConfig {
                backoff: BackoffConfig { init_backoff: config.first_backoff, max_backoff: MAX_BACKOFF, base: 2.0 },
                max_retries,
                retry_timeout: config.retry_timeout,
            };
            build(name, config, retry).map_err(|error| {
                let message = format!("the store cannot be set up: {error}");
                let location = Location(Name::Object { bucket: name.to_owned(), key: String::new() });
                Error::usage(name, format!("{message}; set {}", credentials(&location)))
            })
        };
        Ok(Self {
            name: name.to_owned(),
            once: client(0)?,
            retrying: client(config.max_retries)?,
            config: config.clone(),
        })
    }

    fn at(&self, path: &Path) -> Location {
        Location(Name::Object { bucket: self.name.clone(), key: path.to_string() })
    }

    /// The version of an object; `None` when there is none.
    pub(super) async fn stat(&self, path: &Path) -> Result<Option<Version>> {
        let location = self.at(path);
        let (found, failed) =
            (&self.once, |error| Failure::of_store(&location, "cannot be read", &error, &self.config));
        let stat = async || {
            // One byte instead of a head: the answer to a head has no body, so it could not say what is wrong.
            let options = GetOptions::new().with_range(Some(0..1));
            match found.get_opts(path, options).await.map_err(failed) {
                Ok(result) => {
                    let version = Version::of(&result.meta);
                    // Read to its end, a connection serves again; the byte itself is of no interest.
                    drop(result.bytes().await);
                    Ok(Some(version))
                }
                Err(failure) if failure.status == Some(404) && failure.error.kind == ErrorKind::Io => Ok(None),
                // An empty object has no first byte.
                Err(failure) if failure.status == Some(416) => {
                    found.head(path).await.map(|meta| Some(Version::of(&meta))).map_err(failed)
                }
                Err(failure) => Err(failure),
            }
        };
        retrying(&self.config, stat).await
    }

    /// A small object in one request, with what tells this version from later ones; `None` when there is none.
    pub(super) async fn read_version(&self, path: &Path) -> Result<Option<(Bytes, UpdateVersion)>> {
        let location = self.at(path);
        let failed = |error| Failure::of_store(&location, "cannot be read", &error, &self.config);
        let read = async || {
            let result = match self.once.get(path).await.map_err(failed) {
                Ok(result) => result,
                Err(failure) if failure.status == Some(404) && failure.error.kind == ErrorKind::Io => return Ok(None),
                Err(failure) => return Err(failure),
            };
            let announced = result.meta.size;
            let version = UpdateVersion { e_tag: result.meta.e_tag.clone(), version: result.meta.version.clone() };
            let bytes = result.bytes().await.map_err(failed)?;
            if bytes.len() as u64 != announced {
                return Err(Failure::short(&location, "cannot be read"));
            }
            Ok(Some((bytes, version)))
        };
        retrying(&self.config, read).await
    }

    /// The objects below `folder`, by key.
    pub(super) async fn list(&self, folder: &Path) -> Result<Vec<Listed>> {
        let listed = stream::iter(self.metas(folder).await?).map(async |meta| {
            let version = match meta.e_tag {
                Some(_) => Some(Version::of(&meta)),
                // The mark must be the one that opening gives.
                None => self.stat(&meta.location).await?,
            };
            Ok::<_, Error>(version.map(|version| Listed {
                location: self.at(&meta.location),
                bytes: Some(version.bytes),
                mark: version.mark(),
            }))
        });
        let found: Vec<Option<Listed>> = listed.buffered(REQUESTS_AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Sizes of the objects below `folder` by their names in it.
    pub(super) async fn names(&self, folder: &Path) -> Result<BTreeMap<String, u64>> {
        let root = if folder.is_root() { String::new() } else { format!("{folder}/") };
        let name = |key: &Path| key.as_ref().strip_prefix(&root).unwrap_or_default().to_owned();
        Ok(self.metas(folder).await?.into_iter().map(|meta| (name(&meta.location), meta.size)).collect())
    }

    async fn metas(&self, folder: &Path) -> Result<Vec<ObjectMeta>> {
        let place = self.at(folder);
        let prefix = (!folder.is_root()).then_some(folder);
        let (mut metas, mut tries) = (Vec::<ObjectMeta>::new(), Tries::new(&self.config));
        loop {
            let mut pages = match metas.last() {
                None => self.once.list(prefix),
                // A listing that broke goes on after the last key that came.
                Some(last) => self.once.list_with_offset(prefix, &last.location),
            };
            let failure = loop {
                match pages.next().await {
                    Some(Ok(meta)) => {
                        metas.push(meta);
                        tries.went_well();
                    }
                    Some(Err(error)) => break Failure::of_store(&place, "cannot be listed", &error, &self.config),
                    None => {
                        metas.sort_by(|a, b| a.location.cmp(&b.location));
                        metas.dedup_by(|a, b| a.location == b.location);
                        return Ok(metas);
                    }
                }
            };
            tries.again(failure).await?;
        }
    }

    /// Writes a small object at once and gives its version; `None`, and nothing is changed, where `mode` asks that there
    /// is none yet, or that it is still a certain version, and that is not so.
    pub(super) async fn put(&self, path: &Path, bytes: Vec<u8>, mode: &PutMode) -> Result<Option<UpdateVersion>> {
        let location = self.at(path);
        let payload = PutPayload::from(bytes);
        let is_conditional = *mode != PutMode::Overwrite;
        let asked = async || match self.retrying.put_opts(path, payload.clone(), PutOptions::from(mode.clone())).await {
            Ok(put) => Ok(Some(put.into())),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. })
                if is_conditional =>
            {
                Ok(None)
            }
            Err(error) => {
                let failure = Failure::of_store(&location, "cannot be written", &error, &self.config);
                // The client has tried again already what may be tried again, but not what has a condition: there a
                // lost answer makes the next one "it is there already", which is for the caller to understand.
                Err(Failure { again: failure.again && is_conditional, ..failure })
            }
        };
        retrying(&self.config, asked).await
    }

    /// Takes an object away.
    pub(super) async fn delete(&self, path: &Path) -> Result<()> {
        match self.retrying.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(Failure::of_store(&self.at(path), "cannot be deleted", &error, &self.config).error),
        }
    }
}

/// The key of an object as the clients take it.
pub(super) fn path_of(location: &Location) -> Result<Path> {
    let key = match &location.0 {
        Name::Object { key, .. } => key,
        _ => "",
    };
    Path::parse(key).map_err(|error| Error::usage(location.to_string(), "this is no key").because(error))
}

macro_rules! built {
    ($builder:ty, $name:expr, $config:expr, $retry:expr) => {{
        let (mut builder, config) = (<$builder>::from_env().with_url($name).with_retry($retry), $config);
        let ms = |duration: std::time::Duration| format!("{}ms", duration.as_millis());
        let bound = [
            ("connect_timeout", ms(config.connect_timeout)),
            ("read_timeout", ms(config.stall_timeout)),
            ("timeout", ms(config.patience((config.part_bytes as u64).max(config.range_bytes)))),
        ];
        let settings = config.settings.iter().map(|(key, value)| (key.as_str(), value.clone()));
        for (key, value) in bound.into_iter().chain(settings) {
            // Settings of other stores are no settings of this one.
            if let Ok(key) = key.parse() {
                builder = builder.with_config(key, value);
            }
        }
        Arc::new(builder.build()?) as Arc<dyn ObjectStore>
    }};
}

/// Refuses the endpoint of an S3 server that is no address, or that nobody allowed, before anything is asked there.
fn check_endpoint(name: &str, config: &StoreConfig) -> Result<()> {
    if !name.starts_with("s3") {
        return Ok(());
    }
    let mut builder = AmazonS3Builder::from_env();
    for (key, value) in &config.settings {
        if let Ok(key) = key.parse() {
            builder = builder.with_config(key, value.clone());
        }
    }
    let Some(endpoint) = builder.get_config_value(&AmazonS3ConfigKey::Endpoint) else { return Ok(()) };
    let allows = builder.get_config_value(&AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
    let (scheme, host) = endpoint.split_once("://").unwrap_or_default();
    if !matches!(scheme, "http" | "https") || host.is_empty() || host.contains(char::is_whitespace) {
        let message = "the endpoint is no address: write it with https:// or http:// in AWS_ENDPOINT_URL (in a job \
                       store.endpoint)";
        return Err(Error::usage(name, message));
    }
    if scheme == "http" && allows.is_none_or(|allows| allows != "true") {
        return Err(Error::usage(name, PLAIN_HTTP));
    }
    Ok(())
}

fn build(name: &str, config: &StoreConfig, retry: RetryConfig) -> object_store::Result<Arc<dyn ObjectStore>> {
    crate::tls::prepare();
    let scheme = name.split_once(':').map_or("", |(scheme, _)| scheme);
    Ok(match scheme {
        "s3" | "s3a" => built!(AmazonS3Builder, name, config, retry),
        "gs" => built!(GoogleCloudStorageBuilder, name, config, retry),
        _ => built!(MicrosoftAzureBuilder, name, config, retry),
    })
}
