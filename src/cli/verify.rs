//! `condenser verify`: what was typed becomes a run and the inputs to compare it with.

use condenser::app::{self, App, OnMerge, inputs_of, place, reading};
use condenser::error::{Error, Result};
use condenser::io::RunOrStore;
use condenser::report::numbers::counted;

use super::args::VerifyArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;

/// Runs the command.
pub(crate) fn run(app: &App, args: &VerifyArgs) -> Result<Ending> {
    let stores = args.stores.stores();
    let against = inputs_of(app, &args.against, &stores, &Notes { quiet: false })?;
    let threads = args.threads.unwrap_or(0);
    let place = place(&args.run, &stores)?;
    let outcome = reading(std::slice::from_ref(&place), OnMerge::Begin, &mut || match RunOrStore::open(&place)? {
        RunOrStore::Run(run) => app::verify(app, &run, &against, threads),
        RunOrStore::Store(_) if !args.against.is_empty() => {
            let message = "a store is verified by itself; `condenser expire` without --yes holds logs against it";
            Err(Error::usage("--against", message))
        }
        RunOrStore::Store(store) => app::verify_store(app, &store, threads),
    })?;
    if !args.quiet {
        let (parts, records) = (counted(outcome.n_parts as u64, "part"), counted(outcome.n_records, "record"));
        message::note(&match outcome.bytes {
            None => format!("{parts}, {records}: the figures are as they were written; a report holds no originals"),
            Some(bytes) => format!("{parts}, {records}, {}: everything is as it was written", counted(bytes, "byte")),
        });
        outcome.left.iter().for_each(|left| message::note(&left.to_string()));
    }
    if outcome.lost_rows > 0 {
        let rows = counted(outcome.lost_rows, "row");
        message::note(&format!("{rows} of damaged tables could not be read when it was written, and are not in it"));
    }
    message::torn(&outcome.torn.iter().map(String::as_str).collect::<Vec<_>>());
    Ok(Ending::Clean)
}
