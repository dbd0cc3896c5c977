//! The only crossing between tokio and the threads that compute. A panic inside `rayon::spawn` would abort the
//! process, so everything that crosses is caught and comes back as an error. Knows nothing of the work.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::channel::oneshot;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// As much as the first thread of a process has; others have a quarter.
const STACK_BYTES: usize = 8 << 20;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// A pool of workers that async code hands CPU work to.
#[derive(Debug, Clone)]
pub struct Bridge {
    pool: Arc<ThreadPool>,
}

impl Bridge {
    /// A pool of `threads` workers; 0 means one per core.
    pub fn new(threads: usize) -> Result<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("worker-{index}"))
            .build()
            .map_err(|error| Error::io("", "cannot start the worker threads").because(error))?;
        Ok(Self { pool: Arc::new(pool) })
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Starts `work` on the pool at once; the future gives its result. `name` says in an error what failed.
    pub fn run<T, F>(&self, name: String, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.pool.spawn(move || {
            let result = guard(work).unwrap_or_else(|message| Err(panicked(&name, &message)));
            // The receiver is gone when the job was stopped; then nobody wants the result.
            drop(sender.send(result));
        });
        async move { receiver.await.unwrap_or_else(|_| Err(panicked("", "a worker ended without a result"))) }
    }

    /// Runs `work` on a thread of its own that may block; the future gives its result.
    pub async fn run_blocking<T, F>(name: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        std::thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let result = guard(work).unwrap_or_else(|message| Err(panicked(name, &message)));
                drop(sender.send(result));
            })
            .map_err(|error| Error::io("", "cannot start a thread").because(error))?;
        receiver.await.unwrap_or_else(|_| Err(panicked(name, "a thread ended without a result")))
    }

    /// Runs `work` inside the pool and waits; for threads that may block.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

/// Runs `work` and turns a panic into its message.
pub fn guard<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    let before = GUARDED.with(|guarded| guarded.replace(true));
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDED.with(|guarded| guarded.set(before));
    result.map_err(|payload| message_of(&*payload))
}

/// True while this thread runs guarded work: a panic now becomes an error, so a panic hook need not print it.
pub fn is_guarded() -> bool {
    GUARDED.with(Cell::get)
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}

fn panicked(name: &str, message: &str) -> Error {
    Error::internal(name, format!("condenser failed on this: {message}"))
}
