//! `condenser report`, and what jobs report of their runs: figures, or the drift from other runs, on the terminal or as
//! JSON, held against thresholds. Knows what is asked for, not how it is read or shown.

use std::path::Path;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::{Place, Stores};
use condenser::io::{Run, runs_of_store};
use condenser::pipeline::sketch::Sketch;
use condenser::pipeline::{JobKind, JobSettings, ReportSettings, Thresholds, Timings};
use condenser::report::html::{Texts, drift_page, report_page};
use condenser::report::{Breach, Calibration, Distribution, DriftDocument, ReportDocument, RunFacts, Screen, breaches};
use serde::Serialize;

use super::args::ReportRunsArgs;
use super::gather::{From, Gathered, changes, gather};
use super::screen::columns_and_colours;
use super::{Ending, block_on_thread, check_stop, message, pages, place, stores_of};

/// Columns of what is no terminal.
const DEFAULT_WIDTH: usize = 80;
/// For a compaction or its store: the run of the night before.
const PREVIOUS_NIGHT: &str = "previous-night";
/// For a compaction or its store: all runs before.
const ALL_NIGHTS: &str = "all-nights";
const NIGHTS: [&str; 2] = [PREVIOUS_NIGHT, ALL_NIGHTS];

/// Runs the command.
pub(crate) fn run(args: ReportRunsArgs) -> Result<Ending> {
    block_on_thread(move |stop| {
        let stores = args.stores.stores();
        let mut runs = args.runs.iter().map(|path| place(path, &stores)).collect::<Result<Vec<Place>>>()?;
        let before = match &args.report.against {
            Some(word) if NIGHTS.contains(&&**word) => nights_of(&mut runs, word)?,
            Some(against) => vec![place(Path::new(against), &stores)?],
            // The last run is held against all runs before it.
            None if runs.len() > 1 && !args.together => {
                let after = runs.split_off(runs.len() - 1);
                std::mem::replace(&mut runs, after)
            }
            None => Vec::new(),
        };
        let thresholds = args.report.thresholds()?;
        if let (Some(name), true) = (thresholds.comparing(), before.is_empty()) {
            let message = "this compares a run with another; name two runs, or the other with --against RUN";
            return Err(Error::new(ErrorKind::Usage, format!("--{}", name.replace('_', "-")), message));
        }
        let (width, colours) = columns_and_colours(DEFAULT_WIDTH, false);
        let width = args.width.unwrap_or(width);
        check_targets(args.report.html.as_deref(), args.report.json.unwrap_or_default(), None)?;
        let request = Request {
            from: if args.exact { From::Tables } else { From::Sketches },
            settings: ReportSettings {
                json: args.report.json.unwrap_or_default(),
                html: args.report.html.clone(),
                no_texts: args.report.no_texts.unwrap_or_default(),
                price_per_million: args.report.price_per_million,
                calibration: args.report.calibration.clone(),
                against: None,
                thresholds,
            },
            shows: Some(Screen { width, colours, all: args.all }),
            stores: &stores,
            check: &|| check_stop(stop),
        };
        let is_over = request.answer(&before, &runs)?;
        Ok(if is_over { Ending::Threshold } else { Ending::Clean })
    })
}

/// Refuses a page that cannot be written where it is wanted, before the work.
fn check_targets(html: Option<&str>, json: bool, output: Option<&Place>) -> Result<()> {
    match html {
        Some("-") if json => Err(Error::new(ErrorKind::Usage, "--html -", pages::BOTH_ON_STDOUT)),
        Some(target) => pages::check(target, output),
        None => Ok(()),
    }
}

/// The nights before the last one of the store that `runs` is, which becomes the last one.
fn nights_of(runs: &mut Vec<Place>, word: &str) -> Result<Vec<Place>> {
    let usage = |place: String, message: &str| Error::new(ErrorKind::Usage, place, message);
    let [store] = &**runs else {
        return Err(usage(format!("--against {word}"), "this goes with one store of nightly runs"));
    };
    let place = store.to_string();
    let Some(mut nights) = runs_of_store(store)? else {
        return Err(usage(place, "this is no store of nightly runs, so it has no nights before"));
    };
    let last = nights.pop().filter(|_| !nights.is_empty());
    *runs = vec![last.ok_or_else(|| usage(place, "the store holds no two nights yet to compare"))?];
    Ok(latest(nights, word))
}

