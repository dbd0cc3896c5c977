//! How long is waited before a request is sent again: what the server says, else a while that doubles. Knows headers,
//! no connection.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

use super::Refusal;
use crate::backoff::backoff;

/// Longest wait for a connection: a server on another continent answers in a fraction of it.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The first wait before a request is tried again; it doubles each time, up to [`MAX_BACKOFF`].
pub const DEFAULT_FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// The longest wait before a request is tried again.
pub const MAX_BACKOFF: Duration = Duration::from_mins(1);
/// A server is left alone for as long as it says, but no longer than this.
pub const DEFAULT_MAX_RETRY_AFTER: Duration = Duration::from_mins(2);

/// How long is waited between requests; tests wait less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// See [`DEFAULT_CONNECT_TIMEOUT`].
    pub connect_timeout: Duration,
    /// See [`DEFAULT_FIRST_BACKOFF`].
    pub first_backoff: Duration,
    /// See [`DEFAULT_MAX_RETRY_AFTER`].
    pub max_retry_after: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            first_backoff: DEFAULT_FIRST_BACKOFF,
            max_retry_after: DEFAULT_MAX_RETRY_AFTER,
        }
    }
}

impl Patience {
    /// How long a request that failed so many times waits: as long as the server says, but never less than without its
    /// word, since some say nothing but 0.
    pub(super) fn wait(&self, body: &[u8], refusal: &Refusal, n_failed: usize) -> Duration {
        let told = refusal.retry_after().unwrap_or_default();
        told.min(self.max_retry_after).max(self.backoff(body, n_failed))
    }

    fn backoff(&self, body: &[u8], n_failed: usize) -> Duration {
        backoff(self.first_backoff, MAX_BACKOFF, n_failed).mul_f64(jitter(body, n_failed))
    }
}

/// From a half to one and a half; another number for every request and attempt, so that those who failed together do
/// not come back together.
fn jitter(body: &[u8], n_failed: usize) -> f64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(body).update(&(n_failed as u64).to_le_bytes());
    let [byte, ..] = *hasher.finalize().as_bytes();
    0.5 + f64::from(byte) / 255.0
}

/// The time that a server wants to be left alone: seconds, or a date, which is compared with the server's own clock.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text(HeaderName::from_static("retry-after-ms")).and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1_000.0).ok();
    }
    let told = text(RETRY_AFTER)?;
    if let Ok(seconds) = told.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let (until, now) = (date(told)?, date(text(DATE)?)?);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{MAX_BACKOFF, Patience, retry_after};

    #[test]
    fn a_server_says_in_three_ways_how_long_it_wants_to_be_left_alone() {
        let date = "Sun, 06 Nov 1994 08:49:07 GMT";
        let told = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("date", HeaderValue::from_static(date));
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            retry_after(&headers)
        };
        assert_eq!(told("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(told("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(told("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(told("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(told("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for odd in ["soon", "-1", "nan", ""] {
            assert_eq!(told("retry-after", odd), None, "{odd}");
        }
    }

    #[test]
    fn waits_double_up_to_a_bound_and_differ_from_request_to_request() {
        let patience = Patience::default();
        for n_failed in 1..200 {
            let doubled = Duration::from_secs(1 << (n_failed - 1_usize).min(10)).min(MAX_BACKOFF);
            let waits: Vec<_> = (0..20_u8).map(|body| patience.backoff(&[body], n_failed)).collect();
            assert!(waits.iter().all(|wait| (doubled / 2..=doubled * 3 / 2).contains(wait)), "{waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]), "{waits:?}");
        }
    }
}
