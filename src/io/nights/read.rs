//! The bytes of logs out of a store: part after part, each restored once and held against what its commit promises, whatever the logs
//! and nights that want something of it. Refuses to know what becomes of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Extent, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Run, of_night};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Commit, Night, ReadInput, verify_inputs};

/// The bytes that somebody wants of an input of a part: the first so many.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    input: usize,
    bytes: u64,
    blake3: String,
    /// For whom.
    target: usize,
}

/// Stretches of logs, by the parts that hold them.
#[derive(Debug, Default)]
pub struct Stretches {
    /// By the place of the run among the nights.
    parts: BTreeMap<(usize, usize), Vec<Wanted>>,
}

/// A source that was damaged or cut off when it was read, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Torn {
    /// The name of the run.
    pub run: String,
    /// The part.
    pub part: usize,
    /// The source, as the run names it.
    pub source: String,
}

impl Stretches {
    /// Adds those of a log, for `target`; they stand in `store`.
    ///
    /// # Errors
    /// `Verification` when no night of the store made a run that they name.
    pub fn add(&mut self, store: &Store, extents: &[Extent], target: usize) -> Result<()> {
        for extent in extents {
            let night = store.nights.iter().position(|night| night.run == extent.run);
            let lacking = || Error::verification(store.root.to_string(), format!("no night made run {}", extent.run));
            let wanted = Wanted { input: extent.input, bytes: extent.bytes, blake3: extent.blake3.clone(), target };
            self.parts.entry((night.ok_or_else(lacking)?, extent.part)).or_default().push(wanted);
        }
        Ok(())
    }
}

impl Store {
    /// Opens the run of a night, without the sketches of its commits.
    ///
    /// # Errors
    /// As [`Run::open`], but `Verification` when its manifest is missing.
    pub fn open_run(&self, name: &str) -> Result<Run> {
        let place = self.run_path(name);
        let run = Run::open_seeing(place.clone(), &mut |commit| {
            commit.sketch = None;
            Ok(())
        });
        let mut run = run.map_err(|error| of_night(&place, error))?;
        run.gathered = self.gathered.clone();
        Ok(run)
    }

    /// Gives the bytes of these stretches to `give`, each with its target, those of a target in order. `check` is asked on the way and
    /// ends the work with its error. Of a part that does not restore to what was read, or not to what a night says, `failed` hears with
    /// all who want something of it; its error ends the work. Says which sources of the parts are torn.
    pub fn read(
        &self,
        stretches: &Stretches,
        bridge: &Bridge,
        check: &dyn Fn() -> Result<()>,
        give: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
        failed: &mut dyn FnMut(&[usize], Error) -> Result<()>,
    ) -> Result<BTreeSet<Torn>> {
        let mut all_torn = BTreeSet::new();
        let mut open: Option<(usize, Result<Run>)> = None;
        for (&(night, part), wanted) in &stretches.parts {
            let run = match &mut open {
                Some((is, run)) if *is == night => run,
                open => &mut open.insert((night, self.open_run(&self.nights[night].run))).1,
            };
            let read = match run {
                Ok(run) => self.read_part(run, part, wanted, bridge, check, give),
                Err(error) => Err(Error::new(error.kind, &*error.place, &*error.message)),
            };
            match read {
                Ok(torn) => {
                    let run = &self.nights[night].run;
                    all_torn.extend(torn.into_iter().map(|source| Torn { run: run.clone(), part, source }));
                }
                Err(error) if error.kind == ErrorKind::Interrupted => return Err(error),
                Err(error) => failed(&wanted.iter().map(|wanted| wanted.target).collect::<Vec<_>>(), error)?,
            }
        }
        Ok(all_torn)
    }

    /// The same of one part; gives the sources that are torn.
    fn read_part(
        &self,
        run: &Run,
        part: usize,
        wanted: &[Wanted],
        bridge: &Bridge,
        check: &dyn Fn() -> Result<()>,
        give: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<BTreeSet<String>> {
        let commit = commit_of(run, part)?;
        run.check_files(commit)?;
        let mut open: Vec<(&Wanted, blake3::Hasher)> =
            wanted.iter().map(|wanted| (wanted, blake3::Hasher::new())).collect();
        open.sort_by_key(|(wanted, _)| wanted.input);
        let mut restorer = run.restorer(commit, bridge, true)?;
        let done = verify_inputs(&mut restorer, commit, None, &mut |input, restored| {
            check()?;
            let first = open.partition_point(|(wanted, _)| wanted.input < input);
            for (wanted, hasher) in open.iter_mut().skip(first).take_while(|(wanted, _)| wanted.input == input) {
                let left = usize::try_from(wanted.bytes - hasher.count()).unwrap_or(usize::MAX);
                let bytes = restored.bytes();
                let bytes = &bytes[..bytes.len().min(left)];
                if !bytes.is_empty() {
                    hasher.update(bytes);
                    give(wanted.target, bytes)?;
                }
            }
            Ok(())
        })?;
        for (wanted, hasher) in open {
            if hasher.count() != wanted.bytes || *hasher.finalize().to_hex() != *wanted.blake3 {
                let source = commit.input_at(wanted.input).source;
                let message = format!("the run {} restores {source} to other bytes than its night says", run.place());
                return Err(Error::verification(self.root.to_string(), message));
            }
        }
        Ok(done.torn)
    }

    /// Holds what a night says against the commits of its run, and its blobs.
    pub fn check_night(&self, run: &Run, night: &Night) -> Result<()> {
        self.check_blobs(&night.run, &night.blobs)?;
        let commits: HashMap<usize, &Commit> = run.commits.iter().map(|commit| (commit.part, commit)).collect();
        for log in &night.logs {
            for held in &log.parts {
                let read = commits.get(&held.part).filter(|commit| held.input < commit.inputs().len());
                let read = read.map(|commit| commit.input_at(held.input));
                // What is cut is held against what the part gives back.
                let has = |read: ReadInput<'_>| {
                    if held.is_cut {
                        held.bytes < read.input.stream_bytes
                    } else {
                        (read.input.stream_bytes, &read.input.stream_blake3) == (held.bytes, &held.blake3)
                    }
                };
                let is_so = read.is_some_and(|read| read.source == log.source && has(read));
                if !is_so {
                    let message = format!("the run does not hold {} where its night says", log.path);
                    return Err(Error::verification(run.place().to_string(), message));
                }
            }
        }
        Ok(())
    }
}

/// The commit of a part.
pub(super) fn commit_of(run: &Run, part: usize) -> Result<&Commit> {
    let lacking = || Error::verification(run.place().to_string(), format!("the run has no part {part}"));
    run.commits.iter().find(|commit| commit.part == part).ok_or_else(lacking)
}
