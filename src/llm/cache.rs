//! Replies that were paid for, kept on disk under the hash of their request. Several processes may use one directory
//! at once: each appends lines of JSON to a segment of its own, and all may read all of them. Knows neither what was asked
//! nor what a reply is good for.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foldhash::fast::FixedState;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::private::{create_unique, failed};
use super::{Completion, LlmProvider};
use crate::error::{Error, Result};

/// Identifies a request: BLAKE3 of the name of its protocol and of its body.
pub type ReplyKey = [u8; 32];

/// The key of a request: its body says model and parameters, the protocol how they are to be read.
pub fn reply_key(protocol: LlmProvider, body: &str) -> ReplyKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(protocol.as_str().as_bytes()).update(&[0]).update(body.as_bytes());
    *hasher.finalize().as_bytes()
}

/// The folder of the segments.
const REPLIES: &str = "replies";
/// The ending of the segments; other files are left alone.
const SEGMENT: &str = ".jsonl";
/// At most so long a reply may be lost when the machine loses its power.
const SYNC_EVERY: Duration = Duration::from_secs(5);
/// No reply of a model is as long; what is longer is passed over without being held in memory.
const MAX_LINE_BYTES: u64 = 64 << 20;
const READ_BYTES: usize = 1 << 18;

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The model that was asked.
    pub model: String,
    /// It came out of a batch, at the price of batches.
    #[serde(rename = "batch", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_batch: bool,
    /// What it cost, in the currency of the job's prices; `None` when no prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The reply, or that there will be none.
    #[serde(flatten)]
    pub outcome: ReplyOutcome,
}

