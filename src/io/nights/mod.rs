//! A compaction store: runs one after the other, and for each night a document that says which bytes of which log stand where.
//! That is written only after the run is complete, once, and never again. Knows files and runs, not what a job does.

mod ages;
mod as_of;
mod blobs;
mod corpus;
mod enter;
mod find;
mod index;
mod known;
mod left;
mod listed;
mod looks_again;
mod merge;
mod older;
mod read;
mod select;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::LEDGER;
use super::blob_files::BLOBS;
use super::gathered::Gathered;
use super::run_documents::{MANIFEST, NIGHTS, is_begun, is_night, plan_at};
use super::run_names::check_below;
use super::store::{Lock, Place, Sighting};
use crate::durable::sweep_unfinished;
use crate::error::{Error, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{LogState, Night, NightFigures, RunPlan, STORE_VERSION, open_sealed};

pub use as_of::StatesAsOf;
pub use corpus::NightInputs;
pub use enter::SourceNames;
pub use find::RunOrStore;
pub use known::KnownLogs;
pub use left::{LeftRun, RunFate};
pub use listed::ListedNights;
pub use merge::LineOfStates;
pub use read::{Stretches, Torn};
pub use select::{Beside, Selection, Version};

/// The folder of the runs.
pub(crate) const RUNS: &str = "runs";
/// That of the conversations that were not at rest after a night.
const OPEN: &str = "open";
/// That of the tables from conversations to nights.
const INDEX: &str = "index";
const LOCK: &str = "locks/store.json";

/// A store.
#[derive(Debug)]
pub struct Store {
    root: Place,
    nights: Vec<Night>,
    /// Of each log its states, as places among the nights and their logs, in order.
    states: HashMap<String, Vec<(usize, usize)>>,
    /// Held as long as the store is open for writing.
    lock: Option<Lock>,
    /// Runs of which another one has taken the place.
    replaced: Vec<String>,
    /// Texts that runs have of each other's records.
    gathered: Gathered,
}

/// A run that no night has yet.
#[derive(Debug)]
pub struct Begun {
    /// Its name.
    pub name: String,
    /// What it was going to do.
    pub plan: RunPlan,
    /// Whether it has its manifest.
    pub is_complete: bool,
}

/// A stretch of a log: the first bytes of what a part of a run has of it, or all of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The name of the run.
    pub run: String,
    /// The part.
    pub part: usize,
    /// Which of the inputs that share the part.
    pub input: usize,
    /// Bytes of the stream.
    pub bytes: u64,
    /// BLAKE3 of these, in hex.
    pub blake3: String,
    /// True when the part has more of that night's log.
    pub is_cut: bool,
}

impl Store {
    /// Opens the store at `root` to read it; `None` when there is none.
    ///
    /// # Errors
    /// `Verification` when the document of a night was changed.
    pub fn find(root: &Place) -> Result<Option<Self>> {
        let store = Self::look(root)?;
        Ok((!store.nights.is_empty() || root.join(LEDGER).exists()?).then_some(store))
    }

    /// The same as [`Self::find`]; where there is nothing yet, an empty store.
    pub fn look(root: &Place) -> Result<Self> {
        let folder = root.join(NIGHTS);
        let names: Vec<String> = folder.names()?.into_keys().filter(|name| is_night(name)).collect();
        let mut nights = older::nights(root)?;
        for (name, bytes) in names.iter().zip(folder.read_each(&names)?) {
            let place = folder.join(name).to_string();
            let bytes = bytes.ok_or_else(|| Error::verification(place.clone(), "the file is missing"))?;
            nights.push(read_night(&bytes, &place)?);
        }
        let replaced: BTreeSet<String> = nights.iter().flat_map(|night| night.replaces.clone()).collect();
        nights.retain(|night| !replaced.contains(&night.run));
        let replaced = replaced.into_iter().collect();
        let mut states: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        for (night, found) in nights.iter().enumerate() {
            for (log, state) in found.logs.iter().enumerate() {
                states.entry(state.path.clone()).or_default().push((night, log));
            }
        }
        Ok(Self { root: root.clone(), nights, states, lock: None, replaced, gathered: Gathered::default() })
    }

