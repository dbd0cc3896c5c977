//! The documents of a run directory: plan, commits and manifest, read and checked against each other. Knows their
//! places, not what the tables hold.

use std::collections::BTreeMap;

use super::run_names::open_commit;
use super::store::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{Commit, Manifest, RunPlan, TableFile, commit_path, open_sealed};

/// The plan, written first.
pub(crate) const PLAN: &str = "plan.json.zst";
/// The plan as earlier versions wrote it.
const BARE_PLAN: &str = "plan.json";
/// The manifest, written last.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The folder of the commits.
pub(crate) const COMMITS: &str = "commits";
/// The folder of what calls of the job took; the only place with times of a clock.
pub(crate) const TIMINGS: &str = "timings";

/// The folder of the documents of a store.
pub(crate) const NIGHTS: &str = "nights";

/// True for `00007.json.zst` and the like; anything else in the folder of nights belongs to somebody else.
pub(crate) fn is_night(name: &str) -> bool {
    let number = name.strip_suffix(".json.zst");
    number.is_some_and(|number| number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// So many commits are in memory when they are compared.
const COMMITS_AT_ONCE: usize = 256;

/// True when a run was written to `root`.
pub(crate) fn holds_run(root: &Place) -> Result<bool> {
    Ok(!root.join(COMMITS).names()?.is_empty() || root.join(MANIFEST).exists()?)
}

/// The plan of the run at `root`, as it is written there.
pub(crate) fn plan_bytes(root: &Place) -> Result<Option<Vec<u8>>> {
    let packed = root.join(PLAN).read_all()?;
    packed.map_or_else(|| root.join(BARE_PLAN).read_all(), |packed| Ok(Some(packed)))
}

/// True when a run was begun at `root`.
pub(crate) fn is_begun(root: &Place) -> Result<bool> {
    Ok(root.join(PLAN).exists()? || root.join(BARE_PLAN).exists()?)
}

/// The plan of the run at `root`.
pub(crate) fn read_plan(root: &Place) -> Result<RunPlan> {
    let place = root.join(PLAN).to_string();
    plan_at(root)?.ok_or_else(|| missing(&place))
}

/// The plan of the run at `root`; `None` when none was begun there.
///
/// # Errors
/// When it cannot be read, or is damaged.
pub fn plan_at(root: &Place) -> Result<Option<RunPlan>> {
    plan_bytes(root)?.map(|bytes| open_sealed(&bytes, &root.join(PLAN).to_string())).transpose()
}

/// The commits of `plan` that are there, in order.
///
/// # Errors
/// `Verification` when one is damaged, belongs to another plan, or misses a file.
pub(crate) fn read_commits(root: &Place, plan: &RunPlan) -> Result<Vec<Commit>> {
    // One listing tells of all files, wherever they are.
    let sizes = root.names()?;
    let mut commits = Vec::new();
    each_commit(root, plan, &sizes, &mut |commit, _| {
        let is_there = |file: &&TableFile| sizes.get(&file.path) == Some(&file.bytes);
        if let Some(file) = commit.files.iter().find(|file| !is_there(file)) {
            let message = "the file of a committed part is missing or has another size";
            return Err(Error::verification(root.join(&file.path).to_string(), message));
        }
        commits.push(commit);
        Ok(())
    })?;
    Ok(commits)
}

/// Gives `see` the commits of `plan` among the files with these `sizes`, in order, each with its bytes as stored.
///
/// # Errors
/// `Verification` when one is damaged or belongs to another plan.
pub(crate) fn each_commit(
    root: &Place,
    plan: &RunPlan,
    sizes: &BTreeMap<String, u64>,
    see: &mut dyn FnMut(Commit, u64) -> Result<()>,
) -> Result<()> {
    let is_there = |part: &usize| sizes.get(&commit_path(*part)).is_some_and(|&bytes| bytes > 0);
    let parts: Vec<usize> = (0..plan.parts.len()).filter(is_there).collect();
    for parts in parts.chunks(COMMITS_AT_ONCE) {
        let paths: Vec<String> = parts.iter().map(|&part| commit_path(part)).collect();
        for ((&part, path), bytes) in parts.iter().zip(&paths).zip(root.read_each(&paths)?) {
            let place = root.join(path).to_string();
            let bytes = bytes.ok_or_else(|| missing(&place))?;
            // One without a byte was taken back.
            if !bytes.is_empty() {
                see(planned_commit(plan, part, &bytes, &place)?, bytes.len() as u64)?;
            }
        }
    }
    Ok(())
}

/// The commit of a part, when it is of this plan.
fn planned_commit(plan: &RunPlan, part: usize, bytes: &[u8], place: &str) -> Result<Commit> {
    let commit = open_commit(bytes, place)?;
    let planned = plan.inputs_of(part);
    let n_read = commit.read_of(planned).flatten().count();
    if commit.config_blake3 != plan.config_blake3
        || commit.part != part
        || commit.split != plan.parts[part].slice
        || n_read != commit.inputs().len()
        || n_read + commit.failed.len() != planned.len()
    {
        return Err(Error::verification(place, "the commit belongs to another job than the plan"));
    }
    Ok(commit)
}

/// Looks whether plan and commits are still those that `manifest` joins, and whether their tables are there: a run is
/// complete only as what one job wrote. Gives the hash of the plan as it stands there, which earlier versions wrote otherwise.
pub(crate) fn check_still(root: &Place, plan: &RunPlan, manifest: &Manifest) -> Result<String> {
    let differs = |path: &str| {
        let message = "this is no longer what the job wrote: another process works in the same directory; give each \
                       job one of its own";
        Error::verification(root.join(path).to_string(), message)
    };
    let place = root.join(PLAN).to_string();
    let there = plan_bytes(root)?.ok_or_else(|| missing(&place))?;
    if open_sealed::<RunPlan>(&there, &place)? != *plan {
        return Err(differs(PLAN));
    }
    for entries in manifest.inputs.chunks(COMMITS_AT_ONCE) {
        let paths: Vec<String> = entries.iter().map(|entry| entry.commit.clone()).collect();
        for (entry, bytes) in entries.iter().zip(root.read_each(&paths)?) {
            let hash = bytes.map(|bytes| blake3::hash(&bytes).to_hex().to_string());
            if hash.as_deref() != Some(&entry.commit_blake3) {
                return Err(differs(&entry.commit));
            }
        }
    }
    Ok(blake3::hash(&there).to_hex().to_string())
}

/// The bytes of a document.
pub(crate) fn read(place: &Place) -> Result<Vec<u8>> {
    place.read_all()?.ok_or_else(|| missing(&place.to_string()))
}

/// A file that the run promises is not there.
pub(crate) fn missing(place: &str) -> Error {
    Error::verification(place, "the file is missing")
}

/// An `error` of the run at `root`, which a night has: it was complete, so that it is damaged when its manifest is missing.
pub fn of_night(root: &Place, error: Error) -> Error {
    let manifest = root.join(MANIFEST);
    let may_lack_it = matches!(error.kind, ErrorKind::Unfinished | ErrorKind::Usage);
    if may_lack_it && matches!(manifest.exists(), Ok(false)) { missing(&manifest.to_string()) } else { error }
}

/// A part, for messages.
pub(crate) fn place_of(commit: &Commit) -> String {
    format!("conversations, part {} ({})", commit.part, commit.sources())
}
