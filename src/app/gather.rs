//! Reads what a report is made of: of each run its facts and the merged sketch of its parts, from the commits where they
//! carry one, else from the tables. Knows runs and stores; refuses to know what is shown of them.

use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::io::{Run, Store, of_night};
use crate::model::{EngineOptions, changes as differences, changes_label};
use crate::pipeline::sketch::{DecisionTally, Sketch, ratio};
use crate::pipeline::{Commit, JobOptions, Merge, NightFigures};
use crate::report::{ChangeFinder, Changes, DriftDocument, RunFacts};
use arrow::record_batch::RecordBatch;
use serde_json::Value;

/// A run that was read.
#[derive(Debug)]
pub(super) struct Gathered {
    /// The run, without the sketches of its commits.
    pub(super) run: Run,
    /// What it is.
    pub(super) facts: RunFacts,
    /// What its parts told.
    pub(super) sketch: Sketch,
}

/// From where figures are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The commits, where they carry sketches.
    Sketches,
    /// The tables, in any case.
    Tables,
}

/// Reads the runs at `place`: the run that it is, or all runs of the store that it is. `check` is asked between two
/// parts and ends the work with its error.
pub(super) fn gather(place: &Place, from: From, check: &dyn Fn() -> Result<()>) -> Result<Vec<Gathered>> {
    let Some(store) = Store::find(place)? else { return Ok(vec![gather_run(place, from, check)?]) };
    let runs = store.runs();
    if runs.is_empty() {
        return Err(Error::usage(place.to_string(), "the store holds no run yet"));
    }
    runs.iter().map(|run| gather_night(run, from, check)).collect()
}

/// Reads the run of a night.
fn gather_night(place: &Place, from: From, check: &dyn Fn() -> Result<()>) -> Result<Gathered> {
    gather_run(place, from, check).map_err(|error| of_night(place, error))
}

/// Reads one run.
pub(super) fn gather_run(place: &Place, from: From, check: &dyn Fn() -> Result<()>) -> Result<Gathered> {
    let mut sketch = Sketch::default();
    let mut without = Vec::new();
    let run = Run::open_seeing(place.clone(), &mut |commit| {
        check()?;
        match commit.sketch.take() {
            Some(part) if from == From::Sketches => sketch.absorb(&part),
            _ => without.push(commit.part),
        }
        Ok(())
    })?;
    for commit in run.commits.iter().filter(|commit| without.contains(&commit.part)) {
        check()?;
        sketch.absorb(&sketch_of_tables(&run, commit, check)?);
    }
    let facts = RunFacts { from_sketches: without.is_empty(), ..facts_of(&run)? };
    Ok(Gathered { run, facts, sketch })
}

/// What the run of a night came to; `before` is that of the night before.
pub(super) fn figures_of_night(
    place: &Place,
    before: Option<&Place>,
    check: &dyn Fn() -> Result<()>,
) -> Result<NightFigures> {
    let Gathered { run, facts, sketch } = gather_run(place, From::Sketches, check)?;
    let (tally, sums) = (run.tally()?, sketch.figures.total());
    let (bytes_read, bytes_stored) = (tally.bytes_stored, facts.bytes_written.values().sum());
    let (chars_in, chars_out) = (tally.totals.chars_in, tally.totals.chars_out);
    let figures = NightFigures {
        run: place.location().file_name(),
        conversations: tally.totals.conversations,
        rejects: tally.totals.rejects,
        bytes_read,
        bytes_stored,
        bytes_ratio: ratio(bytes_read, bytes_stored),
        chars_in,
        chars_out,
        ratio: ratio(chars_in, chars_out),
        grounding: sums.grounding(),
        ..NightFigures::default()
    };
    let Some(before) = before else { return Ok(figures) };
    let before = gather_night(before, From::Sketches, check)?;
    let drift = DriftDocument::new(vec![(before.facts, before.sketch)], vec![(facts, sketch)]);
    let apart = drift.figures.iter().filter(|figure| figure.class.is_none()).filter_map(|figure| figure.psi);
    let most = apart.map(|psi| psi.value).filter(|value| value.is_finite()).reduce(f64::max);
    Ok(NightFigures { drift: most, ..figures })
}

