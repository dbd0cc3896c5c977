//! The call that a result answers: what kind of text it asked for, and what a reader calls it. Knows names of tools and
//! commands; refuses to know results.

use std::collections::HashMap;

use super::leaves::leaves;
use crate::model::{Message, ToolCall};
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<256>, "calls_by_kind": READ SEARCH EDIT RUN);

/// Characters of what a call was about.
const MAX_OBJECT: usize = 32;

/// Bytes of an argument in which a file is looked for.
const MAX_COMMAND: usize = 400;

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// The text of a file.
    File,
    /// Lines or names of many files.
    Matches,
    /// A change of a file.
    Edit,
    /// What a program prints, or nothing that is known.
    Other,
}

/// The call that message `index` answers.
pub(super) fn answered<'m>(messages: &'m [Message<'m>], index: usize) -> Option<&'m ToolCall<'m>> {
    let id = messages[index].tool_call_id.as_deref();
    let before = messages[..index].iter().rev().find(|before| !before.tool_calls.is_empty())?;
    let by_id = before.tool_calls.iter().find(|call| id.is_some() && call.id.as_deref() == id);
    by_id.or_else(|| before.tool_calls.first().filter(|_| id.is_none()))
}

/// What a call asks for, by its name, and of a shell by the first word of its command.
pub(super) fn asks(call: &ToolCall<'_>) -> Asks {
    let name = call.name.as_deref().unwrap_or_default();
    let of_name = flags(name);
    let asks = if of_name & RUN == 0 { kind(of_name) } else { of_run(call) };
    // What is written in a log was printed.
    if asks == Asks::File && is_about(call, &LOGS) { Asks::Other } else { asks }
}

/// What a shell is asked for.
fn of_run(call: &ToolCall<'_>) -> Asks {
    let mut command = None;
    leaves(&call.arguments, &mut |key, text| {
        if command.is_none() && (key.starts_with('c') || key.is_empty()) {
            command = Some(text.to_owned());
        }
    });
    command.map_or(Asks::Other, |command| of_command(&command))
}

/// The first command that is no change of folder; a pipe is what its last part makes of it only where that counts or cuts.
fn of_command(command: &str) -> Asks {
    let is_step = |part: &&str| !part.is_empty() && !part.starts_with("cd ");
    let part = command.split(['\n', ';']).flat_map(|line| line.split("&&")).map(str::trim).find(is_step);
    let word = part.unwrap_or_default().split_whitespace().next().unwrap_or_default();
    let word = word.rsplit('/').next().unwrap_or(word);
    kind(WORDS.of(word.to_ascii_lowercase().as_bytes()) & (READ | SEARCH))
}

fn flags(name: &str) -> u32 {
    let whole = WORDS.of(name.to_ascii_lowercase().as_bytes());
    let parts = || name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    if whole != 0 { whole } else { parts().fold(0, |all, part| all | WORDS.of(part.as_bytes())) }
}

fn kind(flags: u32) -> Asks {
    match flags {
        _ if flags & EDIT != 0 => Asks::Edit,
        _ if flags & READ != 0 => Asks::File,
        _ if flags & SEARCH != 0 => Asks::Matches,
        _ => Asks::Other,
    }
}

/// For each file that calls are about the last message that has such a call.
pub(super) fn last_calls(messages: &[Message<'_>]) -> HashMap<String, usize> {
    let calls =
        messages.iter().enumerate().flat_map(|(at, message)| message.tool_calls.iter().map(move |call| (call, at)));
    calls.filter_map(|(call, at)| Some((file_of(call)?, at))).collect()
}

/// The first word of the arguments that names a file.
pub(super) fn file_of(call: &ToolCall<'_>) -> Option<String> {
    let mut found = None;
    leaves(&call.arguments, &mut |_, text| {
        if found.is_none() && text.len() <= MAX_COMMAND {
            let mut words = text.split(|c: char| c.is_whitespace() || "'\"`;|<>()".contains(c));
            found = words.find(|word| names_file(word)).map(str::to_owned);
        }
    });
    found
}

fn names_file(word: &str) -> bool {
    let last = word.rsplit('/').next().unwrap_or(word);
    let is_short =
        |extension: &str| (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    last.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && is_short(extension))
        && last.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !word.contains("://")
}

/// True when a call asks for a text with headings.
pub(super) fn is_prose(call: &ToolCall<'_>) -> bool {
    is_about(call, &PROSE)
}

/// True when an argument has a word with one of these endings.
fn is_about(call: &ToolCall<'_>, extensions: &[&str]) -> bool {
    let mut found = false;
    leaves(&call.arguments, &mut |_, text| {
        let mut words = text.split([' ', '\'', '"', ';', '\n']);
        found |= words.any(|word| extensions.iter().any(|extension| word.ends_with(extension)));
    });
    found
}

/// Extensions of texts with headings.
const PROSE: [&str; 4] = [".md", ".mdx", ".markdown", ".rst"];
/// Extensions of what programs print.
const LOGS: [&str; 3] = [".log", ".out", ".err"];

/// What a reader calls the result of a call: its name and what it was about.
pub(super) fn label(call: &ToolCall<'_>) -> String {
    let name = call.name.as_deref().unwrap_or("a call");
    let mut about: Option<String> = None;
    leaves(&call.arguments, &mut |_, text| {
        let line = text.lines().next().unwrap_or_default();
        if about.is_none() && !line.is_empty() {
            let last = line.rsplit('/').next().filter(|last| !line.contains(' ') && !last.is_empty());
            about = Some(last.unwrap_or(line).chars().take(MAX_OBJECT).collect());
        }
    });
    about.map_or_else(|| name.to_owned(), |about| format!("{name} {}", about.trim_end()))
}
