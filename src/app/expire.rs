//! Deletes originals that a compaction store restores. Every file is proven in this process right
//! before: the run is hashed, the file is restored from it, and every byte is compared. Whatever cannot be proven
//! stays.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::App;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Codec, LedgerEntry, Run, Store, hash_of, open_codec, sniff_table};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Against, verify_end, verify_part};

const DAY: Duration = Duration::from_hours(24);

/// What became of a file.
#[derive(Debug)]
pub enum Expired<'e> {
    /// The store restores it: it is deleted, or would be.
    Proven(&'e LedgerEntry),
    /// It stays: it is gone, too young, or another version than the ledger's.
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

/// Proves that the files of a store that were last written so many days ago come back from it, one after the other, and
/// deletes them; unless `is_sure`, it is only proven. `told` hears of each; its error ends the work.
pub fn expire(
    app: &App,
    store: &Path,
    older_than: u64,
    is_sure: bool,
    threads: usize,
    told: &mut dyn FnMut(Expired<'_>) -> Result<()>,
) -> Result<ExpiryOutcome> {
    if !store.join("ledger.jsonl").exists() {
        let message = "there is no store here: no ledger.jsonl was found";
        return Err(Error::usage(store.to_string_lossy(), message));
    }
    let store = Store::open(store)?;
    let days = u32::try_from(older_than).ok().and_then(|days| DAY.checked_mul(days));
    let before = days.and_then(|days| now().checked_sub(days)).unwrap_or(SystemTime::UNIX_EPOCH);
    let bridge = Bridge::new(threads)?;
    let mut expiry = Expiry { app, store: &store, before, bridge, open: None, is_sure };
    expiry.all(told)
}

#[expect(clippy::disallowed_methods, reason = "the age of a file needs a clock; nothing of it is written anywhere")]
fn now() -> SystemTime {
    SystemTime::now()
}

struct Expiry<'s> {
    app: &'s App,
    store: &'s Store,
    before: SystemTime,
    bridge: Bridge,
    /// The run that was looked at last, and of its parts that several inputs share those that were proven.
    open: Option<(String, Run, BTreeSet<usize>)>,
    is_sure: bool,
}

/// Why a file stays.
enum Stays {
    /// There is nothing to do: it is gone, too young, or another version than the ledger's.
    Rightly(&'static str),
    /// It should be restorable and is not.
    Unproven(Error),
}

impl From<Error> for Stays {
    fn from(error: Error) -> Self {
        Self::Unproven(error)
    }
}

impl Expiry<'_> {
    fn all(&mut self, told: &mut dyn FnMut(Expired<'_>) -> Result<()>) -> Result<ExpiryOutcome> {
        let mut outcome = ExpiryOutcome::default();
        for (path, entry) in self.store.latest() {
            self.app.stop.check()?;
            told(match self.one(Path::new(path), entry) {
                Ok(()) => {
                    outcome.n_files += 1;
                    outcome.bytes += entry.size;
                    Expired::Proven(entry)
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

    fn one(&mut self, path: &Path, entry: &LedgerEntry) -> std::result::Result<(), Stays> {
        let failed = |error| Error::io(&*entry.path, "cannot be read").because(error);
        if entry.path.contains("://") {
            return Err(Stays::Rightly("it is not on this machine"));
        }
        let seen = match std::fs::symlink_metadata(path) {
            Ok(seen) => seen,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Stays::Rightly("it is gone already")),
            Err(error) => return Err(failed(error).into()),
        };
        if !seen.is_file() {
            return Err(Stays::Rightly("it is no regular file"));
        }
        if seen.modified().map_err(failed)? > self.before {
            return Err(Stays::Rightly("it was written too recently"));
        }
        let changed = Stays::Rightly("it has changed since its last compaction");
        if seen.len() != entry.size {
            return Err(changed);
        }
        let mut file = File::open(path).map_err(failed)?;
        if hash_of(&file).map_err(failed)? != entry.blake3 {
            return Err(changed);
        }
        file.rewind().map_err(failed)?;
        self.prove(&file, entry)?;
        // What was proven is what is deleted: the same file, not written since.
        let opened = file.metadata().map_err(failed)?;
        let still = std::fs::symlink_metadata(path).map_err(failed)?;
        if !is_same(&seen, &opened) || !is_same(&seen, &still) {
            return Err(changed);
        }
        if self.is_sure {
            std::fs::remove_file(path).map_err(|error| Error::io(&*entry.path, "cannot be deleted").because(error))?;
        }
        Ok(())
    }

    /// Restores the file from its run and compares every byte.
    fn prove(&mut self, file: &File, entry: &LedgerEntry) -> std::result::Result<(), Stays> {
        let failed = |error| Error::io(&*entry.path, "cannot be read to its end").because(error);
        let stream = |file: &File| -> io::Result<(Codec, Box<dyn Read + Send>)> {
            let mut file = file.try_clone()?;
            file.rewind()?;
            open_codec(BufReader::with_capacity(1 << 18, file))
        };
        let mut head = Vec::new();
        file.take(8).read_to_end(&mut head).map_err(failed)?;
        if sniff_table(&head).is_some() {
            return Err(Stays::Rightly("a table comes back with equal rows, but not with the very bytes of the file"));
        }
        let (codec, mut whole) = stream(file).map_err(failed)?;
        // A damaged stream comes back up to the damage only.
        if codec != Codec::Plain && io::copy(&mut whole, &mut io::sink()).is_err() {
            return Err(Stays::Rightly(
                "its compressed stream is damaged, and what is behind the damage is nowhere else",
            ));
        }
        if self.open.as_ref().is_none_or(|(name, ..)| *name != entry.run) {
            let run = Run::open(self.store.run_path(&entry.run))?;
            self.open = Some((entry.run.clone(), run, BTreeSet::new()));
        }
        let differs = |message: &str| Error::verification(&*entry.path, message);
        let (_, run, proven) = self.open.as_mut().ok_or_else(|| differs("the run is not open"))?;
        let (_, mut original) = stream(file).map_err(failed)?;
        let mut last = None;
        for &part in &entry.parts {
            let commit = run.commits.get(part);
            let read =
                commit.and_then(|commit| Some((commit, commit.inputs().find(|read| read.source == entry.source)?)));
            let (commit, read) =
                read.ok_or_else(|| differs("the run does not hold this file where the ledger says"))?;
            if last.is_none() != commit.split.is_first() {
                return Err(differs("the ledger does not name all parts of this file").into());
            }
            if !commit.packed.is_empty() {
                // All files of the part are restored and compared with what was read of them; then this is their bytes too.
                if !proven.contains(&part) {
                    run.check_files(commit)?;
                    let mut restorer = run.restorer(commit, &self.bridge, true)?;
                    verify_part(&mut restorer, commit, None, &mut |_| self.app.stop.check())?;
                    proven.insert(part);
                }
                if hash_of(original).map_err(failed)? != read.input.stream_blake3 {
                    return Err(differs("the run restores other bytes than the file has").into());
                }
                return Ok(());
            }
            run.check_files(commit)?;
            let mut restorer = run.restorer(commit, &self.bridge, true)?;
            let against = Some(Against::Stream(&mut original));
            verify_part(&mut restorer, commit, against, &mut |_| self.app.stop.check())?;
            last = Some(commit);
        }
        let last = last.ok_or_else(|| differs("the ledger names no part"))?;
        verify_end(last, &mut original)?;
        Ok(())
    }
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (a.dev(), a.ino()) != (b.dev(), b.ino()) {
            return false;
        }
    }
    a.len() == b.len() && a.modified().ok() == b.modified().ok()
}
