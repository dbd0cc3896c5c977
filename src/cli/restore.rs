//! `condenser restore`: what was typed becomes settings, and what came back is told.

use condenser::app::{self, App, PartOfNight, RestoreSettings, Restoring};
use condenser::error::{Error, Result};
use condenser::report::numbers::{by_count, counted};

use super::args::RestoreArgs;
use super::end::Ending;
use super::message;
use super::screen::{Given, stdout_for};

/// Runs the command.
pub(crate) fn run(app: &App, args: RestoreArgs) -> Result<Ending> {
    let unnamed = |what: &str| Error::usage("", format!("{what} was named"));
    let what = match (args.verbatim, args.sidecar, args.path) {
        (Some(map), _, Some(records)) => {
            let (shape, fields) = (args.shape, args.map);
            Restoring::Verbatim { records, map, is_recursive: args.recursive, shape, fields }
        }
        (Some(_), _, None) => return Err(unnamed("no file of compressed records")),
        (None, Some(sidecar), records) => Restoring::Filter { records, sidecar },
        (None, None, Some(run)) => {
            Restoring::Run { run, through: args.through, conversation: args.conversation, night: args.night }
        }
        (None, None, None) => return Err(unnamed("no run")),
    };
    let settings = RestoreSettings {
        what,
        output: args.output,
        stdout: &|| stdout_for(Given::Data),
        threads: args.threads.unwrap_or(0),
        stores: args.stores.stores(),
    };
    let outcome = app::restore(app, &settings)?;
    for lost in &outcome.lost {
        message::note(&format!("what is restored is not all of the store: {lost}"));
    }
    for file in outcome.files.iter().filter(|file| file.n_lost_rows > 0) {
        let (source, rows) = (&file.source, counted(file.n_lost_rows, "row"));
        let (were, are) = if file.n_lost_rows == 1 { ("was", "is") } else { ("were", "are") };
        message::note(&format!("{source}: {rows} {were} damaged in the source and {are} not in the restored table"));
    }
    let torn: Vec<&str> = outcome.files.iter().filter(|file| file.is_torn).map(|file| &*file.source).collect();
    message::torn(&torn);
    if let Some(folder) = outcome.folder.filter(|_| !args.quiet) {
        for file in outcome.files.iter().filter(|file| file.is_renamed) {
            let (source, name) = (&file.source, file.file.display());
            message::note(&format!("{source} is restored as {name}: its own name is taken"));
        }
        let there = match outcome.files.iter().filter(|file| file.was_there).count() {
            0 => String::new(),
            n => format!(", {n} of them {} there already", if n == 1 { "was" } else { "were" }),
        };
        let files = counted(outcome.files.len() as u64, "file");
        message::note(&format!("{files} restored to {}{there}", folder.display()));
    }
    if let Some(PartOfNight { night, n_logs }) = outcome.part_of {
        let (logs, is) = (counted(n_logs as u64, "log"), if n_logs == 1 { "is" } else { "are" });
        let message =
            format!("{logs} {is} all that is kept of this night; the rest was merged away without --every-state");
        message::error(&Error::input(format!("night {night}"), message));
        return Ok(Ending::Failed);
    }
    if outcome.n_missing > 0 {
        let n = outcome.n_missing as u64;
        let kept = by_count(
            n,
            "has no original in the map; its summary was kept",
            "have no original in the map; their summaries were kept",
        );
        message::note(&format!("{} {kept}", counted(n, "id")));
        return Ok(Ending::Rejects);
    }
    Ok(Ending::Clean)
}
