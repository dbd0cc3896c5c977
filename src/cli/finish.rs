//! `condenser finish`: the commits of several machines become a finished run.

use condenser::error::Result;
use condenser::io::RunWriter;
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::finish;

use super::args::FinishArgs;
use super::{Ending, block_on, message, place, progress};

/// Runs the command.
pub(crate) fn run(args: &FinishArgs) -> Result<Ending> {
    let manifest = block_on(async {
        let place = place(&args.run, &args.stores.stores())?;
        let (plan, commits, sink) = Bridge::run_blocking("run", move || RunWriter::reopen(place)).await?;
        finish(&plan, commits, &sink).await
    })?;
    if !args.quiet {
        message::note(&progress::summary(&manifest.totals));
    }
    Ok(if manifest.totals.rejects > 0 { Ending::Rejects } else { Ending::Clean })
}
