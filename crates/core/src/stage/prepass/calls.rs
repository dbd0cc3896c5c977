//! The calls of tools in a conversation: which message answers which call, and which file a call or a command of a shell
//! reads or writes. Knows names and arguments of tools and commands; what a message merely mentions is no call.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::model::{Message, Role, ToolCall};
use crate::stage::View;
use crate::text::words::word_list;
use crate::text::{LineKind, Severity, names_noise_folder};

/// The names under which tools take the folder that a command runs in.
const FOLDER_KEYS: [&str; 3] = ["workdir", "cwd", "working_directory"];
/// A failure stands in the first lines of an answer.
const FAILURE_LINES: usize = 4;

/// What a call does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Shows the whole file.
    ReadAll,
    /// Shows a part of it.
    ReadPart,
    /// Writes the whole file, or takes it away.
    Write,
    /// Changes a part of it.
    Edit,
}

/// What a call does with one file.
struct Change {
    effect: Effect,
    path: String,
    /// Characters that the call has for it.
    n_chars: usize,
}

/// One effect of one call.
#[derive(Debug)]
struct Event {
    effect: Effect,
    path: String,
    /// The message with the answer.
    answer: Option<usize>,
    /// The message with the call.
    call: usize,
    /// The arguments, which say which part is read.
    arguments: u64,
}

/// All calls that read or write files.
#[derive(Debug, Default)]
pub(super) struct Calls {
    events: Vec<Event>,
    /// Per message, the events that it answers.
    answered: HashMap<usize, Vec<usize>, FixedState>,
    /// Messages that answer calls which ask for what lies in `node_modules` and the like.
    asked: HashSet<usize, FixedState>,
    /// Per path, the last message with a call that wrote it.
    writes: HashMap<String, usize, FixedState>,
    /// Per path, the messages with calls that changed it, and how many characters their arguments have up to there.
    edits: HashMap<String, Vec<(usize, usize)>, FixedState>,
    /// Per path, the last message that shows the whole file.
    reads: HashMap<String, usize, FixedState>,
    /// Per arguments, the last message that shows what they name.
    same_reads: HashMap<u64, usize, FixedState>,
}

impl Calls {
    /// The calls of a conversation.
    pub(super) fn of(view: &View<'_>) -> Self {
        let messages = &view.conversation.messages;
        let answers = answers(messages);
        let mut calls = Self::default();
        for (index, message) in messages.iter().enumerate() {
            for (at, call) in message.tool_calls.iter().enumerate() {
                let answer = answers.get(&(index, at)).copied();
                calls.take(view, index, call, answer);
            }
        }
        calls
    }

    fn take(&mut self, view: &View<'_>, index: usize, call: &ToolCall<'_>, answer: Option<usize>) {
        self.asked.extend(answer.filter(|_| names_noise_folder(&call.arguments)));
        let is_failed = answer.is_some_and(|answer| has_failed(view, answer));
        let arguments = super::echo::key(&format!("{}\0{}", call.name.as_deref().unwrap_or_default(), call.arguments));
        for Change { effect, path, n_chars } in effects(call) {
            let path = path.trim_start_matches("./").to_owned();
            if !is_failed {
                match (effect, answer) {
                    (Effect::Write, _) => {
                        self.writes.insert(path.clone(), index);
                    }
                    (Effect::Edit, _) => {
                        let edits = self.edits.entry(path.clone()).or_default();
                        let before = edits.last().map_or(0, |&(_, sum)| sum);
                        edits.push((index, before + n_chars));
                    }
                    (_, Some(answer)) => {
                        if effect == Effect::ReadAll {
                            self.reads.insert(path.clone(), answer);
                        }
                        self.same_reads.insert(arguments, answer);
                    }
                    (_, None) => {}
                }
            }
            if let Some(answer) = answer {
                self.answered.entry(answer).or_default().push(self.events.len());
            }
            self.events.push(Event { effect, path, answer, call: index, arguments });
        }
    }

    /// True when message `index` shows a file.
    pub(super) fn is_read(&self, index: usize) -> bool {
        self.read_of(index).is_some()
    }

