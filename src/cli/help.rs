//! The command line as it is shown: which flags short help has, and in which groups; `condenser help`; and what
//! `condenser` alone says. Knows flags by their names, not what they do.

mod groups;
mod look;
mod topics;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory as _};
use condenser::error::{Error, Result};
use condenser::model::EngineOptions;
use condenser::pipeline::nearest;
use serde_json::{Map, Value};

use super::args::{Cli, SHOWN};
use super::end::Ending;
use super::{message, screen};
use groups::{COMMANDS, GROUPS, HERE};
use look::{WIDTH, styles};

/// Which help is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The flags that most people need, a line each.
    Short,
    /// Every flag, with its values.
    Whole,
}

/// The command line, with its help.
pub(super) fn command(wanted: Wanted) -> Command {
    let plain = Cli::command();
    let compress = plain.find_subcommand("compress").cloned().unwrap_or_default();
    let names: Vec<String> = plain.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let root = names.iter().fold(plain, |root, name| root.mut_subcommand(name, |sub| shown(sub, &compress, wanted)));
    let commands = listed(&root);
    let more = format!(
        "condenser COMMAND -h: its main flags; condenser help COMMAND: all of them\ncondenser help TOPIC: {}",
        topics::names().collect::<Vec<_>>().join(", ")
    );
    root.mut_args(|arg| brief(arg, wanted))
        .styles(styles())
        .max_term_width(WIDTH)
        .override_usage("condenser <COMMAND>")
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{{options}}{{after-help}}"
        ))
        .after_long_help(format!("{}\n{more}", topics::EXIT_CODES))
        .after_help(more)
}

/// A command whose flags stand in their groups. What is a flag of `compress` has the same place and the same words
/// everywhere.
fn shown(command: Command, compress: &Command, wanted: Wanted) -> Command {
    if command.has_subcommands() {
        let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        return names
            .iter()
            .fold(command, |command, name| command.mut_subcommand(name, |sub| shown(sub, compress, wanted)));
    }
    let defaults = defaults();
    let name = command.get_name().to_owned();
    let mut placed: Vec<(usize, Arg)> =
        command.get_arguments().map(|arg| placed(arg.clone(), compress, &defaults, wanted)).collect();
    // Headings stand in the order of the first flag that has them.
    placed.sort_by_key(|(at, _)| *at);
    let after = HERE.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| text);
    let mut shown = Command::new(name);
    shown = command.get_about().cloned().into_iter().fold(shown, Command::about);
    shown = command.get_long_about().cloned().into_iter().fold(shown, Command::long_about);
    shown = command.get_groups().cloned().fold(shown, Command::group);
    if !after.is_empty() {
        shown = shown.after_help(after.to_owned());
    }
    shown.args(placed.into_iter().map(|(_, arg)| arg))
}

/// A flag with the place of its group.
fn placed(arg: Arg, compress: &Command, defaults: &Map<String, Value>, wanted: Wanted) -> (usize, Arg) {
    let id = arg.get_id().as_str().to_owned();
    let is_same = |other: &Arg| *other.get_id() == *id && other.get_help() == arg.get_help();
    let is_of_jobs = compress.get_arguments().any(is_same);
    let group = GROUPS.iter().enumerate().find_map(|(at, group)| {
        let line = group.short.iter().find(|(name, _)| *name == id).map(|(_, line)| *line);
        group.has(&id).then_some((at, group, line))
    });
    let arg = brief(arg, wanted);
    let whole = arg.get_long_help().or(arg.get_help()).cloned().unwrap_or_default();
    let Some((at, group, line)) = group.filter(|(_, group, _)| is_of_jobs || group.is_everywhere) else {
        // The heading of the model reaches what stands behind its flags.
        let is_shown = arg.get_help_heading() == Some(SHOWN);
        // Man pages show the long help of what is not in the short one.
        return if is_shown { (GROUPS.len() + 1, arg) } else { (0, arg.long_help(whole).help_heading(None)) };
    };
    let arg = if arg.is_positional() { arg } else { arg.help_heading(group.heading) };
    if !is_of_jobs {
        return (at + 1, arg);
    }
    let whole = match defaults.get(&id).and_then(default_text) {
        Some(default) => format!("{whole} [default: {default}]"),
        None => whole.to_string(),
    };
    let rank = group.short.iter().position(|(name, _)| *name == id).unwrap_or(group.short.len());
    let arg = arg.long_help(whole).display_order(rank);
    (at + 1, line.map_or_else(|| arg.clone().hide_short_help(true), |line| arg.clone().help(line)))
}

