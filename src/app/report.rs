//! Reports of runs, and what jobs report of theirs: figures, or the drift from other runs, held against thresholds. Knows
//! what is asked for, not how it is read or shown.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::gather::{From, Gathered, changes, gather};
use super::pages::{BOTH_ON_STDOUT, check_page, page_for, spare, texts, write_tables};
use super::reading::{OnMerge, reading, tell_lost};
use super::{App, place, stores_of};
use crate::error::{Error, ErrorKind, Result};
use crate::io::store::{Place, Stores};
use crate::io::{Run, Store};
use crate::pipeline::sketch::Sketch;
use crate::pipeline::{JobKind, JobSettings, Merge, News, NightFigures, Observer, ReportArgs, Timings};
use crate::report::html::{Texts, drift_page, report_page};
use crate::report::{
    Breach, Calibration, Distribution, DriftDocument, Price, ReportDocument, RunFacts, breaches, unmeasured,
};

/// For a compaction or its store: the run of the night before.
const PREVIOUS_NIGHT: &str = "previous-night";
/// For a compaction or its store: all runs before.
const ALL_NIGHTS: &str = "all-nights";
const NIGHTS: [&str; 2] = [PREVIOUS_NIGHT, ALL_NIGHTS];

/// A report that somebody asks for.
#[derive(Debug, Clone)]
pub struct ReportRequest {
    /// Runs, or stores of nights; of several the last is compared with all before it.
    pub runs: Vec<PathBuf>,
    /// Whether they are all taken together instead.
    pub together: bool,
    /// Whether figures come from the tables, and not from the sketches of the parts.
    pub exact: bool,
    /// What is shown and held against what.
    pub settings: ReportArgs,
    /// Where runs lie.
    pub stores: Stores,
}

/// What a report says.
#[derive(Debug)]
pub struct ReportOutcome {
    /// What is shown; `None` where only thresholds were asked for.
    pub document: Option<Reported>,
    /// The page for the caller, when it goes to no file.
    pub page: Option<String>,
    /// The thresholds that are passed.
    pub breaches: Vec<Breach>,
}

/// One of the two documents.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reported {
    /// Of one run, or several together.
    Report(Box<ReportDocument>),
    /// From one side to another.
    Drift(Box<DriftDocument>),
}

/// Reports of runs.
pub fn report(app: &App, request: &ReportRequest, observer: &dyn Observer) -> Result<ReportOutcome> {
    let runs = request.runs.iter().map(|path| place(path, &request.stores)).collect::<Result<Vec<Place>>>()?;
    reading(&runs, OnMerge::Begin, &mut || report_of(app, request, runs.clone(), observer))
}

fn report_of(
    app: &App,
    request: &ReportRequest,
    mut runs: Vec<Place>,
    observer: &dyn Observer,
) -> Result<ReportOutcome> {
    let stores = &request.stores;
    let before = match &request.settings.against {
        Some(word) if NIGHTS.contains(&&**word) => nights_of(&mut runs, word, observer)?,
        Some(against) => vec![place(Path::new(against), stores)?],
        // The last run is held against all runs before it.
        None if runs.len() > 1 && !request.together => {
            let after = runs.split_off(runs.len() - 1);
            std::mem::replace(&mut runs, after)
        }
        None => Vec::new(),
    };
    if let (Some(name), true) = (request.settings.comparing(), before.is_empty()) {
        let message = "this compares a run with another; name two runs, or the other with --against RUN";
        return Err(Error::new(ErrorKind::Usage, format!("--{}", name.replace('_', "-")), message));
    }
    let read: Vec<Place> = before.iter().chain(&runs).cloned().collect();
    check_targets(&request.settings, request.settings.is_json(), None, &read)?;
    let from = if request.exact { From::Tables } else { From::Sketches };
    let store = if let [place] = &*runs { Store::find(place)? } else { None };
    if let Some(store) = &store {
        tell_lost(store, observer)?;
    }
    let nights = store.iter().flat_map(Store::figures).cloned().collect();
    let asked = Asked { app, observer, from, settings: &request.settings, is_shown: true, stores, nights };
    asked.answer(&before, &runs)
}

/// Refuses what cannot be written where it is wanted, before the work.
fn check_targets(report: &ReportArgs, json: bool, output: Option<&Place>, read: &[Place]) -> Result<()> {
    let targets = [("--html -", &report.html), ("--markdown -", &report.markdown)];
    if let Some(folder) = report.csv.as_deref().filter(|folder| ["", "-"].contains(folder)) {
        return Err(Error::new(ErrorKind::Usage, format!("--csv {folder}"), "name a folder for the tables"));
    }
    let on_stdout: Vec<&str> =
        targets.iter().filter(|(_, target)| target.as_deref() == Some("-")).map(|(flag, _)| *flag).collect();
    if on_stdout.len() + usize::from(json) > 1 {
        return Err(Error::new(ErrorKind::Usage, on_stdout.join(" "), BOTH_ON_STDOUT));
    }
    report.csv.iter().try_for_each(|folder| spare(folder, read))?;
    let files = targets.into_iter().filter_map(|(_, target)| target.as_deref());
    files.into_iter().try_for_each(|target| check_page(target, output, read))
}

