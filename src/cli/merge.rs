//! `condenser merge`: what was typed becomes settings, and what came of the nights is told.

use std::sync::Arc;

use condenser::app::{self, App, MergeSettings, Merged};
use condenser::error::Result;
use condenser::report::numbers::{bytes, counted};

use super::args::MergeArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;

/// Runs the command.
pub(crate) fn run(app: &App, args: &MergeArgs) -> Result<Ending> {
    let settings = MergeSettings {
        store: &args.store,
        every_state: args.every_state,
        is_sure: args.yes,
        threads: args.threads.unwrap_or(0),
        memory: args.memory.map(|memory| memory.0),
        stores: args.stores.stores(),
        observer: Arc::new(Notes { quiet: args.quiet }),
    };
    let outcome = app::merge(app, &settings)?;
    if args.quiet {
        return Ok(Ending::Clean);
    }
    match &outcome.merged {
        Some(merged) => message::note(&format!(
            "{} with {} take {} instead of {} now: {}",
            counted(merged.n_nights as u64, "night"),
            logs(merged),
            bytes(merged.bytes_after),
            bytes(merged.bytes_before),
            merged.run
        )),
        None => message::note("there are no two nights to merge"),
    }
    if !outcome.deleted.is_empty() {
        message::note(&format!("{} deleted", counted(outcome.deleted.len() as u64, "run")));
    }
    if !outcome.replaced.is_empty() {
        let runs = counted(outcome.replaced.len() as u64, "run");
        message::note(&format!("{runs} replaced and still there; --yes deletes them"));
    }
    if !outcome.abandoned.is_empty() {
        let (runs, names) = (counted(outcome.abandoned.len() as u64, "run"), outcome.abandoned.join(", "));
        message::note(&format!("{runs} never finished and needed by nobody: {names}; --yes deletes them"));
    }
    Ok(Ending::Clean)
}

fn logs(merged: &Merged) -> String {
    let logs = counted(merged.n_logs as u64, "log");
    match merged.n_whole - merged.n_logs {
        0 => logs,
        n => format!("{logs} and {} before changes", counted(n as u64, "state")),
    }
}
