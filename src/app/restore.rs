//! Originals from a run, from a run over several rounds, from a sidecar of the filter, or from a verbatim map of another
//! tool.

mod job;
mod maps;
mod nights;
mod settings;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use super::output::Destination;
use super::reading::{OnMerge, reading};
use super::{App, get, local, place};
use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::io::{OpenSidecar, Run, RunOrStore, open_codec, sweep_beside, sync_folder};
use crate::model::{ReadAs, Reject};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Difference, verify_part};
use crate::shape;
use job::{Job, names, too_many};
use maps::{Maps, Seen};
pub(super) use nights::{StoredLog, job};
pub use settings::{PartOfNight, RestoreOutcome, RestoreSettings, RestoredFile, Restoring};

/// Restores what `settings` say.
pub fn restore(app: &App, settings: &RestoreSettings<'_>) -> Result<RestoreOutcome> {
    let bridge = Bridge::new(settings.threads)?;
    match &settings.what {
        Restoring::Run { run, through, conversation, night } => {
            let place = place(run, &settings.stores)?;
            refuse_within(settings.output.as_deref(), &place)?;
            let which = (&**through, conversation.as_deref(), night.as_deref());
            // Files may be written already when nights are merged.
            let read = &mut || of_archive(app, RunOrStore::open(&place)?, which, settings, &bridge);
            reading(std::slice::from_ref(&place), OnMerge::End, read)
        }
        Restoring::Filter { records, sidecar } => from_sidecar(app, records.as_deref(), sidecar, settings, &bridge),
        Restoring::Verbatim { records, map, is_recursive, shape, fields } => {
            let n_missing = from_map(records, map, ReadAs::told(fields.as_ref(), *shape), *is_recursive, settings)?;
            Ok(RestoreOutcome { n_missing, ..RestoreOutcome::default() })
        }
    }
}

/// Refuses to write what is restored into the run or store at `place`.
fn refuse_within(output: Option<&str>, place: &Place) -> Result<()> {
    let (Some(output), Some(archive)) = (output.filter(|output| *output != "-"), place.as_local()) else {
        return Ok(());
    };
    let real = |path: &Path| {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // What is to be made is not there yet.
        full.ancestors().find_map(|there| there.canonicalize().ok()?.join(full.strip_prefix(there).ok()?).into())
    };
    let into = local(Path::new(output))?;
    let is_within = real(&into).zip(real(archive)).is_some_and(|(into, archive)| into.starts_with(archive));
    if is_within && archive.exists() {
        return Err(Error::usage(output, "this lies in what is restored; name a folder elsewhere"));
    }
    Ok(())
}

/// Restores a run that came through others, one conversation, or a night of a store.
fn of_archive(
    app: &App,
    archive: RunOrStore,
    (through, conversation, night): (&[PathBuf], Option<&str>, Option<&str>),
    settings: &RestoreSettings<'_>,
    bridge: &Bridge,
) -> Result<RestoreOutcome> {
    let lost = if let RunOrStore::Store(store) = &archive { store.lost()? } else { Vec::new() };
    if let Some(id) = conversation {
        return Ok(RestoreOutcome { lost, ..one(app, &archive.runs_with(id)?, id, settings, bridge)? });
    }
    let run = match archive {
        RunOrStore::Store(_) if !through.is_empty() => {
            return Err(Error::usage("--through", "this goes with runs; every night of a store plans from originals"));
        }
        RunOrStore::Store(store) => {
            return Ok(RestoreOutcome { lost, ..nights::all(app, &store, night, settings, bridge)? });
        }
        RunOrStore::Run(run) if night.is_some() => {
            return Err(Error::usage(run.place().to_string(), "this is a run; --night goes with a store"));
        }
        RunOrStore::Run(run) => run,
    };
    let open = |path: &PathBuf| Run::open(place(path, &settings.stores)?);
    all(app, &run, &through.iter().map(open).collect::<Result<Vec<_>>>()?, settings, bridge)
}

