//! A job: the parts of a plan, several at once, the ones that are committed already left out; at the end the
//! manifest. Knows neither where batches come from nor where tables go.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::record_batch::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use tokio::sync::Semaphore;

use super::admission::Admission;
use super::bridge::Bridge;
use super::commit::sources_of;
use super::numbers::{by_count, counted};
use super::part::{Done, Failure, Shared, failure_of_source, run_part, too_many};
use super::reading::{Reading, named, sources_of_part};
use super::{
    Commit, Context, Corpus, FORMAT_VERSION, FailedInput, InputEntry, KeptLog, Manifest, MaxRejects, Merge,
    PackedInput, PartSink, PlannedPart, Progress, RunPlan, Sink, Slice, SourceDigest, TableName, Tally, Timer,
};
use crate::error::{Error, ErrorKind, Result};

/// What a job came to.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    /// The manifest as written; `None` while parts are left to other machines.
    pub manifest: Option<Manifest>,
    /// Sums over all parts that are committed.
    pub tally: Tally,
    /// Parts that were committed before.
    pub n_resumed: usize,
    /// Parts that are not committed yet, or not with all their inputs.
    pub n_missing: usize,
}

/// Runs a job: every part of `plan` that is not in `committed` is read from `corpus` and written to `sink`. When all
/// are committed the manifest is written.
///
/// # Errors
/// When a table cannot be written, too much is rejected, or a restore differs. An input that cannot be read fails the
/// job after everything else is committed.
pub async fn compress<S: Sink>(
    context: &Context,
    plan: &RunPlan,
    committed: Vec<Commit>,
    corpus: Arc<dyn Corpus>,
    sink: &S,
) -> Result<JobOutcome> {
    let n_resumed = committed.len();
    let mut before = Progress::default();
    for commit in &committed {
        before.totals.absorb(&commit.totals);
        before.bytes += commit.input.stream_bytes;
        before.stored_bytes += commit.input.bytes;
    }
    let mut commits: BTreeMap<usize, Commit> = committed.into_iter().map(|commit| (commit.part, commit)).collect();
    let ours = |part: &usize| context.shard.is_none_or(|shard| shard.takes(*part));
    let open: Vec<usize> = (0..plan.parts.len()).filter(|part| !commits.contains_key(part)).filter(ours).collect();
    let first = open.first().copied();
    // Of a file that has grown since more was read than there is to read.
    before.stored_bytes = before.stored_bytes.min(plan.total_bytes().unwrap_or(u64::MAX));
    context.observer.begins(plan, &before);
    let n_at_once = context.limits.parts.clamp(1, open.len().max(1));
    let admission = Admission::new(context.limits.for_batches(n_at_once), context.options.batch_bytes, n_at_once);
    let turns = Semaphore::new(n_at_once.saturating_sub(1).max(1));
    let (admission, progress) = (Arc::new(admission), Mutex::new(before));
    let shared = Shared { admission, turns, progress, total_bytes: plan.total_bytes() };
    let (failures, stopping) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let done: Vec<Option<Commit>> = stream::iter(open)
        .map(|part| {
            let (corpus, shared, failures, stopping) = (corpus.clone(), &shared, &failures, &stopping);
            async move {
                if stopping.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let fails = |error: Error| {
                    tracing::info!(part, %error, "the input cannot be read; the others go on");
                    failures.lock().unwrap_or_else(PoisonError::into_inner).push((part, error));
                };
                match Box::pin(one_part(context, plan, part, corpus, shared, sink, &fails)).await {
                    Ok(commit) => Ok(commit),
                    Err(Failure::Source(error)) => {
                        fails(error);
                        Ok(None)
                    }
                    Err(Failure::Job(error)) => {
                        stopping.store(true, Ordering::Relaxed);
                        Err(error)
                    }
                }
            }
        })
        .buffer_unordered(n_at_once)
        .try_collect()
        .await?;
    if let (Some(timer), Some(first)) = (&context.timer, first) {
        sink.timings(first, &timer.timings()).await?;
    }
    commits.extend(done.into_iter().flatten().map(|commit| (commit.part, commit)));
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|(part, _)| *part);
    if !failures.is_empty() {
        return Err(unreadable(failures, commits.is_empty()));
    }
    let n_missing = plan.parts.len() - commits.values().filter(|commit| commit.failed.is_empty()).count();
    if n_missing == 0 {
        let outcome = finish(plan, commits.into_values().collect(), sink).await?;
        return Ok(JobOutcome { n_resumed, ..outcome });
    }
    let mut tally = Tally::default();
    for commit in commits.values() {
        tally.add(commit);
    }
    Ok(JobOutcome { manifest: None, tally, n_resumed, n_missing })
}

