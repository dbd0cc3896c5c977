//! How long is waited before something that failed is tried again: twice as long each time, up to a bound. Knows neither
//! what failed nor by how much those who failed together should differ.

use std::time::Duration;

/// The wait after so many failures: `first` after the first of them, never more than `longest`.
pub(crate) fn backoff(first: Duration, longest: Duration, n_failed: usize) -> Duration {
    (first * (1 << (n_failed.max(1) - 1).min(16))).min(longest)
}
