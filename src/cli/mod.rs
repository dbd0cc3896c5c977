//! What the user types and sees: commands, exit codes, output on the terminal. Arguments become settings, settings
//! become work of the floors below.

mod args;
mod calibrate;
mod compress;
mod end;
mod expire;
mod explain;
mod get;
mod help;
mod learn;
#[cfg(feature = "llm")]
mod llm;
mod log;
mod ls;
mod man;
mod merge;
mod message;
mod progress;
mod report;
mod restore;
mod run;
mod schema;
mod screen;
mod show;
mod sweep;
mod typed;
mod verify;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use condenser::app::App;
use condenser::error::{Error, Result};
use condenser::pipeline::bridge::{Bridge, is_guarded};

use args::Command;
use end::{Ending, ended};

/// Who asks a second time to stop waits at most so long for what is being taken back.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    tell_panics();
    let cli = match typed::parse() {
        Ok(cli) => cli,
        Err(ending) => return ExitCode::from(ending as u8),
    };
    log::start(cli.verbose);
    let Some(command) = cli.command else {
        message::lines(&help::start());
        return ExitCode::from(Ending::Usage as u8);
    };
    let ending = attended(command).unwrap_or_else(|error| ended(&error));
    ExitCode::from(ending as u8)
}

/// Runs the command on a thread that may block, and hears when it is asked to stop: once, and the work ends where it can be
/// continued; twice, and nothing is waited for.
fn attended(command: Command) -> Result<Ending> {
    let app = Arc::new(App::new()?);
    let (worker, stop) = (app.clone(), app.stop().clone());
    app.runtime().block_on(async move {
        let work = Bridge::run_blocking("work", move || run(&worker, command));
        tokio::pin!(work);
        for _ in 0..2 {
            tokio::select! {
                result = &mut work => return result,
                asked = asked_to_stop() => asked?,
            }
            stop.ask();
        }
        tokio::time::timeout(GRACE, work).await.unwrap_or_else(|_| stop.check().map(|()| Ending::Interrupted))
    })
}

fn run(app: &App, command: Command) -> Result<Ending> {
    match command {
        Command::Compress(args) => compress::run(app, *args),
        Command::RetryRejects(args) => compress::retry_rejects(app, *args),
        Command::Finish(args) => compress::finish(app, &args),
        Command::Merge(args) => merge::run(app, &args),
        Command::Run(args) => run::run(app, &args),
        Command::Report(args) => report::run(app, *args),
        Command::Expire(args) => expire::run(app, &args),
        Command::Restore(args) => restore::run(app, args),
        Command::Ls(args) => ls::run(app, &args),
        Command::Get(args) => get::run(app, &args),
        Command::Show(args) => show::run(app, &args),
        Command::Verify(args) => verify::run(app, &args),
        Command::Calibrate(args) => calibrate::run(app, *args),
        Command::Explain(args) => explain::run(app, *args),
        Command::Learn(args) => learn::run(app, *args),
        Command::Sweep(args) => sweep::run(app, *args),
        #[cfg(feature = "llm")]
        Command::Llm(args) => llm::run(app, args.command),
        Command::Schema(args) => schema::run(args.name.as_deref()),
        Command::Completions(args) => schema::completions(args.shell),
        Command::Man(args) => man::run(&args),
        Command::Help(args) => help::run(&args.about),
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

/// Waits for Ctrl-C or SIGTERM, the signal with which services and schedulers end a process.
async fn asked_to_stop() -> Result<()> {
    let cannot = |error| Error::io("", "cannot listen for signals").because(error);
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
