//! The command line as typed becomes arguments. What is said about it quotes it, so it is quoted plain, and without the
//! values that may be secrets.

use std::ffi::OsString;

use clap::{FromArgMatches as _, ValueEnum as _};
use condenser::io::store::without_secrets;
use condenser::report::plain;

use super::args::Cli;
use super::end::{Ending, ended};
use super::help::{self, Wanted};
use super::message;
use super::screen::{ColorWhen, set_colors};

const NAME: &str = "condenser";
const SET: &str = "--set";
/// Stands for a value that is not repeated.
const UNSAID: &str = "…";

/// The command line, or how the call ends: after help or a version that was asked for, or after a mistake that was told.
pub(super) fn parse() -> Result<Cli, Ending> {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Help and mistakes are shown before there is a command line.
    colors_of(&typed).into_iter().for_each(set_colors);
    let wanted = if typed.iter().any(|argument| argument == "-h") { Wanted::Short } else { Wanted::Whole };
    let error = match read(wanted, typed.clone()) {
        Ok(cli) => {
            set_colors(cli.color.unwrap_or_default());
            return Ok(cli);
        }
        Err(error) => error,
    };
    if !error.use_stderr() {
        // Help and version quote nothing.
        return Err(help::print(&error.render()).map_or_else(|error| ended(&error), |()| Ending::Clean));
    }
    let told = read(wanted, sayable(&typed)).map_or_else(
        |error| error.render(),
        |_| "error: an argument is not UTF-8; name the folder of such a file instead".into(),
    );
    message::usage(&told);
    Err(Ending::Usage)
}

fn read(wanted: Wanted, arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut command = help::command(wanted);
    let matches = command.try_get_matches_from_mut(with_name(arguments))?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The last `--color` that was typed before a `--`.
fn colors_of(typed: &[OsString]) -> Option<ColorWhen> {
    let typed: Vec<_> = typed.iter().map(|text| text.to_string_lossy()).take_while(|text| *text != "--").collect();
    let mut values = typed.iter().enumerate().filter_map(|(at, text)| match text.strip_prefix("--color") {
        Some("") => typed.get(at + 1).map(|value| &**value),
        Some(value) => value.strip_prefix('='),
        None => None,
    });
    values.next_back().and_then(|value| ColorWhen::from_str(value, false).ok())
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