/// Joins the commits of a plan, in order, into the manifest. An input of which a part is missing is left out as a whole
/// and named among the missing, as is one that could not be read.
pub async fn finish<S: Sink>(plan: &RunPlan, commits: Vec<Commit>, sink: &S) -> Result<JobOutcome> {
    let mut missing = vec![false; plan.inputs.len()];
    let mut done = commits.iter().map(|commit| commit.part).peekable();
    for (part, planned) in plan.parts.iter().enumerate() {
        if done.next_if_eq(&part).is_none() {
            missing[planned.inputs()].fill(true);
        }
    }
    let mut tally = Tally::default();
    let mut inputs = Vec::with_capacity(commits.len());
    let mut n_read = vec![0; plan.inputs.len()];
    for commit in &commits {
        let planned = plan.parts[commit.part];
        let index = planned.input;
        if missing[index] {
            continue;
        }
        for (index, read) in planned.inputs().zip(commit.read_of(plan.inputs_of(commit.part))) {
            n_read[index] += read.map_or(0, |read| read.input.bytes);
            missing[index] = read.is_none();
        }
        let packed = super::seal_packed(commit)?;
        tally.add(commit);
        tally.add_documents("commits", 1, packed.len() as u64);
        inputs.push(InputEntry {
            source: commit.source.clone(),
            n_inputs: commit.inputs().len(),
            mark: plan.inputs[index].mark.clone().filter(|_| planned.n_inputs == 1),
            slice: commit.split,
            digest: commit.input.clone(),
            part: commit.part,
            commit: commit_path(commit.part),
            commit_blake3: blake3::hash(&packed).to_hex().to_string(),
        });
    }
    check_sizes(plan, &n_read, &missing)?;
    let sealed_plan = super::seal_packed(plan)?;
    tally.add_documents("plan", 1, sealed_plan.len() as u64);
    let tables = TableName::ALL.iter().filter(|&&table| plan.options.writes(table));
    let left_out = plan.inputs.iter().zip(&missing).filter(|(_, missing)| **missing);
    let missing: Vec<String> = left_out.map(|(input, _)| input.source.clone()).collect();
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        engine_version: plan.engine_version.clone(),
        status: if missing.is_empty() { "complete" } else { "partial" }.to_owned(),
        options: plan.options.clone(),
        config_blake3: plan.config_blake3.clone(),
        plan_blake3: Some(blake3::hash(&sealed_plan).to_hex().to_string()),
        inputs,
        missing,
        tables: tables.map(|table| table.as_str().to_owned()).collect(),
        totals: tally.totals,
        files: Vec::new(),
    };
    let manifest = sink.finish(manifest).await?;
    tally.add_documents("manifest", 1, super::seal(&manifest)?.len() as u64);
    manifest.files.iter().for_each(|file| tally.add_file(file));
    Ok(JobOutcome { manifest: Some(manifest), tally, n_resumed: 0, n_missing: 0 })
}

/// Every byte that was planned was read, and no other; row groups are counted in rows.
fn check_sizes(plan: &RunPlan, n_read: &[u64], missing: &[bool]) -> Result<()> {
    let in_bytes = |part: &&PlannedPart| !matches!(part.slice, Slice::RowGroups { .. });
    let inputs = plan.parts.iter().filter(in_bytes).flat_map(PlannedPart::inputs);
    for index in inputs.filter(|&index| !missing[index]) {
        let (Some(input), Some(&n_read)) = (plan.inputs.get(index), n_read.get(index)) else { continue };
        if let Some(planned) = input.bytes_to_read().filter(|&planned| planned != n_read) {
            let were = by_count(planned, "was", "were");
            let message = format!("{} {were} there when the job began, but {n_read} read", counted(planned, "byte"));
            return Err(Error::input(&input.source, message));
        }
    }
    Ok(())
}

/// The path of a commit in the run directory.
pub fn commit_path(part: usize) -> String {
    format!("commits/part-{part:05}.json.zst")
}

