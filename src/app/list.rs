//! What a run holds, from its plan, its commits and its manifest alone.

use super::App;
use crate::error::{Error, Result};
use crate::io::RunSoFar;
use crate::io::store::Place;
use crate::report::ListingDocument;

/// What a run holds.
#[derive(Debug)]
pub struct ListOutcome {
    /// Of each file, and all together.
    pub listing: ListingDocument,
    /// That the run is not finished, as commands say it that need all of it; `None` when it is.
    pub unfinished: Option<Error>,
}

/// Lists the run at `place`, finished or not; a job may be at work on it.
///
/// # Errors
/// `Usage` when there is no run, `Verification` when its plan, a commit or its manifest differs from what was written.
pub fn list(app: &App, place: &Place) -> Result<ListOutcome> {
    let RunSoFar { plan, commits, tally, manifest } = RunSoFar::open(place, &|| app.stop.check())?;
    let listing = ListingDocument::new(place.to_string(), plan.as_ref(), &commits, manifest.as_ref().ok(), &tally);
    Ok(ListOutcome { listing, unfinished: manifest.err() })
}
