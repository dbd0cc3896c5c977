//! A file in the making, on local disk or in a store: whole under its name after its commit, else not there.

use std::path::Path;

#[cfg(feature = "remote")]
use super::upload::Upload;
use crate::error::Result;
use crate::io::disk::AtomicFile;

/// A file in the making; dropped before [`BlobWriter::commit`] it leaves nothing under its name.
#[derive(Debug)]
pub struct BlobWriter(Target);

#[derive(Debug)]
enum Target {
    Local(AtomicFile),
    #[cfg(feature = "remote")]
    Remote(Box<Upload>),
}

impl BlobWriter {
    pub(super) fn local(path: &Path) -> Result<Self> {
        AtomicFile::create(path).map(|file| Self(Target::Local(file)))
    }

    #[cfg(feature = "remote")]
    pub(super) fn remote(upload: Upload) -> Self {
        Self(Target::Remote(Box::new(upload)))
    }

    /// Appends `bytes`. In a store, parts go out meanwhile; at most three of them are in memory.
    ///
    /// # Errors
    /// `Io` when they cannot be written; the file is then lost.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.0 {
            Target::Local(file) => file.write(bytes).await,
            #[cfg(feature = "remote")]
            Target::Remote(upload) => upload.write(bytes).await,
        }
    }

    /// Makes the file stand under its name: on disk after this, or complete in its store.
    ///
    /// # Errors
    /// `Io` when it cannot be completed; then nothing new stands under the name.
    pub async fn commit(self) -> Result<()> {
        match self.0 {
            Target::Local(file) => file.commit(true).await.map(drop),
            #[cfg(feature = "remote")]
            Target::Remote(upload) => upload.commit().await,
        }
    }
}
