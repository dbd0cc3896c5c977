//! Nightly compaction: what is new or has changed becomes a run of its own in the store, and then stands in the
//! ledger. A run that was stopped is continued first.

use std::path::{Path, PathBuf};

use super::compress::{Call, into_run, prepared};
use super::inputs::refuse_inside;
use super::outcome::RunOutcome;
use super::report::{ReportOutcome, check_report_of_job, report_of_job};
use super::{App, inputs_of, stores_of};
use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::io::{Begun, Input, Selection, Store, runs_of_store, sweep_locks};
use crate::pipeline::{JobSettings, News};
use crate::report::numbers::counted;

/// What happens in a night, as it happens.
#[derive(Debug)]
pub enum Night<'n> {
    /// A run was written.
    Ran(&'n RunOutcome),
    /// A run stands in the ledger now.
    Entered(PathBuf),
    /// What the job reports of it.
    Reported(ReportOutcome),
}

/// Takes in what is there tonight; `told` hears of each step, and its error ends the work. Gives the number of inputs that
/// could not be read.
pub fn compact(app: &App, call: &Call<'_>, told: &mut dyn FnMut(Night<'_>) -> Result<()>) -> Result<usize> {
    if call.shard.is_some() || call.is_fresh {
        let message = "--shard and --fresh do not go with a compaction: every call is a run of its own in the store";
        return Err(Error::usage("", message));
    }
    let place = call.place()?;
    check_report_of_job(call.settings, &place.join("runs").join("night"))?;
    let inputs = inputs_of(app, &call.settings.inputs, &stores_of(call.settings), &*call.observer)?;
    refuse_inside(&call.settings.inputs, &inputs, &place)?;
    let settings = &with_replies(call.settings, local(&place)?);
    let call = Call { settings, ..call.clone() };
    let mut nights = Nights { app, call, store: Store::open(local(&place)?)?, told };
    if let Some(begun) = nights.store.begun()? {
        nights.go_on(&begun, &inputs)?;
    }
    let Selection { take, n_changed, n_unchanged, unreadable } = nights.store.select(inputs)?;
    let observer = nights.call.observer.clone();
    for error in &unreadable {
        observer.news(News::Failure(error));
    }
    observer.news(News::Note(&tell(&take, n_changed, n_unchanged)));
    if !take.is_empty() {
        let name = nights.store.next_run(settings.run_name.as_deref())?;
        nights.run(&name, take)?;
    }
    Ok(unreadable.len())
}

/// The job with a place for replies that all nights share.
fn with_replies(settings: &JobSettings, store: &Path) -> JobSettings {
    let mut settings = settings.clone();
    if let Some(llm) = settings.llm.as_mut().filter(|llm| llm.cache.is_none()) {
        llm.cache = Some(store.join("llm").to_string_lossy().into_owned());
    }
    settings
}

/// What tonight's run would take, for a dry run.
pub(super) fn tonight(place: &Place, inputs: Vec<Input>, lines: &mut Vec<String>) -> Result<Vec<Input>> {
    let Selection { take, n_changed, n_unchanged, unreadable } = Store::look(local(place)?)?.select(inputs)?;
    lines.push(tell(&take, n_changed, n_unchanged));
    lines.extend(unreadable.iter().map(ToString::to_string));
    Ok(take)
}

fn tell(take: &[Input], n_changed: usize, n_unchanged: usize) -> String {
    let unchanged = counted(n_unchanged as u64, "unchanged file");
    format!("{} new, {n_changed} changed, {unchanged}", take.len() - n_changed)
}

/// The ledger is written by one process at a time, which takes a lock of a file system.
fn local(place: &Place) -> Result<&Path> {
    place.as_local().ok_or_else(|| {
        Error::usage(place.to_string(), "a compaction store lies on a disk; only its inputs may be remote")
    })
}

struct Nights<'s, 'c> {
    app: &'s App,
    call: Call<'c>,
    store: Store,
    told: &'s mut dyn FnMut(Night<'_>) -> Result<()>,
}

impl Nights<'_, '_> {
    /// Continues a run that was stopped, or says why that cannot be.
    fn go_on(&mut self, begun: &Begun, inputs: &[Input]) -> Result<()> {
        if begun.is_complete {
            sweep_locks(&Place::from(self.store.run_path(&begun.name)))?;
            return self.enter(&begun.name);
        }
        let planned = begun.plan.inputs.iter();
        let inputs: Vec<Input> =
            planned.filter_map(|planned| inputs.iter().find(|input| input.name == planned.source).cloned()).collect();
        let run = Place::from(self.store.run_path(&begun.name));
        let (_, _, plan) = prepared(self.call.settings, inputs.clone(), &[run], &*self.call.observer)?;
        let differences = begun.plan.differences(&plan);
        if differences.is_empty() {
            return self.run(&begun.name, inputs);
        }
        let path = self.store.run_path(&begun.name);
        self.call.observer.news(News::Note(&format!(
            "{} was not finished and cannot be: {}; nothing refers to it, it may be removed",
            path.display(),
            differences.join("; ")
        )));
        Ok(())
    }

    fn run(&mut self, name: &str, inputs: Vec<Input>) -> Result<()> {
        let run = Place::from(self.store.run_path(name));
        // A store settles once.
        let mut earlier = runs_of_store(&self.call.place()?)?.unwrap_or_default();
        earlier.reverse();
        let outcome = into_run(self.app, &self.call, inputs, (&run, &earlier))?;
        (self.told)(Night::Ran(&outcome))?;
        self.enter(name)
    }

    fn enter(&mut self, name: &str) -> Result<()> {
        let settings = self.call.settings;
        let left_out = self.app.wait(self.store.enter(name, &stores_of(settings)))?;
        for source in left_out {
            let message = format!("{source} was written while it was read; the next run takes it again");
            self.call.observer.news(News::Warning(&message));
        }
        let path = self.store.run_path(name);
        (self.told)(Night::Entered(path.clone()))?;
        match report_of_job(self.app, settings, &Place::from(path), &*self.call.observer)? {
            Some(report) => (self.told)(Night::Reported(report)),
            None => Ok(()),
        }
    }
}
