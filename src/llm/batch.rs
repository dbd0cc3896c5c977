//! Batch APIs: what is open is planned into request files, handed in, waited for and fetched into the kept replies.
//! Every step is written down before and after it, so that each command may be killed and repeated: nothing is handed
//! in or paid for twice. Knows neither conversations nor prompts.

mod anthropic;
mod collect;
mod endpoint;
mod fetch;
mod openai;
mod requests;
mod state;
mod submit;
mod upload;

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::Protocol;
use super::private::{failed, make_folder, write_whole};
use crate::error::{Error, ErrorKind, Result};

pub use collect::{Asking, Collector, Planned};
pub use endpoint::Endpoint;
pub use fetch::{Fetched, fetch};
pub use requests::Limits;
pub use state::{BatchState, Receipt, Search, Stage};
pub use submit::{Handed, Polled, poll, submit};

const BATCHES: &str = "batches";
const STATE: &str = "state.json";
const REQUESTS: &str = "requests.jsonl";
const LOCK: &str = ".lock";

/// The batches of a job: a numbered folder for each.
#[derive(Debug)]
pub struct Batches {
    root: PathBuf,
    /// Held as long as they may be changed.
    lock: Option<File>,
}

/// A batch that was planned.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Its number.
    pub name: String,
    /// What became of it.
    pub state: BatchState,
    folder: PathBuf,
}

impl Batches {
    /// The batches below `dir`, to look at them; a directory that is not there has none.
    #[must_use]
    pub fn look(dir: &Path) -> Self {
        Self { root: dir.join(BATCHES), lock: None }
    }

    /// The batches below `dir`, for one process that may change them.
    ///
    /// # Errors
    /// `Usage` when another process has them.
    pub fn open(dir: &Path) -> Result<Self> {
        let root = dir.join(BATCHES);
        make_folder(&root)?;
        let cannot = |error| failed(&root, "the batches cannot be opened", error);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(root.join(LOCK)).map_err(cannot)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { root, lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => {
                let message = "another process is working on these batches";
                Err(Error::new(ErrorKind::Usage, root.to_string_lossy(), message).hinting("wait until it has ended"))
            }
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }

    /// All of them, in the order in which they were planned.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn all(&self) -> Result<Vec<Batch>> {
        let mut batches = Vec::new();
        for folder in self.folders()? {
            let path = folder.join(STATE);
            let place = path.to_string_lossy();
            let bytes = match std::fs::read(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                bytes => bytes.map_err(|error| failed(&path, "cannot be read", error))?,
            };
            let state = serde_json::from_slice(&bytes).map_err(|error| {
                Error::new(ErrorKind::Verification, place, "this is no state of a batch").because(error)
            })?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            batches.push(Batch { name, state, folder });
        }
        Ok(batches)
    }

    /// The folder of the next batch. What was begun and never became a batch is removed.
    fn next(&self) -> Result<PathBuf> {
        assert!(self.lock.is_some(), "only who holds the lock may plan");
        let mut last = 0;
        for folder in self.folders()? {
            if folder.join(STATE).exists() {
                last = number(&folder).unwrap_or(0);
            } else {
                std::fs::remove_dir_all(&folder).map_err(|error| failed(&folder, "cannot be removed", error))?;
            }
        }
        let folder = self.root.join(format!("{:05}", last + 1));
        make_folder(&folder)?;
        Ok(folder)
    }

    fn folders(&self) -> Result<Vec<PathBuf>> {
        let cannot = |error| failed(&self.root, "the batches cannot be listed", error);
        let entries = match std::fs::read_dir(&self.root) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(cannot)?,
        };
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry.map_err(cannot)?.path();
            folders.extend(number(&path).map(|number| (number, path)));
        }
        folders.sort();
        Ok(folders.into_iter().map(|(_, path)| path).collect())
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        // Not left to the end of the file: a program that was started meanwhile may still hold that open.
        if let Some(lock) = &self.lock {
            drop(lock.unlock());
        }
    }
}

impl Batch {
    /// Its requests.
    fn requests(&self) -> PathBuf {
        self.folder.join(REQUESTS)
    }

    /// Writes down what became of it.
    fn enter(&mut self, stage: Stage) -> Result<()> {
        self.state.stage = stage;
        self.state.write(&self.folder)
    }

    /// An error when it belongs to another API than that of the job.
    fn check(&self, endpoint: &Endpoint) -> Result<()> {
        let BatchState { protocol, base_url, .. } = &self.state;
        if protocol == endpoint.protocol().as_str() && base_url == endpoint.base_url() {
            return Ok(());
        }
        let message = format!("this batch was planned for {base_url}, but the job names {}", endpoint.base_url());
        Err(Error::new(ErrorKind::Usage, self.folder.to_string_lossy(), message)
            .hinting("use the job with which it was planned, or remove the folder of the batch"))
    }
}

impl BatchState {
    fn write(&self, folder: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::new(ErrorKind::Internal, "", "a state cannot be written").because(error))?;
        text.push(b'\n');
        write_whole(&folder.join(STATE), &text)
    }
}

fn number(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.parse().ok()
}

/// A line of a request file.
fn request_line(protocol: Protocol, id: &str, body: &str) -> String {
    match protocol {
        Protocol::OpenAi => openai::request_line(id, body),
        Protocol::Anthropic => anthropic::request_line(id, body),
    }
}
