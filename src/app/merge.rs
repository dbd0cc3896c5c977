//! One run instead of many nights: their logs are brought back and compressed anew, both sides are proven, and only then the new run takes
//! the place of the others. What it replaces goes only when that is asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::compaction::enter_complete;
use super::compress::{Call, prepared, run_plan};
use super::gather::figures_of_night;
use super::outcome::RunOutcome;
use super::restore::{StoredLog, job};
use super::verify::{verify, verify_store};
use super::{App, file_of_option, place, settle};
use crate::error::{Error, Result};
use crate::io::store::{Place, Stores};
use crate::io::{GrowingFiles, Input, KnownLogs, LineOfStates, Run, Store, Stretches, plan_at};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Corpus, JobArgs, JobKind, JobSettings, MERGED, News, Observer, ProgressMode, RunPlan, Size};

/// What is merged, and how.
#[derive(Clone)]
pub struct MergeSettings<'s> {
    /// The store.
    pub store: &'s Path,
    /// Whether what each night left comes back afterwards, and not only the last.
    pub every_state: bool,
    /// Whether what is replaced is deleted.
    pub is_sure: bool,
    /// Workers; 0 for one per core.
    pub threads: usize,
    /// Bound on the bytes in flight; `None` for the default.
    pub memory: Option<usize>,
    /// Where the store lies.
    pub stores: Stores,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
}

