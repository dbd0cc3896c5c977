//! The only place that prints: errors with their causes and a hint, notes, and lines of results. What is told on stderr
//! may quote a transcript or a path, so it is made harmless here; results are harmless when they come.

use std::error::Error as _;
use std::io::{self, Write};

use condenser::error::{Error, ErrorKind};
use condenser::report::plain;
use serde_json::Value;

/// Prints an error to stderr.
pub(crate) fn error(error: &Error) {
    let mut text = format!("error: {error}\n");
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.extend(["  because: ", &inner.to_string(), "\n"]);
        cause = inner.source();
    }
    if let Some(hint) = hint(error) {
        text.extend(["hint: ", hint, "\n"]);
    }
    stderr(&plain::lines(&text));
}

/// Prints a note to stderr.
pub(crate) fn note(text: &str) {
    stderr(&format!("{}\n", plain::lines(text)));
}

/// Prints an event for machines to stderr, as one line of JSON.
pub(crate) fn event(event: &Value) {
    stderr(&format!("{}\n", plain::json(&event.to_string())));
}

/// Prints a result to stdout.
///
/// # Errors
/// When stdout cannot be written; a closed pipe is one, so that callers stop.
pub(crate) fn result(text: &str) -> condenser::error::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Error::new(ErrorKind::Io, "stdout", "cannot be written").because(error))
}

/// Prints an object to stdout as JSON on several lines.
///
/// # Errors
/// As [`result`].
pub(crate) fn json(object: &Value) -> condenser::error::Result<()> {
    result(&format!("{}\n", plain::json(&format!("{object:#}"))))
}

fn stderr(text: &str) {
    // Nobody is left to tell when stderr is closed.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

fn hint(error: &Error) -> Option<&'static str> {
    if error.hint.is_some() {
        return error.hint;
    }
    let says = |text: &str| error.message.contains(text);
    Some(match error.kind {
        ErrorKind::Usage if says("committed run") => {
            "choose another directory with --output, or --fresh for a new one beside it; a run is never overwritten"
        }
        ErrorKind::Usage if says("no manifest.json") => "name the directory that `condenser compress --output` wrote",
        ErrorKind::Usage if says("is not overwritten") => "remove the file or choose another name",
        ErrorKind::Usage => "see `condenser --help`",
        ErrorKind::Verification if says("was not found") || says("has no conversation") => return None,
        ErrorKind::Verification => "do not delete the originals; compress them again into a new directory",
        ErrorKind::Input if says("rejected") => {
            "look at the reasons with --max-rejects left out, or name the shape with --shape"
        }
        ErrorKind::Internal => "this is a defect of condenser; please report it with the record that it names",
        ErrorKind::Io => return system_hint(error),
        ErrorKind::Input | ErrorKind::Interrupted => return None,
    })
}

/// What to do when the system refused.
fn system_hint(error: &Error) -> Option<&'static str> {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(refusal) = inner.downcast_ref::<io::Error>() {
            return hint_of(refusal.kind());
        }
        cause = inner.source();
    }
    None
}

fn hint_of(kind: io::ErrorKind) -> Option<&'static str> {
    use io::ErrorKind::{
        BrokenPipe, FileTooLarge, IsADirectory, NotADirectory, NotFound, PermissionDenied, QuotaExceeded,
        ReadOnlyFilesystem, StorageFull,
    };
    Some(match kind {
        StorageFull | QuotaExceeded | FileTooLarge => {
            "make room, or raise the limit of sizes, and run the same command again: what was committed stays"
        }
        PermissionDenied | ReadOnlyFilesystem => "look at the rights of the file and its folder, or name another place",
        NotFound | NotADirectory => "look at the path; the file or a folder above it is not there",
        IsADirectory => "name a file; for all files of a folder, name the folder as an input",
        BrokenPipe => "the program that reads the output ended first",
        _ => return None,
    })
}
