//! `condenser sweep`: what was typed becomes settings, and what was measured is shown.

use condenser::app::{self, App, BOTH_ON_STDOUT, SweepSettings};
use condenser::error::{Error, ErrorKind, Result};
use condenser::pipeline::TableOptions;
use condenser::pipeline::sweep::{DEFAULT_SAMPLE, DEFAULT_SAMPLE_BYTES, SampleOptions};
use condenser::report::{shell, sweep_text};

use super::args::SweepArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;

/// Runs the command.
pub(crate) fn run(app: &App, args: SweepArgs) -> Result<Ending> {
    let usage = |place: &str, message: &str| Err(Error::new(ErrorKind::Usage, place, message));
    if args.held_back.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return usage("--held-back", "expected a share between 0 and 1, such as 0.5");
    }
    if args.sample == Some(0) {
        return usage("--sample", "a sample has at least one conversation");
    }
    if args.json && args.html.as_deref() == Some("-") {
        return usage("--html -", BOTH_ON_STDOUT);
    }
    let settings = SweepSettings {
        stores: args.stores.stores(),
        inputs: args.inputs,
        tables: TableOptions { messages_column: args.messages_column, shape: args.shape, map: args.map },
        engine: args.engine,
        floor: args.floor,
        sample: SampleOptions {
            conversations: args.sample.unwrap_or(DEFAULT_SAMPLE),
            class_bytes: args.sample_bytes.map_or(DEFAULT_SAMPLE_BYTES, |size| size.0),
            held_back: args.held_back.unwrap_or_default(),
        },
        full_grid: args.grid,
        keep_window: args.keep_window,
        job: args.output,
        overwrites: args.force,
        html: args.html,
        threads: args.threads.unwrap_or(0),
    };
    let outcome = app::sweep(app, &settings, &Notes { quiet: args.quiet })?;
    if let Some(page) = &outcome.page {
        message::data(page)?;
    } else if args.json {
        message::json(&outcome.document)?;
    } else {
        message::result(&sweep_text(&outcome.document))?;
    }
    if let Some(job) = &outcome.job {
        let command = shell::command("condenser run", &[&job.to_string()], "");
        message::note(&format!("written: {job}; run it with: {command}"));
    }
    Ok(if outcome.document.sample.rejects > 0 { Ending::Rejects } else { Ending::Clean })
}
