//! `condenser compress`, `retry-rejects` and `finish`: what was typed becomes a call of a job.

use condenser::app::{self, App, Call, local, place, settle};
use condenser::error::{Error, Result};
use condenser::pipeline::{JobArgs, Target};

use super::args::{CompressArgs, FinishArgs, RetryArgs};
use super::end::{Ending, Told};
use super::progress::{Notes, observer};
use super::screen::{Given, Stdout, environment};

/// Runs `condenser compress`.
pub(crate) fn run(app: &App, args: CompressArgs) -> Result<Ending> {
    let usage = |message: &str| Err(Error::usage("", message));
    let settings = settle(JobArgs { inputs: args.inputs, ..args.job }, &environment)?;
    let call = Call {
        shard: args.place.shard,
        is_fresh: args.place.fresh,
        drill: args.drill_panic.as_deref(),
        ..Call::of(&settings, observer(&settings))
    };
    let outcome = match &settings.target {
        Target::Run(_) if args.sidecar.is_some() => {
            return usage("--sidecar belongs to the filter; a run directory has its own");
        }
        Target::Run(_) => app::compress(app, &call, &call.place()?)?,
        Target::Filter if args.place.shard.is_some() || args.place.fresh => {
            return usage("--shard and --fresh belong to a run directory; the filter has none");
        }
        Target::Filter => {
            let sidecar = args.sidecar.as_deref().map(local).transpose()?;
            app::filter(app, &call, Stdout::unblocked(Given::Data), sidecar.as_deref())?
        }
    };
    Ok(Told::of(&settings).end(&outcome))
}

/// Runs `condenser retry-rejects`.
pub(crate) fn retry_rejects(app: &App, args: RetryArgs) -> Result<Ending> {
    let settings = settle(JobArgs { inputs: vec![args.rejected], ..args.job }, &environment)?;
    let place = args.place;
    let call = Call { shard: place.shard, is_fresh: place.fresh, ..Call::of(&settings, observer(&settings)) };
    let outcome = app::retry_rejects(app, &call)?;
    Ok(Told::of(&settings).end(&outcome))
}

/// Runs `condenser finish`.
pub(crate) fn finish(app: &App, args: &FinishArgs) -> Result<Ending> {
    let run = place(&args.run, &args.stores.stores())?;
    let outcome = app::finish(app, &run, args.partial, &Notes { quiet: args.quiet })?;
    // The plan holds what the job was told, but not how its end is told.
    let told = Told { quiet: args.quiet, is_json: false, require_fit: args.require_fit, must_hold: true };
    let Some(manifest) = &outcome.outcome.manifest else { return Ok(Ending::Clean) };
    let ending = told.end(&outcome);
    Ok(if ending == Ending::Clean && !manifest.missing.is_empty() { Ending::Rejects } else { ending })
}
