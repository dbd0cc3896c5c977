//! How a run begins, or goes on: which job it belongs to, who may write to it, and what is committed already. Knows the
//! plan and the locks of a run, not its tables.

use super::run_documents::{MANIFEST, NIGHTS, PLAN, holds_run, is_begun, plan_at, read_commits};
use super::run_lock::{LOCKS, RunLock, Waits};
use super::store::Place;
use super::{LEDGER, failed};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::numbers::{by_count, counted};
use crate::pipeline::{Commit, FailedInput, RunPlan, Shard, commit_path, seal_packed};

/// So many missing parts are named.
const MAX_NAMED: usize = 10;

/// Makes `root` the run of `plan`, or goes on with what an earlier call of the same job began there: gives the right to
/// write to it and the commits that are there.
pub(super) async fn begin(
    root: &Place,
    plan: &RunPlan,
    shard: Option<Shard>,
    waits: &Waits<'_>,
) -> Result<(RunLock, Vec<Commit>)> {
    let (there, asked) = (root.clone(), plan.clone());
    // Who waits for another job would wait in vain.
    let look = move || check_same(&there, &asked);
    let (there, first) = (root.clone(), look.clone());
    // A store may be slow to answer; signals must be heard meanwhile.
    Bridge::run_blocking("run", move || check_writable(&there).and_then(|()| first())).await?;
    let lock = RunLock::take(root, shard, waits, look.clone()).await?;
    let (there, asked) = (root.clone(), plan.clone());
    let commits = match Bridge::run_blocking("run", move || begun(&there, &asked)).await? {
        Begun::Goes(commits) => {
            let is_again =
                |commit: &Commit| !commit.failed.is_empty() && shard.is_none_or(|shard| shard.takes(commit.part));
            let (again, commits): (Vec<_>, Vec<_>) = commits.into_iter().partition(is_again);
            for commit in again {
                // Its files change before it does. Not every store lets a writer delete.
                root.join(&commit_path(commit.part)).write_atomic(&[]).await?;
            }
            commits
        }
        Begun::Anew => {
            root.join(PLAN).write_atomic(&seal_packed(plan)?).await?;
            Vec::new()
        }
        Begun::Not => {
            let is_ours = root.join(PLAN).put_if_absent(&seal_packed(plan)?).await?;
            if !is_ours {
                Bridge::run_blocking("run", look).await?;
            }
            Vec::new()
        }
    };
    Ok((lock, commits))
}

/// Opens the run at `root` to finish it: its plan, its commits, and the right to write to it.
pub(super) async fn reopen(root: &Place, partial: bool, waits: &Waits<'_>) -> Result<(RunPlan, Vec<Commit>, RunLock)> {
    let there = root.clone();
    let plan = Bridge::run_blocking("run", move || {
        let message = "there is no run here: no plan.json.zst was found";
        plan_at(&there)?.ok_or_else(|| usage(&there, message))
    })
    .await?;
    let lock = RunLock::take(root, None, waits, || Ok(())).await?;
    let (there, asked) = (root.clone(), plan.clone());
    let commits = Bridge::run_blocking("run", move || read_commits(&there, &asked)).await?;
    let n_whole = commits.iter().filter(|commit| commit.failed.is_empty()).count();
    if n_whole < plan.parts.len() && !partial {
        return Err(missing_parts(root, &plan, &commits));
    }
    Ok((plan, commits, lock))
}

/// How far a run has come.
enum Begun {
    /// There is nothing yet.
    Not,
    /// It was begun from stdin, and nothing was committed: what stdin gave is gone, so that it begins again.
    Anew,
    /// It goes on with these commits.
    Goes(Vec<Commit>),
}

fn begun(root: &Place, plan: &RunPlan) -> Result<Begun> {
    check_same(root, plan)?;
    let (is_planned, holds_run) = (is_begun(root)?, holds_run(root)?);
    let is_stdin = plan.inputs.iter().any(|input| input.bytes.is_none());
    match (is_planned, holds_run) {
        (true, false) if is_stdin => Ok(Begun::Anew),
        (true, _) => {
            let commits = read_commits(root, plan)?;
            let failed = commits.iter().flat_map(|commit| &commit.failed).next();
            match failed.filter(|_| root.join(MANIFEST).exists().unwrap_or(true)) {
                Some(failed) => Err(taken(root, &left_out(failed))),
                None => Ok(Begun::Goes(commits)),
            }
        }
        (false, true) => Err(taken(root, "the directory holds a committed run already")),
        (false, false) => Ok(Begun::Not),
    }
}

fn left_out(failed: &FailedInput) -> String {
    format!("the run was finished without {}, which shares its part with others, and stays as it is", failed.source)
}

fn usage(root: &Place, message: &str) -> Error {
    Error::usage(root.to_string(), message)
}

fn taken(root: &Place, message: &str) -> Error {
    usage(root, message).hinting(
        "choose another directory with --output, or --fresh for a new one beside it; a run is never overwritten",
    )
}

/// Refuses a place where no run can be, and makes its folder.
///
/// # Errors
/// `Usage` for a file, a store of nights and a web server.
pub fn check_writable(root: &Place) -> Result<()> {
    if root.as_local().is_some_and(std::path::Path::is_file) {
        return Err(usage(root, "the output is a file, but a run is a directory"));
    }
    if root.location().is_web() {
        return Err(usage(root, "a web server is only read; write to a local path, s3://, gs:// or az://"));
    }
    if root.join(LEDGER).exists()? || !root.join(NIGHTS).names()?.is_empty() {
        return Err(usage(
            root,
            "this is a store of nights; name another directory, or give the job kind = \"compaction\"",
        ));
    }
    // A listing tells of a bucket that is not there, which some stores would make.
    let Some(path) = root.as_local() else { return root.join(LOCKS).names().map(drop) };
    std::fs::create_dir_all(path).map_err(|error| failed(root.to_string(), "the directory cannot be made", error))
}

/// Refuses a directory in which another job has begun.
fn check_same(root: &Place, plan: &RunPlan) -> Result<()> {
    let Some(earlier) = plan_at(root)? else { return Ok(()) };
    if plan.inputs.iter().any(|input| input.bytes.is_none()) {
        let message = "the directory holds a committed run of stdin, which cannot be continued";
        return if holds_run(root)? { Err(taken(root, message)) } else { Ok(()) };
    }
    let differences = earlier.differences(plan);
    if differences.is_empty() {
        return Ok(());
    }
    let message = format!("the directory holds a run of another job; changed: {}", differences.join("; "));
    Err(taken(root, &message))
}

fn missing_parts(root: &Place, plan: &RunPlan, commits: &[Commit]) -> Error {
    let whole = commits.iter().filter(|commit| commit.failed.is_empty());
    let mut done = whole.clone().map(|commit| commit.part).peekable();
    let missing = (0..plan.parts.len()).filter(|part| done.next_if_eq(part).is_none()).map(|part| part.to_string());
    let named: Vec<String> = missing.take(MAX_NAMED).collect();
    let n_missing = plan.parts.len() - whole.count();
    let more = if n_missing > named.len() { ", …" } else { "" };
    let message = format!(
        "{n_missing} of {} {} not committed yet: {}{more}; run their shards first, or leave them out with --partial",
        counted(plan.parts.len() as u64, "part"),
        by_count(n_missing as u64, "is", "are"),
        named.join(", ")
    );
    Error::new(ErrorKind::Unfinished, root.to_string(), message)
}
