//! What is told: errors with their causes and a hint, notes, events, and results. Whatever it quotes is made harmless
//! on its way out, in [`screen`].

use std::backtrace::Backtrace;
use std::error::Error as _;
use std::io::{self, Write};

use clap::builder::StyledStr;
use condenser::app::{STDOUT, unwritten};
use condenser::error::{Error, ErrorKind};
use condenser::pipeline::News;
use condenser::report::numbers::{by_count, counted, few_of};
use condenser::report::plain;
use serde::Serialize;
use serde_json::Value;

use super::screen::{Given, Stdout, tell, tell_json, tell_marked, tell_styled};

/// Tells an error on stderr: a line for what happened, one for each cause, one for what to do.
pub(crate) fn error(error: &Error) {
    tell_marked("error:", &error.to_string());
    let mut cause = error.source();
    while let Some(inner) = cause {
        tell(&format!("  because: {inner}"));
        cause = inner.source();
    }
    if let Some(hint) = hint(error) {
        tell_marked("hint:", hint);
    }
}

/// Tells what is wrong with a command line; what is quoted in it must be plain already.
pub(crate) fn usage(text: &StyledStr) {
    // The help of one screen says more to who has just mistyped a flag than that of ten.
    let short = |text: String| match text.rsplit_once("--help") {
        Some((before, after)) if before.contains("For more information") => format!("{before}-h{after}"),
        _ => text,
    };
    tell_styled(&short(text.to_string()), &short(text.ansi().to_string()));
}

/// Tells a note on stderr, on a line of its own.
pub(crate) fn note(text: &str) {
    tell(text);
}

/// Tells of sources that were damaged or cut off when an archive was written.
pub(crate) fn torn(sources: &[&str]) {
    if !sources.is_empty() {
        let n = sources.len() as u64;
        let (inputs, was, is) = (counted(n, "input"), by_count(n, "was", "were"), by_count(n, "is", "are"));
        let names = few_of(sources);
        note(&format!(
            "{inputs} {was} damaged or cut off when the archive was written, and {is} in it as far as could be read: {names}"
        ));
    }
}

/// Tells what happens beside the work: those who want `quiet` hear of what is not as it should be only.
pub(crate) fn news(news: News<'_>, quiet: bool) {
    match news {
        News::Note(_) if quiet => {}
        News::Note(text) | News::Warning(text) => note(text),
        News::Failure(what) => error(what),
    }
}

/// Tells several lines on stderr; what is quoted in them must be plain lines already.
pub(crate) fn lines(text: &str) {
    text.lines().for_each(tell);
}

/// Tells a panic: a defect that nobody caught.
pub(crate) fn panicked(what: &str, backtrace: Option<&Backtrace>) {
    tell(&format!("error: {what}"));
    if let Some(backtrace) = backtrace {
        lines(&backtrace.to_string());
    }
    tell("hint: this is a defect of condenser; please report it");
}

/// Tells machines of an event on stderr, as one line of JSON.
pub(crate) fn event(event: &Value) {
    tell_json(event);
}

/// Prints a result for people to stdout.
///
/// # Errors
/// When stdout cannot be written; a closed pipe is one, so that callers stop.
pub(crate) fn result(text: &str) -> condenser::error::Result<()> {
    print(text, Given::Report)
}

/// Prints JSON or TOML to stdout, the same value with nothing in it that could drive a terminal.
pub(crate) fn document(text: &str) -> condenser::error::Result<()> {
    print(&plain::json(text), Given::Data)
}

/// Prints an object to stdout as JSON on several lines.
pub(crate) fn json(object: &impl Serialize) -> condenser::error::Result<()> {
    let wrong = |error| Error::internal("", "the document is no JSON").because(error);
    document(&format!("{:#}\n", serde_json::to_value(object).map_err(wrong)?))
}

/// Prints what is meant to be exact to stdout; a terminal shows it plain.
pub(crate) fn data(text: &str) -> condenser::error::Result<()> {
    print(text, Given::Data)
}

fn print(text: &str, given: Given) -> condenser::error::Result<()> {
    let mut stdout = Stdout::new(given);
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(unwritten)
}

/// True when what read stdout ended first.
pub(crate) fn is_unread(error: &Error) -> bool {
    let cause = error.source.as_ref().and_then(|cause| cause.downcast_ref::<io::Error>());
    error.place == STDOUT && cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// What the error says to do, else what to do with its kind.
fn hint(error: &Error) -> Option<&'static str> {
    if error.hint.is_some() {
        return error.hint;
    }
    match error.kind {
        ErrorKind::Verification => Some("do not delete the originals; compress them again into a new directory"),
        ErrorKind::Internal => Some("this is a defect of condenser; please report it with the record that it names"),
        ErrorKind::Io => system_hint(error),
        ErrorKind::Usage | ErrorKind::Input | ErrorKind::Empty | ErrorKind::Unfinished | ErrorKind::Interrupted => None,
    }
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
        FileTooLarge, IsADirectory, NotADirectory, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };
    Some(match kind {
        StorageFull | QuotaExceeded | FileTooLarge => {
            "make room, or raise the limit of sizes, and run the same command again: what was committed stays"
        }
        PermissionDenied | ReadOnlyFilesystem => "look at the rights of the file and its folder, or name another place",
        NotFound | NotADirectory => "look at the path; the file or a folder above it is not there",
        IsADirectory => "name a file; for all files of a folder, name the folder as an input",
        _ => return None,
    })
}
