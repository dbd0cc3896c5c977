//! A location together with the stores that reach it, so that who works on a folder needs to carry one thing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{Attempt, Blob, BlobWriter, Listed, Location, Stores, Watch};
use crate::error::Result;

/// A file or a folder that can be reached. `Display` as for [`Location`].
#[derive(Clone)]
pub struct Place {
    stores: Stores,
    location: Location,
}

impl Place {
    /// The place `location`, reached through `stores`.
    #[must_use]
    pub fn new(stores: &Stores, location: Location) -> Self {
        Self { stores: stores.clone(), location }
    }

    /// Where it is.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The path of a local place.
    #[must_use]
    pub fn as_local(&self) -> Option<&Path> {
        self.location.as_local()
    }

    /// See [`Location::join`].
    #[must_use]
    pub fn join(&self, relative: &str) -> Self {
        Self { stores: self.stores.clone(), location: self.location.join(relative) }
    }

    /// See [`Stores::stat`].
    ///
    /// # Errors
    /// See [`Stores::stat`].
    pub fn stat(&self) -> Result<Option<Listed>> {
        self.stores.stat(&self.location)
    }

    /// See [`Stores::exists`].
    ///
    /// # Errors
    /// See [`Stores::exists`].
    pub fn exists(&self) -> Result<bool> {
        self.stores.exists(&self.location)
    }

    /// See [`Stores::open`].
    ///
    /// # Errors
    /// See [`Stores::open`].
    pub fn open(&self) -> Result<Blob> {
        self.stores.open(&self.location)
    }

    /// See [`Stores::find`].
    ///
    /// # Errors
    /// See [`Stores::find`].
    pub fn find(&self) -> Result<Option<Blob>> {
        self.stores.find(&self.location)
    }

    /// See [`Stores::names`].
    ///
    /// # Errors
    /// See [`Stores::names`].
    pub fn names(&self) -> Result<BTreeMap<String, u64>> {
        self.stores.names(&self.location)
    }

    /// See [`Stores::read_all`].
    ///
    /// # Errors
    /// See [`Stores::read_all`].
    pub fn read_all(&self) -> Result<Option<Vec<u8>>> {
        self.stores.read_all(&self.location)
    }

    /// Documents below this folder, each as [`Stores::read_all`] gives it.
    ///
    /// # Errors
    /// See [`Stores::read_each`].
    pub fn read_each(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
        let locations: Vec<Location> = names.iter().map(|name| self.location.join(name)).collect();
        self.stores.read_each(&locations)
    }

    /// See [`Stores::settle`].
    pub fn settle(&self) {
        self.stores.settle();
    }

    /// See [`Stores::create`].
    ///
    /// # Errors
    /// See [`Stores::create`].
    pub fn create(&self) -> Result<BlobWriter> {
        self.stores.create(&self.location)
    }

    /// See [`Stores::write_atomic`].
    ///
    /// # Errors
    /// See [`Stores::write_atomic`].
    pub async fn write_atomic(&self, bytes: &[u8]) -> Result<()> {
        self.stores.write_atomic(&self.location, bytes).await
    }

    /// See [`Stores::put_if_absent`].
    ///
    /// # Errors
    /// See [`Stores::put_if_absent`].
    pub async fn put_if_absent(&self, bytes: &[u8]) -> Result<bool> {
        self.stores.put_if_absent(&self.location, bytes).await
    }

    /// See [`Stores::try_lock`].
    ///
    /// # Errors
    /// See [`Stores::try_lock`].
    pub fn try_lock(&self, watch: &mut Watch) -> Result<Attempt> {
        self.stores.try_lock(&self.location, watch)
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        Self { stores: Stores::default(), location: path.into() }
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self { stores: Stores::default(), location: path.into() }
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.location == other.location
    }
}

impl Eq for Place {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.location.fmt(f)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.location).finish()
    }
}
