//! The call that a result answers: what kind of text it asked for, and what a reader calls it. Knows names of tools and
//! commands; refuses to know results.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::uses::Place;
use crate::model::{Message, Role, ToolCall};
use crate::shape::leaves;
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<256>, "calls_by_kind": READ SEARCH NAMES EDIT PAGE RUN ASK);

/// Characters of what a call was about.
const MAX_OBJECT: usize = 32;

/// Bytes that a label has room for from the start.
const MAX_LABEL: usize = 2 * MAX_OBJECT;

/// Bytes of an argument in which a file is looked for.
const MAX_COMMAND: usize = 400;

/// Messages before a result among which its call is looked for, and of these those that call something.
const MAX_BACK: usize = 1_000;
const MAX_AT_ONCE: usize = 32;

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// The text of a file: code or settings.
    File,
    /// The same of one with headings, and of one with rows.
    Text,
    Rows,
    /// Lines of many files.
    Matches,
    /// Names of files.
    Names,
    /// A change of a file.
    Edit,
    /// A page of the web.
    Page,
    /// What a person says or consents to.
    Answer,
    /// What a program prints, or nothing that is known.
    Other,
}

impl Call {
    /// True for the text of a file of any kind.
    pub(super) fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Text | Self::Rows)
    }
}

/// What a reader calls the call that a text answers.
pub(super) fn label_of_answered(messages: &[Message<'_>], text: Place) -> Option<String> {
    let (at, call) = place_of_answered(messages, text)?;
    Some(About::of(&messages[at].tool_calls[call], &mut |_, _| {}).label)
}

/// Index of the message with the call that a text answers, and of the call.
fn place_of_answered(messages: &[Message<'_>], text: Place) -> Option<(usize, usize)> {
    let (index, part) = (text.message as usize, text.part as usize);
    if messages[index].is_beside_results(part) {
        return None;
    }
    let id = messages[index].call_answered_at(part);
    let is_said = matches!(messages[index].role, Role::User | Role::System | Role::Developer);
    if is_said && id.is_none() && messages[index].results.is_empty() {
        return None;
    }
    let calling = (index.saturating_sub(MAX_BACK)..index).rev().filter(|&at| !messages[at].tool_calls.is_empty());
    // In logs every call of several that are made at once is a message of its own.
    calling.take(if id.is_some() { MAX_AT_ONCE } else { 1 }).find_map(|at| {
        let by_id = messages[at].tool_calls.iter().position(|call| id.is_some() && call.id.as_deref() == id);
        Some((at, by_id.or_else(|| id.is_none().then_some(0))?))
    })
}

/// What calls ask for, and which is the last one about a file.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Of each call of each message.
    calls: Vec<Vec<About>>,
    /// The first message that calls something, and so many of the first messages are known.
    first: Option<usize>,
    n_known: usize,
    last: HashMap<String, usize, FixedState>,
}

/// What a call is about.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) asks: Call,
    pub(super) file: Option<String>,
    /// The tool; of one that runs commands, with the first two words of the command.
    pub(super) tool: u64,
    /// It asks what versions of files there are.
    pub(super) is_git: bool,
    /// What a reader calls the call, or its result: its name and what it was about.
    label: String,
}

