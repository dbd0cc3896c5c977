//! `condenser run`: a job file becomes settings, and its kind says what is done with them.

use std::path::Path;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Run, expand};
use condenser::pipeline::{JobKind, JobSettings, Target, read_job};

use super::args::RunArgs;
use super::{Ending, compaction, compress, dry_run, environment, message, report};

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<Ending> {
    let settings = read(&args.job, &args.set)?;
    if args.dry_run {
        return dry_run::run(&settings);
    }
    let path = compress::place(target(&settings)?, &args.place);
    match settings.kind {
        JobKind::Compaction => compaction::run(&settings, &path),
        JobKind::Compress | JobKind::Dataset | JobKind::Report => {
            let inputs = expand(&settings.inputs)?;
            let engine = compress::engine(&settings)?;
            let outcome = compress::into_run(&settings, engine, inputs, &path, args.place.shard)?;
            let ending = compress::finish(&settings, &outcome, &path);
            if settings.kind == JobKind::Dataset && outcome.manifest.is_some() && !settings.quiet {
                message::note(&counts(&path)?);
            }
            if settings.kind == JobKind::Report && outcome.manifest.is_some() {
                report::print(&path, settings.json || args.json)?;
            }
            Ok(ending)
        }
    }
}

fn read(path: &Path, sets: &[String]) -> Result<JobSettings> {
    let name = path.to_string_lossy();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::new(ErrorKind::Usage, &*name, "the job file cannot be read").because(error))?;
    read_job(&name, &text, sets)?.settle(&environment).map_err(|mut error| {
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

/// How many conversations went where.
fn counts(path: &Path) -> Result<String> {
    let run = Run::open(path)?;
    let rows = |table: &str| -> u64 {
        let files = run.commits.iter().flat_map(|commit| &commit.files);
        files.filter(|file| file.table == table).map(|file| file.rows).sum()
    };
    let (train, eval, dropped) = (rows("dataset/train"), rows("dataset/eval"), rows("dataset/dropped"));
    let folder = path.join("dataset");
    Ok(format!("{}: {train} conversations in train, {eval} in eval, {dropped} left out", folder.display()))
}
