//! Originals from a run, from a run over several rounds, from a sidecar of the filter, or from a verbatim map of another
//! tool.

mod maps;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use super::output::{Destination, Stdout};
use super::{App, get, local, place};
use crate::error::{Error, Result};
use crate::io::store::Stores;
use crate::io::{
    BlockingFile, OpenSidecar, Run, TableEncoder, Through, folds_case, open_codec, restored_name, restored_names,
    restored_table_name, sweep_beside, sync_folder,
};
use crate::model::{Reject, ShapeName};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Commit, RestoredSlice, Restorer, TableInput, verify_inputs, verify_part};
use crate::shape;
use maps::{Maps, Seen};

/// What is restored, from what.
#[derive(Debug, Clone)]
pub enum Restoring {
    /// All sources of a run, or one conversation of it.
    Run {
        /// The run.
        run: PathBuf,
        /// The runs that it came through, the last round first.
        through: Vec<PathBuf>,
        /// Only the conversation with this id.
        conversation: Option<String>,
    },
    /// What came out of the filter, with its sidecar.
    Filter {
        /// The file of records; stdin without one.
        records: Option<PathBuf>,
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// Records that another tool compacted, or condenser with a verbatim map.
    Verbatim {
        /// The file of records.
        records: PathBuf,
        /// The map from id to original.
        map: PathBuf,
        /// Whether summaries among the originals are expanded too.
        is_recursive: bool,
        /// The shape of the records, where it is known.
        shape: Option<ShapeName>,
    },
}

/// How a restore is done.
pub struct RestoreSettings<'s> {
    /// What is restored.
    pub what: Restoring,
    /// A folder for all sources of a run, else a file; `-` and nothing stand for `stdout`.
    pub output: Option<String>,
    /// The stream for that.
    pub stdout: &'s Stdout<'s>,
    /// Workers; 0 for one per core.
    pub threads: usize,
    /// Where runs lie.
    pub stores: Stores,
}