/// The nights before the last one of the store that `runs` is, which becomes the last one.
fn nights_of(runs: &mut Vec<Place>, word: &str, observer: &dyn Observer) -> Result<Vec<Place>> {
    let usage = |place: String, message: &str| Error::new(ErrorKind::Usage, place, message);
    let [store] = &**runs else {
        return Err(usage(format!("--against {word}"), "this goes with one store of nightly runs"));
    };
    let place = store.to_string();
    let Some(store) = Store::find(store)? else {
        return Err(usage(place, "this is no store of nightly runs, so it has no nights before"));
    };
    tell_lost(&store, observer)?;
    let mut nights = store.runs();
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
pub fn check_report_of_job(settings: &JobSettings, run: &Place) -> Result<()> {
    let (report, kind) = (&settings.report, settings.kind);
    let is_shown = kind == JobKind::Report;
    if !is_shown && !report.is_written() && !report.has_thresholds() {
        return Ok(());
    }
    let stores = stores_of(settings);
    let output = output_of(kind, run).unwrap_or_else(|| run.clone());
    check_targets(report, is_shown && report.is_json(), Some(&output), &[])?;
    calibration(report, &stores)?;
    // A night of its own that is missing keeps no compaction from its work.
    let mut before = baseline(kind, report, run, &stores)?;
    before.retain(|place| !place.location().is_within(output.location()));
    for place in before {
        let is_there = match Store::find(&place)?.map(|store| store.runs()) {
            Some(runs) => !runs.is_empty(),
            None => Run::is_at(&place)?,
        };
        if !is_there {
            let message = "report.against: there is no finished run here, and no store with one";
            return Err(Error::new(ErrorKind::Usage, place.to_string(), message));
        }
    }
    Ok(())
}

/// The store that the run of a compaction lies in, as STORE/runs/NIGHT.
fn output_of(kind: JobKind, run: &Place) -> Option<Place> {
    let store = run.as_local().and_then(|path| path.parent()?.parent());
    store.filter(|_| kind == JobKind::Compaction).map(Place::from)
}

/// Reports of a run that a job has just written: shows it when the job is a report, and holds it to the job's thresholds;
/// `None` when nothing is asked for.
pub fn report_of_job(
    app: &App,
    settings: &JobSettings,
    run: &Place,
    observer: &dyn Observer,
) -> Result<Option<ReportOutcome>> {
    let is_shown = settings.kind == JobKind::Report;
    let report = &settings.report;
    if !is_shown && !report.is_written() && !report.has_thresholds() {
        return Ok(None);
    }
    let stores = &stores_of(settings);
    let asked = Asked { app, observer, from: From::Sketches, settings: report, is_shown, stores, nights: Vec::new() };
    let before = baseline(settings.kind, report, run, stores)?;
    asked.answer(&before, std::slice::from_ref(run)).map(Some)
}

/// The runs that a job's run is compared with.
fn baseline(kind: JobKind, settings: &ReportArgs, run: &Place, stores: &Stores) -> Result<Vec<Place>> {
    let is_compaction = kind == JobKind::Compaction;
    let against = match settings.against.as_deref() {
        None if is_compaction && settings.comparing().is_some() => ALL_NIGHTS,
        None => return Ok(Vec::new()),
        Some(against) => against,
    };
    let store = output_of(kind, run);
    let own = store.as_ref().and_then(Place::as_local);
    let is_own = own.is_some_and(|own| std::path::absolute(own).ok() == std::path::absolute(against).ok());
    if !is_compaction || !(is_own || NIGHTS.contains(&against)) {
        return Ok(vec![place(Path::new(against), stores)?]);
    }
    let found = store.map(|store| Store::find(&store)).transpose()?.flatten();
    let mut nights = found.map(|store| store.runs()).unwrap_or_default();
    nights.retain(|night| night != run);
    Ok(latest(nights, against))
}

/// What is asked for.
struct Asked<'r> {
    app: &'r App,
    observer: &'r dyn Observer,
    from: From,
    settings: &'r ReportArgs,
    /// Whether there is a document beside the breaches.
    is_shown: bool,
    stores: &'r Stores,
    /// Of a store, what its nights came to.
    nights: Vec<NightFigures>,
}

