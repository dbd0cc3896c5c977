//! The commits of several machines become a finished run.

use super::App;
use super::outcome::RunOutcome;
use crate::error::Result;
use crate::io::RunWriter;
use crate::io::store::Place;
use crate::pipeline::Observer;

/// Finishes `run`; with `is_partial` without the inputs that are not wholly committed.
///
/// # Errors
/// `Unfinished` when parts are missing; when the run is not what its plan says.
pub fn finish(app: &App, run: &Place, is_partial: bool, observer: &dyn Observer) -> Result<RunOutcome> {
    let outcome = app.wait(async {
        let (plan, commits, sink) = RunWriter::reopen(run.clone(), is_partial, &|who| observer.waits(who)).await?;
        let outcome = crate::pipeline::finish(&plan, commits, &sink).await?;
        Ok(RunOutcome { options: plan.options, outcome, run: Some(run.clone()) })
    });
    run.settle();
    outcome
}
