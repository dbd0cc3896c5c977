//! Nightly compaction: what is new or has changed becomes a run of its own in the store, and then stands in the
//! ledger. A run that was stopped is continued first.

use std::path::Path;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::{Place, Stores};
use condenser::io::{Begun, Input, Selection, Store};
use condenser::pipeline::{JobSettings, Outcome};
use condenser::report::numbers::counted;
use condenser::text::WordStatistics;

use super::end::Told;
use super::{Ending, block_on, compress, inputs_of, message, report};

/// Takes in what is there tonight.
pub(super) fn run(settings: &JobSettings, place: &Place, stores: &Stores) -> Result<Ending> {
    report::check_job(settings, &place.join("runs").join("night"), false)?;
    let inputs = inputs_of(&settings.inputs, stores, settings.quiet)?;
    compress::refuse_inside(&inputs, place)?;
    let settings = &with_replies(settings, local(place)?);
    let mut night = Night { settings, stores, store: Store::open(local(place)?)?, ending: Ending::Clean };
    if let Some(begun) = night.store.begun()? {
        night.go_on(&begun, &inputs)?;
    }
    let Selection { take, n_changed, n_unchanged, unreadable } = night.store.select(inputs)?;
    for error in &unreadable {
        message::error(error);
    }
    if !settings.quiet {
        message::note(&tell(&take, n_changed, n_unchanged));
    }
    if !take.is_empty() {
        let name = night.store.next_run(settings.run_name.as_deref())?;
        night.run(&name, take)?;
    }
    Ok(if unreadable.is_empty() { night.ending } else { Ending::Failed })
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
        Error::new(
            ErrorKind::Usage,
            place.to_string(),
            "a compaction store lies on a disk; only its inputs may be remote",
        )
    })
}

struct Night<'s> {
    settings: &'s JobSettings,
    stores: &'s Stores,
    store: Store,
    ending: Ending,
}

impl Night<'_> {
    /// Continues a run that was stopped, or says why that cannot be.
    fn go_on(&mut self, begun: &Begun, inputs: &[Input]) -> Result<()> {
        if begun.is_complete {
            return self.enter(&begun.name);
        }
        let planned = begun.plan.inputs.iter();
        let inputs: Vec<Input> =
            planned.filter_map(|planned| inputs.iter().find(|input| input.name == planned.source).cloned()).collect();
        let (_, plan) = compress::plan(self.settings, inputs.clone())?;
        let differences = begun.plan.differences(&plan);
        if differences.is_empty() {
            return self.run(&begun.name, inputs);
        }
        if !self.settings.quiet {
            let path = self.store.run_path(&begun.name);
            message::note(&format!(
                "{} was not finished and cannot be: {}; nothing refers to it, it may be removed",
                path.display(),
                differences.join("; ")
            ));
        }
        Ok(())
    }

    fn run(&mut self, name: &str, inputs: Vec<Input>) -> Result<()> {
        let run = Place::from(self.store.run_path(name));
        let make = |words: Option<&WordStatistics>| compress::engine(self.settings, words);
        let outcome: Outcome = compress::into_run(self.settings, &make, inputs, &run, None)?;
        let ending = Told::of(self.settings).end(&self.settings.options, &outcome, Some(&run));
        // A night over a threshold says more than one with rejects.
        self.ending = if ending as u8 > self.ending as u8 { ending } else { self.ending };
        self.enter(name)
    }

    fn enter(&mut self, name: &str) -> Result<()> {
        let left_out = block_on(self.store.enter(name, self.stores))?;
        for source in left_out {
            message::note(&format!("{source} was written while it was read; the next run takes it again"));
        }
        if !self.settings.quiet {
            message::note(&format!("{} is complete and in the ledger", self.store.run_path(name).display()));
        }
        if report::of_job(self.settings, &Place::from(self.store.run_path(name)), false)? {
            self.ending = Ending::Threshold;
        }
        Ok(())
    }
}