/// See [`Kept::outcome`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplyOutcome {
    /// What the model replied.
    Reply(Completion),
    /// A batch refused the request for good. Asking again in a batch is of no use; online it is asked again.
    Failed {
        /// What the server said.
        message: String,
        /// It was longer than the model's context.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_too_long: bool,
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
    pub fn open(own: &Path, shared: Option<&Path>) -> Result<Self> {
        let shared = shared.filter(|&shared| !is_same(shared, own)).map(|shared| shared.join(REPLIES));
        let own = own.join(REPLIES);
        let (mut index, mut segments, mut n_skipped) = (HashMap::default(), Vec::new(), 0);
        for folder in [Some(&own), shared.as_ref()].into_iter().flatten() {
            for path in segments_in(folder)? {
                let number = segments.len() as u32;
                n_skipped += read_segment(&path, |key, is_failed, offset, n_bytes| {
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
            Ok(()) => Ok(parse_line(&bytes).filter(|(found, _)| found == key).map(|(_, kept)| kept)),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(failed(&path, "the kept replies cannot be read", error)),
        }
    }

    /// Keeps what became of a request. When this returns, the system has it: a process that is killed loses nothing. It
    /// is on disk a few seconds later, or after [`Self::sync`].
    pub fn put(&self, key: &ReplyKey, kept: &Kept) -> Result<()> {
        let text = format_line(key, kept)?;
        let mut inner = self.lock();
        let inner = &mut *inner;
        let (path, offset) = inner.own.append(&text)?;
        let number = *inner.own_number.get_or_insert_with(|| {
            inner.segments.push(path.to_owned());
            inner.segments.len() as u32 - 1
        });
        let is_failed = matches!(kept.outcome, ReplyOutcome::Failed { .. });
        let entry = Entry { segment: number, n_bytes: text.len() as u32, offset, is_failed };
        take(&mut inner.index, *key, entry);
        if let Some(shared) = &mut inner.shared {
            shared.append(&text)?;
        }
        Ok(())
    }

    /// Number of requests whose outcome is known.
    pub fn len(&self) -> usize {
        self.lock().index.len()
    }

    /// True when nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that the index takes, about.
    pub fn index_bytes(&self) -> usize {
        // A byte of the map's own goes with each place.
        self.lock().index.capacity() * (size_of::<(ReplyKey, Entry)>() + 1)
    }

    /// Lines that were passed over when the store was opened: torn, or no replies.
    pub fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    /// Brings everything to disk.
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

/// The segment of this process in one folder; its file is made when something is written.
#[derive(Debug)]
struct Segment {
    folder: PathBuf,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    n_bytes: u64,
    /// Writing failed half way: the next line begins with a line feed.
    is_torn: bool,
    /// Since when something is not on disk.
    unsynced_since: Option<Instant>,
}

impl Segment {
    fn new(folder: PathBuf) -> Self {
        Self { folder, open: None }
    }

    /// Appends a line; returns the file, which is made for the first one, and where in it the line begins.
    fn append(&mut self, line: &[u8]) -> Result<(&Path, u64)> {
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let (file, path) = create_unique(&self.folder, SEGMENT)?;
                none.insert(Open { file, path, n_bytes: 0, is_torn: false, unsynced_since: None })
            }
        };
        let offset = open.append(line)?;
        Ok((&open.path, offset))
    }

    /// Brings what was written to disk.
    fn sync(&mut self) -> Result<()> {
        self.open.as_mut().map_or(Ok(()), Open::sync)
    }
}

impl Open {
    fn append(&mut self, line: &[u8]) -> Result<u64> {
        if self.is_torn {
            self.write(b"\n")?;
        }
        let offset = self.n_bytes;
        self.write(line)?;
        self.is_torn = false;
        if self.unsynced_since.get_or_insert_with(Instant::now).elapsed() >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(offset)
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(n) if n > 0 => {
                    self.n_bytes += n as u64;
                    self.is_torn = true;
                    bytes = &bytes[n..];
                }
                Ok(_) => return Err(failed(&self.path, "cannot be written", std::io::ErrorKind::WriteZero.into())),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(&self.path, "cannot be written", error)),
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        if self.unsynced_since.take().is_some() {
            self.file.sync_data().map_err(|error| failed(&self.path, "cannot be written", error))?;
        }
        Ok(())
    }
}

/// The segments in `folder`, sorted; none when the folder is not there.
fn segments_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |error| failed(folder, "the kept replies cannot be listed", error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(cannot)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        if entry.file_name().to_string_lossy().ends_with(SEGMENT) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Calls `found` with key, whether there is no reply, offset and length of every line; returns how many lines were
/// passed over. A line without its line feed is torn, or still being written.
fn read_segment(path: &Path, mut found: impl FnMut(ReplyKey, bool, u64, u32)) -> Result<u64> {
    let cannot = |error| failed(path, "the kept replies cannot be read", error);
    let mut reader = BufReader::with_capacity(READ_BYTES, File::open(path).map_err(cannot)?);
    let (mut line, mut offset, mut n_skipped) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        let n = (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).map_err(cannot)? as u64;
        if n == 0 {
            return Ok(n_skipped);
        }
        let is_whole = line.last() == Some(&b'\n');
        match head_of_line(&line).filter(|_| is_whole) {
            Some((key, is_failed)) => found(key, is_failed, offset, n as u32),
            None => n_skipped += 1,
        }
        offset += n;
        if !is_whole {
            offset += reader.skip_until(b'\n').map_err(cannot)? as u64;
        }
    }
}

/// A line.
#[derive(Debug, Serialize, Deserialize)]
struct Line<K> {
    key: String,
    #[serde(flatten)]
    kept: K,
}

/// What the index needs of a line; the rest is checked for being JSON only.
#[derive(Deserialize)]
struct Head {
    key: String,
    reply: Option<IgnoredAny>,
    failed: Option<IgnoredAny>,
}

/// A line with its line feed.
fn format_line(key: &ReplyKey, kept: &Kept) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec(&Line { key: hex(key), kept })
        .map_err(|error| Error::internal("", "a reply cannot be written").because(error))?;
    text.push(b'\n');
    Ok(text)
}

/// The key of a line, and whether it says that there is no reply; `None` when it is no line of replies.
fn head_of_line(line: &[u8]) -> Option<(ReplyKey, bool)> {
    let Head { key, reply, failed } = serde_json::from_slice(line).ok()?;
    let key = parse_hex(&key)?;
    match (reply, failed) {
        (Some(_), None) => Some((key, false)),
        (None, Some(_)) => Some((key, true)),
        _ => None,
    }
}

/// A line; `None` when it is none.
fn parse_line(line: &[u8]) -> Option<(ReplyKey, Kept)> {
    let Line { key, kept } = serde_json::from_slice(line).ok()?;
    Some((parse_hex(&key)?, kept))
}

/// A key as text: 64 characters, as long as both batch APIs let an id be.
pub(super) fn hex(key: &ReplyKey) -> String {
    blake3::Hash::from_bytes(*key).to_hex().to_string()
}

/// The key that a text names.
pub(super) fn parse_hex(text: &str) -> Option<ReplyKey> {
    blake3::Hash::from_hex(text).ok().map(|hash| *hash.as_bytes())
}
