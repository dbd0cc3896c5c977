//! `condenser finish`: the commits of several machines become a finished run.

use condenser::error::Result;
use condenser::io::RunWriter;
use condenser::pipeline::finish;

use super::args::FinishArgs;
use super::end::Told;
use super::{Ending, block_on, message, place, progress};

/// Runs the command.
pub(crate) fn run(args: &FinishArgs) -> Result<Ending> {
    let run = place(&args.run, &args.stores.stores())?;
    let (place, partial) = (run.clone(), args.partial);
    let waits = |who: &str| {
        if !args.quiet {
            message::note(&progress::waiting(who));
        }
    };
    let outcome = block_on(async {
        let (plan, commits, sink) = RunWriter::reopen(place, partial, &waits).await?;
        finish(&plan, commits, &sink).await
    });
    run.settle();
    let outcome = outcome?;
    // The manifest holds what the job was told, but not how its end is told.
    let told = Told { quiet: args.quiet, is_json: false, require_fit: args.require_fit, must_hold: true };
    let Some(manifest) = &outcome.manifest else { return Ok(Ending::Clean) };
    let ending = told.end(&manifest.options, &outcome, Some(&run));
    Ok(if ending == Ending::Clean && !manifest.missing.is_empty() { Ending::Rejects } else { ending })
}
