//! `condenser ls`: what was typed becomes a run, and what it holds is printed.

use condenser::app::{self, App, ListOutcome, place};
use condenser::error::Result;

use super::args::ListArgs;
use super::end::{Ending, ended};
use super::message;
use super::progress::Notes;
use super::screen::columns_and_colours;

/// Stands for what is no terminal: there nothing is cut.
const NO_TERMINAL: usize = 0;

/// Runs the command. A run that is not finished is listed as far as it goes, and told as other commands tell it.
pub(crate) fn run(app: &App, args: &ListArgs) -> Result<Ending> {
    let outcome = app::list(app, &place(&args.run, &args.stores.stores())?, &Notes { quiet: false })?;
    let (columns, _) = columns_and_colours(NO_TERMINAL, false);
    let columns = args.width.or((columns != NO_TERMINAL).then_some(columns));
    match outcome {
        ListOutcome::Store(listing) if args.json => message::json(&listing)?,
        ListOutcome::Store(listing) => message::result(&listing.text(columns))?,
        ListOutcome::Run(run) => {
            if args.json {
                message::json(&run.listing)?;
            } else {
                message::result(&run.listing.text(columns))?;
            }
            return Ok(run.unfinished.map_or(Ending::Clean, |error| ended(&error)));
        }
    }
    Ok(Ending::Clean)
}
