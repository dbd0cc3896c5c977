//! `condenser get`: one conversation out of a run, or what one of its marks hides.

use condenser::app::{self, App, Destination, OnMerge, Which, place, reading, runs_with};
use condenser::error::Result;
use condenser::io::store::Place;
use condenser::report::numbers::counted;

use super::args::GetArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;
use super::screen::{Given, stdout_for};

/// Runs the command.
pub(crate) fn run(app: &App, args: &GetArgs) -> Result<Ending> {
    let place = place(&args.run, &args.stores.stores())?;
    reading(std::slice::from_ref(&place), OnMerge::End, &mut || get(app, args, &place))
}

fn get(app: &App, args: &GetArgs, place: &Place) -> Result<Ending> {
    let runs = runs_with(place, &args.id, &Notes { quiet: false })?;
    let mut output = Destination::open(args.output.as_deref(), &|| stdout_for(Given::Data))?;
    if let Some(number) = args.mark {
        let found = app::hidden(app, &runs, &args.id, number)?;
        if found.len() > 1 {
            let places: Vec<String> =
                found.iter().map(|hidden| format!("{} row {}", hidden.source, hidden.source_row)).collect();
            let n = counted(found.len() as u64, "conversation");
            message::note(&format!("{n} with this id and mark, one text behind the other: {}", places.join(", ")));
        }
        for stretch in found {
            output.write(stretch.text.as_bytes())?;
        }
    } else {
        let which = if args.compressed { Which::Compressed } else { Which::Original };
        app::get(app, &runs, &args.id, which, &mut output)?;
    }
    output.finish()?;
    Ok(Ending::Clean)
}