async fn one_part<S: Sink>(
    context: &Context,
    plan: &RunPlan,
    part: usize,
    corpus: Arc<dyn Corpus>,
    shared: &Shared,
    sink: &S,
    fails: &dyn Fn(Error),
) -> std::result::Result<Option<Commit>, Failure> {
    let planned = plan.parts[part];
    let inputs = plan.inputs_of(part);
    let name = inputs.first().map(|input| input.source.clone()).unwrap_or_default();
    let told = sources_of(&name, inputs.len());
    context.observer.source(part, &told);
    tracing::debug!(part, source = told, slice = %planned.slice, "begins");
    let mut sources = sources_of_part(planned, inputs, &corpus);
    let (mut table, mut schema) = (None, None);
    if planned.n_inputs == 1 {
        let opening = move || sources.next().unwrap_or_else(|| Err(Error::internal("", "a part has no input")));
        let source = Bridge::run_blocking("reader", opening).await.map_err(failure_of_source)?;
        (table, schema) = (source.table(), source.schema());
        sources = Box::new(std::iter::once(Ok(source)));
    }
    if table.is_some() {
        context.options.format.check_table(&name).map_err(Failure::Source)?;
    }
    let named = inputs.iter().zip(planned.inputs()).map(|(input, index)| named(input, index, planned.slice)).collect();
    let asked = corpus.clone();
    let earlier = Bridge::run_blocking("store", move || asked.earlier(planned.inputs())).await;
    let earlier = earlier.map_err(failure_of_source)?;
    let reading = Reading { inputs: named, sources, earlier, surveyor: None };
    let mut open = sink.begin(part, &name, schema).await?;
    // What holds it is large enough without it.
    let done = Box::pin(run_part(context, shared, reading, &mut open)).await?;
    check_share(context.max_rejects, &done, &told)?;
    let (mut packed, mut failed) = (Vec::with_capacity(inputs.len()), Vec::new());
    for ((planned_input, read), counted) in inputs.iter().zip(done.read).zip(&done.counted) {
        let source = planned_input.source.clone();
        match read.map_err(failure_of_source) {
            Ok(input) if input.stream_bytes == counted.proven_bytes => {
                let kept = planned_input.keeps.as_ref();
                let (first_row, first_byte) = (kept.map_or(0, KeptLog::first_row), kept.map(|kept| kept.bytes));
                packed.push(PackedInput { source, input, totals: counted.totals, first_row, first_byte });
            }
            Ok(SourceDigest { stream_bytes, .. }) => {
                let message = format!("{stream_bytes} bytes were read, but {} were proven", counted.proven_bytes);
                return Err(Failure::Job(Error::internal(source, message)));
            }
            Err(Failure::Source(error)) => {
                failed.push(FailedInput { source, error: error.to_string() });
                fails(error);
            }
            Err(job) => return Err(job),
        }
    }
    let Some(first) = packed.first() else { return Ok(None) };
    let commit = Commit {
        format_version: FORMAT_VERSION,
        engine_version: plan.engine_version.clone(),
        config_blake3: plan.config_blake3.clone(),
        part,
        source: first.source.clone(),
        split: planned.slice,
        first_row: if planned.n_inputs > 1 { 0 } else { first.first_row },
        first_byte: first.first_byte.filter(|_| planned.n_inputs == 1),
        format: context.options.format,
        records: done.totals.conversations + done.totals.rejects,
        input: SourceDigest::of_all(&packed),
        packed: if planned.n_inputs > 1 { packed } else { Vec::new() },
        failed,
        table,
        rests_on: done.rests_on.into_iter().collect(),
        totals: done.totals,
        proof: done.proof,
        sketch: Some(done.sketch),
        files: Vec::new(),
    };
    let timer = context.timer.as_deref();
    let commit = Timer::time_async(timer, "write", open.commit(commit, &context.bridge)).await?;
    timer.into_iter().for_each(Timer::part_done);
    tracing::info!(part, source = told, records = commit.records, rejects = commit.totals.rejects, "committed");
    context.observer.committed(&commit);
    Ok(Some(commit))
}

fn check_share(max_rejects: Option<MaxRejects>, done: &Done, name: &str) -> Result<()> {
    let records = done.totals.conversations + done.totals.rejects;
    match max_rejects {
        Some(MaxRejects::Share(share)) if done.totals.rejects as f64 > share * records as f64 => Err(too_many(
            name,
            done.totals.rejects,
            &format!("more than --max-rejects {share} of {}", counted(records, "record")),
        )),
        _ => Ok(()),
    }
}

/// One error for all inputs that could not be read: the first, and how many there are; with `all` nothing else was done.
fn unreadable(mut failures: Vec<(usize, Error)>, all: bool) -> Error {
    let more = failures.len() - 1;
    let (_, mut first) = failures.swap_remove(0);
    if more > 0 {
        let inputs = if more == 1 { "input" } else { "inputs" };
        first.message.push_str(&format!(" (and {more} more {inputs} could not be read)"));
    }
    let may_pass = first.kind == ErrorKind::Io;
    first.message.push_str(match (all, may_pass) {
        (true, _) => "",
        (false, true) => {
            "; everything else is committed, the same command goes on from there once it is as it was, and \
             `condenser finish RUN --partial` makes do without it"
        }
        (false, false) => "; everything else is committed",
    });
    if first.kind == ErrorKind::Input {
        first.hint.get_or_insert(
            "mend the input and name a new --output, or make do without it: condenser finish RUN --partial",
        );
    }
    first
}

/// Bytes of the rows of `batch`, for bounds that depend on the data only.
pub fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}
