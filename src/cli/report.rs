//! `condenser report`: what was typed becomes a request, and its answer is shown.

use condenser::app::{self, App, ReportOutcome, ReportRequest, Reported};
use condenser::error::Result;
use condenser::report::Screen;

use super::args::ReportRunsArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;
use super::screen::columns_and_colours;

/// Columns of what is no terminal.
const DEFAULT_WIDTH: usize = 80;

/// Runs the command.
pub(crate) fn run(app: &App, args: ReportRunsArgs) -> Result<Ending> {
    let request = ReportRequest {
        stores: args.stores.stores(),
        runs: args.runs,
        together: args.together,
        exact: args.exact,
        settings: args.report.checked()?,
    };
    let outcome = app::report(app, &request, &Notes { quiet: false })?;
    let is_over = show(&outcome, request.settings.is_json(), args.width, args.all)?;
    Ok(if is_over { Ending::Threshold } else { Ending::Clean })
}

/// Shows a report, and says which thresholds are passed; true when there is one.
pub(super) fn show(outcome: &ReportOutcome, as_json: bool, width: Option<usize>, all: bool) -> Result<bool> {
    let (columns, colours) = columns_and_colours(DEFAULT_WIDTH, false);
    let screen = Screen { width: width.unwrap_or(columns), colours, all };
    match (&outcome.page, &outcome.document) {
        (Some(page), _) => message::data(page)?,
        (None, None) => {}
        (None, Some(document)) if as_json => message::json(document)?,
        (None, Some(Reported::Report(document))) => message::result(&document.render(screen))?,
        (None, Some(Reported::Drift(document))) => message::result(&document.render(screen))?,
    }
    for breach in &outcome.breaches {
        message::note(&format!("over {}: {}", breach.threshold, breach.message));
    }
    Ok(!outcome.breaches.is_empty())
}
