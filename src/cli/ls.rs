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

/// So many bytes of ids are printed at once.
const MAX_HELD: usize = 1 << 16;

/// Runs the command. A run that is not finished is listed as far as it goes, and told as other commands tell it.
pub(crate) fn run(app: &App, args: &ListArgs) -> Result<Ending> {
    let place = place(&args.run, &args.stores.stores())?;
    if args.ids {
        let mut lines = String::new();
        app::ids(app, &place, &mut |id| {
            lines.push_str(id);
            lines.push('\n');
            if lines.len() < MAX_HELD { Ok(()) } else { message::data(&std::mem::take(&mut lines)) }
        })?;
        message::data(&lines)?;
        return Ok(Ending::Clean);
    }
    let outcome = app::list(app, &place, &Notes { quiet: false })?;
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
