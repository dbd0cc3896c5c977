//! The logs of a store as they were in a night, from the runs that hold them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::job::{Job, Part, place_names, too_many};
use super::settings::{PartOfNight, RestoreOutcome, RestoreSettings, RestoredFile};
use crate::app::App;
use crate::app::output::{Destination, local};
use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::io::{
    Beside, Extent, GrowingFiles, Run, Store, Stretches, Torn, restored_name, restored_table_name, sweep_beside,
    sync_folder,
};
use crate::pipeline::LogState;
use crate::pipeline::bridge::Bridge;

/// A log that is restored.
pub(in crate::app) struct StoredLog<'s> {
    state: &'s LogState,
    run: &'s str,
    extents: Vec<Extent>,
    /// The run, when the log is a table.
    table: Option<Run>,
}

impl<'s> StoredLog<'s> {
    /// A state of the night with this run.
    pub(in crate::app) fn of(store: &Store, run: &'s str, state: &'s LogState) -> Result<Self> {
        let table = state.is_table.then(|| store.open_run(run)).transpose()?;
        let extents = if state.is_table { Vec::new() } else { store.extents(run, state)? };
        Ok(Self { state, run, extents, table })
    }

    /// Where its bytes stand, unless it is a table.
    pub(in crate::app) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// The run, when it is a table.
    pub(in crate::app) fn table(&self) -> Option<&Run> {
        self.table.as_ref()
    }

    pub(in crate::app) fn is_table(&self) -> bool {
        self.table.is_some()
    }

    /// The name of its file.
    pub(in crate::app) fn name(&self) -> PathBuf {
        let source = &self.state.source;
        let container = self.table.as_ref().and_then(|run| {
            let part = self.state.parts.first()?.part;
            let commit = run.commits.iter().find(|commit| commit.part == part)?;
            Some(commit.table.as_ref()?.container)
        });
        container.map_or_else(|| restored_name(source), |container| restored_table_name(source, container))
    }
}

/// Restores the logs of `store` as they were in `night`, or as they are.
pub(super) fn all(
    app: &App,
    store: &Store,
    night: Option<&str>,
    settings: &RestoreSettings<'_>,
    bridge: &Bridge,
) -> Result<RestoreOutcome> {
    let mut logs = Vec::new();
    let found = store.as_of(night)?;
    for (run, state) in found.states.into_values() {
        logs.push(StoredLog::of(store, run, state)?);
    }
    // Of a log that grew the end stands in the last of its runs.
    let is_torn = |log: &StoredLog<'_>, torn: &BTreeSet<Torn>| {
        let of_log = |torn: &Torn| torn.source == log.state.source && torn.run == log.run;
        torn.iter().any(|torn| of_log(torn) && log.state.parts.iter().any(|held| held.part == torn.part))
    };
    let n_logs = logs.len();
    let part_of = found.part_of.map(|night| PartOfNight { night: night.to_owned(), n_logs });
    let Some(folder) = settings.output.as_deref().filter(|output| *output != "-") else {
        let [log] = &*logs else { return Err(too_many(logs.len())) };
        let mut files = Vec::new();
        let mut output = Destination::stream(settings.stdout);
        if let Some(run) = &log.table {
            let job = job(run, log)?;
            let damage = job.restore(app, bridge, &mut |_, bytes| output.write(bytes))?;
            files.push(job.restored(0, PathBuf::new(), &damage));
        } else {
            let mut stretches = Stretches::default();
            stretches.add(store, &log.extents, 0)?;
            let check = || app.stop.check();
            let give = &mut |_, bytes: &[u8]| output.write(bytes);
            let torn = store.read(&stretches, bridge, &check, give, &mut |_, error| Err(error))?;
            if is_torn(log, &torn) {
                files.push(RestoredFile { source: log.state.source.clone(), is_torn: true, ..RestoredFile::default() });
            }
        }
        output.finish()?;
        return Ok(RestoreOutcome { files, part_of, ..RestoreOutcome::default() });
    };
    let folder = local(Path::new(folder))?;
    let sources: Vec<(PathBuf, usize)> = logs.iter().enumerate().map(|(at, log)| (log.name(), at)).collect();
    let names = place_names(&sources, &folder)?;
    let one_of_each: BTreeMap<_, _> = names.iter().map(|name| (name.parent(), name)).collect();
    let folders: Vec<PathBuf> = one_of_each.keys().flatten().map(|parent| folder.join(parent)).collect();
    for name in one_of_each.into_values() {
        sweep_beside(&folder.join(name));
    }
    let mut files = GrowingFiles::new(names.iter().map(|name| folder.join(name)).collect());
    let (mut restored, mut stretches): (Vec<RestoredFile>, _) = (Vec::with_capacity(logs.len()), Stretches::default());
    for (at, (log, name)) in logs.iter().zip(&names).enumerate() {
        if let Some(run) = &log.table {
            job(run, log)?.write_files(app, &folder, vec![name.clone()], bridge, &mut restored)?;
            continue;
        }
        let is_there = is_there(&folder.join(name), &log.extents)?;
        if !is_there {
            files.begin(at)?;
            stretches.add(store, &log.extents, at)?;
        }
        let is_renamed = log.name().file_name() != name.file_name();
        let source = log.state.source.clone();
        let file = name.clone();
        restored.push(RestoredFile { source, file, was_there: is_there, is_renamed, ..RestoredFile::default() });
    }
    let check = || app.stop.check();
    let give = &mut |at, bytes: &[u8]| files.write(at, bytes);
    let torn = store.read(&stretches, bridge, &check, give, &mut |_, error| Err(error))?;
    files.finish()?;
    for (log, restored) in logs.iter().zip(&mut restored).filter(|(_, restored)| !restored.was_there) {
        restored.is_torn |= is_torn(log, &torn);
    }
    folders.iter().try_for_each(|folder| sync_folder(folder))?;
    Ok(RestoreOutcome { files: restored, folder: Some(folder), part_of, ..RestoreOutcome::default() })
}

/// The parts of a table.
pub(in crate::app) fn job<'r>(run: &'r Run, log: &StoredLog<'_>) -> Result<Job<'r>> {
    let lacking = || Error::verification(run.place().to_string(), format!("the run {} lacks a part", log.run));
    let parts = log.state.parts.iter().map(|held| {
        let commit = run.commits.iter().find(|commit| commit.part == held.part).ok_or_else(lacking)?;
        Ok(Part { run, commit, rounds: Vec::new() })
    });
    Ok(Job { parts: parts.collect::<Result<_>>()? })
}

/// True for a file that is the log already.
fn is_there(path: &Path, extents: &[Extent]) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let cannot = |error| Error::io(path.to_string_lossy(), "cannot be read").because(error);
    Ok(Beside::of_plain(&Place::from(path).open()?, extents).map_err(cannot)? == Beside::Same)
}
