//! The documents of a run directory: plan, commits and manifest, read and checked against each other. Knows their
//! places, not what the tables hold.

use std::io;
use std::path::Path;

use super::failed;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{Commit, Plan, commit_path, open_sealed};

/// The plan, written first.
pub(crate) const PLAN: &str = "plan.json";
/// The manifest, written last.
pub(crate) const MANIFEST: &str = "manifest.json";

/// True when a run was written to `root`.
pub(crate) fn holds_run(root: &Path) -> bool {
    let commits = std::fs::read_dir(root.join("commits")).is_ok_and(|mut entries| entries.next().is_some());
    commits || root.join(MANIFEST).exists()
}

/// The plan of the run at `root`.
///
/// # Errors
/// `Verification` when there is none or it differs from what was written.
pub(crate) fn read_plan(root: &Path) -> Result<Plan> {
    let path = root.join(PLAN);
    open_sealed(&read(&path)?, &path.to_string_lossy())
}

/// The commits of `plan` that are there, in order.
///
/// # Errors
/// `Verification` when one is damaged, belongs to another plan, or misses a file.
pub(crate) fn read_commits(root: &Path, plan: &Plan) -> Result<Vec<Commit>> {
    let mut commits = Vec::new();
    for (part, planned) in plan.parts.iter().enumerate() {
        let path = root.join(commit_path(part));
        if !path.exists() {
            continue;
        }
        let place = path.to_string_lossy().into_owned();
        let commit: Commit = open_sealed(&read(&path)?, &place)?;
        let source = plan.input_of(part).map(|input| input.source.as_str());
        if commit.config_blake3 != plan.config_blake3
            || commit.part != part
            || commit.split != planned.slice
            || Some(commit.source.as_str()) != source
        {
            return Err(Error::new(ErrorKind::Verification, place, "the commit belongs to another job than the plan"));
        }
        for file in &commit.files {
            let path = root.join(&file.path);
            if std::fs::metadata(&path).map_or(0, |found| found.len()) != file.bytes {
                let message = "the file of a committed part is missing or has another size";
                return Err(Error::new(ErrorKind::Verification, path.to_string_lossy(), message));
            }
        }
        commits.push(commit);
    }
    Ok(commits)
}

/// The bytes of a document.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        let place = path.to_string_lossy();
        if error.kind() == io::ErrorKind::NotFound {
            Error::new(ErrorKind::Verification, place, "the file is missing")
        } else {
            failed(place, "cannot be read", error)
        }
    })
}
