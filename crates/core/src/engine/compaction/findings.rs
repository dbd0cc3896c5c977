//! What the archived part of a conversation says, for a summary without a model: requests, rules, decisions, deeds, errors,
//! files and tools. Reads the profile of the texts; refuses to know how much of it is shown.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::FixedState;
use serde::Deserialize;

use super::reply;
use super::tail::{is_result, is_system};
use crate::model::marker::Archive;
use crate::model::{Role, ToolCall};
use crate::stage::View;
use crate::text::{
    CueKind, FactKind, LineKind, Severity, TextView, Unit, UnitKind, announces, ask, is_confirmation, is_question,
    reports_deed,
};

/// What programs put into the place of a user; so is what begins and ends with a tag.
const INJECTED: [&str; 4] =
    ["# AGENTS.md", "Caveat: ", "[Request interrupted", "This session is being continued from a previous"];
/// Tools that only look something up: what they find speaks of errors without being one.
const READERS: [&str; 8] = ["read", "view", "open", "cat", "grep", "glob", "search", "fetch"];
/// A shorter result of such a tool is its own.
const MIN_FOUND: u32 = 300;
/// "Command finished with exit code 1", in brackets or not.
const MAX_BARE_WORDS: usize = 6;
/// Shorter lines tell no error, longer ones are data.
const ERROR_CHARS: Range<usize> = 12..400;
/// Shorter pieces say nothing by themselves.
const MIN_WORDS: usize = 3;
/// Terms among the topics.
const MAX_TERMS: usize = 5;
const MAX_TERM_CHARS: usize = 40;

/// What stands in the archived part; each text is quoted from it.
#[derive(Debug, Default)]
pub(super) struct Findings<'a> {
    pub(super) n_user: usize,
    pub(super) n_assistant: usize,
    pub(super) n_tool: usize,
    /// What users ask for, the task first.
    pub(super) requests: Vec<&'a str>,
    /// What users oblige or forbid.
    pub(super) rules: Vec<&'a str>,
    pub(super) decisions: Vec<&'a str>,
    /// What is reported as done.
    pub(super) deeds: Vec<&'a str>,
    pub(super) errors: Vec<&'a str>,
    /// What the last reply announces.
    pub(super) announced: Option<&'a str>,
    pub(super) changed: Vec<String>,
    pub(super) read: Vec<String>,
    /// Tools with the number of their calls, in the order of their last one.
    pub(super) tools: Vec<(&'a str, usize)>,
    /// The summary of an earlier round.
    pub(super) earlier: Option<Archive<'a>>,
    /// Phrases separated by commas.
    pub(super) topics: Option<String>,
}

impl<'a> Findings<'a> {
    /// The findings in the messages `archived`.
    pub(super) fn of(view: &View<'a>, archived: Range<usize>) -> Self {
        let mut findings = Self::default();
        let mut terms = Terms::default();
        let mut readers: HashSet<&str, FixedState> = HashSet::default();
        for index in archived {
            let message = &view.conversation.messages[index];
            let earlier = message.texts().next().and_then(Archive::read);
            if let Some(earlier) = earlier.filter(|_| message.role == Role::User) {
                findings.earlier = Some(earlier);
                continue;
            }
            let is_result = is_result(message);
            let count = match message.role {
                _ if is_result => &mut findings.n_tool,
                Role::Assistant => &mut findings.n_assistant,
                _ if is_system(&message.role) => continue,
                _ => &mut findings.n_user,
            };
            *count += 1;
            let is_found = message.tool_call_id.as_deref().is_some_and(|id| readers.contains(id));
            for text in view.texts(index) {
                match message.role {
                    _ if is_result && is_found && text.counts.chars >= MIN_FOUND => {}
                    _ if is_result => findings.result(&text),
                    Role::Assistant => findings.reply(&text),
                    _ if is_injected(text.text.trim()) => continue,
                    _ => findings.user(&text),
                }
                if !is_result {
                    terms.add(&text);
                }
            }
            for call in &message.tool_calls {
                findings.call(call);
                let name = call.name.as_deref().unwrap_or_default().to_ascii_lowercase();
                readers.extend(call.id.as_deref().filter(|_| READERS.iter().any(|verb| name.contains(verb))));
            }
        }
        findings.topics = terms.best();
        findings.distinct();
        findings
    }

