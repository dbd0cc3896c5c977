//! `condenser finish`: the commits of several machines become a finished run.

use condenser::error::Result;
use condenser::io::RunWriter;
use condenser::pipeline::finish;

use super::args::FinishArgs;
use super::{Ending, block_on, message, progress};

/// Runs the command.
pub(crate) fn run(args: &FinishArgs) -> Result<Ending> {
    let manifest = block_on(async {
        let (plan, commits, sink) = RunWriter::reopen(&args.run)?;
        finish(&plan, commits, &sink).await
    })?;
    if !args.quiet {
        message::note(&progress::summary(&manifest.totals));
    }
    Ok(if manifest.totals.rejects > 0 { Ending::Rejects } else { Ending::Clean })
}
