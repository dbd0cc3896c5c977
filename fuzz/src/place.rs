//! A folder of the process, and jobs over what lies in it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use condenser::app::{App, Call, RestoreSettings, Restoring, compress, inputs_of, restore, settle, verify};
use condenser::error::{Error, ErrorKind};
use condenser::io::Run;
use condenser::io::store::{Location, Place, Stores};
use condenser::pipeline::bridge::is_guarded;
use condenser::pipeline::{JobSettings, Silent, Totals, read_job};
use tempfile::TempDir;

/// What all inputs of a process share.
#[derive(Debug)]
pub struct Bench {
    /// The front door.
    pub app: App,
    dir: TempDir,
}

/// The one of this process. From now on a panic that condenser catches ends nothing.
pub fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        std::panic::set_hook(Box::new(|panic| {
            if !is_guarded() {
                eprintln!("{panic}\n{}", std::backtrace::Backtrace::force_capture());
                std::process::abort();
            }
        }));
        Bench { app: App::new().expect("threads"), dir: tempfile::tempdir().expect("a folder") }
    })
}

/// An error of the input or of the caller, and none of condenser.
pub fn told(error: &Error) {
    assert!(error.kind != ErrorKind::Internal, "condenser failed: {error} {:?}", error.source);
    assert!(!error.to_string().is_empty());
}

impl Bench {
    /// The path of this name.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Removes what is called so.
    pub fn clear(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path).expect("a folder of this process");
        } else if path.exists() {
            std::fs::remove_file(path).expect("a file of this process");
        }
    }

    /// What lies in the folder itself.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).expect("a folder of this process");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A job over `input`, into the run `run`.
    pub fn job(&self, input: &str, run: &str, more: &str) -> JobSettings {
        let [from, to] = [input, run].map(|name| self.path(name).display().to_string());
        let text = format!("inputs = ['{from}']\noutput = '{to}'\nthreads = 1\n{more}");
        settle(read_job("job.toml", &text, &[]).expect("a job"), &|_| None).expect("settings")
    }

    /// Runs it; what was counted, or why it could not be done.
    pub fn compress(&self, settings: &JobSettings) -> Result<Totals, Error> {
        let call = Call::of(settings, Arc::new(Silent));
        let place = call.place().expect("a directory");
        Ok(compress(&self.app, &call, &place)?.outcome.tally.totals)
    }

    /// The run of this name.
    pub fn open(&self, run: &str) -> Result<Run, Error> {
        Run::open(self.place(run))
    }

    /// Its place.
    pub fn place(&self, run: &str) -> Place {
        Place::new(&Stores::default(), Location::from(self.path(run).as_path()))
    }

    /// Verifies a run, against an input where one is named.
    pub fn verify(&self, run: &str, against: Option<&str>) -> Result<u64, Error> {
        let inputs: Vec<String> = against.map(|name| self.path(name).display().to_string()).into_iter().collect();
        let inputs = inputs_of(&self.app, &inputs, &Stores::default(), &Silent)?;
        Ok(verify(&self.app, &self.open(run)?, &inputs, 1)?.n_records)
    }

    /// Restores a run into `back`; the files.
    pub fn restore(&self, run: &str) -> Result<Vec<PathBuf>, Error> {
        let what = Restoring::Run { run: self.path(run), through: Vec::new(), conversation: None, night: None };
        self.restore_what(what)
    }

    /// Restores what is asked for into `back`.
    pub fn restore_what(&self, what: Restoring) -> Result<Vec<PathBuf>, Error> {
        let stdout = || -> Box<dyn std::io::Write + Send> { Box::new(std::io::sink()) };
        self.clear("back");
        let settings = RestoreSettings {
            what,
            output: Some(self.path("back").display().to_string()),
            stdout: &stdout,
            threads: 1,
            stores: Stores::default(),
        };
        let restored = restore(&self.app, &settings)?;
        let folder = restored.folder.unwrap_or_default();
        Ok(restored.files.into_iter().map(|file| folder.join(file.file)).collect())
    }
}