    /// True when message `index` answers a call that asked for what lies in a folder that nobody wrote.
    pub(super) fn asks_for_noise(&self, index: usize) -> bool {
        self.asked.contains(&index)
    }

    fn read_of(&self, index: usize) -> Option<&Event> {
        let events = self.answered.get(&index)?;
        match events.as_slice() {
            [event] => Some(&self.events[*event]).filter(|event| !matches!(event.effect, Effect::Write | Effect::Edit)),
            _ => None,
        }
    }

    /// The last call behind message `index` that writes the file which it shows.
    pub(super) fn later_write(&self, index: usize) -> Option<usize> {
        let read = self.read_of(index)?;
        self.writes.get(&read.path).copied().filter(|&write| write > index.max(read.call))
    }

    /// How many characters the calls have that change the file which message `index` shows behind it.
    pub(super) fn later_edits(&self, index: usize) -> usize {
        let Some(edits) = self.read_of(index).and_then(|read| self.edits.get(&read.path)) else { return 0 };
        let sum = |n: usize| n.checked_sub(1).and_then(|last| edits.get(last)).map_or(0, |&(_, sum)| sum);
        sum(edits.len()) - sum(edits.partition_point(|&(call, _)| call < index))
    }

    /// The last message behind `index` that shows all that it shows, when nothing wrote the file in between or later.
    pub(super) fn later_read(&self, index: usize) -> Option<usize> {
        let read = self.read_of(index)?;
        let whole = self.reads.get(&read.path).copied();
        let same = self.same_reads.get(&read.arguments).copied();
        whole.into_iter().chain(same).filter(|&later| later > index && read.answer == Some(index)).max()
    }
}

/// Which message answers call `at` of message `index`: by its id, else in their order.
fn answers(messages: &[Message<'_>]) -> HashMap<(usize, usize), usize, FixedState> {
    let mut answers = HashMap::default();
    let mut by_id: HashMap<&str, (usize, usize), FixedState> = HashMap::default();
    let mut nameless: std::collections::VecDeque<(usize, usize)> = std::collections::VecDeque::new();
    for (index, message) in messages.iter().enumerate() {
        if !message.tool_calls.is_empty() {
            nameless.clear();
        }
        for (at, call) in message.tool_calls.iter().enumerate() {
            nameless.push_back((index, at));
            if let Some(id) = call.id.as_deref() {
                by_id.insert(id, (index, at));
            }
        }
        if !matches!(message.role, Role::Tool | Role::Function) {
            continue;
        }
        let call = match message.tool_call_id.as_deref() {
            Some(id) => by_id.get(id).copied(),
            None => nameless.pop_front(),
        };
        if let Some(call) = call {
            answers.entry(call).or_insert(index);
        }
    }
    answers
}

/// True when the answer begins with a failure.
fn has_failed(view: &View<'_>, answer: usize) -> bool {
    let Some(text) = view.text(answer) else { return false };
    let head = text.text.trim_start();
    let says = ["Error", "error", "ERROR", "<tool_use_error>", "String to replace not found", "Failed", "failed"];
    let lines = text.lines.iter().filter(|line| line.kind != LineKind::Blank).take(FAILURE_LINES);
    says.iter().any(|start| head.starts_with(start))
        || text.lines.len() <= FAILURE_LINES && lines.into_iter().any(|line| line.severity == Severity::Failure)
}

/// What a call does with which files.
fn effects(call: &ToolCall<'_>) -> Vec<Change> {
    let Ok(Value::Object(arguments)) = serde_json::from_str::<Value>(&call.arguments) else {
        return patched(&call.arguments);
    };
    let text = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(*key)?.as_str());
    let n_chars = call.arguments.chars().count();
    let Some(path) = text(word_list!("calls", PATHS)) else {
        let listed = |key: &&str| Some(arguments.get(*key)?.as_array()?.last()?.as_str()?.to_owned());
        let commands = word_list!("calls", COMMANDS);
        let command = text(commands).map(str::to_owned).or_else(|| commands.iter().find_map(listed));
        let mut found = command.as_deref().map(patched).unwrap_or_default();
        if let Some(command) = command.filter(|_| found.is_empty()) {
            let change = |(effect, path)| Change { effect, path, n_chars };
            found = shell_effects(&command).into_iter().map(change).collect();
        }
        if let Some(folder) = text(&FOLDER_KEYS) {
            for change in &mut found {
                change.path = within(folder, &change.path);
            }
        }
        return found;
    };
    // An editor with several commands has the verb in its arguments.
    let verb = arguments.get("command").and_then(Value::as_str).filter(|command| !command.contains(' '));
    let name = call.name.as_deref().unwrap_or_default();
    let is_part =
        word_list!("calls", PARTS).iter().any(|key| arguments.get(*key).is_some_and(|value| !value.is_null()));
    let effect = match verb.map_or_else(|| effect_of(name), effect_of) {
        Some(Effect::ReadAll) if is_part => Some(Effect::ReadPart),
        effect => effect,
    };
    effect.map(|effect| Change { effect, path: path.to_owned(), n_chars }).into_iter().collect()
}

