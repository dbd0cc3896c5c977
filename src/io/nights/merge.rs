//! What is left of many nights when one run takes their place: the logs that it reads, and the states of them that it still gives back.
//! Knows nights; refuses to know how the run is made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::{Extent, NIGHTS, Store, document_of, number_of};
use crate::error::{Error, Result};
use crate::io::blob_files::run_of_blobs;
use crate::io::failed;
use crate::io::run_documents::read_plan;
use crate::pipeline::{HeldPart, LogState, Night, NightFigures, OpenConversations, OpenLog, TextFile, seal_packed};

/// A log, and its states that are beginnings of it.
#[derive(Debug, Clone)]
pub struct LineOfStates {
    /// The states in order, each with the run that has it; the last one is all of the log.
    pub states: Vec<(String, LogState)>,
}

impl LineOfStates {
    /// The log as it is at last.
    pub fn last(&self) -> Option<&(String, LogState)> {
        self.states.last()
    }
}

impl Store {
    /// The logs that a run needs which takes the place of all nights; with `every_state` it gives back what each of them left, else of a log the
    /// last state, and each that is no beginning of a later one: nothing that a night took in is given up.
    pub fn lines_of_states(&self, every_state: bool) -> Vec<LineOfStates> {
        let mut by_path: BTreeMap<&str, Vec<LineOfStates>> = BTreeMap::new();
        for night in &self.nights {
            for state in &night.logs {
                let lines = by_path.entry(&state.path).or_default();
                let name = |(run, state): &(String, LogState)| state.night.clone().unwrap_or_else(|| run.clone());
                let before = lines.last().and_then(LineOfStates::last).map(name);
                let goes_on = state.extends.is_some() && state.extends == before;
                let new = (night.run.clone(), state.clone());
                match lines.last_mut() {
                    Some(line) if every_state && goes_on => line.states.push(new),
                    Some(line) if goes_on => line.states = vec![new],
                    _ => lines.push(LineOfStates { states: vec![new] }),
                }
            }
        }
        by_path.into_values().flatten().collect()
    }

    /// Writes down that the complete run `name` takes the place of all nights: it has read these `lines`, each from one of `files`.
    ///
    /// # Errors
    /// `Verification` when the run does not hold them, or a state is no beginning of its log.
    pub async fn enter_merged(
        &mut self,
        name: &str,
        (lines, files): (&[LineOfStates], &[&Path]),
        blobs: Vec<TextFile>,
        every_state: bool,
        figures: NightFigures,
    ) -> Result<()> {
        let (mut night, open) = tokio::task::block_in_place(|| self.merged(name, lines, files, every_state))?;
        let bytes_stored = figures.bytes_stored + blobs.iter().map(|file| file.bytes).sum::<u64>();
        night.blobs = blobs;
        let paths: BTreeSet<&str> = night.logs.iter().map(|log| log.path.as_str()).collect();
        let own = NightFigures { is_merge: true, logs: paths.len() as u64, bytes_stored, ..figures };
        night.figures = self.figures().filter(|night| !night.is_merge).cloned().chain([own]).collect();
        self.publish(name, &mut night, open).await?;
        // The nights that it takes the place of are none any more.
        *self = Self { lock: self.lock.take(), ..tokio::task::block_in_place(|| Self::look(&self.root))? };
        Ok(())
    }

    fn merged(
        &self,
        name: &str,
        lines: &[LineOfStates],
        files: &[&Path],
        every_state: bool,
    ) -> Result<(Night, Vec<OpenLog>)> {
        let (run, plan) = (self.open_run(name)?, read_plan(&self.run_path(name))?);
        let wrong = |message: &str| Error::verification(run.place().to_string(), message);
        let (mut night, left_out) =
            Night::of_run(name, &plan, &run.commits, &run.manifest.missing, &|source| Ok(source.to_owned()))?;
        if !left_out.is_empty() || night.logs.len() != lines.len() {
            return Err(wrong("the run does not hold all logs of the store"));
        }
        let read = std::mem::take(&mut night.logs);
        for ((line, held), file) in lines.iter().zip(read).zip(files) {
            let total = held.stream_bytes();
            for (at, (run_before, state)) in line.states.iter().enumerate() {
                let n_bytes = state.stream_bytes();
                let parts = if at + 1 == line.states.len() || state.is_table {
                    held.parts.clone()
                } else {
                    let extents = self.extents(run_before, state)?;
                    beginning(file, n_bytes, &held.parts, &extents)
                        .map_err(|error| failed(state.path.clone(), "cannot be read again", error))?
                };
                let n_held: u64 = parts.iter().map(|part| part.bytes).sum();
                if !state.is_table && (n_held != n_bytes || n_bytes > total) {
                    return Err(wrong(&format!("a state of {} is not what the run holds", state.path)));
                }
                let name_of = |(run, state): &(String, LogState)| state.night.clone().unwrap_or_else(|| run.clone());
                let extends = at.checked_sub(1).and_then(|before| line.states.get(before)).map(name_of);
                let (keeps, night_of) = (None, Some(name_of(&line.states[at])));
                night.logs.push(LogState { parts, keeps, extends, night: night_of, ..state.clone() });
            }
        }
        // A later state stands behind those before it, whichever line they are of.
        let number = |log: &LogState| log.night.as_deref().and_then(number_of).unwrap_or_default();
        night.logs.sort_by(|a, b| (&a.path, number(a)).cmp(&(&b.path, number(b))));
        let paths: BTreeMap<&str, &str> =
            night.logs.iter().map(|log| (log.source.as_str(), log.path.as_str())).collect();
        let path_of = |source: &str| {
            let path = paths.get(source).copied();
            path.map(str::to_owned).ok_or_else(|| wrong("the run has read another log than those of the store"))
        };
        let open = self.open_in(&run, &plan, &path_of)?;
        let names = self.nights.iter().flat_map(Night::names).map(str::to_owned);
        let last = self.nights.iter().flat_map(Night::names).last();
        // Of the others not all states are kept.
        night.nights = names.filter(|name| every_state || last == Some(name)).collect();
        night.replaces = self.nights.iter().map(|night| night.run.clone()).chain(self.replaced.clone()).collect();
        Ok((night, open))
    }

