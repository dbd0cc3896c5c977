//! A compaction store: runs one after the other, and the ledger that says which version of which file stands in which
//! run. The ledger is written only after a run is complete. Knows files and runs, not what a job does.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::run_documents::{MANIFEST, is_begun, plan_at, read_plan};
use super::run_names::check_below;
use super::store::{Location, Lock, Place, Sighting, Stores};
use super::{Input, LEDGER, Run, failed, hash_of};
use crate::durable::sweep_unfinished;
use crate::error::{Error, Result};
use crate::pipeline::{PlannedInput, PlannedPart, RunPlan, Slice, SourceDigest};

const RUNS: &str = "runs";
const LOCK: &str = "locks/store.json";

/// A version of a file that stands in a run; a line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LedgerEntry {
    /// The file, from the root, or its address.
    pub path: String,
    /// The name under which the run knows it.
    pub source: String,
    /// Bytes as stored.
    pub size: u64,
    /// BLAKE3 of the bytes as stored, in hex.
    pub blake3: String,
    /// What tells that the file was changed: the time of its last change, or the entity tag of a store.
    pub mark: Option<String>,
    /// Name of the run in `runs/`.
    pub run: String,
    /// The parts of the run that hold it.
    pub parts: Vec<usize>,
    /// The run with the version before, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
}

/// A store.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    entries: Vec<LedgerEntry>,
    /// Held as long as the store is open for writing.
    _lock: Option<Lock>,
}

/// What there is to do with files.
#[derive(Debug, Default)]
pub struct Selection {
    /// Files that the ledger does not know in this version.
    pub take: Vec<Input>,
    /// Of these, files that it knows in another version.
    pub n_changed: usize,
    /// Files that it knows as they are.
    pub n_unchanged: usize,
    /// Files that cannot be opened, and why.
    pub unreadable: Vec<Error>,
}

/// A run that the ledger does not know yet.
#[derive(Debug)]
pub struct Begun {
    /// Its name.
    pub name: String,
    /// What it was going to do.
    pub plan: RunPlan,
    /// Whether it has its manifest.
    pub is_complete: bool,
}

/// The runs of the store at `root`, in the order in which they came; `None` when there is no store.
pub fn runs_of_store(root: &Place) -> Result<Option<Vec<Place>>> {
    let ledger = root.join(LEDGER);
    let Some(bytes) = ledger.read_all()? else { return Ok(None) };
    let mut runs: Vec<String> = Vec::new();
    for entry in entries_of(&String::from_utf8_lossy(&bytes), &ledger.to_string())? {
        if !runs.contains(&entry.run) {
            runs.push(entry.run);
        }
    }
    Ok(Some(runs.iter().map(|run| root.join(RUNS).join(run)).collect()))
}

/// The lines of a ledger; a torn last one is passed over.
fn entries_of(text: &str, place: &str) -> Result<Vec<LedgerEntry>> {
    let mut entries = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        match serde_json::from_str::<LedgerEntry>(line) {
            Ok(entry) => {
                check_below(&entry.run, &format!("{place}: line {}", at + 1))?;
                entries.push(entry);
            }
            Err(_) if !line.ends_with('\n') => {}
            Err(error) => {
                let place = format!("{place}: line {}", at + 1);
                return Err(Error::verification(place, "this is no line of a ledger").because(error));
            }
        }
    }
    Ok(entries)
}

