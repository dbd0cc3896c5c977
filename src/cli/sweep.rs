//! `condenser sweep`: option sets on a sample of the inputs, as a table, as JSON, and as a job file.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::Inputs;
use condenser::model::EngineOptions;
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::sweep::{
    DEFAULT_SAMPLE, DEFAULT_SAMPLE_BYTES, Inputs as Swept, JobFrame, Recommended, SampleOptions, SweepDocument,
    SweepOptions, Watch, job_file, sweep,
};
use condenser::pipeline::{BatchOptions, PlannedInput, PlannedPart, Slice, TableOptions, load_tokenizer};
use condenser::report::html::sweep_page;
use condenser::report::shell;
use condenser::report::sweep::render;

use super::args::SweepArgs;
use super::{Ending, block_on, block_on_thread, check_stop, inputs_of, message, pages, place, tokenizer_file};

/// Runs the command.
pub(crate) fn run(args: SweepArgs) -> Result<Ending> {
    if args.held_back.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return Err(Error::new(ErrorKind::Usage, "--held-back", "expected a share between 0 and 1, such as 0.5"));
    }
    if args.sample == Some(0) {
        return Err(Error::new(ErrorKind::Usage, "--sample", "a sample has at least one conversation"));
    }
    let stores = args.stores.stores();
    let job = args.output.as_deref().map(|path| place(path, &stores)).transpose()?;
    if let Some(job) = job.as_ref().filter(|job| job.as_local().is_some_and(Path::is_dir)) {
        return Err(Error::new(ErrorKind::Usage, job.to_string(), "this is a folder; name a file for the job"));
    }
    if args.json && args.html.as_deref() == Some("-") {
        return Err(Error::new(ErrorKind::Usage, "--html -", pages::BOTH_ON_STDOUT));
    }
    if let Some(target) = &args.html {
        pages::check(target, None)?;
    }
    if let Some(job) = &job
        && !args.force
        && job.exists()?
    {
        let error = Error::new(ErrorKind::Usage, job.to_string(), "the file exists already and is not overwritten");
        return Err(error.hinting("choose another name, or overwrite it with --force"));
    }
    let (as_json, output, html) = (args.json, args.output.clone(), args.html.clone());
    let frame = JobFrame {
        inputs: args.inputs.clone(),
        output: output.as_deref().map(run_of).unwrap_or_default(),
        shape: args.shape,
        messages_column: args.messages_column.clone(),
    };
    let (document, recommended) = block_on_thread(move |stop| measure(args, stop))?;
    if let Some(job) = &job {
        let text = job_file(&document, &recommended, &frame)?;
        block_on(job.write_atomic(text.as_bytes()))?;
    }
    if let Some(target) = &html {
        pages::write(target, &sweep_page(&document))?;
    }
    if html.as_deref() == Some("-") {
        // The page went where the table would go.
    } else if as_json {
        let json = serde_json::to_string_pretty(&document)
            .map_err(|error| Error::new(ErrorKind::Internal, "", "the sweep is no JSON").because(error))?;
        message::document(&(json + "\n"))?;
    } else {
        message::result(&render(&document))?;
    }
    if let Some(job) = &job {
        let command = shell::command("condenser run", &[&job.to_string()], "");
        message::note(&format!("written: {job}; run it with: {command}"));
    }
    Ok(if document.sample.rejects > 0 { Ending::Rejects } else { Ending::Clean })
}

fn measure(args: SweepArgs, stop: &AtomicBool) -> Result<(SweepDocument, Recommended)> {
    let stores = args.stores.stores();
    let base = args.engine.over(EngineOptions::default());
    let counter = load_tokenizer(&base.tokenizer, |path| tokenizer_file(path, &stores))?.map(|loaded| loaded.counter);
    let inputs = inputs_of(&args.inputs, &stores, args.quiet)?;
    let tables = TableOptions { messages_column: args.messages_column, shape: args.shape };
    let (corpus, planned) = Inputs::plan(inputs, BatchOptions::default(), tables, u64::MAX)?;
    let parts: Vec<PlannedPart> = (0..planned.len()).map(|input| PlannedPart { input, slice: Slice::Whole }).collect();
    let inputs: Vec<PlannedInput> = planned.into_iter().map(|(input, _)| input).collect();
    let options = SweepOptions {
        base,
        counter,
        floor: args.floor,
        sample: SampleOptions {
            conversations: args.sample.unwrap_or(DEFAULT_SAMPLE),
            class_bytes: args.sample_bytes.map_or(DEFAULT_SAMPLE_BYTES, |size| size.0),
            held_back: args.held_back.unwrap_or_default(),
        },
        full_grid: args.grid,
        keep_window: args.keep_window,
    };
    let bridge = Bridge::new(args.threads.unwrap_or(0))?;
    let swept = Swept { corpus: &corpus, inputs: &inputs, parts: &parts, shape: args.shape };
    sweep(&swept, &options, &bridge, &Waiting { stop, quiet: args.quiet })
}

/// The run directory of a job file: its name without the ending, and `-run`.
fn run_of(job: &Path) -> String {
    let stem = job.file_stem().map_or_else(|| PathBuf::from("sweep"), PathBuf::from);
    format!("{}-run", stem.display())
}

struct Waiting<'a> {
    stop: &'a AtomicBool,
    quiet: bool,
}

impl Watch for Waiting<'_> {
    fn check(&self) -> Result<()> {
        check_stop(self.stop)
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            message::note(text);
        }
    }
}