    /// Opens the store at `root` for one writer; makes it when it is not there.
    ///
    /// # Errors
    /// As [`Self::find`]; `Usage` when another process has it.
    pub async fn open(root: &Place) -> Result<Self> {
        let place = root.to_string();
        let there = root.clone();
        let taken = Bridge::run_blocking("store", move || {
            if is_begun(&there)? || there.join(MANIFEST).exists()? {
                return Err(Error::usage(there.to_string(), "this is a run, but compaction writes a store of runs"));
            }
            there.join(LOCK).try_lock(&mut Sighting::default())
        });
        match taken.await? {
            Ok(lock) => {
                if let Some(root) = root.as_local() {
                    // What a killed call was writing.
                    sweep_unfinished(root);
                    for folder in [NIGHTS, OPEN, INDEX, BLOBS] {
                        sweep_unfinished(&root.join(folder));
                    }
                }
                let there = root.clone();
                let store = Bridge::run_blocking("store", move || Self::look(&there)).await?;
                Ok(Self { lock: Some(lock), ..store })
            }
            Err(owner) => {
                let who = owner.map_or_else(|| "another process".to_owned(), |owner| owner.to_string());
                Err(Error::usage(place, format!("{who} is working on this store")))
            }
        }
    }

    /// The directory of the store.
    pub fn place(&self) -> &Place {
        &self.root
    }

    /// Its nights in order.
    pub fn nights(&self) -> &[Night] {
        &self.nights
    }

    /// What its nights came to, in order, those of which a run has taken the place too.
    pub fn figures(&self) -> impl Iterator<Item = &NightFigures> {
        self.nights.iter().flat_map(|night| &night.figures)
    }

    /// The directory of a run.
    pub fn run_path(&self, name: &str) -> Place {
        self.root.join(RUNS).join(name)
    }

    /// The directories of the runs, in the order in which they came.
    pub fn runs(&self) -> Vec<Place> {
        self.nights.iter().map(|night| self.run_path(&night.run)).collect()
    }

    /// The latest state of every log, by path, with the run of its night.
    pub fn latest(&self) -> BTreeMap<&str, (&str, &LogState)> {
        self.until(u64::MAX)
    }

    /// The states that nights up to this number left.
    fn until(&self, number: u64) -> BTreeMap<&str, (&str, &LogState)> {
        let mut states = BTreeMap::new();
        for night in &self.nights {
            for log in &night.logs {
                let of = log.night.as_deref().unwrap_or(&night.run);
                if number_of(of).is_some_and(|of| of <= number) {
                    states.insert(&*log.path, (&*night.run, log));
                }
            }
        }
        states
    }

    /// The state of the log at `path` that the night with this run wrote down, and the number of that night.
    fn state_in(&self, path: &str, run: &str) -> Option<(&LogState, usize)> {
        let states = self.states.get(path)?;
        let &(night, log) = states.iter().rev().find(|&&(night, _)| self.nights[night].run == run)?;
        Some((&self.nights[night].logs[log], night))
    }

    /// The state of the log at `path` before its latest one, with the run that has it.
    fn state_before(&self, path: &str) -> Option<(&str, &LogState)> {
        let &(night, log) = self.states.get(path)?.iter().rev().nth(1)?;
        Some((&self.nights[night].run, &self.nights[night].logs[log]))
    }

