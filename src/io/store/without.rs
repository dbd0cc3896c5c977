//! What stands for object stores and web servers in a build without them: an error that says so.

use std::collections::BTreeMap;
use std::time::Duration;

use super::blob::Blob;
use super::config::StoreConfig;
use super::location::{Listed, Location};
use super::lock::Attempt;
use super::owner::Sighting;
use super::writer::BlobWriter;
use crate::error::{Error, Result};

/// Nothing that is remote.
#[derive(Debug, Clone)]
pub(super) struct Remote;

#[expect(clippy::unused_self, clippy::unused_async, reason = "the signatures of the real ones")]
impl Remote {
    pub(super) fn new(_config: StoreConfig) -> Self {
        Self
    }

    pub(super) fn find(&self, location: &Location) -> Result<Option<Blob>> {
        Err(not_built(location))
    }

    pub(super) fn list(&self, folder: &Location) -> Result<Vec<Listed>> {
        Err(not_built(folder))
    }

    pub(super) fn names(&self, folder: &Location) -> Result<BTreeMap<String, u64>> {
        Err(not_built(folder))
    }

    pub(super) fn documents(&self, locations: &[Location]) -> Result<Vec<Option<Vec<u8>>>> {
        locations.iter().map(|location| Err(not_built(location))).collect()
    }

    pub(super) fn create(&self, location: &Location) -> Result<BlobWriter> {
        Err(not_built(location))
    }

    pub(super) async fn put(&self, location: &Location, _bytes: &[u8], _create: bool) -> Result<bool> {
        Err(not_built(location))
    }

    pub(super) async fn delete(&self, location: &Location) -> Result<()> {
        Err(not_built(location))
    }

    pub(super) fn lock(&self, location: &Location, _watch: &mut Sighting) -> Result<Attempt> {
        Err(not_built(location))
    }

    /// Waits for nothing: local files are clean when they are dropped.
    pub(super) fn settle(&self, _longest: Duration) {}
}

fn not_built(location: &Location) -> Error {
    Error::usage(location.to_string(), "this condenser was built without remote stores")
}