shows!(MergeSettings<'_> { store, every_state, is_sure });

/// What a merge came to.
#[derive(Debug, Default)]
pub struct MergeOutcome {
    /// What was merged; `None` where there were no two nights.
    pub merged: Option<Merged>,
    /// Runs that were deleted.
    pub deleted: Vec<String>,
    /// Runs that are replaced and still there.
    pub replaced: Vec<String>,
    /// Runs that nobody needs and nobody can finish, and that are still there.
    pub abandoned: Vec<String>,
}

/// Nights that were merged.
#[derive(Debug)]
pub struct Merged {
    /// The new run.
    pub run: Place,
    /// What it came to.
    pub outcome: RunOutcome,
    /// The nights of which it took the place.
    pub n_nights: usize,
    /// Logs in it.
    pub n_logs: usize,
    /// Their states that it holds as wholes: the last ones, and those that are no beginning of a later one.
    pub n_whole: usize,
    /// Bytes of the runs of these nights.
    pub bytes_before: u64,
    /// Bytes of the new run.
    pub bytes_after: u64,
}

/// Merges the nights of a store.
///
/// # Errors
/// When a night does not come back, or the new run does not: then nothing has changed.
pub fn merge(app: &App, settings: &MergeSettings<'_>) -> Result<MergeOutcome> {
    let root = place(settings.store, &settings.stores)?;
    if !Store::is_at(&root)? {
        return Err(Error::usage(root.to_string(), "there is no store here: no night was found"));
    }
    let mut store = app.wait(Store::open(&root))?;
    store.check_documents()?;
    enter_complete(app, &mut store, &settings.stores, &*settings.observer)?;
    let merged = if store.nights().len() > 1 { Some(merge_nights(app, settings, &mut store)?) } else { None };
    app.wait(store.index())?;
    let (replaced, abandoned) = (store.replaced()?, store.abandoned()?);
    let mut outcome = MergeOutcome { merged, replaced, abandoned, deleted: Vec::new() };
    if settings.is_sure && !(outcome.replaced.is_empty() && outcome.abandoned.is_empty()) {
        // In this process, right before: what is to be deleted is needed by nobody, and what stays is whole.
        store.check_unneeded(&outcome.abandoned)?;
        verify_store(app, &store, settings.threads)?;
        for name in std::mem::take(&mut outcome.abandoned) {
            app.wait(store.delete_abandoned(&name))?;
            outcome.deleted.push(name);
        }
        for name in std::mem::take(&mut outcome.replaced) {
            app.wait(store.delete_replaced(&name))?;
            outcome.deleted.push(name);
        }
    }
    Ok(outcome)
}

fn merge_nights(app: &App, settings: &MergeSettings<'_>, store: &mut Store) -> Result<Merged> {
    let observer = &*settings.observer;
    let lines = store.lines_of_states(settings.every_state);
    let n_nights = store.nights().len();
    let blobs_before: u64 = store.nights().iter().flat_map(|night| &night.blobs).map(|file| file.bytes).sum();
    let bytes_before = bytes_of(store.runs())? + blobs_before;
    observer.news(News::Note(&format!("{n_nights} nights are brought back and held against what they say")));
    let cannot = |error| Error::io("", "there is no room to bring the logs of the store back").because(error);
    let folder = tempfile::Builder::new().prefix("condenser-").tempdir().map_err(cannot)?;
    let files = bring_back(app, store, &lines, (folder.path(), settings.threads))?;
    let job = job_of(store, settings)?;
    let input = |(line, file): (&LineOfStates, &PathBuf)| {
        let source = line.last().map_or("", |(_, state)| &state.source);
        Input { is_dated: job.options.ages.is_some(), ..Input::new(source, Some(file.into())) }
    };
    let inputs: Vec<Input> = lines.iter().zip(&files).map(input).collect();
    let (name, run, plan, corpus) = begin(store, &job, &inputs, observer)?;
    let call = Call::of(&job, settings.observer.clone());
    let check = || app.stop.check();
    let blobs =
        store.blobs_of(&name, (&*corpus, &plan), &check, &|place, bytes| app.wait(place.write_atomic(bytes)))?;
    let blob_files = blobs.files().to_vec();
    let outcome = run_plan(app, &call, Arc::new(KnownLogs::new(corpus, store, blobs)?), &plan, &run)?;
    observer.news(News::Note("the new run is brought back and held against the logs"));
    verify(app, &Run::open(run.clone())?, &inputs, settings.threads)?;
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let figures = figures_of_night(&run, None, &check)?;
    let bytes_after = bytes_of(vec![run.clone()])? + blob_files.iter().map(|file| file.bytes).sum::<u64>();
    app.wait(store.enter_merged(&name, (&lines, &paths), blob_files, settings.every_state, figures))?;
    let (n_logs, n_whole) = (store.latest().len(), lines.len());
    Ok(Merged { run, outcome, n_nights, n_logs, n_whole, bytes_before, bytes_after })
}

/// A run that goes on where an earlier call was stopped, or another one: its name, where it is, its plan and what it reads.
fn begin(
    store: &Store,
    job: &JobSettings,
    inputs: &[Input],
    observer: &dyn Observer,
) -> Result<(String, Place, RunPlan, Arc<dyn Corpus>)> {
    let begun = store.begun()?.filter(|begun| begun.name.ends_with(MERGED));
    if let Some(begun) = begun {
        let run = store.run_path(&begun.name);
        let (_, corpus, plan) = prepared(job, inputs.to_vec(), std::slice::from_ref(&run), None, observer)?;
        let plan = plan.as_begun(Some(begun.plan.clone()));
        if begun.plan.differences(&plan).is_empty() {
            return Ok((begun.name, run, plan, corpus));
        }
        observer.news(News::Note(&format!("{run} was not finished; nothing refers to it, it may be removed")));
    }
    let name = store.next_run(Some(MERGED))?;
    let run = store.run_path(&name);
    let (_, corpus, plan) = prepared(job, inputs.to_vec(), std::slice::from_ref(&run), None, observer)?;
    Ok((name, run, plan, corpus))
}

/// The job of the last night.
fn job_of(store: &Store, settings: &MergeSettings<'_>) -> Result<JobSettings> {
    let lacking = || Error::verification(store.place().to_string(), "the last night has no plan");
    let last = store.runs().pop().ok_or_else(lacking)?;
    let options = plan_at(&last)?.ok_or_else(lacking)?.options;
    if options.llm.is_some() {
        let message =
            "nights for which a model was asked cannot be merged yet: it would be asked again for all of them";
        return Err(Error::usage(store.place().to_string(), message));
    }
    let args = JobArgs {
        kind: Some(JobKind::Compaction),
        inputs: vec![store.place().to_string()],
        output: Some(store.place().to_string()),
        threads: Some(settings.threads),
        memory: settings.memory.map(Size),
        progress: Some(ProgressMode::None),
        ..JobArgs::default()
    };
    let mut job = settle(args, &|_| None)?;
    job.options = options.clone();
    let stores = settings.stores.clone();
    let mut job = job.with_files(|path, kind| file_of_option(path, kind, &stores))?;
    let hashes = (&job.options.tokenizer_blake3, &job.options.use_model_blake3);
    if hashes != (&options.tokenizer_blake3, &options.use_model_blake3) {
        let message = "a file that the options of the last night name has changed since: put back the one that it was";
        return Err(Error::usage(store.place().to_string(), message));
    }
    job.options = options;
    Ok(job)
}

/// The logs as files in a folder.
fn bring_back(
    app: &App,
    store: &Store,
    lines: &[LineOfStates],
    (folder, threads): (&Path, usize),
) -> Result<Vec<PathBuf>> {
    let bridge = Bridge::new(threads)?;
    let (mut paths, mut stretches) = (Vec::with_capacity(lines.len()), Stretches::default());
    let path_of = |at: usize, log: &StoredLog<'_>| {
        let ending = log.name().extension().map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy()));
        folder.join(format!("{at:07}{}", if log.is_table() { ending } else { String::new() }))
    };
    let mut logs = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let Some((run, state)) = line.last() else { continue };
        let log = StoredLog::of(store, run, state)?;
        paths.push(path_of(at, &log));
        logs.push(log);
    }
    let mut files = GrowingFiles::new(paths.clone());
    for (at, log) in logs.iter().enumerate() {
        if let Some(run) = log.table() {
            let name = paths[at].file_name().map(PathBuf::from).unwrap_or_default();
            job(run, log)?.write_files(app, folder, vec![name], &bridge, &mut Vec::new())?;
        } else {
            files.begin(at)?;
            stretches.add(store, log.extents(), at)?;
        }
    }
    let check = || app.stop.check();
    store.read(&stretches, &bridge, &check, &mut |at, bytes| files.write(at, bytes), &mut |_, error| Err(error))?;
    files.finish()?;
    for (line, path) in lines.iter().zip(&paths) {
        let written_at = line.last().and_then(|(_, state)| state.written_at).unwrap_or(0);
        let cannot = |error| Error::io(path.to_string_lossy(), "its time cannot be set").because(error);
        let file = std::fs::File::options().write(true).open(path).map_err(cannot)?;
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(written_at)).map_err(cannot)?;
    }
    Ok(paths)
}

fn bytes_of(runs: Vec<Place>) -> Result<u64> {
    let bytes = |run: Place| Ok(run.names()?.values().sum::<u64>());
    runs.into_iter().map(bytes).sum()
}
