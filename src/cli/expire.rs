//! `condenser expire`: what was typed becomes settings, and what becomes of each file is told.

use condenser::app::{self, App, ExpireSettings, Expired};
use condenser::error::Result;
use condenser::report::numbers::counted;
use condenser::report::plain;

use super::args::ExpireArgs;
use super::end::Ending;
use super::message;

/// Runs the command.
pub(crate) fn run(app: &App, args: &ExpireArgs) -> Result<Ending> {
    let settings = ExpireSettings {
        store: &args.store,
        older_than: args.older_than,
        is_sure: args.yes,
        threads: args.threads.unwrap_or(0),
        stores: args.stores.stores(),
    };
    let outcome = app::expire(app, &settings, &mut |file| {
        match file {
            Expired::Proven(log) => {
                let done = if args.yes { "deleted" } else { "would delete" };
                let (path, bytes) = (plain::line(&log.path), counted(log.size, "byte"));
                message::result(&format!("{done} {path} ({bytes})\n"))?;
            }
            Expired::Kept(path, why) if !args.quiet => message::note(&format!("kept {path}: {why}")),
            Expired::Kept(..) => {}
            Expired::Unproven(path, error) => {
                message::error(&error);
                message::note(&format!("kept {path}: the store does not restore it"));
            }
        }
        Ok(())
    })?;
    if !args.quiet {
        let done = if args.yes { "deleted" } else { "proven and to be deleted with --yes" };
        let (files, bytes) = (counted(outcome.n_files, "file"), counted(outcome.bytes, "byte"));
        let (n_kept, n_unproven) = (outcome.n_kept, outcome.n_unproven);
        message::note(&format!("{files} ({bytes}) {done}, {n_kept} kept, {n_unproven} not proven"));
    }
    Ok(if outcome.n_unproven > 0 { Ending::Verification } else { Ending::Clean })
}