    fn user(&mut self, text: &TextView<'a>) {
        if is_confirmation(text.text) {
            return;
        }
        let said = |unit: &&Unit| says_something(text, unit);
        let asks = |unit: &&Unit| said(unit) && ask(unit.span.of(text.text)).is_some();
        // The task stands at the beginning of the first message, what is wanted of a long one at its end.
        let asked = if self.requests.is_empty() { text.units.iter().find(asks) } else { text.units.iter().rfind(asks) };
        let request = asked.or_else(|| text.units.iter().find(said));
        self.requests.extend(request.and_then(|unit| {
            let words = unit.span.of(text.text);
            // "Do the following:" says nothing without what follows.
            if words.ends_with(':') { text.text.get(unit.span.start as usize..) } else { Some(words) }
        }));
        let binds =
            |unit: &&Unit| said(unit) && has(text, unit, CueKind::Obligation) && is_statement(unit.span.of(text.text));
        let rules = text.units.iter().filter(binds).filter(|unit| request.is_none_or(|other| other.span != unit.span));
        self.rules.extend(rules.map(|unit| unit.span.of(text.text)));
    }

    fn reply(&mut self, text: &TextView<'a>) {
        let mut announced = None;
        for unit in text.units.iter().filter(|unit| says_something(text, unit)) {
            let words = unit.span.of(text.text);
            announced = announces(words).then_some(words).or(announced.filter(|_| unit.kind == UnitKind::Line));
            if announced == Some(words) || !is_statement(words) {
                continue;
            }
            if has(text, unit, CueKind::Decision) {
                self.decisions.push(words);
            } else if reports_deed(words, has(text, unit, CueKind::Negation)) {
                self.deeds.push(words);
            }
        }
        self.announced = announced;
    }

    fn result(&mut self, text: &TextView<'a>) {
        let is_error = |line: &str| ERROR_CHARS.contains(&line.len()) && line.split_whitespace().count() >= MIN_WORDS;
        let failures = text.lines.iter().filter(|line| line.severity == Severity::Failure);
        // Source code that is read speaks of errors without having any.
        let failures =
            failures.filter(|line| !(line.kind.is_code() || line.kind.is_diff() || line.kind == LineKind::Grep));
        self.errors.extend(failures.map(|line| line.span.of(text.text).trim()).filter(|line| is_error(line)));
    }

    fn call(&mut self, call: &'a ToolCall<'_>) {
        let Some(name) = call.name.as_deref().filter(|name| !name.is_empty()) else { return };
        self.tools.push((name, 1));
        self.changed.extend(patched(&call.arguments).map(str::to_owned));
        let Ok(named) = serde_json::from_str::<Named>(&call.arguments) else { return };
        let Some(file) = named.file_path.or(named.path).or(named.filename).or(named.target_file) else { return };
        let folded = name.to_ascii_lowercase();
        let is = |verbs: &[&str], word: &str| verbs.iter().any(|verb| word.contains(verb));
        let verb = named.command.as_deref().unwrap_or_default();
        if verb == "view" || verb.is_empty() && is(&READERS[..4], &folded) {
            self.read.push(file);
        } else if is(&["write", "edit", "replace", "patch", "create", "insert"], &folded) {
            self.changed.push(file);
        }
    }

    /// Leaves each text once, where it stands last; the task stays first. What was changed needs not be named as read.
    fn distinct(&mut self) {
        let task = self.requests.first().copied();
        for list in [&mut self.requests, &mut self.rules, &mut self.decisions, &mut self.deeds, &mut self.errors] {
            keep_last(list);
        }
        if self.errors.iter().any(|line| !is_bare(line)) {
            self.errors.retain(|line| !is_bare(line));
        }
        if let Some(task) = task {
            self.requests.retain(|request| *request != task);
            self.requests.insert(0, task);
        }
        keep_last(&mut self.changed);
        keep_last(&mut self.read);
        let changed: HashSet<&String, FixedState> = self.changed.iter().collect();
        self.read.retain(|file| !changed.contains(file));
        let mut n_calls: HashMap<&str, usize, FixedState> = HashMap::default();
        self.tools.iter().for_each(|(tool, n)| *n_calls.entry(*tool).or_default() += n);
        self.tools = self.tools.drain(..).rev().filter_map(|(tool, _)| n_calls.remove_entry(tool)).collect();
        self.tools.reverse();
    }
}

