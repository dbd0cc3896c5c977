//! The front door of jobs: what condenser does with whole inputs and runs, one function per command, from settings and
//! an observer to an outcome that says everything there is to tell. Knows the floors below; refuses to know arguments, the
//! environment, terminals and exit codes.

mod compaction;
mod compress;
mod conversations;
mod dry_run;
mod engines;
mod expire;
mod gather;
mod get;
mod inputs;
mod learn;
mod list;
mod marks;
mod merge;
#[cfg(feature = "llm")]
mod oracle;
#[cfg(not(feature = "llm"))]
#[path = "no_oracle.rs"]
mod oracle;
mod outcome;
mod output;
mod pages;
mod pairs;
#[cfg(feature = "llm")]
mod questions;
mod reading;
mod report;
mod restore;
mod settle;
mod split;
mod stop;
mod sweep;
mod verify;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::{Error, Result};
use crate::io::store::{Location, Place, StoreConfig, Stores};
use crate::pipeline::bridge::guard;
use crate::pipeline::{FileKind, HOW_TO_LEARN, JobArgs, JobSettings, Seconds};

pub use compaction::{NightNews, compact};
pub use compress::{Call, begin, compress, filter, finish, retry_rejects};
pub use conversations::{Each, each_conversation, engine_for};
pub use dry_run::dry_run;
pub use engines::{engine_of, row_compressor};
pub use expire::{ExpireSettings, Expired, ExpiryOutcome, expire};
pub use get::{Which, get, unknown};
pub use inputs::{inputs_of, tables_of};
pub use learn::{LearnOutcome, LearnSettings, learn};
pub use list::{ListOutcome, RunListing, ids, list};
pub use marks::{hidden, message_at};
pub use merge::{MergeOutcome, MergeSettings, Merged, merge};
#[cfg(feature = "llm")]
pub use oracle::{read_key, replies_dir};
pub use outcome::{RunOutcome, ratio, summary};
pub use output::{Destination, STDOUT, Stdout, local, unwritten};
pub use pages::{BOTH_ON_STDOUT, check_page, write_page};
pub use pairs::{decode, pairs, read_as, reasons};
#[cfg(feature = "llm")]
pub use questions::ask_through;
pub use reading::{OnMerge, reading, runs_with};
pub use report::{ReportOutcome, ReportRequest, Reported, check_report_of_job, report, report_of_job};
pub use restore::{PartOfNight, RestoreOutcome, RestoreSettings, RestoredFile, Restoring, restore};
pub use stop::Stop;
pub use sweep::{SweepOutcome, SweepSettings, sweep};
pub use verify::{VerifyOutcome, verify, verify_store};

/// A store that stalls so many times in a row is given up, as with the defaults.
const STALLS_UNTIL_GIVEN_UP: u32 = 4;

/// What all work of a command shares: a runtime for what waits for files, stores and models, and the wish to stop.
#[derive(Debug)]
pub struct App {
    /// `None` once it is shut down.
    runtime: Option<Runtime>,
    stop: Stop,
    /// Folders that are removed at the end.
    kept: Mutex<Vec<TempDir>>,
}

impl App {
    /// With a runtime of its own.
    pub fn new() -> Result<Self> {
        // Two threads: one moves bytes while the other answers signals; what computes runs on the pool.
        let build = || Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let cannot = |message: String| Error::io("", format!("cannot start the runtime{message}"));
        // Where the process may open no more files, some of it panics.
        let built = guard(build).map_err(|message| cannot(format!(": {message}")))?;
        let runtime = built.map_err(|error| cannot(String::new()).because(error))?;
        Ok(Self { runtime: Some(runtime), stop: Stop::default(), kept: Mutex::default() })
    }

    /// With which the work can be asked to stop, from any thread.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The runtime, for what the caller waits for.
    pub fn runtime(&self) -> &Handle {
        self.runtime.as_ref().expect("it is there until the last owner is gone").handle()
    }

    /// Runs `work` until it ends or somebody asks to stop. Must not be called inside a runtime.
    pub fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        // A job is a large future, and the stack of the caller may be small.
        self.runtime().block_on(self.stop.or(1, Box::pin(work)))
    }

    /// Keeps a folder until the end, when it is removed.
    fn keep(&self, folder: TempDir) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
    }

    /// Waits for what must be closed however the work ended, until somebody asks a second time to stop.
    fn close(&self, closing: impl Future<Output = Result<()>>) -> Result<()> {
        self.runtime().block_on(self.stop.or(2, closing))
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The stores with these bounds; `settings` go before the environment.
pub fn stores(timeout: Option<Seconds>, retries: Option<usize>, settings: BTreeMap<String, String>) -> Stores {
    let default = StoreConfig::default();
    Stores::new(StoreConfig {
        stall_timeout: timeout.map_or(default.stall_timeout, |timeout| timeout.0),
        retry_timeout: timeout.map_or(default.retry_timeout, |timeout| timeout.0 * STALLS_UNTIL_GIVEN_UP),
        max_retries: retries.unwrap_or(default.max_retries),
        settings,
        ..default
    })
}

/// The stores that a job asks for.
pub fn stores_of(job: &JobSettings) -> Stores {
    stores(job.store_timeout, job.store_retries, job.store.settings())
}

/// A job with everything that holds, and with what the files hold that it names; `environment` knows variables.
pub fn settle(args: JobArgs, environment: &dyn Fn(&str) -> Option<String>) -> Result<JobSettings> {
    let settings = args.settle(environment)?;
    let stores = stores_of(&settings);
    settings.with_files(|path, kind| file_of_option(path, kind, &stores))
}

/// The bytes of a file that an option names.
pub fn file_of_option(path: &str, kind: FileKind, stores: &Stores) -> Result<Vec<u8>> {
    let place = place(Path::new(path), stores)?;
    let (name, hint) = match kind {
        FileKind::Tokenizer => {
            ("tokenizer file", "`tokenizer` takes chars, o200k_base, cl100k_base or the path of a tokenizer.json")
        }
        FileKind::UseModel => ("model of uses", HOW_TO_LEARN),
        FileKind::ChatTemplate => {
            ("chat template", "`dataset.chat_template` takes a Jinja file, or the tokenizer_config.json that holds one")
        }
    };
    let missing = |message: String| Error::usage(path, message).hinting(hint);
    let bytes = place.read_all().map_err(|error| match place.as_local() {
        Some(_) => missing(format!("the {name} cannot be read")).because(error),
        None => error,
    })?;
    bytes.ok_or_else(|| missing(format!("there is no such {name}")))
}

/// The place that a path or an address names.
pub fn place(path: &Path, stores: &Stores) -> Result<Place> {
    let location = path.to_str().map_or_else(|| Ok(Location::from(path)), Location::parse)?;
    Ok(Place::new(stores, location))
}
