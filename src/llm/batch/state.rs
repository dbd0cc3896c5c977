//! The batches of a job on disk: a numbered folder for each, and what became of it in its `state.json`. Knows neither
//! what is asked nor the API.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::llm::private::{failed, make_folder, write_whole};

const BATCHES: &str = "batches";
const STATE: &str = "state.json";
pub(super) const REQUESTS: &str = "requests.jsonl";
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
pub struct BatchFolder {
    /// Its number.
    pub name: String,
    /// What became of it.
    pub state: BatchState,
    pub(super) folder: PathBuf,
}

/// A batch and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchState {
    /// In whose words its requests are.
    pub protocol: String,
    /// The API that gets it.
    pub base_url: String,
    /// The model that is asked.
    pub model: String,
    /// Number of requests.
    pub n_requests: u64,
    /// Bytes of the request file.
    pub n_bytes: u64,
    /// BLAKE3 of the request file: the mark by which a batch is found again at the API.
    pub blake3: String,
    /// How far it is.
    #[serde(flatten)]
    pub stage: BatchStage,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
pub enum BatchStage {
    /// Its requests are written.
    Planned,
    /// It is being handed in. Whoever finds this does not know whether the API has it, and looks there first.
    Submitting {
        /// Where to look.
        search: Search,
        /// The request file at the API, where it goes there first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    /// The API has it.
    Submitted {
        /// Its name there.
        id: String,
        /// There when it was found by its size only: its results will show whether it is this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unproven: Option<Search>,
    },
    /// Its results are there.
    Ended {
        /// Its name at the API.
        id: String,
        /// See [`BatchStage::Submitted`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unproven: Option<Search>,
        /// Where they are, after the base address.
        results: Vec<String>,
    },
    /// Its results are among the kept replies.
    Fetched(Receipt),
    /// The API refused it as a whole, or has its results no longer; its requests are open again.
    Refused {
        /// Its name at the API.
        id: String,
        /// Why.
        message: String,
    },
}

/// Where at the API a batch may be of which it is not known whether it was handed in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// The newest batch at the API before; all that are newer may be this one.
    pub newest_before: Option<String>,
    /// Batches that were taken for this one and are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_ours: Vec<String>,
}

/// What came out of a batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its name at the API.
    pub id: String,
    /// Requests with a reply.
    pub n_replies: u64,
    /// Requests that were refused for good; their texts are made without a model.
    pub n_failed: u64,
    /// Requests that expired, were cancelled, or met an error of the server; they are open again.
    pub n_open: u64,
    /// Why one of these has no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Tokens of the requests that came from no cache.
    pub input_tokens: u64,
    /// Tokens of the requests that a prompt cache held or took.
    pub cached_tokens: u64,
    /// Tokens of the replies.
    pub output_tokens: u64,
    /// What it cost, in the currency of the job's prices; nothing when there are no prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Batches {
    /// The batches below `dir`, to look at them; a directory that is not there has none.
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
                Err(Error::usage(root.to_string_lossy(), "another process is working on these batches")
                    .hinting("wait until it has ended"))
            }
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }

    /// All of them, in the order in which they were planned.
    pub fn all(&self) -> Result<Vec<BatchFolder>> {
        let mut batches = Vec::new();
        for folder in self.folders()? {
            let path = folder.join(STATE);
            let place = path.to_string_lossy();
            let bytes = match std::fs::read(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                bytes => bytes.map_err(|error| failed(&path, "cannot be read", error))?,
            };
            let state = serde_json::from_slice(&bytes)
                .map_err(|error| Error::verification(place, "this is no state of a batch").because(error))?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            batches.push(BatchFolder { name, state, folder });
        }
        Ok(batches)
    }

    /// The folder of the next batch. What was begun and never became a batch is removed.
    pub(super) fn next(&self) -> Result<PathBuf> {
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

impl BatchFolder {
    /// Its requests.
    pub(super) fn requests(&self) -> PathBuf {
        self.folder.join(REQUESTS)
    }

    /// Writes down what became of it.
    pub(super) fn enter(&mut self, stage: BatchStage) -> Result<()> {
        self.state.stage = stage;
        self.state.write(&self.folder)
    }
}

impl BatchState {
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::internal("", "a state cannot be written").because(error))?;
        text.push(b'\n');
        write_whole(&folder.join(STATE), &text)
    }
}

impl BatchStage {
    /// True as long as a reply may come: its requests are not planned again.
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Fetched(_) | Self::Refused { .. })
    }

    /// Its name at the API, once it is known.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Planned | Self::Submitting { .. } => None,
            Self::Submitted { id, .. } | Self::Ended { id, .. } | Self::Refused { id, .. } => Some(id),
            Self::Fetched(receipt) => Some(&receipt.id),
        }
    }

    /// One word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Submitting { .. } => "submitting",
            Self::Submitted { .. } => "submitted",
            Self::Ended { .. } => "ended",
            Self::Fetched(_) => "fetched",
            Self::Refused { .. } => "refused",
        }
    }
}

fn number(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.parse().ok()
}
