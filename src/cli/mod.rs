//! What the user types and sees: commands, exit codes, output on the terminal. Arguments become settings, settings
//! become work of the floors below.

mod args;
mod calibrate;
mod compaction;
mod compress;
mod conversations;
mod drill;
mod dry_run;
mod end;
mod expire;
mod explain;
mod finish;
mod gather;
mod get;
#[cfg(feature = "llm")]
mod llm;
mod log;
mod message;
#[cfg(feature = "llm")]
mod oracle;
#[cfg(not(feature = "llm"))]
#[path = "no_oracle.rs"]
mod oracle;
mod pages;
mod pairs;
mod progress;
mod report;
mod restore;
mod retry;
mod run;
mod schema;
mod screen;
mod show;
mod sweep;
mod typed;
mod verify;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::{Location, Place, StoreConfig, Stores};
use condenser::io::{Found, Input, PassedOver, expand};
use condenser::pipeline::bridge::{Bridge, guard, is_guarded};
use condenser::pipeline::{JobArgs, JobSettings, Seconds};

use args::Command;

/// So many of the files and folders that are passed over are named.
const MAX_PASSED_OVER: usize = 20;

/// How a command ended, as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Clean = 0,
    Failed = 1,
    Usage = 2,
    Rejects = 3,
    Verification = 4,
    /// A threshold of the caller is passed: of a drift, of a figure, of a token budget.
    Threshold = 5,
    Unfinished = 6,
    Interrupted = 130,
    /// Whoever read the output ended first; what a shell says of a program that such a pipe ends.
    Unread = 141,
}

impl From<ErrorKind> for Ending {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Empty => Self::Rejects,
            ErrorKind::Verification => Self::Verification,
            ErrorKind::Unfinished => Self::Unfinished,
            ErrorKind::Interrupted => Self::Interrupted,
            ErrorKind::Io | ErrorKind::Input | ErrorKind::Internal => Self::Failed,
        }
    }
}

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    tell_panics();
    let cli = match typed::parse() {
        Ok(cli) => cli,
        Err(ending) => return ExitCode::from(ending as u8),
    };
    log::start(cli.verbose);
    let ending = run(cli.command).unwrap_or_else(|error| ended(&error));
    ExitCode::from(ending as u8)
}

/// Tells an error; but who has read enough of the output knows that it ends.
fn ended(error: &Error) -> Ending {
    if message::is_unread(error) {
        return Ending::Unread;
    }
    message::error(error);
    Ending::from(error.kind)
}

fn run(command: Command) -> Result<Ending> {
    match command {
        Command::Compress(args) => compress::run(*args),
        Command::RetryRejects(args) => retry::run(*args),
        Command::Finish(args) => finish::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(*args),
        Command::Expire(args) => expire::run(args),
        Command::Restore(args) => restore::run(args),
        Command::Get(args) => get::run(args),
        Command::Show(args) => show::run(args),
        Command::Verify(args) => verify::run(&args),
        Command::Calibrate(args) => calibrate::run(*args),
        Command::Explain(args) => explain::run(*args),
        Command::Sweep(args) => sweep::run(*args),
        #[cfg(feature = "llm")]
        Command::Llm(args) => llm::run(args.command),
        Command::Schema(args) => schema::run(args.name.as_deref()),
        Command::Completions(args) => schema::completions(args.shell),
    }
}

/// A panic in guarded work becomes an error that is told; others are told here, since they may quote a transcript too.
fn tell_panics() {
    std::panic::set_hook(Box::new(|info| {
        if !is_guarded() {
            let backtrace = Backtrace::capture();
            message::panicked(
                &info.to_string(),
                (backtrace.status() == BacktraceStatus::Captured).then_some(&backtrace),
            );
        }
    }));
}

/// A variable of the environment.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Runs `work` until it ends or Ctrl-C drops it.
fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    block_on_then(work, async { Ok(()) })
}

/// The same, and then `close`, however the work ended; another Ctrl-C drops that too.
fn block_on_then<T>(work: impl Future<Output = Result<T>>, close: impl Future<Output = Result<()>>) -> Result<T> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let result = or_interrupted(work).await;
        let closed = or_interrupted(close).await;
        result.and_then(|result| closed.map(|()| result))
    });
    runtime.shutdown_background();
    result
}

async fn or_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        // The signal first: from the first step of the work on, Ctrl-C is heard.
        biased;
        stop = interrupted() => stop,
        result = work => result,
    }
}

