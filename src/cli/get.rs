//! `condenser get`: one conversation out of a run, or what one of its marks hides.

use condenser::app::{self, App, Destination, Which, place};
use condenser::error::Result;
use condenser::io::Run;

use super::args::GetArgs;
use super::end::Ending;
use super::screen::{Given, stdout_for};

/// Runs the command.
pub(crate) fn run(app: &App, args: &GetArgs) -> Result<Ending> {
    let run = Run::open(place(&args.run, &args.stores.stores())?)?;
    let mut output = Destination::open(args.output.as_deref(), &|| stdout_for(Given::Data))?;
    if let Some(number) = args.mark {
        for stretch in app::hidden(app, &run, &args.id, number)? {
            output.write(stretch.text.as_bytes())?;
        }
    } else {
        let which = if args.compressed { Which::Compressed } else { Which::Original };
        app::get(app, &run, &args.id, which, &mut output)?;
    }
    output.finish()?;
    Ok(Ending::Clean)
}