/// A failure that does not say which: the head of a traceback, an exit code.
fn is_bare(line: &str) -> bool {
    let folded = line.to_ascii_lowercase();
    let is_code = ["exit code", "exited with", "exit status"].iter().any(|words| folded.contains(words));
    folded.starts_with("traceback (most recent") || is_code && line.split_whitespace().count() <= MAX_BARE_WORDS
}

fn keep_last<T: Clone + Eq + std::hash::Hash>(list: &mut Vec<T>) {
    let mut seen: HashSet<T, FixedState> = HashSet::default();
    let mut kept: Vec<T> = list.drain(..).rev().filter(|one| seen.insert(one.clone())).collect();
    kept.reverse();
    *list = kept;
}

fn has(text: &TextView<'_>, unit: &Unit, kind: CueKind) -> bool {
    text.cues_of(unit).iter().any(|cue| cue.kind == kind)
}

fn says_something(text: &TextView<'_>, unit: &Unit) -> bool {
    let words = unit.span.of(text.text);
    let is_short = words.is_ascii() && words.split_whitespace().count() < MIN_WORDS;
    !is_short && !matches!(unit.kind, UnitKind::Heading | UnitKind::Line) && !has(text, unit, CueKind::Filler)
}

/// No question, and nothing that only leads to what follows.
fn is_statement(words: &str) -> bool {
    !words.ends_with([':', '：']) && !is_question(words)
}

fn is_injected(text: &str) -> bool {
    text.starts_with('<') && text.ends_with('>') || INJECTED.iter().any(|head| text.starts_with(head))
}

/// The keys under which tools are told a file.
#[derive(Deserialize)]
struct Named {
    file_path: Option<String>,
    path: Option<String>,
    filename: Option<String>,
    target_file: Option<String>,
    /// What an editor is to do.
    command: Option<String>,
}

/// The files that a patch in the arguments of a call names.
fn patched(arguments: &str) -> impl Iterator<Item = &str> {
    let heads = ["*** Add File: ", "*** Update File: "];
    heads.into_iter().flat_map(move |head| {
        let named = arguments.split(head).skip(1).map(|rest| rest.split(['\n', '\\', '"']).next().unwrap_or_default());
        named.map(str::trim).filter(|file| !file.is_empty())
    })
}

/// Names and identifiers of what is said, and how often.
#[derive(Default)]
struct Terms<'a>(HashMap<u64, (usize, usize, &'a str), FixedState>);

impl<'a> Terms<'a> {
    fn add(&mut self, text: &TextView<'a>) {
        for fact in text.facts {
            let words = fact.span.of(text.text);
            let before = text.text.get(..fact.span.start as usize).unwrap_or_default();
            if before.ends_with('<') || before.ends_with("</") {
                // A tag is how something is said, not what.
                continue;
            }
            let term = match fact.kind {
                FactKind::Path => words.rsplit('/').next().unwrap_or(words),
                FactKind::Camel | FactKind::Pascal | FactKind::Snake | FactKind::Ticket | FactKind::Name => words,
                _ => continue,
            };
            let at = self.0.len();
            self.0.entry(fact.key).or_insert((0, at, term)).0 += 1;
        }
    }

    fn best(self) -> Option<String> {
        let mut terms: Vec<(usize, usize, &str)> = self.0.into_values().collect();
        let is_term = |term: &str| (3..=MAX_TERM_CHARS).contains(&term.len()) && !term.contains([',', '\'', '’']);
        terms.retain(|(n, _, term)| *n > 1 && is_term(term));
        terms.sort_by_key(|&(n, at, _)| (std::cmp::Reverse(n), at));
        reply::join(terms.into_iter().take(MAX_TERMS).map(|(_, _, term)| term))
    }
}
