//! Replies that were paid for, kept on disk under the hash of their request. Several processes may use one directory
//! at once: each appends to a segment of its own. Knows neither what was asked nor what a reply is good for.

mod line;
mod segment;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;

use super::{Completion, Protocol};
use crate::error::Result;
use segment::Segment;

pub(in crate::llm) use line::{hex, parse_hex};

/// Identifies a request: BLAKE3 of the name of its protocol and of its body.
pub type ReplyKey = [u8; 32];

/// The key of a request: its body says model and parameters, the protocol how they are to be read.
#[must_use]
pub fn reply_key(protocol: Protocol, body: &str) -> ReplyKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(protocol.as_str().as_bytes()).update(&[0]).update(body.as_bytes());
    *hasher.finalize().as_bytes()
}

/// The folder of the segments.
const REPLIES: &str = "replies";
/// The ending of the segments; other files are left alone.
const SEGMENT: &str = ".jsonl";

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The model that was asked.
    pub model: String,
    /// It came out of a batch, at the price of batches.
    pub is_batch: bool,
    /// What it cost, in the currency of the job's prices; `None` when no prices are known.
    pub cost: Option<f64>,
    /// The reply, or that there will be none.
    pub outcome: Outcome,
}

/// See [`Kept::outcome`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// What the model replied.
    Reply(Completion),
    /// A batch refused the request for good. Asking again in a batch is of no use; online it is asked again.
    Failed {
        /// It was longer than the model's context.
        is_too_long: bool,
        /// What the server said.
        message: String,
    },
}

/// The replies of a job, and those that several jobs share. Memory holds where a reply stands, not the reply: about
/// 60 bytes for each.
#[derive(Debug)]
pub struct ReplyStore {
    inner: Mutex<Inner>,
    n_skipped: u64,
}

#[derive(Debug)]
struct Inner {
    index: HashMap<ReplyKey, Entry, FixedState>,
    /// Paths by the number in [`Entry::segment`].
    segments: Vec<PathBuf>,
    own: Segment,
    /// The number of `own`, once something stands in it.
    own_number: Option<u32>,
    shared: Option<Segment>,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy)]
struct Entry {
    segment: u32,
    n_bytes: u32,
    offset: u64,
    is_failed: bool,
}

impl ReplyStore {
    /// Opens what is in `own`, the directory of the job, and in `shared`, that of several jobs, and reads every line
    /// once. Directories that are not there are empty; nothing is written before the first [`Self::put`]. Lines that
    /// are torn or no replies are passed over.
    ///
    /// # Errors
    /// When a directory or a segment cannot be read.
    pub fn open(own: &Path, shared: Option<&Path>) -> Result<Self> {
        let shared = shared.filter(|&shared| !is_same(shared, own)).map(|shared| shared.join(REPLIES));
        let own = own.join(REPLIES);
        let (mut index, mut segments, mut n_skipped) = (HashMap::default(), Vec::new(), 0);
        for folder in [Some(&own), shared.as_ref()].into_iter().flatten() {
            for path in segment::list(folder, SEGMENT)? {
                let number = segments.len() as u32;
                n_skipped += segment::read(&path, |key, is_failed, offset, n_bytes| {
                    take(&mut index, key, Entry { segment: number, n_bytes, offset, is_failed });
                })?;
                segments.push(path);
            }
        }
        let inner =
            Inner { index, segments, own: Segment::new(own), own_number: None, shared: shared.map(Segment::new) };
        Ok(Self { inner: Mutex::new(inner), n_skipped })
    }

    /// What was kept under `key`. A line that was damaged since it was read is as if it were not there; one of another
    /// key is never taken, since the line says its key.
    ///
    /// # Errors
    /// When the segment cannot be read.
    pub fn get(&self, key: &ReplyKey) -> Result<Option<Kept>> {
        let inner = self.lock();
        let Some(&entry) = inner.index.get(key) else { return Ok(None) };
        let path = inner.segments[entry.segment as usize].clone();
        drop(inner);
        let mut bytes = vec![0; entry.n_bytes as usize];
        let mut read = || -> std::io::Result<()> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(entry.offset))?;
            file.read_exact(&mut bytes)
        };
        match read() {
            Ok(()) => Ok(line::parse(&bytes).filter(|(found, _)| found == key).map(|(_, kept)| kept)),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(super::private::failed(&path, "the kept replies cannot be read", error)),
        }
    }

    /// True when something was kept under `key`, without reading it.
    #[must_use]
    pub fn contains(&self, key: &ReplyKey) -> bool {
        self.lock().index.contains_key(key)
    }

    /// Keeps what became of a request. When this returns, the system has it: a process that is killed loses nothing. It
    /// is on disk a few seconds later, or after [`Self::sync`].
    ///
    /// # Errors
    /// When a segment cannot be written.
    pub fn put(&self, key: &ReplyKey, kept: &Kept) -> Result<()> {
        let text = line::format(key, kept)?;
        let mut inner = self.lock();
        let inner = &mut *inner;
        let (path, offset) = inner.own.append(&text, SEGMENT)?;
        let number = *inner.own_number.get_or_insert_with(|| {
            inner.segments.push(path.to_owned());
            inner.segments.len() as u32 - 1
        });
        let is_failed = matches!(kept.outcome, Outcome::Failed { .. });
        let entry = Entry { segment: number, n_bytes: text.len() as u32, offset, is_failed };
        take(&mut inner.index, *key, entry);
        if let Some(shared) = &mut inner.shared {
            shared.append(&text, SEGMENT)?;
        }
        Ok(())
    }

    /// Number of requests whose outcome is known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().index.len()
    }

    /// True when nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that the index takes, about.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        // A byte of the map's own goes with each place.
        self.lock().index.capacity() * (size_of::<(ReplyKey, Entry)>() + 1)
    }

    /// Lines that were passed over when the store was opened: torn, or no replies.
    #[must_use]
    pub fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    /// Brings everything to disk.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> Result<()> {
        let mut inner = self.lock();
        inner.own.sync()?;
        inner.shared.as_mut().map_or(Ok(()), Segment::sync)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reply goes before a failure; else the last line holds.
fn take(index: &mut HashMap<ReplyKey, Entry, FixedState>, key: ReplyKey, entry: Entry) {
    let is_kept = index.get(&key).is_some_and(|known| !known.is_failed && entry.is_failed);
    if !is_kept {
        index.insert(key, entry);
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    let full = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    matches!((full(a), full(b)), (Ok(a), Ok(b)) if a == b)
}
