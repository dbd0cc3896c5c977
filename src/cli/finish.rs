//! `condenser finish`: the commits of several machines become a finished run.

use condenser::error::Result;
use condenser::io::RunWriter;
use condenser::pipeline::finish;

use super::args::FinishArgs;
use super::run::counts;
use super::{Ending, block_on, message, place, progress};

/// Runs the command.
pub(crate) fn run(args: &FinishArgs) -> Result<Ending> {
    let run = place(&args.run, &args.stores.stores())?;
    let (place, partial) = (run.clone(), args.partial);
    let waits = |who: &str| (!args.quiet).then(|| message::note(&progress::waiting(who))).unwrap_or_default();
    let manifest = block_on(async {
        let (plan, commits, sink) = RunWriter::reopen(place, partial, &waits).await?;
        finish(&plan, commits, &sink).await
    })?;
    if !args.quiet {
        message::note(&progress::summary(&manifest.totals));
        for source in &manifest.missing {
            message::note(&format!("left out: {source}"));
        }
        if manifest.options.dataset.is_some() {
            message::note(&counts(&run)?);
        }
        if manifest.options.measure_only {
            message::note(&format!("the figures: condenser report {run}"));
        }
    }
    Ok(if manifest.totals.rejects > 0 || !manifest.missing.is_empty() { Ending::Rejects } else { Ending::Clean })
}
