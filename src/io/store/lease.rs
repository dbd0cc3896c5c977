//! A lock in a store: an object that is created only where there is none, and written again every few seconds by who
//! holds it. No clocks of two machines are compared: one who waits takes over what has not changed for long while he
//! looked, or what a process of his own machine left when it ended. Every step is a conditional put, so that of two
//! who take over one wins, and a holder who was passed over learns of it with his next write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use object_store::path::Path;
use object_store::{PutMode, UpdateVersion};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::engine::Engine;
use super::location::Location;
use super::lock::Hold;
use super::object::Bucket;
use super::owner::{Owner, Sighting};
use crate::error::{Error, Result};

/// A holder writes so many times in the time after which others take over.
const BEATS: u32 = 5;

/// An object that this process holds; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    held: Arc<Held>,
    engine: Engine,
    beating: JoinHandle<()>,
}

#[derive(Debug)]
struct Held {
    bucket: Bucket,
    path: Path,
    location: Location,
    owner: Owner,
    version: Mutex<UpdateVersion>,
    is_lost: AtomicBool,
}

#[derive(Serialize, Deserialize)]
struct Document {
    #[serde(flatten)]
    owner: Owner,
    /// How many times the holder has written.
    beat: u64,
}

impl Document {
    fn of(owner: &Owner, beat: u64) -> Vec<u8> {
        serde_json::to_vec(&Self { owner: owner.clone(), beat }).unwrap_or_default()
    }
}

impl Lease {
    /// Takes the object at `path` where nobody holds it; else says who does.
    pub(super) async fn take(
        bucket: Bucket,
        path: Path,
        location: Location,
        engine: Engine,
        mut watch: Sighting,
    ) -> Result<(std::result::Result<Self, Option<Owner>>, Sighting)> {
        let owner = Owner::here();
        let taken = |version: UpdateVersion| {
            let held = Arc::new(Held {
                bucket: bucket.clone(),
                path: path.clone(),
                location: location.clone(),
                owner: owner.clone(),
                version: Mutex::new(version),
                is_lost: AtomicBool::new(false),
            });
            let beating = engine.spawn(beat(held.clone()));
            Self { held, engine: engine.clone(), beating }
        };
        loop {
            let document = Document::of(&owner, 0);
            if let Some(version) = bucket.put(&path, document.clone(), &PutMode::Create).await? {
                return Ok((Ok(taken(version)), watch));
            }
            // It was given back meanwhile.
            let Some((bytes, version)) = bucket.read_version(&path).await? else { continue };
            let holder = serde_json::from_slice(&bytes).ok().map(|found: Document| found.owner);
            if holder.as_ref().is_some_and(|holder| holder.nonce == owner.nonce) {
                // The answer to the put above was lost.
                return Ok((Ok(taken(version)), watch));
            }
            let is_silent = match &watch.seen {
                Some((seen, since)) if *seen == bytes => since.elapsed() > bucket.config.lease,
                _ => {
                    watch.seen = Some((bytes.to_vec(), Instant::now()));
                    false
                }
            };
            if !is_silent && !holder.as_ref().is_some_and(Owner::is_gone) {
                return Ok((Err(holder), watch));
            }
            if let Some(version) = bucket.put(&path, document, &PutMode::Update(version)).await? {
                tracing::info!("{location}: taken over from a process that is gone");
                return Ok((Ok(taken(version)), watch));
            }
        }
    }
}

impl Hold for Lease {
    fn check(&self) -> Result<()> {
        if !self.held.is_lost.load(Ordering::Relaxed) {
            return Ok(());
        }
        let message = "another process took this over, since this one was not heard of for too long; run the same \
                       command again";
        Err(Error::io(self.held.location.to_string(), message))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.beating.abort();
        let held = self.held.clone();
        self.engine.loose(async move {
            if let Err(error) = held.give_back().await {
                tracing::warn!("{error}; others take it over in a while");
            }
        });
    }
}

impl Held {
    fn is_ours(&self, bytes: &[u8]) -> bool {
        serde_json::from_slice::<Document>(bytes).is_ok_and(|found| found.owner.nonce == self.owner.nonce)
    }

    async fn give_back(&self) -> Result<()> {
        match self.bucket.read_version(&self.path).await? {
            Some((bytes, _)) if self.is_ours(&bytes) => self.bucket.delete(&self.path).await,
            _ => Ok(()),
        }
    }

    /// Writes the object again; false when it is another's.
    async fn renew(&self, beat: u64) -> Result<bool> {
        let version = self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut renewed =
            self.bucket.put(&self.path, Document::of(&self.owner, beat), &PutMode::Update(version)).await?;
        if renewed.is_none() {
            // An answer may have been lost.
            let found = self.bucket.read_version(&self.path).await?;
            renewed = found.filter(|(bytes, _)| self.is_ours(bytes)).map(|(_, version)| version);
        }
        let Some(renewed) = renewed else { return Ok(false) };
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(true)
    }
}

async fn beat(held: Arc<Held>) {
    for beat in 1.. {
        sleep(held.bucket.config.lease / BEATS).await;
        match held.renew(beat).await {
            Ok(true) => {}
            Ok(false) => return held.is_lost.store(true, Ordering::Relaxed),
            // A store that cannot be reached now may be reached in time.
            Err(error) => tracing::warn!("{error}"),
        }
    }
}
