//! What holds for all that read a run or a store of nights. Refuses to know what is read.

use crate::error::Result;
use crate::io::store::Place;
use crate::io::{Run, RunOrStore, Store};
use crate::pipeline::{News, Observer};

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
