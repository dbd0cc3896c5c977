//! How a command ends: its exit code, and the end of a run as it is told.

use condenser::app::RunOutcome;
use condenser::error::{Error, ErrorKind};
use condenser::pipeline::{JobKind, JobSettings, ProgressMode};

use super::message;

/// How a command ended, as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
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

/// Whom the end is told, and what it is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// What went wrong only.
    pub(super) quiet: bool,
    /// As an event.
    pub(super) is_json: bool,
    /// Whether every conversation must meet its token budget.
    pub(super) require_fit: bool,
    /// Whether a run without a conversation has failed its purpose.
    pub(super) must_hold: bool,
}

impl Told {
    /// As the job wants it.
    pub(super) fn of(settings: &JobSettings) -> Self {
        Self {
            quiet: settings.quiet,
            is_json: settings.progress == ProgressMode::Json,
            require_fit: settings.require_fit,
            // A quiet night is none that failed.
            must_hold: settings.kind != JobKind::Compaction,
        }
    }

    /// Tells what a job came to.
    pub(super) fn end(self, run: &RunOutcome) -> Ending {
        let must_hold = self.must_hold && run.outcome.n_missing == 0;
        let empty = run.nothing().filter(|_| must_hold);
        let unfit: Vec<String> = run.over_budget().into_iter().chain(run.misses_target()).collect();
        if self.is_json && !self.quiet {
            message::event(&run.event(must_hold));
        } else {
            let notes = if self.quiet { Vec::new() } else { run.asides() };
            let results = if self.quiet { Vec::new() } else { run.results() };
            // What the exit code speaks of is told in any case.
            let unfit_is_told = !self.quiet || self.require_fit;
            let notes = notes
                .into_iter()
                .chain(empty.clone())
                .chain(unfit.iter().filter(|_| unfit_is_told).cloned())
                .chain(results);
            let next = run.next().filter(|_| !self.quiet);
            let next = next.map(|(when, command)| format!("next{when}: {command}"));
            notes.chain(next).for_each(|note| message::note(&note));
        }
        match () {
            () if self.require_fit && !unfit.is_empty() => Ending::Threshold,
            () if run.outcome.tally.totals.rejects > 0 || empty.is_some() => Ending::Rejects,
            () => Ending::Clean,
        }
    }
}

/// Tells an error; but who has read enough of the output knows that it ends.
pub(super) fn ended(error: &Error) -> Ending {
    if message::is_unread(error) {
        return Ending::Unread;
    }
    message::error(error);
    Ending::from(error.kind)
}
