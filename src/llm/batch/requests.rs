//! Request files: written line by line, cut where an API says so, and read for their keys. Knows of a request only its
//! key and its body.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;
use serde::Deserialize;
use tempfile::NamedTempFile;

use super::state::REQUESTS;
use super::{BatchFolder, BatchStage, BatchState, Batches, anthropic, openai};
use crate::error::{Error, Result};
use crate::llm::LlmProvider;
use crate::llm::cache::{ReplyKey, hex, parse_hex};
use crate::llm::private::{begin_file, failed, put_in_place};

/// What an API takes in one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Requests.
    pub max_requests: u64,
    /// Bytes of the request file.
    pub max_bytes: u64,
}

impl BatchLimits {
    /// As the API says; sizes are taken as decimal, the smaller reading, less what stands around the requests.
    pub fn of(protocol: LlmProvider) -> Self {
        match protocol {
            // platform.openai.com/docs/api-reference/batch/create: 50,000 requests and 200 MB.
            LlmProvider::Openai => Self { max_requests: 50_000, max_bytes: 200_000_000 },
            // docs.anthropic.com/en/api/creating-message-batches: 100,000 requests and 256 MB.
            LlmProvider::Anthropic => Self { max_requests: 100_000, max_bytes: 256_000_000 - 1_000 },
        }
    }
}

/// A set of requests.
pub(super) type Keys = HashSet<ReplyKey, FixedState>;

/// Writes batches, one after the other.
#[derive(Debug)]
pub(super) struct RequestWriter {
    batches: Batches,
    /// A state as a new batch has it.
    template: BatchState,
    protocol: LlmProvider,
    limits: BatchLimits,
    open: Option<Open>,
    done: Vec<BatchFolder>,
}

#[derive(Debug)]
struct Open {
    folder: PathBuf,
    file: BufWriter<NamedTempFile>,
    hasher: blake3::Hasher,
    n_requests: u64,
    n_bytes: u64,
}

impl RequestWriter {
    pub(super) fn new(
        batches: Batches,
        protocol: LlmProvider,
        base_url: &str,
        model: &str,
        limits: BatchLimits,
    ) -> Self {
        let template = BatchState {
            protocol: protocol.as_str().to_owned(),
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            n_requests: 0,
            n_bytes: 0,
            blake3: String::new(),
            stage: BatchStage::Planned,
        };
        Self { batches, template, protocol, limits, open: None, done: Vec::new() }
    }

    /// Takes a request; false when it is larger than a whole batch may be.
    pub(super) fn add(&mut self, key: &ReplyKey, body: &str) -> Result<bool> {
        let mut line = request_line(self.protocol, &hex(key), body);
        line.push('\n');
        let n_bytes = line.len() as u64;
        if n_bytes > self.limits.max_bytes {
            return Ok(false);
        }
        let is_full = self.open.as_ref().is_some_and(|open| {
            open.n_requests >= self.limits.max_requests || open.n_bytes + n_bytes > self.limits.max_bytes
        });
        if is_full {
            self.close()?;
        }
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let folder = self.batches.next()?;
                let file = BufWriter::new(begin_file(&folder.join(REQUESTS))?);
                none.insert(Open { folder, file, hasher: blake3::Hasher::new(), n_requests: 0, n_bytes: 0 })
            }
        };
        open.file.write_all(line.as_bytes()).map_err(|error| failed(&open.folder, "cannot be written", error))?;
        open.hasher.update(line.as_bytes());
        open.n_requests += 1;
        open.n_bytes += n_bytes;
        Ok(true)
    }

    /// Ends the batch that is open; returns all that were written.
    pub(super) fn finish(&mut self) -> Result<Vec<BatchFolder>> {
        self.close()?;
        Ok(std::mem::take(&mut self.done))
    }

    fn close(&mut self) -> Result<()> {
        let Some(Open { folder, file, hasher, n_requests, n_bytes }) = self.open.take() else { return Ok(()) };
        let file = file.into_inner().map_err(|error| failed(&folder, "cannot be written", error.into_error()))?;
        put_in_place(file, &folder.join(REQUESTS))?;
        let blake3 = hasher.finalize().to_hex().to_string();
        let state = BatchState { n_requests, n_bytes, blake3, ..self.template.clone() };
        state.write(&folder)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.done.push(BatchFolder { name, state, folder });
        Ok(())
    }
}

/// A line of a request file.
fn request_line(protocol: LlmProvider, id: &str, body: &str) -> String {
    match protocol {
        LlmProvider::Openai => openai::request_line(id, body),
        LlmProvider::Anthropic => anthropic::request_line(id, body),
    }
}

#[derive(Deserialize)]
struct Line {
    custom_id: String,
}

/// The keys of a request file.
pub(super) fn keys(path: &Path, into: &mut Keys) -> Result<()> {
    let cannot = |error| failed(path, "cannot be read", error);
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path).map_err(cannot)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(cannot)? == 0 {
            return Ok(());
        }
        let key = serde_json::from_slice::<Line>(&line).ok().and_then(|line| parse_hex(&line.custom_id));
        let wrong = || Error::verification(path.to_string_lossy(), "a line is no request of a batch");
        into.insert(key.ok_or_else(wrong)?);
    }
}