impl Asked {
    /// Forgets all calls.
    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.first = None;
        self.n_known = usize::MAX;
        self.last.clear();
    }

    /// Reads the calls of the next message, once; `each` gets the number of the call, and key and text of every leaf.
    pub(super) fn push(&mut self, message: &Message<'_>, each: &mut dyn FnMut(usize, &str, &str)) {
        let numbered = message.tool_calls.iter().enumerate();
        let calls: Vec<About> =
            numbered.map(|(number, call)| About::of(call, &mut |key, text| each(number, key, text))).collect();
        for file in calls.iter().filter_map(|about| about.file.as_ref()) {
            self.last.insert(file.clone(), self.calls.len());
        }
        self.first = self.first.or_else(|| (!calls.is_empty()).then_some(self.calls.len()));
        self.calls.push(calls);
    }

    /// From now on what comes behind the first `n` messages is unknown.
    pub(super) fn know(&mut self, n: usize) {
        self.n_known = n;
    }

    fn has_calls(&self) -> bool {
        self.first.is_some_and(|first| first < self.n_known)
    }

    /// Of each message, what its calls are about.
    pub(super) fn calls(&self) -> &[Vec<About>] {
        &self.calls
    }

    /// Index of the message with the call that a text is of, as an argument or as the answer, and of the call.
    pub(super) fn call_of(messages: &[Message<'_>], text: Place) -> Option<(usize, usize)> {
        let place = (text.message as usize, text.part as usize);
        if text.is_argument { Some(place) } else { place_of_answered(messages, text) }
    }

    /// What the call asks for that a text answers, and whether a later one is about the same file.
    pub(super) fn answered(&self, messages: &[Message<'_>], text: Place) -> (Call, bool) {
        let Some((at, call)) = place_of_answered(messages, text) else { return (Call::Other, false) };
        let about = &self.calls[at][call];
        let last = about.file.as_ref().and_then(|file| self.last.get(file));
        (about.asks, last.is_some_and(|&last| last > text.message as usize))
    }

    /// What a reader calls a text, or the call that it is an argument of.
    pub(super) fn label(&self, messages: &[Message<'_>], text: Place) -> String {
        let answered = || place_of_answered(messages, text);
        let of_call = if text.is_argument { Some((text.message as usize, text.part as usize)) } else { answered() };
        let label = of_call.and_then(|(at, call)| Some(self.calls.get(at)?.get(call)?.label.clone()));
        label.unwrap_or_else(|| match messages[text.message as usize].role {
            Role::System | Role::Developer => "the system prompt".to_owned(),
            Role::User if !text.is_argument && self.has_calls() => "a message of the user".to_owned(),
            Role::Assistant if !text.is_argument => "an earlier answer".to_owned(),
            _ => command_before(messages, text.message as usize)
                .filter(|_| !text.is_argument)
                .unwrap_or_else(|| "an earlier text".to_owned()),
        })
    }
}

impl About {
    fn of(call: &ToolCall<'_>, each: &mut dyn FnMut(&str, &str)) -> Self {
        let name = call.name.as_deref();
        let label = String::with_capacity(MAX_LABEL);
        let mut about = Self { asks: Call::Other, file: None, tool: 0, is_git: false, label };
        let (mut command, mut of_file, mut is_path) = (None, Call::File, false);
        let mut words = [0; 2];
        let mut key_of_label = String::new();
        let mut take = |key: &str, text: &str| {
            each(key, text);
            if is_shell(text) {
                return;
            }
            // What a call is about is a path, whatever stands before it, else the first that it says.
            let is_first_path = !is_path && is_of_path(key) && names_file(text);
            if about.label.is_empty() || is_first_path {
                about.label.clear();
                about.label.push_str(&object(text));
                key_of_label.clear();
                key_of_label.push_str(key);
            } else if key == key_of_label && !is_path && text.len() + about.label.len() < MAX_OBJECT {
                // A command as the list of its words.
                about.label.extend([" ", text.lines().next().unwrap_or_default()]);
            }
            is_path |= is_first_path;
            if command.is_none() && (key.starts_with('c') || key.is_empty()) {
                command = Some(of_command(text));
                for (word, hash) in step_of(text).split_whitespace().zip(&mut words) {
                    *hash = hash_of(word);
                }
            }
            if text.len() > MAX_COMMAND {
                return;
            }
            for word in dotted(text) {
                let kind = FILES.iter().find(|(ending, _)| word.ends_with(ending));
                of_file = kind.map_or(of_file, |&(_, kind)| kind);
                if about.file.is_none() && names_file(word) {
                    about.file = Some(word.to_owned());
                }
            }
        };
        match leaves(&call.arguments) {
            Some(found) => found.iter().for_each(|(key, text)| take(key, text)),
            // What is no JSON is one leaf.
            None => take("", &call.arguments),
        }
        let blank = if about.label.is_empty() { "" } else { " " };
        about.label.insert_str(0, blank);
        about.label.insert_str(0, name.unwrap_or("a call"));
        let of_name = flags(name.unwrap_or_default());
        let runs = of_name & RUN != 0;
        about.asks = match command {
            Some(command) if runs => command,
            // An editor that is told to show something.
            Some(Call::File) if of_name & EDIT != 0 => Call::File,
            _ if runs => Call::Other,
            _ => kind(of_name),
        };
        about.is_git = runs && words[0] == hash_of("git");
        about.tool = hash_of(name.unwrap_or_default());
        if runs {
            about.tool = about.tool.rotate_left(7) ^ words[0].rotate_left(13) ^ words[1];
        }
        if about.asks == Call::File {
            about.asks = of_file;
        }
        about
    }
}

/// The name of a shell or what it is told to do with what follows.
fn is_shell(text: &str) -> bool {
    let is_named = || matches!(text.rsplit('/').next().unwrap_or(text), "bash" | "sh" | "zsh" | "-c" | "-lc");
    text.len() <= MAX_COMMAND && is_named()
}

/// The first command that is no change of folder; a pipe is what its last part makes of it only where that counts or cuts.
fn of_command(command: &str) -> Call {
    let word = step_of(command).split_whitespace().next().unwrap_or_default();
    let word = word.rsplit('/').next().unwrap_or(word);
    kind(WORDS.of(word.to_ascii_lowercase().as_bytes()) & (READ | SEARCH | NAMES))
}

fn step_of(command: &str) -> &str {
    let is_step = |part: &&str| !part.is_empty() && !part.starts_with("cd ");
    let mut parts = command.split(['\n', ';']).flat_map(|line| line.split("&&")).map(str::trim);
    parts.find(is_step).unwrap_or_default()
}

/// The same on every machine, of short names.
fn hash_of(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn flags(name: &str) -> u32 {
    let whole = WORDS.of(name.to_ascii_lowercase().as_bytes());
    let parts = || name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    if whole != 0 { whole } else { parts().fold(0, |all, part| all | WORDS.of(part.as_bytes())) }
}

fn kind(flags: u32) -> Call {
    match flags {
        _ if flags & ASK != 0 => Call::Answer,
        _ if flags & EDIT != 0 => Call::Edit,
        _ if flags & READ != 0 => Call::File,
        _ if flags & SEARCH != 0 => Call::Matches,
        _ if flags & NAMES != 0 => Call::Names,
        _ if flags & PAGE != 0 => Call::Page,
        _ => Call::Other,
    }
}

/// True for a key that says that its value is a path.
fn is_of_path(key: &str) -> bool {
    key.as_bytes().windows(4).any(|part| matches!(part, b"path" | b"file"))
}

/// The words of a command that have a dot in them.
fn dotted(text: &str) -> impl Iterator<Item = &str> {
    let is_sign = |byte: u8| matches!(byte, b'\'' | b'"' | b'`' | b';' | b'|' | b'<' | b'>' | b'(' | b')');
    let is_apart = move |byte: &u8| byte.is_ascii_whitespace() || is_sign(*byte);
    let mut end = 0;
    memchr::memchr_iter(b'.', text.as_bytes()).filter_map(move |dot| {
        if dot < end {
            return None;
        }
        let (before, behind) = text.as_bytes().split_at(dot);
        let from = before.iter().rposition(is_apart).map_or(0, |at| at + 1);
        end = behind.iter().position(is_apart).map_or(text.len(), |at| dot + at);
        text.get(from..end)
    })
}

fn names_file(word: &str) -> bool {
    let last = word.rsplit('/').next().unwrap_or(word);
    let is_short =
        |extension: &str| (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    last.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && is_short(extension))
        && last.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !word.contains("://")
}

/// Extensions of files that are no code: with headings, with rows, and what is written in a log was printed.
const FILES: [(&str, Call); 9] = [
    (".md", Call::Text),
    (".mdx", Call::Text),
    (".markdown", Call::Text),
    (".rst", Call::Text),
    (".csv", Call::Rows),
    (".tsv", Call::Rows),
    (".log", Call::Other),
    (".out", Call::Other),
    (".err", Call::Other),
];
/// The first line of a patch; the second one names the file.
const PATCH: &str = "*** Begin Patch";

/// The first line of a text; of a command that only changes the folder first, what comes behind.
fn command(text: &str) -> &str {
    let line = text.lines().find(|line| *line != PATCH).unwrap_or_default();
    let behind = line.starts_with("cd ").then(|| line.split_once("&& ")).flatten();
    behind.map_or(line, |(_, behind)| behind.trim_start())
}

/// The beginning of what a text asks for: of a path the last part, of others the first line.
fn object(text: &str) -> Cow<'_, str> {
    let line = command(text);
    let line = line.strip_prefix("*** ").and_then(|rest| rest.split_once(": ")).map_or(line, |(_, file)| file);
    let last = line.rsplit('/').next().filter(|last| !line.contains(' ') && !last.is_empty());
    start(last.unwrap_or(line))
}

/// As much of a text as a label holds: no more than a line.
pub(super) fn start(text: &str) -> Cow<'_, str> {
    let line = text.lines().next().unwrap_or_default().trim_end();
    let Some((end, _)) = line.char_indices().nth(MAX_OBJECT) else { return line.into() };
    let words = line.split_at(end).0;
    // Half a word or a number is another one.
    let end = words
        .rfind(' ')
        .filter(|at| *at > MAX_OBJECT / 2)
        .unwrap_or(end - words.chars().next_back().map_or(0, char::len_utf8));
    format!("{}…", line.split_at(end).0.trim_end()).into()
}

/// What a reader calls what a shell answered: the command in the fence at the end of the message before.
pub(super) fn command_before(messages: &[Message<'_>], index: usize) -> Option<String> {
    let said = messages.get(index.checked_sub(1)?)?.texts().last()?;
    let (_, block) = said.trim_end().strip_suffix("```")?.rsplit_once("```")?;
    let line = block.split_once('\n')?.1.lines().find(|line| !line.trim().is_empty())?;
    Some(start(command(line)).into_owned())
}