shows!(RestoreSettings<'_> { what, output });

/// A source that was restored to a file.
#[derive(Debug, Clone)]
pub struct RestoredFile {
    /// Its name as the run has it.
    pub source: String,
    /// The file, from the folder on.
    pub file: PathBuf,
    /// Whether it was there already, byte for byte.
    pub was_there: bool,
    /// Whether its own name was taken.
    pub is_renamed: bool,
    /// Rows that were damaged in the source and come back from nowhere.
    pub n_lost_rows: u64,
}

/// What a restore came to.
#[derive(Debug, Clone, Default)]
pub struct RestoreOutcome {
    /// The sources of a run; none where one stream was written.
    pub files: Vec<RestoredFile>,
    /// Where they are; `None` when they went to the stream.
    pub folder: Option<PathBuf>,
    /// Of a verbatim map: ids that have no original in it.
    pub n_missing: usize,
}

/// Restores what `settings` say.
pub fn restore(app: &App, settings: &RestoreSettings<'_>) -> Result<RestoreOutcome> {
    let bridge = Bridge::new(settings.threads)?;
    match &settings.what {
        Restoring::Run { run, through, conversation } => {
            let run = Run::open(place(run, &settings.stores)?)?;
            if let Some(id) = conversation {
                return one(app, &run, id, settings, &bridge);
            }
            let open = |path: &PathBuf| Run::open(place(path, &settings.stores)?);
            all(app, &run, &through.iter().map(open).collect::<Result<Vec<_>>>()?, settings, &bridge)
        }
        Restoring::Filter { records, sidecar } => from_sidecar(app, records.as_deref(), sidecar, settings, &bridge),
        Restoring::Verbatim { records, map, is_recursive, shape } => {
            let n_missing = from_map(records, map, *shape, *is_recursive, settings)?;
            Ok(RestoreOutcome { n_missing, ..RestoreOutcome::default() })
        }
    }
}

fn one(app: &App, run: &Run, id: &str, settings: &RestoreSettings<'_>, bridge: &Bridge) -> Result<RestoreOutcome> {
    let mut output = Destination::open(settings.output.as_deref(), settings.stdout)?;
    if !get::original(app, run, id, bridge, &mut output)? {
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
        let n_lost_rows = job.restore(app, bridge, &mut |_, bytes| output.write(bytes))?;
        output.finish()?;
        let files = vec![job.restored(0, PathBuf::new(), n_lost_rows)];
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
    Ok(RestoreOutcome { files, folder: Some(folder), n_missing: 0 })
}

fn too_many(n_sources: usize) -> Error {
    Error::usage("", format!("the run has {n_sources} sources; name a directory for them with --output DIR"))
}

/// What is restored at once: one source with its parts in order, or the sources that share a part.
struct Job<'r> {
    parts: Vec<Part<'r>>,
}

impl<'r> Job<'r> {
    /// The jobs that give the sources of the first round. Parts of one source follow each other.
    fn plan(run: &'r Run, runs: &'r [Run]) -> Result<Vec<Self>> {
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

    fn n_sources(&self) -> usize {
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

    fn restored(&self, index: usize, file: PathBuf, n_lost_rows: u64) -> RestoredFile {
        let is_renamed = self.name(index).file_name() != file.file_name();
        RestoredFile { source: self.source(index).to_owned(), file, was_there: false, is_renamed, n_lost_rows }
    }

    /// Writes the sources to files of these `names`, but for those that are there.
    fn write_files(
        &self,
        app: &App,
        folder: &Path,
        names: Vec<PathBuf>,
        bridge: &Bridge,
        files: &mut Vec<RestoredFile>,
    ) -> Result<()> {
        let is_there = |(index, name): (usize, &PathBuf)| self.is_there(index, &folder.join(name), app);
        let mut there = names.iter().enumerate().map(is_there).collect::<Result<Vec<_>>>()?;
        let (are_there, mut n_lost_rows) = (!there.contains(&false), 0);
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
            n_lost_rows = self.restore(app, bridge, &mut |index, bytes| up_to(index, Some(bytes)))?;
            up_to(names.len(), None)?;
        }
        for (index, (name, was_there)) in names.into_iter().zip(there).enumerate() {
            files.push(RestoredFile { was_there, ..self.restored(index, name, n_lost_rows) });
        }
        Ok(())
    }

    /// Gives the bytes of the sources in order to `write`, each with the place of its source; gives the number of rows that
    /// are lost.
    fn restore(&self, app: &App, bridge: &Bridge, write: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<u64> {
        let (mut writer, mut n_lost) = (None, 0);
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
            verify_inputs(&mut restorer, part.source(), None, &mut |index, restored| {
                app.stop.check()?;
                match (&restored.slice, &mut writer) {
                    (RestoredSlice::Rows { rows, .. }, Some(writer)) => write(index, &writer.append(rows)?),
                    _ => write(index, restored.bytes()),
                }
            })?;
            n_lost += part.source().input.lost_rows;
        }
        if let Some(writer) = writer {
            write(0, &writer.finish()?.0)?;
        }
        Ok(n_lost)
    }
}

/// A part and, over several rounds, the parts that it came through.
struct Part<'r> {
    run: &'r Run,
    commit: &'r Commit,
    rounds: Vec<Through<'r>>,
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
fn names(jobs: &[Job<'_>], folder: &Path) -> Result<Vec<PathBuf>> {
    let part = |job: &Job<'_>| job.parts.first().map_or(0, |part| part.commit.part);
    let name = |job: &Job<'_>, index| (job.name(index), part(job) + index);
    let names = |job: &Job<'_>| (0..job.n_sources()).map(|index| name(job, index)).collect::<Vec<_>>();
    let sources: Vec<(PathBuf, usize)> = jobs.iter().flat_map(names).collect();
    let names = restored_names(&sources, false);
    let folded = restored_names(&sources, true);
    Ok(if names != folded && folds_case(folder)? { folded } else { names })
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
    verify_part(&mut restorer, &sidecar.commit, None, &mut |restored| {
        app.stop.check()?;
        output.write(restored.bytes())
    })?;
    output.finish()?;
    Ok(RestoreOutcome::default())
}

/// Writes the records of the file at `path` with their originals from `map`; gives the number of ids that have none.
fn from_map(
    path: &Path,
    map: &Path,
    shape: Option<ShapeName>,
    is_recursive: bool,
    settings: &RestoreSettings<'_>,
) -> Result<usize> {
    let map_text = read_text(map)?;
    let maps = Maps::read(&map_text, &map.to_string_lossy())?;
    let text = read_text(path)?;
    Log::read(&text, &path.to_string_lossy(), shape)?.restore(&maps, is_recursive, settings)
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
    record: Option<(&'t str, ShapeName)>,
}

impl<'t> Log<'t> {
    fn read(text: &'t str, place: &str, shape: Option<ShapeName>) -> Result<Self> {
        let whole = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let lines: Vec<&str> = if whole { vec![text] } else { text.split_inclusive('\n').collect() };
        let line = |(index, text): (usize, &'t str)| {
            let place = format!("{place}: line {}", index + 1);
            let record = text.trim();
            if record.is_empty() {
                return Ok(Line { place, text, record: None });
            }
            let message = "the record holds no conversation in a known shape";
            let shape = shape.or_else(|| shape::detect(record));
            let shape = shape.ok_or_else(|| Error::input(&*place, message))?;
            Ok(Line { place, text, record: Some((record, shape)) })
        };
        Ok(Self { lines: lines.into_iter().enumerate().map(line).collect::<Result<_>>()? })
    }

    /// Writes the records with their originals, once all of them are known; gives the number of those that are missing.
    fn restore(&self, maps: &Maps<'_>, is_recursive: bool, settings: &RestoreSettings<'_>) -> Result<usize> {
        let mut seen = Seen::default();
        for line in &self.lines {
            if let Some((record, shape)) = line.record {
                let refused = |reject: Reject| Error::input(&*line.place, reject.detail);
                seen.push(maps, record, shape, &line.place).map_err(refused)?;
            }
        }
        let mut places = seen.places(maps)?.into_iter();
        let (mut restored, mut missing) = (Vec::with_capacity(self.lines.len()), 0);
        for line in &self.lines {
            let Some((record, shape)) = line.record else {
                restored.push(None);
                continue;
            };
            let internal = || Error::internal(&*line.place, "a record was counted wrongly");
            let place = places.next().ok_or_else(internal)?;
            let back = shape::uncompress_record(record, shape, &place, is_recursive);
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
