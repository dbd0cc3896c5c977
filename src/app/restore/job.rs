//! What is restored at once out of a run: its files with their names. Knows runs; refuses to know what else originals come from.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::settings::RestoredFile;
use crate::app::App;
use crate::error::{Error, Result};
use crate::io::{
    BlockingFile, Run, TableEncoder, Through, folds_case, restored_name, restored_names, restored_table_name,
};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Commit, RestoredSlice, Restorer, TableInput, verify_inputs};

pub(super) fn too_many(n_sources: usize) -> Error {
    Error::usage("", format!("the run has {n_sources} sources; name a directory for them with --output DIR"))
}

/// What is restored at once: one source with its parts in order, or the sources that share a part.
pub(in crate::app) struct Job<'r> {
    pub(super) parts: Vec<Part<'r>>,
}

impl<'r> Job<'r> {
    /// The jobs that give the sources of the first round. Parts of one source follow each other.
    pub(super) fn plan(run: &'r Run, runs: &'r [Run]) -> Result<Vec<Self>> {
        let mut jobs: Vec<Self> = Vec::new();
        for commit in &run.commits {
            let part = Part::plan(run, commit, runs)?;
            match jobs.last_mut().filter(|_| !part.source().split.is_first()) {
                Some(job) => job.parts.push(part),
                None => jobs.push(Self { parts: vec![part] }),
            }
        }
        Ok(jobs)
    }

    fn first(&self) -> Option<&'r Commit> {
        self.parts.first().map(Part::source)
    }

    pub(super) fn n_sources(&self) -> usize {
        self.first().map_or(0, |first| first.inputs().len())
    }

    fn source(&self, index: usize) -> &'r str {
        self.first().map_or("", |first| first.input_at(index).source)
    }

    /// How the source held conversations, when it was a table.
    fn table(&self) -> Option<&'r TableInput> {
        self.first()?.table.as_ref()
    }

    /// True when an earlier call restored the source at `index` to `path`: the file has the bytes that its commits promise,
    /// and nothing behind them. Of a table there is no telling but by restoring it.
    fn is_there(&self, index: usize, path: &Path, app: &App) -> Result<bool> {
        if self.table().is_some() || !path.is_file() {
            return Ok(false);
        }
        let failed = |error| Error::io(path.to_string_lossy(), "cannot be read").because(error);
        let mut file = io::BufReader::new(File::open(path).map_err(failed)?);
        for part in &self.parts {
            app.stop.check()?;
            let promised = part.source().input_at(index).input;
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(file.by_ref().take(promised.stream_bytes)).map_err(failed)?;
            if hasher.count() != promised.stream_bytes || *hasher.finalize().to_hex() != *promised.stream_blake3 {
                return Ok(false);
            }
        }
        Ok(file.read(&mut [0]).map_err(failed)? == 0)
    }

    fn name(&self, index: usize) -> PathBuf {
        let source = self.source(index);
        self.table().map_or_else(|| restored_name(source), |table| restored_table_name(source, table.container))
    }

    pub(super) fn restored(&self, index: usize, file: PathBuf, damage: &Damage) -> RestoredFile {
        let (source, n_lost_rows) = (self.source(index).to_owned(), damage.n_lost_rows);
        let (is_renamed, is_torn) = (self.name(index).file_name() != file.file_name(), damage.torn.contains(&source));
        RestoredFile { source, file, was_there: false, is_renamed, n_lost_rows, is_torn }
    }

    /// Writes the sources to files of these `names`, but for those that are there.
    pub(in crate::app) fn write_files(
        &self,
        app: &App,
        folder: &Path,
        names: Vec<PathBuf>,
        bridge: &Bridge,
        files: &mut Vec<RestoredFile>,
    ) -> Result<()> {
        let is_there = |(index, name): (usize, &PathBuf)| self.is_there(index, &folder.join(name), app);
        let mut there = names.iter().enumerate().map(is_there).collect::<Result<Vec<_>>>()?;
        let (are_there, mut damage) = (!there.contains(&false), Damage::default());
        let (mut n_whole, mut open) = (0, None);
        // A source is whole when the next one begins.
        let mut up_to = |index: usize, bytes: Option<&[u8]>| -> Result<()> {
            while n_whole <= index && n_whole < names.len() {
                let path = folder.join(&names[n_whole]);
                // Another restore may have been quicker.
                there[n_whole] = there[n_whole] || open.is_none() && self.is_there(n_whole, &path, app)?;
                if open.is_none() && !there[n_whole] {
                    open = Some(BlockingFile::create_new(&path)?);
                }
                if let (true, Some(bytes)) = (n_whole == index, bytes) {
                    let failed = |error| Error::io(path.to_string_lossy(), "cannot be written").because(error);
                    return open.as_mut().map_or(Ok(()), |open| open.write_all(bytes).map_err(failed));
                }
                open.take().map_or(Ok(()), BlockingFile::place)?;
                n_whole += 1;
            }
            Ok(())
        };
        if !are_there {
            damage = self.restore(app, bridge, &mut |index, bytes| up_to(index, Some(bytes)))?;
            up_to(names.len(), None)?;
        }
        for (index, (name, was_there)) in names.into_iter().zip(there).enumerate() {
            files.push(RestoredFile { was_there, ..self.restored(index, name, &damage) });
        }
        Ok(())
    }

    /// Gives the bytes of the sources in order to `write`, each with the place of its source; says what damage took from them
    /// before the run was written.
    pub(super) fn restore(
        &self,
        app: &App,
        bridge: &Bridge,
        write: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<Damage> {
        let (mut writer, mut damage) = (None, Damage::default());
        for part in &self.parts {
            let table = part.source().table.as_ref();
            if table.is_some() && !part.rounds.is_empty() {
                let message =
                    "the first round read a table; only runs over JSON lines are restored through several rounds";
                return Err(Error::usage(self.source(0), message));
            }
            part.check()?;
            if let (Some(table), None) = (table, &writer) {
                writer = Some(TableEncoder::restored(table.container, part.run.schema_of_rows(part.commit)?)?);
            }
            let mut restorer = part.restorer(bridge)?;
            let done = verify_inputs(&mut restorer, part.source(), None, &mut |index, restored| {
                app.stop.check()?;
                match (&restored.slice, &mut writer) {
                    (RestoredSlice::Rows { rows, .. }, Some(writer)) => write(index, &writer.append(rows)?),
                    _ => write(index, restored.bytes()),
                }
            })?;
            damage.n_lost_rows += part.source().input.lost_rows;
            damage.torn.extend(done.torn);
        }
        if let Some(writer) = writer {
            write(0, &writer.finish()?.0)?;
        }
        Ok(damage)
    }
}