/// Short help names values in its words, where it does.
fn brief(arg: Arg, wanted: Wanted) -> Arg {
    let takes = arg.get_action().takes_values();
    if takes && wanted == Wanted::Short { arg.hide_possible_values(true) } else { arg }
}

/// What holds of the options of the engine unless something is said.
fn defaults() -> Map<String, Value> {
    match serde_json::to_value(EngineOptions::default()) {
        Ok(Value::Object(defaults)) => defaults,
        _ => Map::new(),
    }
}

fn default_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.is_empty() => Some("none".to_owned()),
        Value::Array(items) => Some(items.iter().filter_map(default_text).collect::<Vec<_>>().join(",")),
        other => Some(other.to_string()),
    }
}

/// The commands in groups, with what each does.
fn listed(root: &Command) -> String {
    let header = styles().get_header().to_owned();
    let literal = styles().get_literal().to_owned();
    let mut out = String::new();
    for (heading, names) in COMMANDS {
        out.push_str(&format!("{header}{heading}:{header:#}\n"));
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let (name, about) = (command.get_name(), command.get_about().cloned().unwrap_or_default());
            out.push_str(&format!("  {literal}{name:<15}{literal:#}{about}\n"));
        }
        out.push('\n');
    }
    out + &format!("{header}Options:{header:#}\n")
}

/// `condenser` alone: what it is, what to begin with, and where help is.
pub(super) fn start() -> String {
    "condenser compresses corpora of chat and agent transcripts; every original comes back byte for byte.

To begin with:
  condenser compress LOGS -o run           compress a folder, a file or a pattern
  condenser report run --html report.html  what it saved, and what it kept
  condenser get run ID                     one original back

condenser -h lists all commands, condenser compress -h the main options, condenser help the topics.
"
    .to_owned()
}

/// Runs `condenser help`.
pub(super) fn run(about: &[String]) -> Result<Ending> {
    let mut root = command(Wanted::Whole);
    root.build();
    let text = match about {
        [] => root.render_long_help(),
        [name] if topics::names().any(|topic| topic == name) => topics::topic(name, &root),
        names => match find(&root, names) {
            Some(command) => command.clone().render_long_help(),
            None => return Err(unknown(&root, &names.join(" "))),
        },
    };
    print(&text)?;
    Ok(Ending::Clean)
}

/// Prints help, in colours where they are wanted.
pub(super) fn print(text: &StyledStr) -> Result<()> {
    let (_, colours) = screen::columns_and_colours(0, false);
    message::result(&if colours { text.ansi().to_string() } else { text.to_string() })
}

/// The command with this name, such as `llm plan`; the root where none is named.
pub(super) fn find<'c>(root: &'c Command, names: &[String]) -> Option<&'c Command> {
    names.iter().try_fold(root, |command, name| command.find_subcommand(name))
}

/// That there is neither command nor topic of this name, and which is nearest.
pub(super) fn unknown(root: &Command, name: &str) -> Error {
    let topics = topics::names().map(str::to_owned);
    let known: Vec<String> = root.get_subcommands().map(|sub| sub.get_name().to_owned()).chain(topics).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Error::usage("", nearest("command or topic", name, &known))
}