impl Store {
    /// Opens the store at `root` to read it; a directory that is not there is an empty store.
    ///
    /// # Errors
    /// `Verification` when a line of the ledger cannot be read; a torn last line is passed over.
    pub fn look(root: &Path) -> Result<Self> {
        let path = root.join(LEDGER);
        let place = path.to_string_lossy().into_owned();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(&*place, "cannot be read", error)),
        };
        let entries = entries_of(&text, &place)?;
        Ok(Self { root: root.to_owned(), entries, _lock: None })
    }

    /// Opens the store at `root` for one writer; makes it when it is not there.
    ///
    /// # Errors
    /// As [`Self::look`]; `Usage` when another process has it.
    pub fn open(root: &Path) -> Result<Self> {
        let place = root.to_string_lossy().into_owned();
        let cannot = |error| failed(place.clone(), "the store cannot be opened", error);
        if is_begun(&root.into())? || root.join(MANIFEST).exists() {
            return Err(Error::usage(place, "this is a run, but compaction writes a store of runs"));
        }
        std::fs::create_dir_all(root.join(RUNS)).map_err(cannot)?;
        match Place::from(root).join(LOCK).try_lock(&mut Sighting::default())? {
            Ok(lock) => {
                // A ledger that a killed call was writing.
                sweep_unfinished(root);
                Ok(Self { _lock: Some(lock), ..Self::look(root)? })
            }
            Err(owner) => {
                let who = owner.map_or_else(|| "another process".to_owned(), |owner| owner.to_string());
                Err(Error::usage(place, format!("{who} is working on this store")))
            }
        }
    }

    /// The directory of a run.
    pub fn run_path(&self, name: &str) -> PathBuf {
        self.root.join(RUNS).join(name)
    }

    /// The latest version of every file, by path.
    pub fn latest(&self) -> BTreeMap<&str, &LedgerEntry> {
        self.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect()
    }

    /// Which of `inputs` are new or have changed. A file of the same size and mark is taken for unchanged; one of
    /// another mark is told by its hash.
    pub fn select(&self, inputs: Vec<Input>) -> Result<Selection> {
        let latest = self.latest();
        let mut selection = Selection::default();
        let mut seen = std::collections::BTreeSet::new();
        for input in inputs {
            let Some(file) = &input.file else {
                return Err(Error::usage(input.name, "compaction takes files: it comes back to them"));
            };
            let name = full_name(file)?;
            if !seen.insert(name.clone()) {
                continue;
            }
            match version(file, latest.get(name.as_str()).copied()) {
                Err(error) => selection.unreadable.push(error),
                Ok(None) => {}
                Ok(Some(Version::Same)) => selection.n_unchanged += 1,
                Ok(Some(known)) => {
                    selection.n_changed += usize::from(known == Version::Changed);
                    selection.take.push(input);
                }
            }
        }
        Ok(selection)
    }

    /// The last run when the ledger does not know it: a job was stopped in it, or before it could be entered.
    pub fn begun(&self) -> Result<Option<Begun>> {
        let Some((_, name)) = self.runs()?.into_iter().max() else { return Ok(None) };
        let path = self.run_path(&name);
        if self.entries.iter().any(|entry| entry.run == name) {
            return Ok(None);
        }
        let is_complete = path.join(MANIFEST).exists();
        Ok(plan_at(&Place::from(&path))?.map(|plan| Begun { name, plan, is_complete }))
    }

    /// A name for the next run: its number, and `suffix` behind it. A directory in which nothing was begun is used
    /// again.
    pub fn next_run(&self, suffix: Option<&str>) -> Result<String> {
        let last = self.runs()?.into_iter().max();
        let number = match last {
            Some((_, name)) if !is_begun(&self.run_path(&name).into())? => return Ok(name),
            Some((number, _)) => number + 1,
            None => 1,
        };
        Ok(suffix.map_or_else(|| format!("{number:05}"), |suffix| format!("{number:05}-{suffix}")))
    }

    fn runs(&self) -> Result<Vec<(u64, String)>> {
        let folder = self.root.join(RUNS);
        let cannot = |error| failed(folder.to_string_lossy(), "the store cannot be listed", error);
        let mut runs = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(cannot)? {
            let name = entry.map_err(cannot)?.file_name().to_string_lossy().into_owned();
            if let Some(number) = name.split('-').next().and_then(|number| number.parse().ok()) {
                runs.push((number, name));
            }
        }
        Ok(runs)
    }

    /// Enters the files of the complete run `name` and writes the ledger anew, whole or not at all. Files that were
    /// written again since the run read them, or that it does not hold, are left out: they are named, and the next run takes them.
    pub async fn enter(&mut self, name: &str, stores: &Stores) -> Result<Vec<String>> {
        let path = self.run_path(name);
        let (run, plan) = (Run::open(&path)?, read_plan(&Place::from(&path))?);
        let mut left_out = run.manifest.missing.clone();
        let missing: HashSet<&str> = run.manifest.missing.iter().map(String::as_str).collect();
        // The parts of each input, and what was read of one that is whole in a part.
        let mut held: Vec<(Vec<usize>, Option<&SourceDigest>)> = vec![(Vec::new(), None); plan.inputs.len()];
        for (part, planned) in plan.parts.iter().enumerate() {
            held.get_mut(planned.inputs()).into_iter().flatten().for_each(|(parts, _)| parts.push(part));
        }
        for commit in run.commits.iter().filter(|commit| commit.split == Slice::Whole) {
            let inputs = held.get_mut(plan.parts.get(commit.part).map_or(0..0, PlannedPart::inputs));
            let inputs = inputs.into_iter().flatten().zip(commit.read_of(plan.inputs_of(commit.part)));
            inputs.for_each(|((_, whole), read)| *whole = read.map(|read| read.input));
        }
        let before = self.latest().into_iter().map(|(path, entry)| (path.to_owned(), entry.run.clone()));
        let mut before: BTreeMap<String, String> = before.collect();
        for (input, (parts, whole)) in plan.inputs.iter().zip(held) {
            if missing.contains(&*input.source) {
                continue;
            }
            let file = Place::new(stores, Location::parse(&input.source)?);
            let path = full_name(&file)?;
            let digest = whole.filter(|digest| Some(digest.bytes) == input.bytes);
            let hash = match digest {
                Some(digest) => Some(digest.blake3.clone()),
                None => planned_hash(&file, input),
            };
            let (Some(size), Some(blake3)) = (input.bytes, hash) else {
                left_out.push(input.source.clone());
                continue;
            };
            let supersedes = before.insert(path.clone(), name.to_owned());
            let (source, mark) = (input.source.clone(), input.mark.clone());
            self.entries.push(LedgerEntry {
                path,
                source,
                size,
                blake3,
                mark,
                run: name.to_owned(),
                parts,
                supersedes,
            });
        }
        let mut text = Vec::new();
        for entry in &self.entries {
            super::json_rows::write_json(entry, &mut text)?;
        }
        Place::from(self.root.join(LEDGER)).write_atomic(&text).await?;
        Ok(left_out)
    }
}

