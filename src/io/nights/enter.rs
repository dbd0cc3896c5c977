//! Writes down the night of a complete run, with the full names of its logs. Knows names and documents; refuses to know what the logs hold.

use std::path::{Path, PathBuf, absolute};

use super::{Store, full_name};
use crate::error::{Error, Result};
use crate::io::run_documents::read_plan;
use crate::io::store::{Location, Place, Stores};
use crate::pipeline::{Night, NightFigures, OpenLog};

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
    /// Writes down the night of the complete run `name`. Files that the run does not hold are left out: they are named, and the next
    /// run takes them.
    ///
    /// # Errors
    /// `Io` when another process has taken the store meanwhile.
    pub async fn enter(&mut self, name: &str, names: &SourceNames, figures: NightFigures) -> Result<Vec<String>> {
        let (night, open, left_out) = tokio::task::block_in_place(|| self.night_of(name, names))?;
        let logs = night.logs.len() as u64;
        let mut night = Night { figures: vec![NightFigures { logs, ..figures }], ..night };
        self.publish(name, &mut night, open).await?;
        for (log, state) in night.logs.iter().enumerate() {
            self.states.entry(state.path.clone()).or_default().push((self.nights.len(), log));
        }
        self.nights.push(night);
        Ok(left_out)
    }

    /// What there is to write down of the complete run `name`, the conversations that are not at rest, and the files that it does not hold.
    fn night_of(&self, name: &str, names: &SourceNames) -> Result<(Night, Vec<OpenLog>, Vec<String>)> {
        let path = self.run_path(name);
        let (run, plan) = (self.open_run(name)?, read_plan(&path)?);
        let path_of = |source: &str| names.full(source);
        let (night, left_out) = Night::of_run(name, &plan, &run.commits, &run.manifest.missing, &path_of)?;
        let open = self.open_after(&run, &plan, &path_of)?;
        Ok((night, open, left_out))
    }

    /// The folder in which the jobs were called whose logs have names that do not begin at the root; `None` where there was none, or
    /// more than one.
    fn folder_of_jobs(&self) -> Option<PathBuf> {
        let mut found: Option<&Path> = None;
        for log in self.nights.iter().flat_map(|night| &night.logs) {
            let location = Location::parse(&log.source).ok()?;
            let Some(source) = location.as_local().filter(|source| source.is_relative()) else { continue };
            let path = Path::new(&log.path);
            let is_it = |folder: &&Path| absolute(folder.join(source)).is_ok_and(|full| full == path);
            let folder = path.ancestors().find(is_it)?;
            if *found.get_or_insert(folder) != folder {
                return None;
            }
        }
        found.map(Path::to_owned)
    }
}
