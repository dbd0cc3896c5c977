//! How long is waited for a store, how often a request is tried again, and how much is moved at once. Every bound
//! has a default here, so that no server can make condenser wait for ever.

use std::collections::BTreeMap;
use std::time::Duration;

/// Longest wait for a connection: a server on another continent answers in a fraction of it.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that sends nothing for this long has stalled. S3 answers in a tenth of a second, rarely in some; a part
/// of an upload must also go out in this time, at 270 KB/s.
pub const DEFAULT_STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// A request that fails for as long as this is given up: overloaded stores recover in seconds. Together with the
/// last wait, a stalled server ends in an error after at most two and a half minutes.
pub const DEFAULT_RETRY_TIMEOUT: Duration = Duration::from_mins(2);
/// … or when it failed this many times more.
pub const DEFAULT_MAX_RETRIES: usize = 10;
/// The first wait before trying again; it doubles each time, up to [`MAX_BACKOFF`].
pub const DEFAULT_FIRST_BACKOFF: Duration = Duration::from_millis(200);
/// The longest wait before trying again.
pub const MAX_BACKOFF: Duration = Duration::from_secs(15);
/// What moves more slowly than this, in bytes per second, counts as stalled even when single bytes arrive.
pub const DEFAULT_SLOWEST: u64 = 16 << 10;
/// Who holds a lock in a store and is not heard of for this long has ended, whatever it was: long enough for a store
/// that fails for a while, short enough to wait for after a machine was lost.
pub const DEFAULT_LEASE: Duration = Duration::from_mins(1);
/// Files are read in ranges of this many bytes, one ahead: long enough that the latency of a request does not count
/// (8 MiB take 80 ms at 100 MB/s), short enough for two of them per reader.
pub const DEFAULT_RANGE_BYTES: u64 = 8 << 20;
/// Files are uploaded in parts of this many bytes; S3 wants at least 5 MiB and at most 10 000 parts.
pub const DEFAULT_PART_BYTES: usize = 8 << 20;

/// What holds for remote stores.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// See [`DEFAULT_CONNECT_TIMEOUT`].
    pub connect_timeout: Duration,
    /// See [`DEFAULT_STALL_TIMEOUT`].
    pub stall_timeout: Duration,
    /// See [`DEFAULT_RETRY_TIMEOUT`].
    pub retry_timeout: Duration,
    /// See [`DEFAULT_MAX_RETRIES`].
    pub max_retries: usize,
    /// See [`DEFAULT_FIRST_BACKOFF`].
    pub first_backoff: Duration,
    /// See [`DEFAULT_SLOWEST`].
    pub slowest: u64,
    /// See [`DEFAULT_RANGE_BYTES`].
    pub range_bytes: u64,
    /// See [`DEFAULT_PART_BYTES`].
    pub part_bytes: usize,
    /// See [`DEFAULT_LEASE`].
    pub lease: Duration,
    /// Settings of the stores that go before the environment, such as `aws_endpoint_url`.
    pub settings: BTreeMap<String, String>,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            stall_timeout: DEFAULT_STALL_TIMEOUT,
            retry_timeout: DEFAULT_RETRY_TIMEOUT,
            max_retries: DEFAULT_MAX_RETRIES,
            first_backoff: DEFAULT_FIRST_BACKOFF,
            slowest: DEFAULT_SLOWEST,
            range_bytes: DEFAULT_RANGE_BYTES,
            part_bytes: DEFAULT_PART_BYTES,
            lease: DEFAULT_LEASE,
            settings: BTreeMap::new(),
        }
    }
}

impl StoreConfig {
    #[cfg(feature = "remote")]
    /// The longest that moving `bytes` bytes in one request may take.
    pub(super) fn patience(&self, bytes: u64) -> Duration {
        // Twice, so that a server that sends nothing is told as such.
        self.stall_timeout * 2 + Duration::from_secs(bytes / self.slowest.max(1))
    }
}

shows!(StoreConfig { stall_timeout, retry_timeout, max_retries });