/// What the name of a tool says: `Read`, `str_replace`, `write_file`, `multiEdit`.
fn effect_of(name: &str) -> Option<Effect> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if has(&["edit", "replace", "patch", "insert", "update", "append", "modify", "multiedit"]) {
        Some(Effect::Edit)
    } else if has(&["write", "create", "overwrite"]) {
        Some(Effect::Write)
    } else if has(&["read", "view", "open", "cat"]) {
        Some(Effect::ReadAll)
    } else {
        None
    }
}

/// The files of a patch, with the characters of what it does to each.
fn patched(text: &str) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    if !text.contains("*** Begin Patch") {
        return found;
    }
    let heads = [("Update", Effect::Edit), ("Add", Effect::Write), ("Delete", Effect::Write)];
    for line in text.lines() {
        let head = line.strip_prefix("*** ").and_then(|rest| {
            heads.iter().find_map(|(verb, effect)| Some((*effect, rest.strip_prefix(verb)?.strip_prefix(" File: ")?)))
        });
        match (head, found.last_mut()) {
            (Some((effect, path)), _) => found.push(Change { effect, path: path.trim().to_owned(), n_chars: 0 }),
            (None, Some(change)) => change.n_chars += line.chars().count() + 1,
            (None, None) => {}
        }
    }
    found
}

/// What a command of a shell does with files, in order. Only the few that name their files plainly are known; any other
/// neither reads nor writes.
fn shell_effects(command: &str) -> Vec<(Effect, String)> {
    let commands: Vec<Vec<&str>> = simple_commands(command);
    let mut found = Vec::new();
    // The output of several commands is no file.
    let shown: Vec<&Vec<&str>> =
        commands.iter().filter(|words| !matches!(words.first(), Some(&("cd" | "set" | "export" | "source")))).collect();
    if let [words] = shown.as_slice()
        && let Some((effect, path)) = read(words)
    {
        found.push((effect, path));
    }
    for words in &commands {
        found.extend(written(words));
    }
    if let Some([_, folder]) = commands.first().map(Vec::as_slice).filter(|words| words.first() == Some(&"cd")) {
        for (_, path) in &mut found {
            *path = within(folder, path);
        }
    }
    found
}

/// A path that is no path from the root, as seen from `folder`.
fn within(folder: &str, path: &str) -> String {
    let is_whole = path.starts_with(['/', '~']) || path.get(1..3).is_some_and(|rest| rest.starts_with(':'));
    let path = path.trim_start_matches("./");
    if is_whole { path.to_owned() } else { format!("{}/{path}", folder.trim_end_matches('/')) }
}

