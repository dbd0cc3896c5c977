//! What a run holds, from its plan, its commits and its manifest alone, or a store, from its nights.

use std::collections::{HashMap, HashSet};

use super::App;
use super::reading::{OnMerge, reading, tell_lost};
use crate::error::{Error, ErrorKind, Result};
use crate::io::store::Place;
use crate::io::{Run, RunOrStore, RunSoFar, Store, of_night};
use crate::pipeline::tables::text_column;
use crate::pipeline::{LogState, Observer};
use crate::report::{ListingDocument, LogFacts, StoreListing};

/// The column of the metrics that has the ids.
const ID: &str = "conversation_id";

/// What a run or a store holds.
#[derive(Debug)]
pub enum ListOutcome {
    /// A run.
    Run(RunListing),
    /// A store.
    Store(StoreListing),
}

/// What a run holds.
#[derive(Debug)]
pub struct RunListing {
    /// Of each file, and all together.
    pub listing: ListingDocument,
    /// That the run is not finished, as commands say it that need all of it; `None` when it is.
    pub unfinished: Option<Error>,
}

/// Lists the run at `place`, finished or not, or the store; a job may be at work on it. `observer` hears what is missing of a store.
///
/// # Errors
/// `Usage` when there is no run, `Verification` when its plan, a commit or its manifest differs from what was written.
pub fn list(app: &App, place: &Place, observer: &dyn Observer) -> Result<ListOutcome> {
    let run = match RunSoFar::open(place, &|| app.stop.check()) {
        Ok(run) => run,
        Err(error) if error.kind == ErrorKind::Usage && !place.location().is_web() => {
            let listed = reading(std::slice::from_ref(place), OnMerge::Begin, &mut || {
                let Some(store) = Store::find(place)? else { return Ok(None) };
                tell_lost(&store, observer)?;
                logs_of(&store, place).map(Some)
            });
            return listed?.ok_or(error).map(ListOutcome::Store);
        }
        Err(error) => return Err(error),
    };
    let RunSoFar { plan, commits, tally, manifest } = run;
    let listing = ListingDocument::new(place.to_string(), plan.as_ref(), &commits, manifest.as_ref().ok(), &tally);
    Ok(ListOutcome::Run(RunListing { listing, unfinished: manifest.err() }))
}

/// Hands `each` the ids of the conversations of the finished run at `place`, or of all runs of the store, in their order;
/// of a store each id once.
///
/// # Errors
/// As [`RunOrStore::open`]; those of `each`.
pub fn ids(app: &App, place: &Place, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    match RunOrStore::open(place)? {
        RunOrStore::Run(run) => ids_of(app, &run, each),
        RunOrStore::Store(store) => {
            let mut seen = HashSet::new();
            for night in store.runs() {
                let run = Run::open(night.clone()).map_err(|error| of_night(&night, error))?;
                ids_of(app, &run, &mut |id| if seen.insert(id.to_owned()) { each(id) } else { Ok(()) })?;
            }
            Ok(())
        }
    }
}

fn ids_of(app: &App, run: &Run, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    for commit in &run.commits {
        let mut rows = run.metrics_columns(commit, &[ID])?;
        while let Some(batch) = rows.next_rows()? {
            app.stop.check()?;
            text_column(&batch, ID)?.iter().flatten().try_for_each(&mut *each)?;
        }
    }
    Ok(())
}

/// The logs of a store as they are, and what its nights came to.
fn logs_of(store: &Store, place: &Place) -> Result<StoreListing> {
    let mut n_states: HashMap<&str, u64> = HashMap::new();
    for log in store.nights().iter().flat_map(|night| &night.logs) {
        *n_states.entry(&log.path).or_default() += 1;
    }
    let log = |(path, (run, state)): (&str, (&str, &LogState))| LogFacts {
        source: state.source.clone(),
        path: path.to_owned(),
        bytes_stored: state.size,
        bytes_stream: state.stream_bytes(),
        states: n_states.get(path).copied().unwrap_or(1),
        night: state.night.clone().unwrap_or_else(|| run.to_owned()),
    };
    Ok(StoreListing::new(
        place.to_string(),
        store.latest().into_iter().map(log).collect(),
        store.figures().cloned().collect(),
        store.abandoned()?,
    ))
}
