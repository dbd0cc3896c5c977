//! Nightly compaction: what is new or has changed becomes a run of its own in the store, and then stands in the
//! ledger. A run that was stopped is continued first.

use super::compress::{Call, into_run, prepared};
use super::gather::figures_of_night;
use super::inputs::{inputs_or, refuse_around, refuse_inside};
use super::outcome::RunOutcome;
use super::report::{ReportOutcome, check_report_of_job, report_of_job};
use super::{App, stores_of};
use crate::error::{Error, Result};
use crate::io::store::{Place, Stores};
use crate::io::{Begun, Input, Selection, SourceNames, Store, sweep_locks};
use crate::pipeline::{JobOptions, JobSettings, MERGED, News, NightFigures, Observer};
use crate::report::numbers::counted;

/// What happens in a night, as it happens.
#[derive(Debug)]
pub enum NightNews<'n> {
    /// A run was written.
    Ran(&'n RunOutcome),
    /// A run stands in the ledger now.
    Entered(Place),
    /// What it came to.
    CameTo(&'n NightFigures),
    /// What the job reports of it.
    Reported(ReportOutcome),
}

/// Takes in what is there tonight; `told` hears of each step, and its error ends the work. Gives the number of inputs that
/// could not be read.
pub fn compact(app: &App, call: &Call<'_>, told: &mut dyn FnMut(NightNews<'_>) -> Result<()>) -> Result<usize> {
    if call.shard.is_some() || call.is_fresh {
        let message = "--shard and --fresh do not go with a compaction: every call is a run of its own in the store";
        return Err(Error::usage("", message));
    }
    let place = call.place()?;
    refuse_around(&call.settings.inputs, &place)?;
    check_report_of_job(call.settings, &place.join("runs").join("night"))?;
    let told_of = |nothing: &str| call.observer.news(News::Warning(nothing));
    let nothing = &mut |nothing| outlived(&place, nothing, &mut |line| told_of(&line));
    let inputs = inputs_or(app, &call.settings.inputs, &stores_of(call.settings), &*call.observer, nothing)?;
    refuse_inside(&call.settings.inputs, &inputs, &place)?;
    let settings = &as_of_now(with_replies(call.settings, &place));
    let call = Call { settings, ..call.clone() };
    let mut nights = Nights { app, call, store: app.wait(Store::open(&place))?, told };
    if let Some(begun) = nights.store.begun()? {
        nights.go_on(&begun, &inputs)?;
    }
    let mut selection = nights.store.select(inputs, &settings.options)?;
    let observer = nights.call.observer.clone();
    for error in &mut selection.unreadable {
        error.hint = error.hint.or(Some("the other logs are taken; the next night takes this one when it is whole"));
        observer.news(News::Failure(error));
    }
    let mut take = selection.take.clone();
    take.extend(nights.aged(&settings.options, &take)?);
    observer.news(News::Note(&tell(&selection, &take)));
    if !take.is_empty() {
        let name = nights.store.next_run(settings.run_name.as_deref())?;
        nights.run(&name, take)?;
    }
    app.wait(nights.store.index())?;
    // What is there tonight is safe; but what the store had is not all there.
    nights.store.check_documents()?;
    Ok(selection.unreadable.len())
}

/// Tells that an input of a job stands for `nothing`: a store that has nights may have outlived its logs.
///
/// # Errors
/// `nothing` when there is no such store.
pub(super) fn outlived(store: &Place, nothing: Error, told: &mut dyn FnMut(String)) -> Result<()> {
    if !Store::is_at(store)? {
        return Err(nothing);
    }
    told(format!("no logs were found: {nothing}"));
    Ok(())
}

/// The job with a place for replies that all nights share.
fn with_replies(settings: &JobSettings, store: &Place) -> JobSettings {
    let mut settings = settings.clone();
    if let Some(llm) = settings.llm.as_mut().filter(|llm| llm.cache.is_none()) {
        llm.cache = Some(store.join("llm").location().to_string());
    }
    settings
}

/// The job with the moment as of which conversations are so old.
fn as_of_now(mut settings: JobSettings) -> JobSettings {
    settings.options.ages = settings.ages.and_then(|rules| rules.at(now()));
    settings
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether a conversation may go on needs a clock; the plan of the night says as of when"
)]
fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// What tonight's run would take, for a dry run.
pub(super) fn tonight(
    place: &Place,
    settings: &JobSettings,
    inputs: Vec<Input>,
    lines: &mut Vec<String>,
) -> Result<Vec<Input>> {
    let store = Store::look(place)?;
    lines.extend(store.lost()?.iter().map(ToString::to_string));
    let selection = store.select(inputs, &settings.options)?;
    lines.push(tell(&selection, &[]));
    lines.extend(selection.unreadable.iter().map(ToString::to_string));
    Ok(selection.take)
}

fn tell(selection: &Selection, take: &[Input]) -> String {
    let Selection { take: logs, n_grown, n_changed, n_unchanged, .. } = selection;
    let unchanged = counted(*n_unchanged as u64, "unchanged file");
    let n_older: usize = take.iter().map(|input| input.looks_again.len()).sum();
    let older = match n_older {
        0 => String::new(),
        n => format!(", {} looked at again", counted(n as u64, "older conversation")),
    };
    format!("{} new, {n_grown} grown, {n_changed} changed, {unchanged}{older}", logs.len() - n_grown - n_changed)
}