/// The words of each command between `&&`, `||`, `;`, `|` and line ends; a here-document ends them.
fn simple_commands(command: &str) -> Vec<Vec<&str>> {
    let mut commands = Vec::new();
    'lines: for line in command.lines() {
        let mut words: Vec<&str> = Vec::new();
        for word in line.split([' ', '\t']).filter(|word| !word.is_empty()) {
            let ends = matches!(word, "&&" | "||" | "|" | ";");
            if !ends {
                words.push(word.trim_end_matches(';'));
            }
            if ends || word.ends_with(';') {
                commands.push(std::mem::take(&mut words));
            }
        }
        let has_document = words.iter().any(|word| word.starts_with("<<"));
        commands.push(words);
        if has_document {
            break 'lines;
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

fn read(words: &[&str]) -> Option<(Effect, String)> {
    let (name, rest) = words.split_first()?;
    if rest.iter().any(|word| word.contains(['>', '<'])) {
        return None;
    }
    let is_option = |word: &&&str| word.starts_with('-');
    let mut files: Vec<&str> = rest.iter().filter(|word| !is_option(word)).copied().collect();
    let effect = match *name {
        "cat" => Effect::ReadAll,
        "nl" => {
            files.retain(|file| *file != "a");
            Effect::ReadAll
        }
        "head" | "tail" => {
            files.retain(|file| file.parse::<u64>().is_err());
            Effect::ReadPart
        }
        "sed" if rest.first() == Some(&"-n") => {
            files.remove(0);
            Effect::ReadPart
        }
        _ => return None,
    };
    let [file] = files.as_slice() else { return None };
    path(file).map(|file| (effect, file))
}

/// Files that a command writes: behind `>`, of `tee`; and those that it changes: behind `>>`, of `tee -a` and `sed -i`.
fn written(words: &[&str]) -> Vec<(Effect, String)> {
    let mut files: Vec<(Effect, &str)> = Vec::new();
    let mut words_left = words.iter().copied();
    while let Some(word) = words_left.next() {
        let target = word.strip_prefix(">>").map(|target| (Effect::Edit, target));
        if let Some((effect, target)) = target.or_else(|| Some((Effect::Write, word.strip_prefix('>')?))) {
            let target = if target.is_empty() { words_left.next() } else { Some(target) };
            files.extend(target.map(|target| (effect, target)));
        }
    }
    match words.split_first() {
        Some((&"tee", rest)) => {
            let effect = if rest.contains(&"-a") { Effect::Edit } else { Effect::Write };
            files.extend(rest.iter().filter(|word| !word.starts_with('-')).map(|word| (effect, *word)));
        }
        Some((&"sed", rest)) if rest.iter().any(|word| word.starts_with("-i")) => {
            files.extend(rest.last().map(|file| (Effect::Edit, *file)));
        }
        _ => {}
    }
    files.into_iter().filter_map(|(effect, file)| Some((effect, path(file)?))).collect()
}

/// A plain path without its quotes; nothing with variables or patterns.
fn path(word: &str) -> Option<String> {
    let word = word.trim_matches(['"', '\'']);
    let is_plain = !word.is_empty() && !word.contains(['$', '*', '?', '`', '(', ')', '{', '}', '&', '<', '>', '|']);
    (is_plain && !word.starts_with("/dev/")).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Effect::{self, Edit, ReadAll, ReadPart, Write};
    use super::shell_effects;

    #[test]
    fn files_are_read_and_written_by_plain_commands_only() {
        for (command, expected) in [
            ("cat src/pay.ts", vec![(ReadAll, "src/pay.ts")]),
            ("cd /repo && cat src/pay.ts", vec![(ReadAll, "/repo/src/pay.ts")]),
            ("sed -n '1,80p' src/pay.ts", vec![(ReadPart, "src/pay.ts")]),
            ("head -n 20 a.log", vec![(ReadPart, "a.log")]),
            ("cat a b", vec![]),
            ("cat a | grep x", vec![]),
            ("cat > a.txt <<'EOF'\ncat b.txt\nEOF", vec![(Write, "a.txt")]),
            ("make >build.log 2>&1", vec![(Write, "build.log")]),
            ("make > /dev/null", vec![]),
            ("sed -i 's/a/b/' src/pay.ts", vec![(Edit, "src/pay.ts")]),
            ("echo x | tee -a notes.md", vec![(Edit, "notes.md")]),
            ("rm -rf build", vec![]),
        ] {
            let found = shell_effects(command);
            let expected: Vec<(Effect, String)> =
                expected.into_iter().map(|(effect, path)| (effect, path.to_owned())).collect();
            assert_eq!(found, expected, "{command}");
        }
    }
}