fn one(app: &App, runs: &[Run], id: &str, settings: &RestoreSettings<'_>, bridge: &Bridge) -> Result<RestoreOutcome> {
    let mut output = Destination::open(settings.output.as_deref(), settings.stdout)?;
    let mut found = false;
    for run in runs {
        found |= get::original(app, run, id, bridge, &mut output)?;
    }
    if !found {
        return Err(get::unknown(id));
    }
    output.finish()?;
    Ok(RestoreOutcome::default())
}

fn all(
    app: &App,
    run: &Run,
    rounds: &[Run],
    settings: &RestoreSettings<'_>,
    bridge: &Bridge,
) -> Result<RestoreOutcome> {
    let jobs = Job::plan(run, rounds)?;
    let Some(folder) = settings.output.as_deref().filter(|output| *output != "-") else {
        let n_sources: usize = jobs.iter().map(Job::n_sources).sum();
        let [job] = &*jobs else { return Err(too_many(n_sources)) };
        if n_sources > 1 {
            return Err(too_many(n_sources));
        }
        let mut output = Destination::stream(settings.stdout);
        let damage = job.restore(app, bridge, &mut |_, bytes| output.write(bytes))?;
        output.finish()?;
        let files = vec![job.restored(0, PathBuf::new(), &damage)];
        return Ok(RestoreOutcome { files, ..RestoreOutcome::default() });
    };
    let folder = local(Path::new(folder))?;
    let names = names(&jobs, &folder)?;
    let one_of_each: BTreeMap<_, _> = names.iter().map(|name| (name.parent(), name)).collect();
    let folders: Vec<PathBuf> = one_of_each.keys().flatten().map(|parent| folder.join(parent)).collect();
    for name in one_of_each.into_values() {
        sweep_beside(&folder.join(name));
    }
    let (mut files, mut names) = (Vec::with_capacity(names.len()), names.into_iter());
    for job in &jobs {
        job.write_files(app, &folder, names.by_ref().take(job.n_sources()).collect(), bridge, &mut files)?;
    }
    folders.iter().try_for_each(|folder| sync_folder(folder))?;
    Ok(RestoreOutcome { files, folder: Some(folder), ..RestoreOutcome::default() })
}

fn from_sidecar(
    app: &App,
    records: Option<&Path>,
    sidecar: &Path,
    settings: &RestoreSettings<'_>,
    bridge: &Bridge,
) -> Result<RestoreOutcome> {
    let sidecar = OpenSidecar::open(sidecar)?;
    let records: Box<dyn Read + Send> = match records.filter(|path| *path != Path::new("-")) {
        None => Box::new(io::stdin()),
        Some(path) => {
            let failed = |error| Error::io(path.to_string_lossy(), "cannot be opened").because(error);
            Box::new(File::open(path).map_err(failed)?)
        }
    };
    let mut output = Destination::open(settings.output.as_deref(), settings.stdout)?;
    let mut restorer = sidecar.restorer(records, bridge)?;
    let Difference { torn, .. } = verify_part(&mut restorer, &sidecar.commit, None, &mut |restored| {
        app.stop.check()?;
        output.write(restored.bytes())
    })?;
    output.finish()?;
    let file = |source| RestoredFile { source, is_torn: true, ..RestoredFile::default() };
    Ok(RestoreOutcome { files: torn.into_iter().map(file).collect(), ..RestoreOutcome::default() })
}

/// Writes the records of the file at `path` with their originals from `map`; gives the number of ids that have none.
fn from_map(
    path: &Path,
    map: &Path,
    read_as: Option<ReadAs<'_>>,
    is_recursive: bool,
    settings: &RestoreSettings<'_>,
) -> Result<usize> {
    let map_text = read_text(map)?;
    let maps = Maps::read(&map_text, &map.to_string_lossy())?;
    let text = read_text(path)?;
    Log::read(&text, &path.to_string_lossy(), read_as)?.restore(&maps, is_recursive, settings)
}

