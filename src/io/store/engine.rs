//! The threads on which bytes move between this machine and remote stores, started with the first of them. Any
//! thread may wait for their work, since waiting needs no runtime of its own. Knows no store.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use super::config::StoreConfig;
use crate::error::{Error, Result};

/// One thread decrypts some 1 GB/s; the other one answers meanwhile.
const THREADS: usize = 2;

/// Runs what is remote.
#[derive(Clone)]
pub(super) struct Engine(Arc<Inner>);

struct Inner {
    config: Arc<StoreConfig>,
    runtime: OnceLock<Runtime>,
    /// Work that nobody waits for but that should be done before the process ends.
    loose: Mutex<Vec<JoinHandle<()>>>,
}

shows!(Engine {});

impl Engine {
    pub(super) fn new(config: StoreConfig) -> Self {
        Self(Arc::new(Inner { config: Arc::new(config), runtime: OnceLock::new(), loose: Mutex::default() }))
    }

    pub(super) fn config(&self) -> Arc<StoreConfig> {
        self.0.config.clone()
    }

    fn runtime(&self) -> &Runtime {
        self.0.runtime.get_or_init(|| {
            Builder::new_multi_thread()
                .worker_threads(THREADS)
                .thread_name("store")
                .enable_all()
                .build()
                .expect("a process that runs can start two threads more")
        })
    }

    /// For sets of tasks.
    pub(super) fn handle(&self) -> &Handle {
        self.runtime().handle()
    }

    /// Runs `work` to its end, or until the handle aborts it.
    pub(super) fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.runtime().spawn(work)
    }

    /// Waits for `work` in a task.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.spawn(work).await.unwrap_or_else(|error| Err(lost().because(error)))
    }

    /// Waits for `work` on this thread.
    pub(super) fn wait<T: Send + 'static>(&self, work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        let (sender, receiver) = channel();
        self.spawn(async move { drop(sender.send(work.await)) });
        receiver.recv().unwrap_or_else(|_| Err(lost()))
    }

    /// Runs `work` that nobody waits for.
    pub(super) fn loose(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = self.spawn(work);
        let mut loose = self.0.loose.lock().unwrap_or_else(PoisonError::into_inner);
        loose.retain(|task| !task.is_finished());
        loose.push(task);
    }

    /// Waits for the loose work, at most this long.
    pub(super) fn settle(&self, longest: Duration) {
        let loose = std::mem::take(&mut *self.0.loose.lock().unwrap_or_else(PoisonError::into_inner));
        if loose.is_empty() {
            return;
        }
        let (sender, receiver) = channel();
        self.spawn(async move {
            for task in loose {
                drop(task.await);
            }
            // Whoever waited may have gone.
            sender.send(()).unwrap_or_default();
        });
        // In time or not: what is left is only untidy.
        receiver.recv_timeout(longest).unwrap_or_default();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The last owner may be a task, where waiting for threads is forbidden.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn lost() -> Error {
    Error::internal("", "a task of the stores ended without a result")
}
