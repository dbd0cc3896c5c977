//! Ranges of one version of a remote file: what breaks or stalls is taken up where it ended, the next range is
//! fetched while one is read. Gives bytes to threads that block; knows no format.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::{Buf, Bytes};
use futures::StreamExt;
use object_store::GetOptions;
use object_store::path::Path;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::blob::{Content, Fate};
use super::config::StoreConfig;
use super::engine::Engine;
use super::location::Location;
use super::object::{Bucket, Version};
use super::trouble::{Failure, Tries};
use super::web::{Body, WebFile};
use crate::error::{Error, Result};

const READ: &str = "cannot be read";
/// A stream that cannot be read by range is read ahead by this many pieces of what the network gives, some 16 KiB.
const PIECES_AHEAD: usize = 256;
/// Blocks in which scattered reads are served: the columns of a row group are read side by side, page by page.
const BLOCK_BYTES: u64 = 1 << 20;
/// Blocks that are kept per file: 32 MiB, one for each of the columns that are read side by side.
const BLOCKS_KEPT: usize = 32;

/// Where a file is served.
#[derive(Clone)]
pub(super) enum Origin {
    Object(Bucket, Path),
    Web(WebFile),
}

/// One version of a remote file.
#[derive(Clone)]
pub(super) struct RemoteFile(Arc<Inner>);

impl std::fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its address and its client may hold secrets.
        f.debug_tuple("RemoteFile").field(&self.0.location).finish()
    }
}

struct Inner {
    location: Location,
    origin: Origin,
    version: Version,
    /// Whether the server gives ranges.
    ranges: bool,
    config: Arc<StoreConfig>,
    engine: Engine,
    blocks: Mutex<VecDeque<(u64, Bytes)>>,
}

impl RemoteFile {
    pub(super) fn new(location: Location, origin: Origin, version: Version, ranges: bool, engine: Engine) -> Self {
        let config = engine.config();
        Self(Arc::new(Inner { location, origin, version, ranges, config, engine, blocks: Mutex::default() }))
    }

    fn block(&self, number: u64) -> Result<Bytes> {
        let kept = || self.0.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let found = |blocks: &mut VecDeque<(u64, Bytes)>| {
            let at = blocks.iter().position(|&(found, _)| found == number)?;
            let block = blocks.remove(at)?;
            blocks.push_back(block.clone());
            Some(block.1)
        };
        if let Some(block) = found(&mut kept()) {
            return Ok(block);
        }
        let start = number * BLOCK_BYTES;
        let block = self.read(start..(start + BLOCK_BYTES).min(self.0.version.bytes))?;
        let mut blocks = kept();
        if blocks.len() == BLOCKS_KEPT {
            blocks.pop_front();
        }
        blocks.push_back((number, block.clone()));
        Ok(block)
    }

    async fn send_ranges(
        &self,
        range: Range<u64>,
        permits: &Semaphore,
        send: &impl Fn(Result<Bytes>) -> bool,
    ) -> Result<()> {
        let mut at = range.start;
        while at < range.end {
            // Closed when the reader is gone.
            let Ok(permit) = permits.acquire().await else { return Ok(()) };
            permit.forget();
            let end = (at + self.0.config.range_bytes).min(range.end);
            if !send(Ok(self.fetch(at..end).await?)) {
                return Ok(());
            }
            at = end;
        }
        Ok(())
    }

