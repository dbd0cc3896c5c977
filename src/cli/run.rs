//! `condenser run`: a job file becomes settings, and its kind says what is done with them.

use std::path::Path;

use condenser::app::{self, App, Call, NightNews, check_report_of_job, report_of_job, settle};
use condenser::error::{Error, Result};
use condenser::pipeline::{JobArgs, JobKind, JobSettings, Target, read_job};
use condenser::report::night_line;
use toml::Value;

use super::args::RunArgs;
use super::end::{Ending, Told};
use super::progress::observer;
use super::screen::environment;
use super::{message, report};

/// How files with transcripts end, which somebody may take for jobs.
const DATA: [&str; 7] = ["jsonl", "ndjson", "json", "gz", "zst", "parquet", "arrow"];
/// The tables of a job that flags have keys in.
const TABLES: [&str; 2] = ["engine", "llm"];

/// Runs the command.
pub(crate) fn run(app: &App, args: &RunArgs) -> Result<Ending> {
    let mut sets = args.set.clone();
    sets.extend(sets_of(&args.over)?);
    let split_from = args.split_from.as_deref().map(Value::from);
    sets.extend(split_from.map(|run| format!("dataset.split_from={run}")));
    let mut settings = read(&args.job, &sets)?;
    if args.json {
        settings.report.json = Some(true);
    }
    if args.dry_run {
        message::document(&app::dry_run(app, &settings)?)?;
        return Ok(Ending::Clean);
    }
    if settings.target == Target::Filter {
        let message = "a job file writes a directory; as a filter there is `condenser compress -`";
        return Err(Error::usage("output", message));
    }
    let watch = observer(&settings);
    let call = Call { shard: args.place.shard, is_fresh: args.place.fresh, ..Call::of(&settings, watch.clone()) };
    if settings.kind == JobKind::Compaction {
        return night(app, &call);
    }
    let run = call.place()?;
    check_report_of_job(&settings, &run)?;
    let outcome = app::compress(app, &call, &run)?;
    let ending = Told::of(&settings).end(&outcome);
    let report = match outcome.outcome.manifest {
        Some(_) => report_of_job(app, &settings, &run, &*watch)?,
        None => None,
    };
    let is_over = report.map(|report| report::show(&report, settings.report.is_json(), None, false)).transpose()?;
    Ok(if is_over == Some(true) { Ending::Threshold } else { ending })
}

/// Flags as what is set over a job file.
fn sets_of(over: &JobArgs) -> Result<Vec<String>> {
    let wrong = |error| Error::internal("", "the flags are no TOML").because(error);
    let is_said = |value: &Value| value.as_array().is_none_or(|list| !list.is_empty());
    let mut sets = Vec::new();
    for (key, value) in toml::Table::try_from(over).map_err(wrong)? {
        match value {
            Value::Table(table) if TABLES.contains(&&*key) => {
                let inner = table.iter().filter(|(_, value)| is_said(value));
                sets.extend(inner.map(|(name, value)| format!("{key}.{name}={value}")));
            }
            value if is_said(&value) => sets.push(format!("{key}={value}")),
            _ => {}
        }
    }
    Ok(sets)
}

fn night(app: &App, call: &Call<'_>) -> Result<Ending> {
    let settings = call.settings;
    let mut ending = Ending::Clean;
    let n_unreadable = app::compact(app, call, &mut |night| {
        match night {
            NightNews::Ran(outcome) => {
                // A night over a threshold says more than one with rejects.
                let ended = Told::of(settings).end(outcome);
                ending = if ended as u8 > ending as u8 { ended } else { ending };
            }
            NightNews::Entered(path) if !settings.quiet => {
                message::note(&format!("{path} is complete and in the store"));
            }
            NightNews::CameTo(figures) if !settings.quiet => message::note(&night_line(figures)),
            NightNews::Entered(_) | NightNews::CameTo(_) => {}
            NightNews::Reported(report) => {
                if report::show(&report, settings.report.is_json(), None, false)? {
                    ending = Ending::Threshold;
                }
            }
        }
        Ok(())
    })?;
    Ok(if n_unreadable == 0 { ending } else { Ending::Failed })
}

/// The job that a file says, with what is set over it.
pub(super) fn read(path: &Path, sets: &[String]) -> Result<JobSettings> {
    let name = path.to_string_lossy();
    if path.extension().is_some_and(|is| DATA.iter().any(|of_data| is == *of_data)) && path.exists() {
        let error = Error::usage(&*name, "this is no job file: those are TOML");
        return Err(error.hinting("to compress transcripts: condenser compress INPUT -o RUN"));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::usage(&*name, "the job file cannot be read").because(error))?;
    settle(read_job(&name, &text, sets)?, &environment).map_err(|mut error| {
        let place = [&*name, &*error.place].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        error.place = place.join(": ");
        error
    })
}