impl Asked<'_> {
    /// Reads both sides and says what there is to say.
    fn answer(&self, before: &[Place], after: &[Place]) -> Result<ReportOutcome> {
        let after = self.gather(after)?;
        if !before.is_empty() {
            let before = self.gather(before)?;
            return self.compare(before, after);
        }
        if let Some(name) = self.settings.comparing() {
            let message = format!("there is no run yet to compare with, so {name} holds nothing");
            self.observer.news(News::Warning(&message));
        }
        self.report(after)
    }

    /// Tells of floors that no figure can be below, as no conversation has it.
    fn tell_unmeasured(&self, distributions: &[Distribution]) {
        for name in unmeasured(self.settings, distributions) {
            let message = format!("no conversation has the figure {name}, so its floor holds nothing");
            self.observer.news(News::Warning(&message));
        }
    }

    fn check(&self) -> Result<()> {
        self.app.stop.check()
    }

    fn gather(&self, places: &[Place]) -> Result<Vec<Gathered>> {
        let mut gathered = Vec::new();
        for place in places {
            gathered.extend(gather(place, self.from, &|| self.check())?);
        }
        Ok(gathered)
    }

    fn report(&self, gathered: Vec<Gathered>) -> Result<ReportOutcome> {
        let calibration = calibration(self.settings, self.stores)?;
        let (runs, told): (Vec<Run>, Vec<_>) =
            gathered.into_iter().map(|Gathered { run, facts, sketch }| (run, (facts, sketch))).unzip();
        let timings = timings_of(&runs).unwrap_or_else(|error| {
            self.observer.news(News::Warning(&format!("what the jobs took is left out: {error}")));
            None
        });
        let nights = self.nights.clone();
        let document = ReportDocument {
            nights,
            timings,
            calibration,
            title: self.settings.title.clone(),
            made: Some(today()),
            ..ReportDocument::new(told, price(self.settings))
        };
        let page = page_for(self.settings.html.as_deref(), || {
            let texts = if self.settings.no_texts == Some(true) {
                Texts { left_out: true, ..Texts::default() }
            } else {
                texts(&document, &runs, &|| self.check(), self.observer)?
            };
            Ok(report_page(&document, &texts))
        })?;
        let page = page.or(self.further(|| document.to_markdown(), || document.tables())?);
        self.tell_unmeasured(&document.distributions);
        let breaches = breaches(self.settings, (&document.totals, &document.distributions), None);
        let document = self.is_shown.then(|| Reported::Report(Box::new(document)));
        Ok(ReportOutcome { document, page, breaches })
    }

    /// Writes what is wanted beside the page; gives the Markdown back when it goes to no file.
    fn further(
        &self,
        markdown: impl FnOnce() -> String,
        tables: impl FnOnce() -> Vec<(String, String)>,
    ) -> Result<Option<String>> {
        if let Some(folder) = &self.settings.csv {
            write_tables(folder, &tables())?;
        }
        page_for(self.settings.markdown.as_deref(), || Ok(markdown()))
    }

    fn compare(&self, before: Vec<Gathered>, after: Vec<Gathered>) -> Result<ReportOutcome> {
        // A job looks at sketches only: every night would read all nights before it.
        let changes = self.is_shown.then(|| changes(&before, &after, &|| self.check()));
        let mut drift = DriftDocument::new(told(before), told(after));
        match changes {
            Some(Ok(changes)) => drift = drift.with_changes(changes),
            Some(Err(error)) if error.kind == ErrorKind::Interrupted => return Err(error),
            Some(Err(error)) => drift.notes.push(format!("conversations are not compared: {error}")),
            None => {}
        }
        let own: Vec<Distribution> = drift.figures.iter().filter_map(|of| of.after.clone()).collect();
        self.tell_unmeasured(&own);
        drift.breaches = breaches(self.settings, (&drift.after.totals, &own), Some(&drift));
        (drift.title, drift.made) = (self.settings.title.clone(), Some(today()));
        let page = page_for(self.settings.html.as_deref(), || Ok(drift_page(&drift)))?;
        let page = page.or(self.further(|| drift.to_markdown(), || drift.tables())?);
        let breaches = drift.breaches.clone();
        let document = self.is_shown.then(|| Reported::Drift(Box::new(drift)));
        Ok(ReportOutcome { document, page, breaches })
    }
}

/// The price that was given, in US dollars unless another currency was named.
fn price(settings: &ReportArgs) -> Option<Price> {
    let currency = || settings.currency.clone().unwrap_or_else(|| "USD".to_owned());
    settings.price_per_million.map(|per_million_tokens| Price { per_million_tokens, currency: currency() })
}

/// The day, in UTC.
#[expect(clippy::disallowed_methods, reason = "a report says when it was made; no other output does")]
fn today() -> String {
    chrono::DateTime::<chrono::Utc>::from(SystemTime::now()).format("%Y-%m-%d").to_string()
}

fn calibration(settings: &ReportArgs, stores: &Stores) -> Result<Option<Calibration>> {
    let Some(path) = &settings.calibration else { return Ok(None) };
    let file = place(Path::new(path), stores)?;
    let usage = |message| Error::new(ErrorKind::Usage, path, message);
    let bytes = file.read_all()?.ok_or_else(|| usage("there is no such file"))?;
    let wrong = |error| usage("this is no calibration as `condenser calibrate --json` writes it").because(error);
    serde_json::from_slice(&bytes).map(Some).map_err(wrong)
}

/// What the runs took, those that were told to take the time.
fn timings_of(runs: &[Run]) -> Result<Option<Timings>> {
    let mut sum: Option<Timings> = None;
    for run in runs {
        if let Some(timings) = run.timings()? {
            sum.get_or_insert_default().absorb(&timings);
        }
    }
    Ok(sum)
}

fn told(gathered: Vec<Gathered>) -> Vec<(RunFacts, Sketch)> {
    gathered.into_iter().map(|Gathered { facts, sketch, .. }| (facts, sketch)).collect()
}
