//! Option sets on a sample of the inputs: what each saves and loses, as a document, a page, and a job file.

use std::path::{Path, PathBuf};

use super::conversations::whole;
use super::pages::{check_page, page_for};
use super::{App, file_of_option, inputs_of, place};
use crate::error::{Error, ErrorKind, Result};
use crate::io::store::{Place, Stores};
use crate::model::{EngineArgs, EngineOptions, Floor};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::sweep::{
    self, CorpusParts, JobFrame, Recommended, SampleOptions, SweepDocument, SweepOptions, Watch, job_file,
};
use crate::pipeline::{EngineFiles, News, Observer, TableOptions};
use crate::report::html::sweep_page;

/// What is tried, on what.
#[derive(Debug, Clone)]
pub struct SweepSettings {
    /// Files, folders, patterns and addresses.
    pub inputs: Vec<String>,
    /// How tables among them are read.
    pub tables: TableOptions,
    /// The options from which every set starts.
    pub engine: EngineArgs,
    /// What no recommended set may be below.
    pub floor: Vec<Floor>,
    /// How much is drawn.
    pub sample: SampleOptions,
    /// Whether all sets are tried, and not only the promising ones.
    pub full_grid: bool,
    /// Whether the recency window stays as it is.
    pub keep_window: bool,
    /// The job file that is written.
    pub job: Option<String>,
    /// Whether one that is there is overwritten.
    pub overwrites: bool,
    /// The page that is written; `-` leaves it to the caller.
    pub html: Option<String>,
    /// Workers; 0 for one per core.
    pub threads: usize,
    /// Where inputs lie.
    pub stores: Stores,
}

/// What came of it.
#[derive(Debug)]
pub struct SweepOutcome {
    /// All sets with their figures.
    pub document: SweepDocument,
    /// The job that was written.
    pub job: Option<Place>,
    /// The page for the caller.
    pub page: Option<String>,
}

/// Tries option sets on a sample.
///
/// # Errors
/// `Empty` when there is nothing to draw from; `Usage` when an option cannot be swept or a file not written.
pub fn sweep(app: &App, settings: &SweepSettings, observer: &dyn Observer) -> Result<SweepOutcome> {
    let job = settings.job.as_deref().map(|path| place(Path::new(path), &settings.stores)).transpose()?;
    if let Some(job) = &job {
        check_job(job, settings.overwrites)?;
    }
    if let Some(target) = &settings.html {
        check_page(target, None, &[])?;
    }
    let (document, recommended) = measure(app, settings, observer)?;
    if let Some(job) = &job {
        let frame = JobFrame {
            inputs: settings.inputs.clone(),
            output: settings.job.as_deref().map(|job| run_of(Path::new(job))).unwrap_or_default(),
            tables: settings.tables.clone(),
        };
        let text = job_file(&document, &recommended, &frame)?;
        app.wait(job.write_atomic(text.as_bytes()))?;
    }
    let page = page_for(settings.html.as_deref(), || Ok(sweep_page(&document)))?;
    Ok(SweepOutcome { document, job, page })
}

fn check_job(job: &Place, overwrites: bool) -> Result<()> {
    if job.as_local().is_some_and(Path::is_dir) {
        return Err(Error::new(ErrorKind::Usage, job.to_string(), "this is a folder; name a file for the job"));
    }
    if !overwrites && job.exists()? {
        let error = Error::new(ErrorKind::Usage, job.to_string(), "the file exists already and is not overwritten");
        return Err(error.hinting("choose another name, or overwrite it with --force"));
    }
    Ok(())
}

fn measure(app: &App, settings: &SweepSettings, observer: &dyn Observer) -> Result<(SweepDocument, Recommended)> {
    let base = settings.engine.clone().over(EngineOptions::default());
    let files = EngineFiles::load(&base, |path, kind| file_of_option(path, kind, &settings.stores))?;
    let inputs = inputs_of(app, &settings.inputs, &settings.stores, observer)?;
    let (corpus, inputs, parts) = whole(inputs, &settings.tables)?;
    let options = SweepOptions {
        base,
        files,
        floor: settings.floor.clone(),
        sample: settings.sample,
        full_grid: settings.full_grid,
        keep_window: settings.keep_window,
    };
    let bridge = Bridge::new(settings.threads)?;
    let swept = CorpusParts { corpus: &corpus, inputs: &inputs, parts: &parts, read_as: settings.tables.read_as() };
    sweep::sweep(&swept, &options, &bridge, &Watched { app, observer })
}

/// The run directory of a job file: its name without the ending, and `-run`.
fn run_of(job: &Path) -> String {
    let stem = job.file_stem().map_or_else(|| PathBuf::from("sweep"), PathBuf::from);
    format!("{}-run", stem.display())
}

struct Watched<'a> {
    app: &'a App,
    observer: &'a dyn Observer,
}

impl Watch for Watched<'_> {
    fn check(&self) -> Result<()> {
        self.app.stop.check()
    }

    fn tell(&self, text: &str) {
        self.observer.news(News::Note(text));
    }
}