    async fn send_stream(&self, permits: &Semaphore, send: &impl Fn(Result<Bytes>) -> bool) -> Result<()> {
        let Origin::Web(web) = &self.0.origin else { return Ok(()) };
        let mut tries = Tries::new(&self.0.config);
        let mut body = loop {
            match web.whole(&self.0.version).await {
                Ok(body) => break body,
                Err(failure) => tries.again(failure).await?,
            }
        };
        while let Some(piece) = body.next().await {
            let piece = piece.map_err(|error| {
                let mut error = web.broken(&error).error;
                error.message += "; this server gives no ranges, so reading cannot go on: copy the file first";
                error
            })?;
            let Ok(permit) = permits.acquire().await else { return Ok(()) };
            permit.forget();
            if !piece.is_empty() && !send(Ok(piece)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The bytes `range`; what breaks is taken up where it ended.
    async fn fetch(&self, range: Range<u64>) -> Result<Bytes> {
        let inner = &self.0;
        if !inner.ranges {
            let message = "this server gives no ranges, but the format needs them: copy the file first";
            return Err(Error::input(inner.location.to_string(), message));
        }
        let length = range.end.saturating_sub(range.start);
        let mut got = Vec::with_capacity(length as usize);
        let mut tries = Tries::new(&inner.config);
        while (got.len() as u64) < length {
            let (before, patience) = (got.len(), inner.config.patience(length));
            let rest = range.start + before as u64..range.end;
            let attempt = timeout(patience, self.attempt(rest, &mut got)).await;
            let failure = match attempt {
                Ok(Ok(())) if got.len() as u64 >= length => break,
                Ok(Ok(())) => Failure::short(&inner.location, READ),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::slow(&inner.location, READ, patience),
            };
            if got.len() > before {
                tries.went_well();
            }
            tries.again(failure).await?;
        }
        // A server that sends too much is not believed.
        if got.len() as u64 > length {
            return Err(Failure::changed(&inner.location).error);
        }
        Ok(got.into())
    }

    async fn attempt(&self, range: Range<u64>, got: &mut Vec<u8>) -> std::result::Result<(), Failure> {
        let inner = &self.0;
        match &inner.origin {
            Origin::Web(web) => {
                let mut body: Body = web.range((range.start, range.end), &inner.version).await?;
                while let Some(piece) = body.next().await {
                    got.extend_from_slice(&piece.map_err(|error| web.broken(&error))?);
                }
            }
            Origin::Object(bucket, path) => {
                let failed = |error| Failure::of_store(&inner.location, READ, &error, &inner.config);
                let options =
                    GetOptions::new().with_range(Some(range)).with_if_match(inner.version.strong_tag().cloned());
                let result = bucket.once.get_opts(path, options).await;
                let result = result.map_err(failed).map_err(|failure| match failure.status {
                    // It was there, and it was long enough.
                    Some(404 | 416) => Failure::changed(&inner.location),
                    _ => failure,
                })?;
                // Not every store compares the tag itself.
                if !Version::of(&result.meta).fits(&inner.version) {
                    return Err(Failure::changed(&inner.location));
                }
                let mut body = result.into_stream();
                while let Some(piece) = body.next().await {
                    got.extend_from_slice(&piece.map_err(failed)?);
                }
            }
        }
        Ok(())
    }
}

impl Content for RemoteFile {
    fn gives_ranges(&self) -> bool {
        self.0.ranges
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let file = self.clone();
        self.0.engine.wait(async move { file.fetch(range).await })
    }

    fn modified(&self) -> Option<SystemTime> {
        let millis = self.0.version.modified.as_ref()?.parse().ok()?;
        UNIX_EPOCH.checked_add(Duration::from_millis(millis))
    }

    /// The bytes `range`, through blocks that are kept; for many small reads side by side.
    fn read_kept(&self, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let (first, last) = (range.start / BLOCK_BYTES, (range.end - 1) / BLOCK_BYTES);
        if last - first >= BLOCKS_KEPT as u64 / 4 {
            return self.read(range);
        }
        let mut joined = Vec::new();
        for number in first..=last {
            let block = self.block(number)?;
            let start = number * BLOCK_BYTES;
            let from = range.start.saturating_sub(start) as usize;
            let to = (range.end - start).min(block.len() as u64) as usize;
            let piece = block.slice(from.min(to)..to);
            if first == last {
                return Ok(piece);
            }
            joined.extend_from_slice(&piece);
        }
        Ok(joined.into())
    }

    fn reader(&self, range: Option<Range<u64>>) -> Box<dyn Read + Send> {
        let (sender, pieces) = channel();
        let permits = Arc::new(Semaphore::new(if self.0.ranges { 1 } else { PIECES_AHEAD }));
        let (file, taken) = (self.clone(), permits.clone());
        let work = async move {
            let send = |piece: Result<Bytes>| sender.send(piece).is_ok();
            let whole = 0..file.0.version.bytes;
            let done = match range {
                range if file.0.ranges => file.send_ranges(range.unwrap_or(whole), &taken, &send).await,
                _ => file.send_stream(&taken, &send).await,
            };
            // An empty piece is the end: a reader must not take a task that died for it.
            send(done.map(|()| Bytes::new()));
        };
        let task = self.0.engine.spawn(work);
        Box::new(AheadReader {
            pieces,
            permits,
            task,
            piece: Bytes::new(),
            ended: false,
            failure: None,
            location: self.0.location.clone(),
        })
    }

    /// Asks the server for the version that it has now.
    fn change(&self) -> Result<Fate> {
        let file = self.clone();
        self.0.engine.wait(async move {
            let now = match &file.0.origin {
                Origin::Object(bucket, path) => bucket.stat(path).await?,
                Origin::Web(web) => web.stat().await?.map(|stat| stat.version),
            };
            let is_same = now.is_some_and(|now| now.fits(&file.0.version));
            Ok(if is_same { Fate::None } else { Fate::Written })
        })
    }
}

/// Pieces that a task fetches ahead.
struct AheadReader {
    pieces: Receiver<Result<Bytes>>,
    permits: Arc<Semaphore>,
    task: JoinHandle<()>,
    piece: Bytes,
    ended: bool,
    location: Location,
    /// With what it failed: whoever reads on is told the same.
    failure: Option<Error>,
}

impl Read for AheadReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && !self.ended && !buffer.is_empty() {
            let lost = || Error::internal(self.location.to_string(), "the task that reads it ended");
            self.piece = self.pieces.recv().unwrap_or_else(|_| Err(self.failure.take().unwrap_or_else(lost))).map_err(
                |error| {
                    self.failure = Some(Error::new(error.kind, &*error.place, &*error.message));
                    io::Error::other(error)
                },
            )?;
            self.permits.add_permits(1);
            self.ended = self.piece.is_empty();
        }
        let n = buffer.len().min(self.piece.len());
        self.piece.split_to(n).copy_to_slice(&mut buffer[..n]);
        Ok(n)
    }
}

impl Drop for AheadReader {
    fn drop(&mut self) {
        self.permits.close();
        self.task.abort();
    }
}
