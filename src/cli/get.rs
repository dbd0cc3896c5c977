//! `condenser get`: one conversation out of a run, as it was or as it is shown.

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::Run;
use condenser::pipeline::bridge::Bridge;

use super::args::GetArgs;
use super::restore::Output;
use super::{Ending, block_on_thread, check_stop, place};

/// Runs the command.
pub(crate) fn run(args: GetArgs) -> Result<Ending> {
    block_on_thread(move |stop| {
        let run = Run::open(place(&args.run, &args.stores.stores())?)?;
        let mut output = Output::open(args.output.as_deref())?;
        let bridge = Bridge::new(1)?;
        let found = if args.compressed {
            compressed(&run, &args.id, &mut output, &|| check_stop(stop))?
        } else {
            original(&run, &args.id, &bridge, &mut output, &|| check_stop(stop))?
        };
        if !found {
            return Err(Error::new(ErrorKind::Input, &args.id, "the run has no conversation with this id"));
        }
        output.finish()?;
        Ok(Ending::Clean)
    })
}

/// Writes the conversations with this id as they were: exact bytes of records, messages of rows as JSON.
pub(super) fn original(
    run: &Run,
    id: &str,
    bridge: &Bridge,
    output: &mut Output,
    check: &dyn Fn() -> Result<()>,
) -> Result<bool> {
    let mut found = false;
    for commit in &run.commits {
        check()?;
        if commit.table.is_some() {
            for cell in run.find_cells(commit, id)? {
                found = true;
                output.write(cell.as_bytes())?;
                output.write(b"\n")?;
            }
            continue;
        }
        let Some(mut restorer) = run.find(commit, id, bridge)? else { continue };
        while let Some(slice) = restorer.next_slice()? {
            found |= slice.records > 0;
            output.write(&slice.bytes)?;
        }
    }
    Ok(found)
}

fn compressed(run: &Run, id: &str, output: &mut Output, check: &dyn Fn() -> Result<()>) -> Result<bool> {
    let mut found = false;
    for commit in &run.commits {
        check()?;
        for line in run.find_compressed(commit, id)? {
            found = true;
            output.write(line.as_bytes())?;
            output.write(b"\n")?;
        }
    }
    Ok(found)
}