/// Enters the last run when it is complete and no night has it: a job was stopped right before.
pub(super) fn enter_complete(app: &App, store: &mut Store, stores: &Stores, observer: &dyn Observer) -> Result<()> {
    let Some(begun) = store.begun()?.filter(|begun| begun.is_complete && !begun.name.ends_with(MERGED)) else {
        return Ok(());
    };
    let names = SourceNames::of_store(stores, store, begun.plan.inputs.iter().map(|planned| &*planned.source))?;
    sweep_locks(&store.run_path(&begun.name))?;
    let run = enter(app, store, &begun.name, &names, observer)?;
    observer.news(News::Note(&format!("{run} was complete, and no night had it: it is in the store now")));
    Ok(())
}

/// Writes down the night of the complete run `name`; gives its place.
fn enter(app: &App, store: &mut Store, name: &str, names: &SourceNames, observer: &dyn Observer) -> Result<Place> {
    let (run, before) = (store.run_path(name), store.runs().pop());
    let figures = figures_of_night(&run, before.as_ref(), &|| app.stop.check())?;
    for source in app.wait(store.enter(name, names, figures))? {
        let message = format!("{source} was written while it was read; the next run takes it again");
        observer.news(News::Warning(&message));
    }
    Ok(run)
}

struct Nights<'s, 'c> {
    app: &'s App,
    call: Call<'c>,
    store: Store,
    told: &'s mut dyn FnMut(NightNews<'_>) -> Result<()>,
}

impl Nights<'_, '_> {
    /// Continues a run that was stopped, or says why that cannot be.
    fn go_on(&mut self, begun: &Begun, inputs: &[Input]) -> Result<()> {
        if begun.name.ends_with(MERGED) {
            let run = self.store.run_path(&begun.name);
            let message =
                format!("{run} is of a merge that was stopped, and no night; `condenser merge` goes on with it");
            self.call.observer.news(News::Note(&message));
            return Ok(());
        }
        if begun.is_complete {
            sweep_locks(&self.store.run_path(&begun.name))?;
            return self.enter(&begun.name);
        }
        let planned = begun.plan.inputs.iter().filter(|planned| planned.looks_again.is_empty());
        let inputs: Vec<Input> =
            planned.filter_map(|planned| inputs.iter().find(|input| input.name == planned.source).cloned()).collect();
        // They go on from where they went on then, as long as they are as they were, and as of the same moment.
        let mut settings = self.call.settings.clone();
        settings.options.ages = begun.plan.options.ages;
        let mut inputs = self.store.select(inputs, &settings.options)?.take;
        inputs.extend(self.aged(&settings.options, &inputs)?);
        for input in &mut inputs {
            input.is_dated = settings.options.ages.is_some();
        }
        let run = self.store.run_path(&begun.name);
        let observer = &*self.call.observer;
        let (_, _, plan) = prepared(&settings, inputs.clone(), &[run], Some(&self.store), observer)?;
        let differences = begun.plan.differences(&plan);
        if differences.is_empty() {
            let call = Call { settings: &settings, ..self.call.clone() };
            let outcome = into_run(self.app, &call, inputs, &self.store.run_path(&begun.name), Some(&self.store))?;
            (self.told)(NightNews::Ran(&outcome))?;
            return self.enter(&begun.name);
        }
        self.call.observer.news(News::Note(&format!(
            "{} was not finished and cannot be: {}; nothing refers to it, and `condenser merge` with --yes deletes it",
            self.store.run_path(&begun.name),
            differences.join("; ")
        )));
        Ok(())
    }

    /// Conversations that are older by now than when they were compacted last.
    fn aged(&self, options: &JobOptions, taken: &[Input]) -> Result<Vec<Input>> {
        options.ages.as_ref().map_or(Ok(Vec::new()), |ages| self.store.aged(ages, taken))
    }

    fn run(&mut self, name: &str, mut inputs: Vec<Input>) -> Result<()> {
        for input in &mut inputs {
            input.is_dated = self.call.settings.options.ages.is_some();
        }
        let run = self.store.run_path(name);
        let outcome = into_run(self.app, &self.call, inputs, &run, Some(&self.store))?;
        (self.told)(NightNews::Ran(&outcome))?;
        self.enter(name)
    }

    fn enter(&mut self, name: &str) -> Result<()> {
        let settings = self.call.settings;
        let names = SourceNames::of_job(&stores_of(settings));
        let path = enter(self.app, &mut self.store, name, &names, &*self.call.observer)?;
        (self.told)(NightNews::Entered(path.clone()))?;
        if let Some(figures) = self.store.figures().last().filter(|figures| figures.run == name) {
            (self.told)(NightNews::CameTo(figures))?;
        }
        match report_of_job(self.app, settings, &path, &*self.call.observer)? {
            Some(report) => (self.told)(NightNews::Reported(report)),
            None => Ok(()),
        }
    }
}