/// A file of compressed records, whole in memory: nothing is written before every original is found.
struct Log<'t> {
    lines: Vec<Line<'t>>,
}

/// A line of it, or the whole file when that is one record.
struct Line<'t> {
    place: String,
    text: &'t str,
    /// Without the blanks around it; `None` for a blank line.
    record: Option<(&'t str, ReadAs<'t>)>,
}

impl<'t> Log<'t> {
    fn read(text: &'t str, place: &str, read_as: Option<ReadAs<'t>>) -> Result<Self> {
        let whole = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let lines: Vec<&str> = if whole { vec![text] } else { text.split_inclusive('\n').collect() };
        let line = |(index, text): (usize, &'t str)| {
            let place = format!("{place}: line {}", index + 1);
            let record = text.trim();
            if record.is_empty() {
                return Ok(Line { place, text, record: None });
            }
            let read_as = read_as.or_else(|| shape::detect(record).map(ReadAs::Shape));
            let refused = || {
                let advice = shape::advice(record);
                Error::input(&*place, format!("the record holds no conversation in a known shape; {advice}"))
            };
            let read_as = read_as.ok_or_else(refused)?;
            Ok(Line { place, text, record: Some((record, read_as)) })
        };
        Ok(Self { lines: lines.into_iter().enumerate().map(line).collect::<Result<_>>()? })
    }

    /// Writes the records with their originals, once all of them are known; gives the number of those that are missing.
    fn restore(&self, maps: &Maps<'_>, is_recursive: bool, settings: &RestoreSettings<'_>) -> Result<usize> {
        let mut seen = Seen::default();
        for line in &self.lines {
            if let Some((record, read_as)) = line.record {
                let refused = |reject: Reject| Error::input(&*line.place, reject.detail);
                seen.push(maps, record, read_as, &line.place).map_err(refused)?;
            }
        }
        let mut places = seen.places(maps)?.into_iter();
        let (mut restored, mut missing) = (Vec::with_capacity(self.lines.len()), 0);
        for line in &self.lines {
            let Some((record, read_as)) = line.record else {
                restored.push(None);
                continue;
            };
            let internal = || Error::internal(&*line.place, "a record was counted wrongly");
            let place = places.next().ok_or_else(internal)?;
            let back = shape::uncompress_record(record, read_as, &place, is_recursive);
            let (record, back) = back.map_err(|reject| Error::input(&*line.place, reject.detail))?;
            if let Some(id) = back.ambiguous_ids.first() {
                return Err(place.ambiguous(id, &line.place));
            }
            missing += back.missing_ids.len();
            restored.push(Some(record));
        }
        let mut output = Destination::open(settings.output.as_deref(), settings.stdout)?;
        for (line, back) in self.lines.iter().zip(restored) {
            write_line(line, back.as_deref(), &mut output)?;
        }
        output.finish()?;
        Ok(missing)
    }
}

fn write_line(line: &Line<'_>, back: Option<&str>, output: &mut Destination) -> Result<()> {
    let (Some((record, _)), Some(back)) = (line.record, back) else {
        return output.write(line.text.as_bytes());
    };
    let (before, after) = line.text.split_once(record).unwrap_or_default();
    [before, back, after].into_iter().try_for_each(|text| output.write(text.as_bytes()))
}

fn read_text(path: &Path) -> Result<String> {
    let place = path.to_string_lossy();
    let failed = |error| Error::io(place.clone(), "cannot be read").because(error);
    let file = File::open(path).map_err(failed)?;
    let (_, stream) = open_codec(io::BufReader::new(file)).map_err(failed)?;
    let mut text = String::new();
    let mut reader = io::BufReader::new(stream);
    while reader.read_line(&mut text).map_err(failed)? > 0 {}
    Ok(text)
}
