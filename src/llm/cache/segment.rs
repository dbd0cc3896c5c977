//! A file of lines that one process appends to and all may read. Knows of a line only its key.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{ReplyKey, line};
use crate::error::Result;
use crate::llm::private::{create_unique, failed};

/// At most so long a reply may be lost when the machine loses its power.
const SYNC_EVERY: Duration = Duration::from_secs(5);
/// No reply of a model is as long; what is longer is passed over without being held in memory.
const MAX_LINE_BYTES: u64 = 64 << 20;
const READ_BYTES: usize = 1 << 18;

/// The segment of this process in one folder; its file is made when something is written.
#[derive(Debug)]
pub(super) struct Segment {
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
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, open: None }
    }

    /// Appends a line; returns the file, which is made for the first one, and where in it the line begins.
    pub(super) fn append(&mut self, line: &[u8], suffix: &str) -> Result<(&Path, u64)> {
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let (file, path) = create_unique(&self.folder, suffix)?;
                none.insert(Open { file, path, n_bytes: 0, is_torn: false, unsynced_since: None })
            }
        };
        let offset = open.append(line)?;
        Ok((&open.path, offset))
    }

    /// Brings what was written to disk.
    pub(super) fn sync(&mut self) -> Result<()> {
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
pub(super) fn list(folder: &Path, suffix: &str) -> Result<Vec<PathBuf>> {
    let cannot = |error| failed(folder, "the kept replies cannot be listed", error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(cannot)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        if entry.file_name().to_string_lossy().ends_with(suffix) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Calls `found` with key, whether there is no reply, offset and length of every line; returns how many lines were
/// passed over. A line without its line feed is torn, or still being written.
pub(super) fn read(path: &Path, mut found: impl FnMut(ReplyKey, bool, u64, u32)) -> Result<u64> {
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
        match line::head(&line).filter(|_| is_whole) {
            Some((key, is_failed)) => found(key, is_failed, offset, n as u32),
            None => n_skipped += 1,
        }
        offset += n;
        if !is_whole {
            offset += reader.skip_until(b'\n').map_err(cannot)? as u64;
        }
    }
}
