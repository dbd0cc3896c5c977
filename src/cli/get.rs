//! `condenser get`: one conversation out of a run.

use condenser::app::{self, App, Destination, Which, place};
use condenser::error::Result;
use condenser::io::Run;

use super::args::GetArgs;
use super::end::Ending;
use super::screen::{Given, stdout_for};

/// Runs the command.
pub(crate) fn run(app: &App, args: &GetArgs) -> Result<Ending> {
    let run = Run::open(place(&args.run, &args.stores.stores())?)?;
    let which = match args.mark {
        Some(number) => Which::Mark(number),
        None if args.compressed => Which::Compressed,
        None => Which::Original,
    };
    let mut output = Destination::open(args.output.as_deref(), &|| stdout_for(Given::Data))?;
    app::get(app, &run, &args.id, which, &mut output)?;
    output.finish()?;
    Ok(Ending::Clean)
}