    /// Writes down a night, once, and before it the conversations that are not at rest.
    pub(super) async fn publish(&self, name: &str, night: &mut Night, open: Vec<OpenLog>) -> Result<()> {
        if let Some(lock) = &self.lock {
            lock.check()?;
        }
        let document = self.root.join(&document_of(name));
        if !open.is_empty() {
            let open = OpenConversations { run: name.to_owned(), logs: open };
            let bytes = seal_packed(&open)?;
            self.open_document(name).write_atomic(&bytes).await?;
            night.open_blake3 = Some(blake3::hash(&bytes).to_hex().to_string());
        }
        if document.put_if_absent(&seal_packed(night)?).await? {
            return Ok(());
        }
        let message = "another process has written this night; run the same command again";
        Err(Error::io(document.to_string(), message))
    }

    /// The runs of nights of which another run has taken the place, as far as anything of them is there.
    pub fn replaced(&self) -> Result<Vec<String>> {
        let there = self.root.join(super::RUNS).folders()?;
        let documents = self.root.join(NIGHTS).names()?;
        let is_there = |name: &&String| {
            let number = number_of(name).unwrap_or_default();
            there.contains(name) || documents.contains_key(&format!("{number:05}.json.zst"))
        };
        Ok(self.replaced.iter().filter(is_there).cloned().collect())
    }

    /// Deletes the run of a night of which another run has taken the place, and its document. Called after the proof that it has.
    ///
    /// # Errors
    /// `Verification` when a night of the store still needs the run.
    pub async fn delete_replaced(&self, name: &str) -> Result<()> {
        let needed = |message: &str| Err(Error::verification(self.run_path(name).to_string(), message));
        if !self.replaced.iter().any(|replaced| replaced == name) || self.nights.iter().any(|night| night.run == name) {
            return needed("no other run has taken the place of this one; it stays");
        }
        self.delete_run(name).await?;
        self.open_document(name).delete().await?;
        self.root.join(&document_of(name)).delete().await
    }

    /// Deletes the directory of a run, and its blobs.
    pub(super) async fn delete_run(&self, name: &str) -> Result<()> {
        if let Some(lock) = &self.lock {
            lock.check()?;
        }
        self.delete_blobs(name).await?;
        let run = self.run_path(name);
        // Its manifest last of the run: a run without one is told from a whole one.
        let names = tokio::task::block_in_place(|| run.names())?;
        let (last, first): (Vec<String>, Vec<String>) = names.into_keys().partition(|name| name == super::MANIFEST);
        for file in first.into_iter().chain(last) {
            run.join(&file).delete().await?;
        }
        let Some(path) = run.as_local() else { return Ok(()) };
        std::fs::remove_dir_all(path).or_else(|error| {
            let is_gone = error.kind() == io::ErrorKind::NotFound;
            if is_gone { Ok(()) } else { Err(failed(run.to_string(), "cannot be deleted", error)) }
        })
    }

    /// Refuses to take a run for replaced, or for one of `abandoned`, that a night still goes on from.
    ///
    /// # Errors
    /// `Verification` when one does.
    pub fn check_unneeded(&self, abandoned: &[String]) -> Result<()> {
        for night in &self.nights {
            let run = self.open_run(&night.run)?;
            let rests_on = run.commits.iter().flat_map(|commit| &commit.rests_on);
            let number = |name: &str| run_of_blobs(name).or_else(|| number_of(name));
            let mut deleted = self.replaced.iter().chain(abandoned).filter_map(|name| number_of(name));
            let is_deleted = |name: &&String| deleted.any(|deleted| number(name) == Some(deleted));
            if let Some(name) = rests_on.into_iter().find(is_deleted) {
                let message = format!("conversations of this run go on from {name}, which is to be deleted");
                return Err(Error::verification(run.place().to_string(), message));
            }
        }
        Ok(())
    }
}

/// The first `n_bytes` of the log in `file` by the parts that hold it; they are the bytes of `extents`.
fn beginning(file: &Path, n_bytes: u64, held: &[HeldPart], extents: &[Extent]) -> io::Result<Vec<HeldPart>> {
    let mut stream = File::open(file)?.take(n_bytes);
    for extent in extents {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(stream.by_ref().take(extent.bytes))?;
        if hasher.count() != extent.bytes || *hasher.finalize().to_hex() != *extent.blake3 {
            return Err(io::Error::other("a state is no beginning of the log"));
        }
    }
    let (mut found, mut first) = (Vec::new(), 0);
    for part in held {
        let bytes = part.bytes.min(n_bytes.saturating_sub(first));
        if bytes == part.bytes {
            found.push(part.clone());
        } else if bytes > 0 {
            let mut file = File::open(file)?;
            file.seek(SeekFrom::Start(first))?;
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(file.take(bytes))?;
            let blake3 = hasher.finalize().to_hex().to_string();
            found.push(HeldPart { bytes, blake3, is_cut: true, ..part.clone() });
        }
        first += part.bytes;
    }
    Ok(found)
}