    /// Where the bytes of a log in a state of the night with this run stand, in order.
    ///
    /// # Errors
    /// `Verification` when the nights do not agree.
    pub fn extents(&self, run: &str, state: &LogState) -> Result<Vec<Extent>> {
        let wrong = || {
            let message = format!("the nights of the store do not say where the bytes of {} are", state.path);
            Error::verification(self.root.to_string(), message)
        };
        // From the last night back to that which read the log from its beginning.
        let (mut found, mut run, mut state, mut left) = (Vec::new(), run, state, state.stream_bytes());
        let mut night = self.nights.len();
        let mut cut: Option<&str> = None;
        loop {
            let kept = state.keeps.as_ref();
            let mut first = kept.map_or(0, |kept| kept.bytes);
            let mut own = Vec::with_capacity(state.parts.len());
            for held in &state.parts {
                let bytes = held.bytes.min(left.saturating_sub(first));
                if bytes > 0 {
                    let (part, input, is_less) = (held.part, held.input, bytes < held.bytes);
                    let blake3 = if is_less { cut.ok_or_else(wrong)? } else { &*held.blake3 }.to_owned();
                    own.push(Extent {
                        run: run.to_owned(),
                        part,
                        input,
                        bytes,
                        blake3,
                        is_cut: is_less || held.is_cut,
                    });
                }
                first += held.bytes;
            }
            if first < left {
                return Err(wrong());
            }
            found.extend(own.into_iter().rev());
            let Some(kept) = kept else { break };
            // What was kept of this state may be less than it keeps itself.
            if kept.bytes <= left {
                (left, cut) = (kept.bytes, kept.cut_blake3.as_deref());
            }
            let (earlier, number) =
                self.state_in(&state.path, &kept.run).filter(|&(_, at)| at < night).ok_or_else(wrong)?;
            (run, state, night) = (&kept.run, earlier, number);
        }
        found.reverse();
        Ok(found)
    }

    /// The last run when no night has it: a job was stopped in it, or before it could be entered.
    pub fn begun(&self) -> Result<Option<Begun>> {
        let Some((_, name)) = self.run_names()?.into_iter().max() else { return Ok(None) };
        if self.nights.iter().any(|night| night.run == name) {
            return Ok(None);
        }
        let path = self.run_path(&name);
        let is_complete = path.join(MANIFEST).exists()?;
        Ok(plan_at(&path)?.map(|plan| Begun { name, plan, is_complete }))
    }

    /// A name for the next run: its number, and `suffix` behind it. A directory of that name in which nothing was begun is used
    /// again.
    pub fn next_run(&self, suffix: Option<&str>) -> Result<String> {
        let named = |number: u64| match suffix {
            Some(suffix) => format!("{number:05}-{suffix}"),
            None => format!("{number:05}"),
        };
        Ok(match self.run_names()?.into_iter().max() {
            Some((number, name)) if name == named(number) && !is_begun(&self.run_path(&name))? => name,
            Some((number, _)) => named(number + 1),
            None => named(1),
        })
    }

    fn run_names(&self) -> Result<Vec<(u64, String)>> {
        let mut runs: Vec<(u64, String)> = Vec::new();
        for name in self.root.join(RUNS).folders()? {
            if let Some(number) = number_of(&name) {
                runs.push((number, name));
            }
        }
        Ok(runs)
    }
}

/// The number with which the name of a run begins.
fn number_of(name: &str) -> Option<u64> {
    name.split('-').next()?.parse().ok()
}

/// The document of the night with this run.
fn document_of(run: &str) -> String {
    format!("{NIGHTS}/{:05}.json.zst", number_of(run).unwrap_or_default())
}

/// Reads the document of a night; no name in it may lead out of the store.
fn read_night(bytes: &[u8], place: &str) -> Result<Night> {
    let night: Night = open_sealed(bytes, place)?;
    if night.store_version > STORE_VERSION {
        return Err(Error::usage(place, "the store was written by a newer version of condenser; take that one"));
    }
    let kept = night.logs.iter().filter_map(|log| log.keeps.as_ref()).map(|kept| &kept.run);
    for run in [&night.run].into_iter().chain(kept).chain(&night.replaces) {
        // A run is a folder beside the others.
        check_below(if run.contains('/') { "" } else { run }, place)?;
    }
    Ok(night)
}

/// The path from the root, or the address.
pub(super) fn full_name(file: &Place) -> Result<String> {
    let Some(path) = file.as_local() else { return Ok(file.to_string()) };
    let place = file.to_string();
    let found = std::path::absolute(path).map_err(|error| super::failed(&*place, "has no absolute path", error))?;
    let name = found.into_os_string().into_string();
    name.map_err(|_| Error::usage(place, "the name is no UTF-8, so the store cannot hold it"))
}
