//! What stands for object stores and web servers in a build without them: an error that says so.

use std::collections::BTreeMap;

use super::{Attempt, Blob, BlobWriter, LONGEST_SETTLING, Listed, Location, StoreConfig, Stores, Watch};
use crate::error::{Error, ErrorKind, Result};

#[expect(clippy::unused_self, clippy::unused_async, reason = "the signatures of the real ones above")]
impl Stores {
    /// Stores with these bounds.
    #[must_use]
    pub fn new(_config: StoreConfig) -> Self {
        Self {}
    }

    pub(super) fn remote_stat(&self, location: &Location) -> Result<Option<(Blob, Listed)>> {
        Err(not_built(location))
    }

    pub(super) fn remote_list(&self, folder: &Location) -> Result<Vec<Listed>> {
        Err(not_built(folder))
    }

    pub(super) fn remote_names(&self, folder: &Location) -> Result<BTreeMap<String, u64>> {
        Err(not_built(folder))
    }

    pub(super) fn remote_documents(&self, locations: &[Location]) -> Result<Vec<Option<Vec<u8>>>> {
        locations.iter().map(|location| Err(not_built(location))).collect()
    }

    pub(super) fn remote_create(&self, location: &Location) -> Result<BlobWriter> {
        Err(not_built(location))
    }

    pub(super) async fn remote_put(&self, location: &Location, _bytes: &[u8], _create: bool) -> Result<bool> {
        Err(not_built(location))
    }

    pub(super) fn remote_lock(&self, location: &Location, _watch: &mut Watch) -> Result<Attempt> {
        Err(not_built(location))
    }

    /// Waits for nothing: local files are clean when they are dropped.
    pub fn settle(&self) {
        let _ = LONGEST_SETTLING;
    }
}

pub(super) fn not_built(location: &Location) -> Error {
    Error::new(ErrorKind::Usage, location.to_string(), "this condenser was built without remote stores")
}
