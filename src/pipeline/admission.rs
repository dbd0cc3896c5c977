//! Bytes in flight: every batch is admitted to the memory of the job before it is handed on, and gives it back when
//! it is written. Several readers share the memory. Knows nothing of what the bytes are.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use crate::error::{Error, ErrorKind, Result};

/// A batch is charged this many times its size: the raw lines, the columns made of them, the originals in the
/// sidecar, and what the worker needs for a moment.
const CHARGE_PER_BYTE: usize = 4;
/// Memory is admitted in units of this many bytes.
const UNIT: usize = 1024;

/// The memory of a job.
#[derive(Debug)]
pub(super) struct Admission {
    semaphore: Arc<Semaphore>,
    /// What a usual batch takes.
    usual: u32,
    /// What one batch may take: all but a usual batch for each of the other readers, which may wait with theirs.
    most: u32,
    /// Held by the one reader whose batch grows beyond the usual.
    growing: Mutex<()>,
}

impl Admission {
    /// `memory` bytes for `n_readers` readers of batches of `batch_bytes`.
    pub(super) fn new(memory: usize, batch_bytes: usize, n_readers: usize) -> Self {
        let n_readers = u32::try_from(n_readers).unwrap_or(u32::MAX).max(1);
        let total = units(memory).clamp(n_readers, u32::MAX >> 3);
        let usual = units(batch_bytes.saturating_mul(CHARGE_PER_BYTE)).clamp(1, total / n_readers);
        let most = total - usual * (n_readers - 1);
        Self { semaphore: Arc::new(Semaphore::new(total as usize)), usual, most, growing: Mutex::new(()) }
    }

    /// Waits until a usual batch fits.
    pub(super) async fn admit(&self) -> Result<OwnedSemaphorePermit> {
        self.semaphore.clone().acquire_many_owned(self.usual).await.map_err(|_| stopped())
    }

    /// Makes `permit` fit a batch of `bytes`: a giant one waits for all the memory that others do not hold, a small
    /// one gives some back.
    pub(super) async fn adjust(&self, mut permit: OwnedSemaphorePermit, bytes: usize) -> Result<OwnedSemaphorePermit> {
        let needed = units(bytes.saturating_mul(CHARGE_PER_BYTE)).clamp(1, self.most);
        if needed > self.usual {
            let _growing = self.growing.lock().await;
            let more = self.semaphore.clone().acquire_many_owned(needed - self.usual).await.map_err(|_| stopped())?;
            permit.merge(more);
        } else {
            drop(permit.split((self.usual - needed) as usize));
        }
        Ok(permit)
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// The error of work that nobody waits for any more.
pub(super) fn stopped() -> Error {
    Error::new(ErrorKind::Interrupted, "", "the job was stopped")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Admission;

    #[tokio::test]
    async fn readers_with_giants_do_not_wait_for_each_other_for_ever() {
        let admission = Arc::new(Admission::new(64 << 10, 1 << 10, 3));
        let readers = (0..3).map(|reader| {
            let admission = admission.clone();
            tokio::spawn(async move {
                for round in 0..200_usize {
                    let permit = admission.admit().await.expect("it is open");
                    tokio::task::yield_now().await;
                    let bytes = if (round + reader) % 3 == 0 { 1 << 30 } else { 100 };
                    let permit = admission.adjust(permit, bytes).await.expect("it is open");
                    tokio::task::yield_now().await;
                    drop(permit);
                }
            })
        });
        for reader in readers.collect::<Vec<_>>() {
            reader.await.expect("no reader panics");
        }
        assert_eq!(admission.semaphore.available_permits(), 64);
    }
}
