//! Full names of logs: from the root, or addresses. Refuses to know what the logs hold.

use std::path::{Path, PathBuf, absolute};

use super::Store;
use crate::error::{Error, Result};
use crate::io::failed;
use crate::io::store::{Location, Place, Stores};

/// Gives the sources of a run their full names.
#[derive(Debug)]
pub struct SourceNames {
    stores: Stores,
    /// The folder that its job was called in; `None` for that of this process.
    folder: Option<PathBuf>,
}

impl SourceNames {
    /// Of a run whose job is called here.
    pub fn of_job(stores: &Stores) -> Self {
        Self { stores: stores.clone(), folder: None }
    }

    /// Of a run of `store` with these `sources`, wherever its job was called.
    ///
    /// # Errors
    /// `Usage` when the nights of the store do not say where that was.
    pub fn of_store<'n>(stores: &Stores, store: &Store, sources: impl IntoIterator<Item = &'n str>) -> Result<Self> {
        let is_relative = |source: &str| {
            let location = Location::parse(source)?;
            Ok::<_, Error>(location.as_local().is_some_and(Path::is_relative))
        };
        let mut folder = None;
        for source in sources {
            if is_relative(source)? && folder.is_none() {
                folder = Some(store.folder_of_jobs().ok_or_else(|| {
                    Error::usage(store.place().to_string(), "the last run is complete, but no night has it yet")
                        .hinting("call its job once more: that enters it")
                })?);
            }
        }
        Ok(Self { stores: stores.clone(), folder })
    }

    /// The full name of a source.
    ///
    /// # Errors
    /// `Usage` when it is no UTF-8.
    pub fn full(&self, source: &str) -> Result<String> {
        let location = Location::parse(source)?;
        let location = match (&self.folder, location.as_local()) {
            (Some(folder), Some(path)) => Location::from(&*folder.join(path)),
            _ => location,
        };
        full_name(&Place::new(&self.stores, location))
    }
}

impl Store {
    /// The folder in which the jobs were called whose logs have names that do not begin at the root; `None` where there was none, or
    /// more than one.
    fn folder_of_jobs(&self) -> Option<PathBuf> {
        let mut found: Option<&Path> = None;
        for log in self.nights.iter().flat_map(|night| &night.logs) {
            let (path, source) = (Path::new(&log.path), Path::new(&log.source));
            if path.is_relative() || source.is_absolute() {
                continue;
            }
            let is_it = |folder: &&Path| absolute(folder.join(source)).is_ok_and(|full| full == path);
            let folder = path.ancestors().find(is_it)?;
            if *found.get_or_insert(folder) != folder {
                return None;
            }
        }
        found.map(Path::to_owned)
    }
}

/// The path from the root, or the address.
pub(super) fn full_name(file: &Place) -> Result<String> {
    let Some(path) = file.as_local() else { return Ok(file.to_string()) };
    let place = file.to_string();
    let found = absolute(path).map_err(|error| failed(&*place, "has no absolute path", error))?;
    let name = found.into_os_string().into_string();
    name.map_err(|_| Error::usage(place, "the name is no UTF-8, so the store cannot hold it"))
}