#[derive(PartialEq, Eq)]
enum Version {
    New,
    Changed,
    Same,
}

/// `None` when the file is gone.
fn version(file: &Place, known: Option<&LedgerEntry>) -> Result<Option<Version>> {
    let Some(blob) = file.find()? else { return Ok(None) };
    let Some(known) = known else { return Ok(Some(Version::New)) };
    if blob.bytes() != Some(known.size) {
        return Ok(Some(Version::Changed));
    }
    let hash = || hash_of(blob.stream()).map_err(|error| failed(file.to_string(), "cannot be read", error));
    let same = known.mark.as_deref() == Some(blob.mark()) || hash()? == known.blake3;
    Ok(Some(if same { Version::Same } else { Version::Changed }))
}

/// The hash of a file that was read in several parts, when it is still as it was planned.
fn planned_hash(file: &Place, input: &PlannedInput) -> Option<String> {
    let blob = file.find().ok()??;
    let same = blob.bytes() == input.bytes && Some(blob.mark()) == input.mark.as_deref();
    same.then(|| hash_of(blob.stream()).ok()).flatten()
}

/// The path from the root, or the address.
fn full_name(file: &Place) -> Result<String> {
    let Some(path) = file.as_local() else { return Ok(file.to_string()) };
    let place = file.to_string();
    let found = std::path::absolute(path).map_err(|error| failed(&*place, "has no absolute path", error))?;
    let name = found.into_os_string().into_string();
    name.map_err(|_| Error::usage(place, "the name is no UTF-8, so the ledger cannot hold it"))
}