/// What does not come back, since it could not be read.
#[derive(Debug, Default)]
pub(in crate::app) struct Damage {
    /// Rows of a table.
    n_lost_rows: u64,
    /// The sources that were damaged or cut off when they were read.
    torn: BTreeSet<String>,
}

/// A part and, over several rounds, the parts that it came through.
pub(super) struct Part<'r> {
    pub(super) run: &'r Run,
    pub(super) commit: &'r Commit,
    pub(super) rounds: Vec<Through<'r>>,
}

impl<'r> Part<'r> {
    fn plan(run: &'r Run, commit: &'r Commit, runs: &'r [Run]) -> Result<Self> {
        let mut rounds: Vec<Through<'r>> = Vec::new();
        for run in runs {
            let last = rounds.last().map_or(commit, |round| round.commit);
            if !last.packed.is_empty() {
                let message = "several inputs share this part, so that no earlier run restores it; name the \
                               conversations of a run as they are named there";
                return Err(Error::usage(last.sources(), message));
            }
            rounds.push(Through::find(run, &last.input.stream_blake3, &last.source)?);
        }
        Ok(Self { run, commit, rounds })
    }

    /// The commit of the first round: what it read is what comes out.
    fn source(&self) -> &'r Commit {
        self.rounds.last().map_or(self.commit, |round| round.commit)
    }

    fn check(&self) -> Result<()> {
        self.run.check_files(self.commit)?;
        // The conversations of earlier rounds are not read and may be gone.
        self.rounds.iter().try_for_each(Through::check)
    }

    fn restorer(&self, bridge: &Bridge) -> Result<Restorer> {
        let mut restorer = self.run.restorer(self.commit, bridge, false)?;
        for round in &self.rounds {
            restorer = round.restorer(restorer, bridge)?;
        }
        Ok(restorer)
    }
}

/// A name per source. Only where two differ in nothing but capitals does it matter what `folder` makes of them.
pub(super) fn names(jobs: &[Job<'_>], folder: &Path) -> Result<Vec<PathBuf>> {
    let part = |job: &Job<'_>| job.parts.first().map_or(0, |part| part.commit.part);
    let name = |job: &Job<'_>, index| (job.name(index), part(job) + index);
    let names = |job: &Job<'_>| (0..job.n_sources()).map(|index| name(job, index)).collect::<Vec<_>>();
    place_names(&jobs.iter().flat_map(names).collect::<Vec<_>>(), folder)
}

/// The same for these names, each with a number that tells it from others of the same name.
pub(super) fn place_names(sources: &[(PathBuf, usize)], folder: &Path) -> Result<Vec<PathBuf>> {
    let names = restored_names(sources, false);
    let folded = restored_names(sources, true);
    Ok(if names != folded && folds_case(folder)? { folded } else { names })
}
