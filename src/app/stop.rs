//! The wish to stop: who asks for it and who heeds it may be on different threads.

use std::sync::Arc;

use tokio::sync::watch;

use crate::error::{Error, ErrorKind, Result};

/// How often a stop was asked for. The first time, work ends where it can be continued; the second time, also what is
/// waited for on behalf of work that has ended.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<usize>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Stop {
    /// Asks for it.
    pub fn ask(&self) {
        self.0.send_modify(|n_asked| *n_asked += 1);
    }

    /// An error when it was asked for.
    pub fn check(&self) -> Result<()> {
        if *self.0.borrow() > 0 { Err(stopped()) } else { Ok(()) }
    }

    /// The result of `work`, unless a stop was asked for so often before it ended; then `work` is dropped.
    pub(super) async fn or<T>(&self, n_times: usize, work: impl Future<Output = Result<T>>) -> Result<T> {
        let mut asked = self.0.subscribe();
        tokio::select! {
            // The wish first: it is heard from the first step of the work on.
            biased;
            _ = asked.wait_for(|n_asked| *n_asked >= n_times) => Err(stopped()),
            result = work => result,
        }
    }
}

/// What a stop says.
pub(super) fn stopped() -> Error {
    Error::new(ErrorKind::Interrupted, "", "stopped; what was committed stays, the same command goes on from there")
}
