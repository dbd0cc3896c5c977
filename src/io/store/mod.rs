//! Files wherever they are: on local disk, in S3, Google Cloud Storage and Azure, and, read only, on web servers.
//! What can be done with one of them says [`Place`]. Knows no format, and nothing of runs.

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

use std::time::Duration;

use remote::Remote;

pub use blob::{Blob, BlobFile, Fate, store_error};
pub use config::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_FIRST_BACKOFF, DEFAULT_LEASE, DEFAULT_MAX_RETRIES, DEFAULT_PART_BYTES,
    DEFAULT_RANGE_BYTES, DEFAULT_RETRY_TIMEOUT, DEFAULT_SLOWEST, DEFAULT_STALL_TIMEOUT, MAX_BACKOFF, StoreConfig,
};
pub(crate) use local::mark as mark_of;
pub use location::{Listed, Location};
pub use lock::{Attempt, Lock};
pub use owner::{Owner, Sighting};
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
    pub fn new(config: StoreConfig) -> Self {
        Self { remote: Remote::new(config) }
    }

    /// Waits some seconds until uploads that were given up are cleaned away; for the end of a process.
    pub fn settle(&self) {
        self.remote.settle(LONGEST_SETTLING);
    }
}
