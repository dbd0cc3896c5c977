//! `condenser llm distill`: pairs of originals and what stands for them, out of a run. Knows what a line looks like.

use std::io::Write;

use condenser::app::{App, place};
use condenser::error::{Error, Result};
use condenser::io::{BlockingFile, Run};
use condenser::report::numbers::counted;
use serde_json::json;

use crate::cli::args::DistillArgs;
use crate::cli::end::Ending;
use crate::cli::message;

/// Runs the command.
pub(super) fn run(app: &App, args: &DistillArgs) -> Result<Ending> {
    let run = Run::open(place(&args.run, &args.stores.stores())?)?;
    let name = args.output.to_string_lossy();
    let mut file = BlockingFile::create_new(&args.output)?;
    let mut n_pairs = 0_u64;
    for commit in &run.commits {
        run.check_files(commit)?;
        run.pairs(commit, &mut |input, output| {
            app.stop().check()?;
            n_pairs += 1;
            writeln!(file, "{}", json!({ "input": input, "output": output }))
                .map_err(|error| Error::io(&*name, "cannot be written").because(error))
        })?;
    }
    file.commit()?;
    if !args.quiet {
        message::note(&format!("{} written to {name}", counted(n_pairs, "pair")));
    }
    Ok(Ending::Clean)
}
