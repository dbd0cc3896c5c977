//! `condenser run`: a job file becomes settings, and its kind says what is done with them.

use std::path::Path;

use clap::ValueEnum;
use condenser::error::{Error, ErrorKind, Result};
use condenser::pipeline::{JobKind, JobSettings, Target, read_job};
use condenser::text::WordStatistics;

use super::args::RunArgs;
use super::end::Told;
use super::{Ending, compaction, compress, dry_run, inputs_of, report, settled, stores_of};

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<Ending> {
    let mut sets = args.set.clone();
    if let Some(mode) = args.llm.and_then(|mode| mode.to_possible_value()) {
        sets.push(format!("llm.mode={}", mode.get_name()));
    }
    // As TOML, so that a name like `true` stays one.
    sets.extend(args.output.as_ref().map(|output| format!("output={}", toml::Value::from(output.as_str()))));
    sets.extend(args.threads.map(|threads| format!("threads={threads}")));
    sets.extend(args.quiet.then(|| "quiet=true".to_owned()));
    let settings = read(&args.job, &sets)?;
    if args.dry_run {
        return dry_run::run(&settings);
    }
    let stores = stores_of(&settings);
    let run = compress::place_of(target(&settings)?, &args.place, &stores)?;
    match settings.kind {
        JobKind::Compaction if args.place.shard.is_some() || args.place.fresh => {
            let message =
                "--shard and --fresh do not go with a compaction: every call is a run of its own in the store";
            Err(Error::new(ErrorKind::Usage, "", message))
        }
        JobKind::Compaction => compaction::run(&settings, &run, &stores),
        JobKind::Compress | JobKind::Dataset | JobKind::Report => {
            report::check_job(&settings, &run, args.json)?;
            let inputs = inputs_of(&settings.inputs, &stores, settings.quiet)?;
            let make = |words: Option<&WordStatistics>| compress::engine(&settings, words);
            let outcome = compress::into_run(&settings, &make, inputs, &run, args.place.shard)?;
            let ending = Told::of(&settings).end(&settings.options, &outcome, Some(&run));
            let is_over = outcome.manifest.is_some() && report::of_job(&settings, &run, args.json)?;
            Ok(if is_over { Ending::Threshold } else { ending })
        }
    }
}

/// The job that a file says, with what is set over it.
pub(super) fn read(path: &Path, sets: &[String]) -> Result<JobSettings> {
    let name = path.to_string_lossy();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::new(ErrorKind::Usage, &*name, "the job file cannot be read").because(error))?;
    settled(read_job(&name, &text, sets)?).map_err(|mut error| {
        let place = [&*name, &*error.place].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        error.place = place.join(": ");
        error
    })
}

fn target(settings: &JobSettings) -> Result<&str> {
    match &settings.target {
        Target::Run(path) => Ok(path),
        Target::Filter => {
            let message = "a job file writes a directory; as a filter there is `condenser compress -`";
            Err(Error::new(ErrorKind::Usage, "output", message))
        }
    }
}
