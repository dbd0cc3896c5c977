//! What holds for all that read a run or a store of nights. Refuses to know what is read.

use crate::error::{Error, ErrorKind, Result};
use crate::io::store::Place;
use crate::io::{ListedNights, Run, RunOrStore, Store};
use crate::pipeline::{News, Observer};

/// So many times a reader begins at most.
const MAX_BEGINNINGS: usize = 3;

/// What is done when nights are merged while somebody reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnMerge {
    /// Nothing was written yet: the reader begins again.
    Begin,
    /// The reader ends.
    End,
}

/// What `read` gives of the runs and stores at `places`. A merge deletes what it has replaced, whoever reads it: what is missing then is no
/// damage.
///
/// # Errors
/// Those of `read`; `Io` when nights were merged meanwhile.
pub fn reading<T>(places: &[Place], on_merge: OnMerge, read: &mut dyn FnMut() -> Result<T>) -> Result<T> {
    let mut n_begun = 0;
    loop {
        n_begun += 1;
        let listed = places.iter().map(ListedNights::now).collect::<Result<Vec<_>>>();
        let error = match read() {
            Err(error) if may_be_gone(error.kind) => error,
            done => return done,
        };
        let merged = listed.unwrap_or_default().into_iter().find(|nights| nights.were_merged().unwrap_or(false));
        let Some(merged) = merged else { return Err(error) };
        if on_merge == OnMerge::End || n_begun == MAX_BEGINNINGS {
            let message = "nights were merged while this call was reading them";
            return Err(Error::io(merged.place().to_string(), message).hinting("run the same command again"));
        }
    }
}

/// True for what a reader says whose files are deleted.
fn may_be_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Verification | ErrorKind::Io | ErrorKind::Unfinished)
}

/// The runs at `place` in which conversations with this id stand, as [`RunOrStore::runs_with`]; `observer` hears what is missing of a store.
///
/// # Errors
/// When there is neither a run nor a store, or what is needed of it cannot be read.
pub fn runs_with(place: &Place, id: &str, observer: &dyn Observer) -> Result<Vec<Run>> {
    let archive = RunOrStore::open(place)?;
    if let RunOrStore::Store(store) = &archive {
        tell_lost(store, observer)?;
    }
    archive.runs_with(id)
}

/// Tells which runs of a store nothing knows any more.
pub(super) fn tell_lost(store: &Store, observer: &dyn Observer) -> Result<()> {
    for lost in store.lost()? {
        observer.news(News::Warning(&format!("{}: {lost}", store.place())));
    }
    Ok(())
}