/// What a part would have told, from its tables. Tools and texts stand in none of them.
fn sketch_of_tables(run: &Run, commit: &Commit, check: &dyn Fn() -> Result<()>) -> Result<Sketch> {
    run.check_figures(commit)?;
    let mut sketch = Sketch::default();
    let mut rows = run.metrics(commit)?;
    while let Some(batch) = rows.next_rows()? {
        check()?;
        sketch.figures.add_rows(&batch)?;
    }
    if let Some(mut rows) = run.decisions(commit)? {
        let mut decisions = DecisionTally::default();
        while let Some(batch) = rows.next_rows()? {
            check()?;
            decisions.add_rows(&batch)?;
        }
        sketch.contents = Some(decisions.finish());
    }
    for reject in run.rejects(commit)? {
        sketch.add_reject(&reject?);
    }
    Ok(sketch)
}

/// The conversations that both sides have and that changed most, from the tables.
pub(super) fn changes(before: &[Gathered], after: &[Gathered], check: &dyn Fn() -> Result<()>) -> Result<Changes> {
    let n_before = before.iter().map(|side| side.run.manifest.totals.conversations).sum();
    let mut finder = ChangeFinder::new(n_before);
    for _ in 0..finder.rounds() {
        for side in before {
            each_row(&side.run, check, &mut |rows| finder.see_before(rows))?;
        }
        for (number, side) in after.iter().enumerate() {
            each_row(&side.run, check, &mut |rows| finder.see_after(number, rows))?;
        }
        finder.next_round();
    }
    Ok(finder.finish())
}

fn each_row(run: &Run, check: &dyn Fn() -> Result<()>, see: &mut dyn FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
    for commit in &run.commits {
        let mut rows = run.metrics_columns(commit, &ChangeFinder::COLUMNS)?;
        while let Some(batch) = rows.next_rows()? {
            check()?;
            see(&batch)?;
        }
    }
    Ok(())
}

fn facts_of(run: &Run) -> Result<RunFacts> {
    let manifest = &run.manifest;
    let mut facts = RunFacts {
        run: run.place().to_string(),
        engine_version: manifest.engine_version.clone(),
        status: manifest.status.clone(),
        config_blake3: manifest.config_blake3.clone(),
        tokenizer: manifest.options.engine.tokenizer.clone().into(),
        look_ahead: manifest.options.looks_ahead(),
        options: changed_options(&manifest.options),
        missing: manifest.missing.clone(),
        parts: run.commits.len() as u64,
        ..RunFacts::default()
    };
    for read in run.commits.iter().flat_map(Commit::inputs) {
        facts.sources.entry(read.source.to_owned()).or_default().add(read.input, read.totals);
    }
    let tables = run.commits.iter().filter(|commit| commit.table.is_some() && commit.split.is_first());
    facts.tables = tables.count() as u64;
    let tally = run.tally()?;
    facts.bytes_written = tally.written.into_iter().map(|(table, written)| (table, written.bytes)).collect();
    Ok(facts)
}

/// The options that differ from the defaults, as `name = value`.
fn changed_options(options: &JobOptions) -> Vec<String> {
    let changed = differences(&EngineOptions::default(), &options.engine);
    let mut lines: Vec<String> = changed.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if let Some(policy) = &options.policy {
        let floors: Vec<String> = policy.floor.iter().map(ToString::to_string).collect();
        lines.push(format!("policy = {}", serde_json::to_value(policy.choose).unwrap_or_default()));
        lines.push(format!("floor = {}", Value::from(floors)));
        let tries = policy.tries.iter().enumerate();
        lines.extend(
            tries.map(|(at, set)| format!("tries[{at}] = {}", changes_label(&differences(&options.engine, set)))),
        );
    }
    lines.extend(options.llm.as_ref().map(|llm| format!("llm.model = {}", Value::from(llm.model.as_str()))));
    lines
}
