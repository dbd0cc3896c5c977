//! `condenser report`: the figures of a finished run as a table or as JSON on stdout.

use condenser::error::Result;
use condenser::io::Run;
use condenser::io::store::Place;
use condenser::pipeline::Totals;
use condenser::report::{Report, render};
use serde_json::json;

use super::args::ReportArgs;
use super::{Ending, message, place};

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> Result<Ending> {
    print(&place(&args.run, &args.stores.stores())?, args.json)?;
    Ok(Ending::Clean)
}

/// Prints the figures of a run.
pub(super) fn print(place: &Place, as_json: bool) -> Result<()> {
    let run = Run::open(place.clone())?;
    let mut report = Report::default();
    for commit in &run.commits {
        run.check_metrics(commit)?;
        let mut rows = run.metrics(commit)?;
        while let Some(batch) = rows.next_rows()? {
            report.add(&batch)?;
        }
    }
    let Totals { rejects, .. } = run.manifest.totals;
    if as_json {
        let mut value = report.json();
        if let Some(entries) = value.as_object_mut() {
            entries.insert("rejects".to_owned(), json!(rejects));
        }
        return message::json(&value);
    }
    let mut text = render(&report);
    if rejects > 0 {
        text.push_str(&format!("{rejects} records were rejected and are not among them\n"));
    }
    message::result(&text)
}
