//! Where bytes go that somebody asked for: into a new file, whole or not at all, or to the stream of the caller.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::io::store::Location;
use crate::io::{BlockingFile, sweep_beside};

/// The place of errors about the stream of the caller.
pub const STDOUT: &str = "stdout";

/// Makes the stream of the caller, where no file is named.
pub type Stdout<'s> = dyn Fn() -> Box<dyn Write + Send> + 's;

/// Where bytes go.
pub enum Destination {
    /// The stream of the caller.
    Stream(BufWriter<Box<dyn Write + Send>>),
    /// A file that is there once it is finished.
    File(BlockingFile),
}

impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stream(_) => "Stream",
            Self::File(_) => "File",
        })
    }
}

impl Destination {
    /// A new file, or the stream for `-` and nothing.
    pub fn open(output: Option<&str>, stdout: &Stdout<'_>) -> Result<Self> {
        match output {
            None | Some("-") => Ok(Self::stream(stdout)),
            Some(path) => {
                let target = local(Path::new(path))?;
                sweep_beside(&target);
                Ok(Self::File(BlockingFile::create_new(&target)?))
            }
        }
    }

    pub(super) fn stream(make: &Stdout<'_>) -> Self {
        Self::Stream(BufWriter::with_capacity(1 << 18, make()))
    }

    /// Writes all `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stream(stream) => stream.write_all(bytes).map_err(unwritten),
            Self::File(file) => {
                file.write_all(bytes).map_err(|error| Error::io("output", "cannot be written").because(error))
            }
        }
    }

    /// Ends it; without this a file is not there.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Stream(mut stream) => stream.flush().map_err(unwritten),
            Self::File(file) => file.commit(),
        }
    }
}

/// That the stream of the caller cannot be written.
pub fn unwritten(error: std::io::Error) -> Error {
    Error::io(STDOUT, "cannot be written").because(error)
}

/// The path of what is written to local disk only.
pub fn local(path: &Path) -> Result<PathBuf> {
    let location = path.to_str().map_or_else(|| Ok(Location::from(path)), Location::parse)?;
    let message = "this is written to local disk only; name a path";
    location.as_local().map(Path::to_owned).ok_or_else(|| Error::usage(location.to_string(), message))
}
