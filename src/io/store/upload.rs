//! An object in the making: parts go out while it is written, and the object is there when the last request is
//! answered, or not at all. Small ones go out as one request.

use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutMode, PutPayload};
use tokio::task::JoinSet;

use super::engine::Engine;
use super::location::Location;
use super::object::{Bucket, Version};
use super::trouble::Failure;
use crate::error::{Error, Result};

const WRITE: &str = "cannot be written";
/// Parts that are on their way while the next one fills: more would not be faster than one machine's network, and
/// each holds its bytes.
const PARTS_AT_ONCE: usize = 2;
/// After so many parts they become [`LARGER`] times as large: S3 takes 10 000 of them, so that an object may have
/// 360 GB instead of 80 GB.
const EQUAL_PARTS: usize = 5_000;
const LARGER: usize = 8;

/// An object in the making; dropped before [`Upload::commit`] it leaves nothing behind.
#[derive(Debug)]
pub(super) struct Upload {
    bucket: Bucket,
    path: Path,
    location: Location,
    engine: Engine,
    part: Vec<u8>,
    n_bytes: u64,
    open: Option<Parts>,
}

/// An upload in parts.
#[derive(Debug)]
struct Parts {
    upload: Box<dyn MultipartUpload>,
    sent: usize,
    under_way: JoinSet<std::result::Result<(), object_store::Error>>,
    /// What stood under the name before.
    before: Option<Version>,
}

impl Upload {
    pub(super) fn new(bucket: Bucket, path: Path, location: Location, engine: Engine) -> Self {
        Self { bucket, path, location, engine, part: Vec::new(), n_bytes: 0, open: None }
    }

    fn failed(&self, error: &object_store::Error) -> Error {
        Failure::of_store(&self.location, WRITE, error, &self.bucket.config).error
    }

    fn part_bytes(&self) -> usize {
        let n_parts = self.open.as_ref().map_or(0, |parts| parts.sent);
        self.bucket.config.part_bytes * if n_parts < EQUAL_PARTS { 1 } else { LARGER }
    }

    /// Appends `bytes`.
    pub(super) async fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.n_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = self.part_bytes() - self.part.len();
            let taken = bytes.split_off(..room.min(bytes.len())).unwrap_or_default();
            self.part.extend_from_slice(taken);
            if self.part.len() >= self.part_bytes() {
                self.send_part().await?;
            }
        }
        Ok(())
    }

    async fn send_part(&mut self) -> Result<()> {
        if self.open.is_none() {
            let (bucket, path) = (self.bucket.clone(), self.path.clone());
            let start = async move {
                let before = bucket.stat(&path).await?;
                Ok((before, bucket.retrying.put_multipart(&path).await))
            };
            let (before, upload) = self.engine.run(start).await?;
            let upload = upload.map_err(|error| self.failed(&error))?;
            self.open = Some(Parts { upload, sent: 0, under_way: JoinSet::new(), before });
        }
        let Some(parts) = &mut self.open else { return Ok(()) };
        let payload = PutPayload::from(std::mem::take(&mut self.part));
        parts.under_way.spawn_on(parts.upload.put_part(payload), self.engine.handle());
        parts.sent += 1;
        self.wait_for_parts(PARTS_AT_ONCE).await
    }

    /// Waits until at most this many parts are on their way.
    async fn wait_for_parts(&mut self, at_most: usize) -> Result<()> {
        while let Some(parts) = self.open.as_mut().filter(|parts| parts.under_way.len() > at_most) {
            match parts.under_way.join_next().await {
                None | Some(Ok(Ok(()))) => {}
                Some(Ok(Err(error))) => return Err(self.failed(&error)),
                Some(Err(error)) => return Err(self.failed(&object_store::Error::JoinError { source: error })),
            }
        }
        Ok(())
    }

    /// Makes the object stand under its name.
    pub(super) async fn commit(mut self) -> Result<()> {
        let Some(n_parts) = self.open.as_ref().map(|parts| parts.sent) else {
            let (bucket, path, bytes) = (self.bucket.clone(), self.path.clone(), std::mem::take(&mut self.part));
            return self.engine.run(async move { bucket.put(&path, bytes, &PutMode::Overwrite).await.map(drop) }).await;
        };
        if !self.part.is_empty() || n_parts == 0 {
            self.send_part().await?;
        }
        self.wait_for_parts(0).await?;
        let Some(mut parts) = self.open.take() else { return Ok(()) };
        let (parts, done) = self
            .engine
            .run(async move {
                let done = parts.upload.complete().await;
                Ok((parts, done))
            })
            .await?;
        let Err(error) = done else { return Ok(()) };
        let error = self.failed(&error);
        // The answer may have been lost after the work was done; then asking again is answered with "no such upload".
        let (bucket, path) = (self.bucket.clone(), self.path.clone());
        let now = self.engine.run(async move { bucket.stat(&path).await }).await;
        if let Ok(Some(now)) = now
            && now.bytes == self.n_bytes
            && parts.before.as_ref() != Some(&now)
        {
            return Ok(());
        }
        self.open = Some(parts);
        Err(error)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(mut parts) = self.open.take() else { return };
        let location = self.location.clone();
        self.engine.loose(async move {
            // A part that arrives after the end of its upload would stay.
            while parts.under_way.join_next().await.is_some() {}
            if let Err(error) = parts.upload.abort().await {
                tracing::warn!("{location}: the parts of an upload that was given up may stay in the store: {error}");
            }
        });
    }
}