/// Runs `work` on a thread that may block; Ctrl-C sets the flag that it looks at, a second one ends at once.
fn block_on_thread<T: Send + 'static>(work: impl FnOnce(&AtomicBool) -> Result<T> + Send + 'static) -> Result<T> {
    let runtime = runtime()?;
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let result = runtime.block_on(async move {
        let work = Bridge::run_blocking("work", move || work(&flag));
        tokio::pin!(work);
        tokio::select! {
            result = &mut work => return result,
            asked = asked_to_stop() => {
                asked?;
                stop.store(true, Ordering::Relaxed);
            }
        }
        tokio::select! {
            result = &mut work => result,
            stop = interrupted() => stop,
        }
    });
    runtime.shutdown_background();
    result
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    // Two threads: one moves bytes while the other answers signals; what computes runs on the pool.
    let build = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let cannot = |message: String| Error::new(ErrorKind::Io, "", format!("cannot start the runtime{message}"));
    // Where the process may open no more files, some of it panics.
    let built = guard(build).map_err(|message| cannot(format!(": {message}")))?;
    built.map_err(|error| cannot(String::new()).because(error))
}

async fn interrupted<T>() -> Result<T> {
    asked_to_stop().await?;
    Err(stopped())
}

/// Waits for Ctrl-C or SIGTERM, the signal with which services and schedulers end a process.
async fn asked_to_stop() -> Result<()> {
    let cannot = |error| Error::new(ErrorKind::Io, "", "cannot listen for signals").because(error);
    #[cfg(unix)]
    {
        let mut terminate =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).map_err(cannot)?;
        tokio::select! {
            asked = tokio::signal::ctrl_c() => asked.map_err(cannot),
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.map_err(cannot)
}

/// A store that stalls so many times in a row is given up, as with the defaults.
const STALLS_UNTIL_GIVEN_UP: u32 = 4;

/// The stores with these bounds; `settings` go before the environment.
fn stores(timeout: Option<Seconds>, retries: Option<usize>, settings: BTreeMap<String, String>) -> Stores {
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
fn stores_of(job: &JobSettings) -> Stores {
    stores(job.store_timeout, job.store_retries, job.store.settings())
}

/// A job with everything that holds, and with what counts its tokens.
fn settled(args: JobArgs) -> Result<JobSettings> {
    let settings = args.settle(&environment)?;
    let stores = stores_of(&settings);
    settings.with_counter(|path| tokenizer_file(path, &stores))
}

/// The bytes of the file that the option `tokenizer` names.
fn tokenizer_file(path: &str, stores: &Stores) -> Result<Vec<u8>> {
    let place = place(Path::new(path), stores)?;
    let missing = |message: &str| {
        Error::new(ErrorKind::Usage, path, message)
            .hinting("`tokenizer` takes chars, o200k_base, cl100k_base or the path of a tokenizer.json")
    };
    let bytes = place.read_all().map_err(|error| match place.as_local() {
        Some(_) => missing("the tokenizer file cannot be read").because(error),
        None => error,
    })?;
    bytes.ok_or_else(|| missing("there is no such tokenizer file"))
}

/// The place that a path or an address names.
fn place(path: &Path, stores: &Stores) -> Result<Place> {
    let location = path.to_str().map_or_else(|| Ok(Location::from(path)), Location::parse)?;
    Ok(Place::new(stores, location))
}

/// The inputs that `arguments` stand for. What lies among them and is not read is told, unless the user wants quiet.
fn inputs_of(arguments: &[String], stores: &Stores, quiet: bool) -> Result<Vec<Input>> {
    let Found { inputs, passed_over } = expand(arguments, stores)?;
    if !quiet {
        for line in told(&passed_over) {
            message::note(&line);
        }
    }
    Ok(inputs)
}

/// What is passed over, a line for each, and one for those that are too many to be named.
fn told(passed_over: &[PassedOver]) -> Vec<String> {
    let mut lines: Vec<String> = passed_over.iter().take(MAX_PASSED_OVER).map(ToString::to_string).collect();
    if passed_over.len() > MAX_PASSED_OVER {
        lines.push(format!("… and {} more are passed over", passed_over.len() - MAX_PASSED_OVER));
    }
    lines
}

/// The path of what is written to local disk only.
fn local(path: &Path) -> Result<PathBuf> {
    let location = path.to_str().map_or_else(|| Ok(Location::from(path)), Location::parse)?;
    let message = "this is written to local disk only; name a path";
    location.as_local().map(Path::to_owned).ok_or_else(|| Error::new(ErrorKind::Usage, location.to_string(), message))
}

/// An error when the user asked to stop.
fn check_stop(stop: &AtomicBool) -> Result<()> {
    if stop.load(Ordering::Relaxed) { Err(stopped()) } else { Ok(()) }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Interrupted, "", "stopped; what was committed stays, the same command goes on from there")
}
