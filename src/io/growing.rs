//! Files that grow by turns and get their names together, of which one is open at a time. Knows nothing of what they hold.

use std::io::Write;
use std::path::PathBuf;

use super::disk::{BlockingFile, PausedFile};
use crate::error::{Error, Result};

/// Files in the making; dropped before [`GrowingFiles::finish`] they leave nothing behind.
#[derive(Debug)]
pub struct GrowingFiles {
    paths: Vec<PathBuf>,
    paused: Vec<Option<PausedFile>>,
    open: Option<(usize, BlockingFile)>,
}

impl GrowingFiles {
    /// Files with these paths, none of which is begun.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self { paused: paths.iter().map(|_| None).collect(), paths, open: None }
    }

    /// Begins the file at `at`, which must not be there.
    pub fn begin(&mut self, at: usize) -> Result<()> {
        self.paused[at] = Some(BlockingFile::create_new(&self.paths[at])?.pause()?);
        Ok(())
    }

    /// Appends to the file at `at`, which was begun.
    pub fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != at) {
            self.close()?;
            let paused = self.paused[at].take().ok_or_else(|| Error::internal("", "a file was not begun"))?;
            self.open = Some((at, paused.go_on()?));
        }
        let Some((_, open)) = &mut self.open else { return Ok(()) };
        let failed = |error| Error::io(self.paths[at].to_string_lossy(), "cannot be written").because(error);
        open.write_all(bytes).map_err(failed)
    }

    fn close(&mut self) -> Result<()> {
        if let Some((at, open)) = self.open.take() {
            self.paused[at] = Some(open.pause()?);
        }
        Ok(())
    }

    /// Gives all their names.
    pub fn finish(mut self) -> Result<()> {
        self.close()?;
        self.paused.into_iter().flatten().try_for_each(|paused| paused.go_on()?.place())
    }
}