/// Those of the nights that `word` means.
fn latest(mut nights: Vec<Place>, word: &str) -> Vec<Place> {
    let n_kept = if word == PREVIOUS_NIGHT { 1 } else { nights.len() };
    nights.split_off(nights.len().saturating_sub(n_kept))
}

/// Refuses what a job could not report of its `run`, before the work. The run of a compaction may have any name.
pub(super) fn check_job(settings: &JobSettings, run: &Place, json: bool) -> Result<()> {
    let (report, kind, run) = (settings.report.clone(), settings.kind, run.clone());
    let shows = kind == JobKind::Report;
    if !shows && report.html.is_none() && report.thresholds.is_empty() {
        return Ok(());
    }
    let stores = stores_of(settings);
    block_on_thread(move |_| {
        let output = output_of(kind, &run).unwrap_or_else(|| run.clone());
        check_targets(report.html.as_deref(), shows && (json || report.json), Some(&output))?;
        calibration(&report, &stores)?;
        // A night of its own that is missing keeps no compaction from its work.
        let mut before = baseline(kind, &report, &run, &stores)?;
        before.retain(|place| !place.location().is_within(output.location()));
        for place in before {
            let is_there = match runs_of_store(&place)? {
                Some(runs) => !runs.is_empty(),
                None => Run::is_at(&place)?,
            };
            if !is_there {
                let message = "report.against: there is no finished run here, and no store with one";
                return Err(Error::new(ErrorKind::Usage, place.to_string(), message));
            }
        }
        Ok(())
    })
}

/// The store that the run of a compaction lies in, as STORE/runs/NIGHT.
fn output_of(kind: JobKind, run: &Place) -> Option<Place> {
    let store = run.as_local().and_then(|path| path.parent()?.parent());
    store.filter(|_| kind == JobKind::Compaction).map(Place::from)
}

/// Reports of a run that a job has just written: shows it when the job is a report, and holds it to the job's thresholds.
/// True when one of them is passed.
pub(super) fn of_job(settings: &JobSettings, run: &Place, json: bool) -> Result<bool> {
    let shows = settings.kind == JobKind::Report;
    let report = ReportSettings { json: json || settings.report.json, ..settings.report.clone() };
    if !shows && report.html.is_none() && report.thresholds.is_empty() {
        return Ok(false);
    }
    let (run, stores, kind) = (run.clone(), stores_of(settings), settings.kind);
    block_on_thread(move |stop| {
        let (width, colours) = columns_and_colours(DEFAULT_WIDTH, false);
        let request = Request {
            from: From::Sketches,
            settings: report,
            shows: shows.then_some(Screen { width, colours, all: false }),
            stores: &stores,
            check: &|| check_stop(stop),
        };
        let before = baseline(kind, &request.settings, &run, &stores)?;
        request.answer(&before, &[run])
    })
}

/// The runs that a job's run is compared with.
fn baseline(kind: JobKind, settings: &ReportSettings, run: &Place, stores: &Stores) -> Result<Vec<Place>> {
    let is_compaction = kind == JobKind::Compaction;
    let against = match settings.against.as_deref() {
        None if is_compaction && settings.thresholds.comparing().is_some() => ALL_NIGHTS,
        None => return Ok(Vec::new()),
        Some(against) => against,
    };
    let store = output_of(kind, run);
    let own = store.as_ref().and_then(Place::as_local);
    let is_own = own.is_some_and(|own| std::path::absolute(own).ok() == std::path::absolute(against).ok());
    if !is_compaction || !(is_own || NIGHTS.contains(&against)) {
        return Ok(vec![place(Path::new(against), stores)?]);
    }
    let mut nights = store.map(|store| runs_of_store(&store)).transpose()?.flatten().unwrap_or_default();
    nights.retain(|night| night != run);
    Ok(latest(nights, against))
}

/// What is asked for.
struct Request<'r> {
    from: From,
    settings: ReportSettings,
    /// Where the report is shown; `None` shows breaches only.
    shows: Option<Screen>,
    stores: &'r Stores,
    check: &'r dyn Fn() -> Result<()>,
}

