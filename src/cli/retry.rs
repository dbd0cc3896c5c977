//! `condenser retry-rejects`: what a run could not read, read again with other options into a run of its own.

use std::path::Path;
use std::sync::Arc;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Rejects, Run};
use condenser::pipeline::{BatchOptions, Plan, Target};
use condenser::text::WordStatistics;

use super::args::RetryArgs;
use super::end::Told;
use super::{Ending, compress, place, settled, stores_of};

/// Runs the command.
pub(crate) fn run(args: RetryArgs) -> Result<Ending> {
    let usage = |message: &str| Err(Error::new(ErrorKind::Usage, "", message));
    let settings = settled(args.job)?;
    let stores = stores_of(&settings);
    let [rejected] = &*settings.inputs else { return usage("name one run whose rejects are to be read again") };
    let Target::Run(output) = &settings.target else { return usage("name a directory for the new run with --output") };
    let options = &settings.options;
    let batches = BatchOptions { batch_bytes: options.batch_bytes, max_record_bytes: options.max_record_bytes };
    let rejected = Run::open(place(Path::new(rejected), &stores)?)?;
    let (corpus, inputs) = Rejects::plan(rejected, batches, compress::tables_of(&settings))?;
    let plan = Plan::new(options.clone(), inputs)?;
    let run = compress::place_of(output, &args.place, &stores)?;
    let make = |words: Option<&WordStatistics>| compress::engine(&settings, words);
    let outcome = compress::run_plan(&settings, &make, Arc::new(corpus), plan, &run, args.place.shard);
    Ok(Told::of(&settings).end(&settings.options, &outcome?, Some(&run)))
}
