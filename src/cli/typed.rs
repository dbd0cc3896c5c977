//! The command line as typed becomes arguments. What is said about it quotes it, so it is quoted plain, and without the
//! values that may be secrets.

use std::ffi::OsString;

use clap::Parser;
use condenser::io::store::without_secrets;
use condenser::report::plain;

use super::args::Cli;
use super::end::{Ending, ended};
use super::message;
use super::screen::columns_and_colours;

const NAME: &str = "condenser";
const SET: &str = "--set";
/// Stands for a value that is not repeated.
const UNSAID: &str = "…";

/// The command line, or how the call ends: after help or a version that was asked for, or after a mistake that was told.
pub(super) fn parse() -> Result<Cli, Ending> {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let error = match Cli::try_parse_from(with_name(typed.clone())) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    if !error.use_stderr() {
        // Help and version quote nothing.
        let help = error.render();
        let (_, colours) = columns_and_colours(0, false);
        let printed = message::result(&if colours { help.ansi().to_string() } else { help.to_string() });
        return Err(printed.map_or_else(|error| ended(&error), |()| Ending::Clean));
    }
    match Cli::try_parse_from(with_name(sayable(&typed))) {
        Err(error) => message::lines(&error.render().to_string()),
        Ok(_) => message::lines(&format!("error: the command line cannot be read: {}", error.kind())),
    }
    Err(Ending::Usage)
}

fn with_name(arguments: Vec<OsString>) -> impl Iterator<Item = OsString> {
    std::iter::once(NAME.into()).chain(arguments)
}

/// The arguments as they may be repeated.
fn sayable(typed: &[OsString]) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::with_capacity(typed.len());
    // What comes next belongs to a `--set`; `true` once its key has come without a value.
    let mut set: Option<bool> = None;
    for argument in typed {
        let text = argument.to_string_lossy();
        let said = match (set, text.strip_prefix("--set=")) {
            (Some(true), _) if !text.starts_with('-') => UNSAID.to_owned(),
            (Some(false), _) => without_value(&text),
            (_, Some(value)) => format!("{SET}={}", without_value(value)),
            _ if is_setting(&text) => without_value(&text),
            _ => plain::line(&without_secrets(&text)).into_owned(),
        };
        set = match set {
            _ if text == SET => Some(false),
            Some(false) if !text.contains('=') => Some(true),
            _ => None,
        };
        out.push(said.into());
    }
    out
}

/// True for the key of a table with a value, wherever it stands.
fn is_setting(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| key.contains('.') && !key.contains('/') && !key.starts_with('-'))
}

fn without_value(set: &str) -> String {
    set.split_once('=').map_or_else(|| UNSAID.to_owned(), |(key, _)| format!("{}={UNSAID}", plain::line(key)))
}

#[cfg(test)]
mod tests {
    use super::sayable;

    #[test]
    fn values_of_settings_are_not_repeated() {
        for (typed, said) in [
            (&["run", "a\u{1b}", "--set", "llm.key=x"][..], &["run", "a\\u{1b}", "--set", "llm.key=…"][..]),
            (&["--set=llm.key=x", "b"], &["--set=llm.key=…", "b"]),
            (&["--set", "llm.key", "x", "job"], &["--set", "…", "…", "job"]),
            (&["--set", "llm.key", "--quiet", "x"], &["--set", "…", "--quiet", "x"]),
            (&["--sett", "llm.key=x"], &["--sett", "llm.key=…"]),
            (&["https://a:b@c/d?e"], &["https://c/d?…"]),
        ] {
            let typed: Vec<_> = typed.iter().map(Into::into).collect();
            assert_eq!(sayable(&typed), said);
        }
    }
}
