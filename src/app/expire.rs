//! Deletes originals that a compaction store restores. Every file is proven in this process before: it is what the store says, the runs
//! that hold it are hashed, and restored to the same bytes. Whatever cannot be proven stays.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{App, place};
use crate::error::{Error, ErrorKind, Result};
use crate::io::store::{Blob, Fate, Location, Place, Stores};
use crate::io::{Beside, Store, Stretches};
use crate::pipeline::LogState;
use crate::pipeline::bridge::Bridge;

const DAY: Duration = Duration::from_hours(24);

/// What became of a file.
#[derive(Debug)]
pub enum Expired<'e> {
    /// The store restores it: it is deleted, or would be.
    Proven(&'e LogState),
    /// It stays: it is gone, too young, or another version than the store's.
    Kept(&'e str, &'static str),
    /// It stays: it should be restorable and is not.
    Unproven(&'e str, Error),
}

/// What became of all files.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExpiryOutcome {
    /// Those that are deleted, or would be.
    pub n_files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that rightly stay.
    pub n_kept: u64,
    /// Those that stay since the store does not restore them.
    pub n_unproven: u64,
}

/// What is to be expired, and how.
#[derive(Debug, Clone)]
pub struct ExpireSettings<'s> {
    /// The store.
    pub store: &'s Path,
    /// Files that were last written so many days ago.
    pub older_than: u64,
    /// Whether they are deleted; else it is only proven.
    pub is_sure: bool,
    /// Workers; 0 for one per core.
    pub threads: usize,
    /// Where the store and the files lie.
    pub stores: Stores,
}

/// Proves that the files of a store that were last written so many days ago come back from it, and deletes them where that is asked for.
/// `told` hears of each; its error ends the work.
pub fn expire(
    app: &App,
    settings: &ExpireSettings<'_>,
    told: &mut dyn FnMut(Expired<'_>) -> Result<()>,
) -> Result<ExpiryOutcome> {
    let root = place(settings.store, &settings.stores)?;
    if !Store::is_at(&root)? {
        return Err(Error::usage(root.to_string(), "there is no store here: no night was found"));
    }
    let store = app.wait(Store::open(&root))?;
    store.check_documents()?;
    let days = u32::try_from(settings.older_than).ok().and_then(|days| DAY.checked_mul(days));
    let before = days.and_then(|days| now().checked_sub(days)).unwrap_or(SystemTime::UNIX_EPOCH);
    let latest: Vec<(&str, &str, &LogState)> =
        store.latest().into_iter().map(|(path, (run, state))| (path, run, state)).collect();
    let (mut fates, mut stretches) = (Vec::with_capacity(latest.len()), Stretches::default());
    for (target, &(path, run, state)) in latest.iter().enumerate() {
        app.stop.check()?;
        fates.push(candidate(&store, (path, run, state), before, &settings.stores, (&mut stretches, target)));
    }
    let mut unproven: HashMap<usize, Error> = HashMap::new();
    let bridge = Bridge::new(settings.threads)?;
    store.read(&stretches, &bridge, &|| app.stop.check(), &mut |_, _| Ok(()), &mut |targets, error| {
        let again = || Error::new(error.kind, &*error.place, &*error.message);
        for &target in targets {
            unproven.entry(target).or_insert_with(again);
        }
        Ok(())
    })?;
    let mut outcome = ExpiryOutcome::default();
    for (target, (fate, &(path, _, state))) in fates.into_iter().zip(&latest).enumerate() {
        app.stop.check()?;
        let fate = match (fate, unproven.remove(&target)) {
            (Ok(_), Some(error)) => Err(Stays::Unproven(error)),
            (Ok(candidate), None) => candidate.delete(app, settings.is_sure),
            (Err(stays), _) => Err(stays),
        };
        told(match fate {
            Ok(()) => {
                outcome.n_files += 1;
                outcome.bytes += state.size;
                Expired::Proven(state)
            }
            Err(Stays::Rightly(why)) => {
                outcome.n_kept += 1;
                Expired::Kept(path, why)
            }
            Err(Stays::Unproven(error)) if error.kind == ErrorKind::Interrupted => return Err(error),
            Err(Stays::Unproven(error)) => {
                outcome.n_unproven += 1;
                Expired::Unproven(path, error)
            }
        })?;
    }
    Ok(outcome)
}

#[expect(clippy::disallowed_methods, reason = "the age of a file needs a clock; nothing of it is written anywhere")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Why a file stays.
enum Stays {
    /// There is nothing to do: it is gone, too young, or another version than the store's.
    Rightly(&'static str),
    /// It should be restorable and is not.
    Unproven(Error),
}

impl From<Error> for Stays {
    fn from(error: Error) -> Self {
        Self::Unproven(error)
    }
}

const CHANGED: Stays = Stays::Rightly("it has changed since its last compaction");

/// A file that is what the store says, in the version that was read.
struct Candidate {
    file: Place,
    blob: Blob,
}

/// Looks at a file, and adds what the store must give back of it to the stretches.
fn candidate(
    store: &Store,
    (path, run, state): (&str, &str, &LogState),
    before: SystemTime,
    stores: &Stores,
    (stretches, target): (&mut Stretches, usize),
) -> std::result::Result<Candidate, Stays> {
    let cannot = |error| Error::io(path, "cannot be read").because(error);
    let file = Place::new(stores, Location::parse(path)?);
    if let Some(path) = file.as_local() {
        match std::fs::symlink_metadata(path) {
            Ok(seen) if !seen.is_file() => return Err(Stays::Rightly("it is no regular file")),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot(error).into()),
            _ => {}
        }
    }
    let Some(blob) = file.find()? else { return Err(Stays::Rightly("it is gone already")) };
    let written = blob.modified().ok_or_else(|| Error::io(path, "nobody says when it was last written"))?;
    if written > before {
        return Err(Stays::Rightly("it was written too recently"));
    }
    if state.is_table {
        return Err(Stays::Rightly("a table comes back with equal rows, but not with the very bytes of the file"));
    }
    let extents = store.extents(run, state)?;
    match Beside::of(&blob, &extents).map_err(|error| blob.failure().unwrap_or_else(|| cannot(error)))? {
        Beside::Same => {}
        Beside::Other => return Err(CHANGED),
        Beside::Damaged => {
            return Err(Stays::Rightly(
                "its compressed stream is damaged, and what is behind the damage is nowhere else",
            ));
        }
    }
    stretches.add(store, &extents, target)?;
    Ok(Candidate { file, blob })
}

impl Candidate {
    /// Deletes the file that was proven: the same, not written since.
    fn delete(self, app: &App, is_sure: bool) -> std::result::Result<(), Stays> {
        if self.blob.change()? != Fate::None {
            return Err(CHANGED);
        }
        // The name may lead to another file by now.
        let is_same = |now: Blob| now.mark() == self.blob.mark() && now.bytes() == self.blob.bytes();
        if !self.blob.has_its_name() || !self.file.find()?.is_some_and(is_same) {
            return Err(CHANGED);
        }
        if is_sure {
            app.wait(self.file.delete())?;
        }
        Ok(())
    }
}