impl Request<'_> {
    /// Reads both sides, shows what is to be shown, and tells whether a threshold is passed.
    fn answer(&self, before: &[Place], after: &[Place]) -> Result<bool> {
        let after = self.gather(after)?;
        if before.is_empty() {
            if let Some(name) = self.settings.thresholds.comparing() {
                message::note(&format!("there is no run yet to compare with, so {name} holds nothing"));
            }
            return self.report(after);
        }
        let before = self.gather(before)?;
        self.compare(before, after)
    }

    fn gather(&self, places: &[Place]) -> Result<Vec<Gathered>> {
        let mut gathered = Vec::new();
        for place in places {
            gathered.extend(gather(place, self.from, self.check)?);
        }
        Ok(gathered)
    }

    fn report(&self, gathered: Vec<Gathered>) -> Result<bool> {
        let calibration = calibration(&self.settings, self.stores)?;
        let (runs, told): (Vec<Run>, Vec<_>) =
            gathered.into_iter().map(|Gathered { run, facts, sketch }| (run, (facts, sketch))).unzip();
        let timings = timings_of(&runs).unwrap_or_else(|error| {
            message::note(&format!("what the jobs took is left out: {error}"));
            None
        });
        let document =
            ReportDocument { calibration, timings, ..ReportDocument::new(told, self.settings.price_per_million) };
        if let Some(target) = &self.settings.html {
            let texts = if self.settings.no_texts {
                Texts { left_out: true, ..Texts::default() }
            } else {
                pages::texts(&document, &runs, self.check)?
            };
            pages::write(target, &report_page(&document, &texts))?;
        }
        if let Some(screen) = self.shows {
            self.show(&document, || document.render(screen))?;
        }
        let thresholds: &Thresholds = &self.settings.thresholds;
        let found = breaches(thresholds, (&document.totals, &document.distributions), None);
        tell(&found);
        Ok(!found.is_empty())
    }

    fn compare(&self, before: Vec<Gathered>, after: Vec<Gathered>) -> Result<bool> {
        // A job looks at sketches only: every night would read all nights before it.
        let changes = self.shows.is_some().then(|| changes(&before, &after, self.check));
        let mut drift = DriftDocument::new(told(before), told(after));
        match changes {
            Some(Ok(changes)) => drift = drift.with_changes(changes),
            Some(Err(error)) if error.kind == ErrorKind::Interrupted => return Err(error),
            Some(Err(error)) => drift.notes.push(format!("conversations are not compared: {error}")),
            None => {}
        }
        let own: Vec<Distribution> = drift.figures.iter().filter_map(|of| of.after.clone()).collect();
        drift.breaches = breaches(&self.settings.thresholds, (&drift.after.totals, &own), Some(&drift));
        if let Some(screen) = self.shows {
            self.show(&drift, || drift.render(screen))?;
        }
        tell(&drift.breaches);
        if let Some(target) = &self.settings.html {
            pages::write(target, &drift_page(&drift))?;
        }
        Ok(!drift.breaches.is_empty())
    }

    fn show(&self, document: &impl Serialize, render: impl FnOnce() -> String) -> Result<()> {
        if self.settings.html.as_deref() == Some("-") {
            return Ok(());
        }
        if !self.settings.json {
            return message::result(&render());
        }
        let internal = |error| Error::new(ErrorKind::Internal, "", "the document is no JSON").because(error);
        message::json(&serde_json::to_value(document).map_err(internal)?)
    }
}

fn calibration(settings: &ReportSettings, stores: &Stores) -> Result<Option<Calibration>> {
    let Some(path) = &settings.calibration else { return Ok(None) };
    let file = place(Path::new(path), stores)?;
    let usage = |message| Error::new(ErrorKind::Usage, path, message);
    let bytes = file.read_all()?.ok_or_else(|| usage("there is no such file"))?;
    let wrong = |error| usage("this is no calibration as `condenser calibrate --json` writes it").because(error);
    serde_json::from_slice(&bytes).map(Some).map_err(wrong)
}

/// Says on stderr which thresholds are passed.
fn tell(breaches: &[Breach]) {
    for breach in breaches {
        message::note(&format!("over {}: {}", breach.threshold, breach.message));
    }
}

/// What the runs took, those that were told to take the time.
fn timings_of(runs: &[Run]) -> Result<Option<Timings>> {
    let mut sum: Option<Timings> = None;
    for run in runs {
        if let Some(timings) = run.timings()? {
            sum.get_or_insert_default().add(&timings);
        }
    }
    Ok(sum)
}

fn told(gathered: Vec<Gathered>) -> Vec<(RunFacts, Sketch)> {
    gathered.into_iter().map(|Gathered { facts, sketch, .. }| (facts, sketch)).collect()
}
