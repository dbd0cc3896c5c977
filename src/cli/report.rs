//! `condenser report`: the figures of a finished run as a table or as JSON on stdout.

use condenser::error::Result;
use condenser::io::Run;
use condenser::io::store::Place;
use condenser::pipeline::Totals;
use condenser::report::{Report, render};
use serde_json::json;

use super::args::ReportArgs;
use super::{Ending, message, place};

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> Result<Ending> {
    if let Some(target) = &args.html {
        return page(&place(&args.run, &args.stores.stores())?, target, args.no_texts);
    }
    print(&place(&args.run, &args.stores.stores())?, args.json)?;
    Ok(Ending::Clean)
}

fn page(place: &Place, target: &str, no_texts: bool) -> Result<Ending> {
    let run = Run::open(place.clone())?;
    let mut sketch = condenser::pipeline::sketch::Sketch::default();
    let mut facts = condenser::report::RunFacts {
        run: place.to_string(),
        engine_version: run.manifest.engine_version.clone(),
        status: run.manifest.status.clone(),
        config_blake3: run.manifest.config_blake3.clone(),
        from_sketches: true,
        parts: run.commits.len() as u64,
        ..Default::default()
    };
    for commit in &run.commits {
        if let Some(part) = &commit.sketch {
            sketch.merge(part);
        }
        facts.sources.entry(commit.source.clone()).or_default().add(
            &commit.input,
            &Default::default(),
            commit.totals.rejects,
        );
    }
    let document = condenser::report::ReportDocument::new(vec![(facts, sketch)], Some(3.0));
    let mut texts = condenser::report::html::Texts { left_out: true, pairs: Vec::new() };
    if !no_texts {
        texts = super::pages::texts(&document, &[&run], &|| Ok(()))?;
    }
    super::pages::write(target, &condenser::report::html::report_page(&document, &texts))?;
    if let Some(path) = super::environment("DOC_JSON") {
        super::pages::write(&path, &serde_json::to_string(&document).unwrap_or_default())?;
    }
    Ok(Ending::Clean)
}

/// Prints the figures of a run.
pub(super) fn print(place: &Place, as_json: bool) -> Result<()> {
    let run = Run::open(place.clone())?;
    let mut report = Report::default();
    for commit in &run.commits {
        run.check_metrics(commit)?;
        let mut rows = run.metrics(commit)?;
        while let Some(batch) = rows.next_rows()? {
            report.add(&batch)?;
        }
    }
    let Totals { rejects, .. } = run.manifest.totals;
    if as_json {
        let mut value = report.json();
        if let Some(entries) = value.as_object_mut() {
            entries.insert("rejects".to_owned(), json!(rejects));
        }
        return message::json(&value);
    }
    let mut text = render(&report);
    if rejects > 0 {
        text.push_str(&format!("{rejects} records were rejected and are not among them\n"));
    }
    message::result(&text)
}
