//! What the next turns of a finished conversation needed of what stood before a cut, and what of that is still shown when the part
//! before the cut is compressed by itself. Knows messages and texts; refuses to know why something is shown.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::{Engine, Scratch, by_use};
use crate::model::{
    Answers, Condensed, Consult, Conversation, Message, Metrics, NextTurn, Output, Role, Spot, Strategy,
};
use crate::shape::leaves;
use crate::text::count_chars;
use crate::walk::{cuts_of, is_counted, is_one_in};

/// Messages behind a cut that tell what was needed, and before it that stay.
const TAIL: usize = 4;
/// Characters of a leaf of the arguments of a call that is needed as a whole.
const LEAF: std::ops::RangeInclusive<usize> = 4..=200;
/// Letters and digits of its own surroundings by which a value is known where its line is cut, and on one side at most.
const MIN_AROUND: usize = 30;
const MAX_SIDE: usize = 20;
const MAX_SAME: usize = 200;
/// Places of a value that are tried.
const MAX_TRIES: usize = 40;
/// Characters of a line that is repeated as a line.
const MIN_LINE: usize = 8;
/// One conversation in so many is looked at, unless all figures are asked for.
const ONE_IN: u64 = 64;

/// A finished conversation cut in two, the first part as it would have been seen then.
#[derive(Debug)]
pub struct TurnCut<'a> {
    before: Conversation<'a>,
    /// The texts of its messages but for the last ones.
    old: Vec<Vec<String>>,
    /// The texts of the last ones, and what was needed of the others, once somebody asks.
    late: Vec<String>,
    needs: OnceCell<(Vec<String>, Vec<String>)>,
    used: Vec<String>,
    repeated: HashSet<String, FixedState>,
}

impl<'a> TurnCut<'a> {
    /// The conversation before message `at`.
    #[must_use]
    pub fn new(conversation: &Conversation<'a>, at: usize) -> Self {
        let (before, behind) = conversation.messages.split_at(at);
        let start = at.saturating_sub(TAIL);
        let old = before[..start].iter().map(texts_of).collect();
        let late = before[start..].iter().flat_map(texts_of).collect();
        let used = used_by(behind.iter().take(TAIL));
        let said = behind.iter().take(TAIL).filter(|message| message.role == Role::Assistant);
        let arguments = said.flat_map(|message| &message.tool_calls).flat_map(|call| leaves_of(&call.arguments));
        let repeated = arguments.flat_map(|leaf| lines_of(&leaf).map(str::to_owned).collect::<Vec<_>>()).collect();
        let before = Conversation { id: conversation.id.clone(), messages: before.to_vec(), ..Conversation::default() };
        Self { before, old, late, needs: OnceCell::new(), used, repeated }
    }

    /// What is there when the engine compresses it.
    #[must_use]
    pub fn compressed(&self, engine: &Engine, scratch: &mut Scratch) -> NextTurn {
        self.judge(&self.written(engine, scratch))
    }

    /// The same of the characters alone, which is faster.
    #[must_use]
    pub fn size(&self, engine: &Engine, scratch: &mut Scratch) -> NextTurn {
        let now = self.written(engine, scratch);
        NextTurn { before: n_chars(&self.old), after: n_chars(&now), ..NextTurn::default() }
    }

    /// What is there when of all results but the last `n` the texts are hidden.
    #[must_use]
    pub fn masked(&self, n: usize) -> NextTurn {
        let messages = &self.before.messages;
        let is_result =
            |message: &Message<'_>| matches!(message.role, Role::Tool | Role::Function) || !message.results.is_empty();
        let results = messages.iter().enumerate().filter(|(_, message)| is_result(message));
        let hidden: HashSet<usize> = results.rev().skip(n).map(|(index, _)| index).collect();
        let show = |(index, texts): (usize, &Vec<String>)| match texts.first() {
            Some(text) if hidden.contains(&index) => vec![format!("⋯ {} lines", text.lines().count())],
            _ => texts.clone(),
        };
        self.judge(&self.old.iter().enumerate().map(show).collect::<Vec<_>>())
    }

    /// The texts as the engine writes them; what comes of the cut itself is not measured once more.
    fn written(&self, engine: &Engine, scratch: &mut Scratch) -> Vec<Vec<String>> {
        let (answers, mut asks) = (Answers::default(), Vec::new());
        let (assembled, metrics) =
            engine.consult_assembled(&self.before, scratch, &mut Consult::new(&answers, &mut asks));
        let condensed = Condensed { messages: assembled.messages, decisions: assembled.decisions, metrics };
        written(&self.before, &condensed, self.old.len())
    }

    /// The lines that are repeated that stand in some texts.
    fn among<'s>(&'s self, texts: impl Iterator<Item = &'s (impl AsRef<str> + 's)>) -> HashSet<&'s str, FixedState> {
        texts.flat_map(|text| lines_of(text.as_ref())).filter(|line| self.repeated.contains(*line)).collect()
    }

    fn judge(&self, now: &[Vec<String>]) -> NextTurn {
        let (values, lines) = self.needs.get_or_init(|| {
            let is_needed =
                |value: &&String| stands(self.old.iter().flatten(), value) && !stands(self.late.iter(), value);
            let (old, late) = (self.among(self.old.iter().flatten()), self.among(self.late.iter()));
            let lines = self.repeated.iter().filter(|line| old.contains(&***line) && !late.contains(&***line));
            (self.used.iter().filter(is_needed).cloned().collect(), lines.cloned().collect())
        });
        let shown: Vec<Cow<'_, str>> = now.iter().flatten().map(|text| laid_out(text)).collect();
        let source = if values.is_empty() { Source::default() } else { Source::of(&self.old) };
        let is_there = |value: &&String| shown.iter().any(|text| source.has_in_place(value, text));
        let shown_lines = self.among(shown.iter());
        NextTurn {
            needed: values.len(),
            in_place: values.iter().filter(is_there).count(),
            lines: lines.len(),
            lines_shown: lines.iter().filter(|line| shown_lines.contains(&***line)).count(),
            before: n_chars(&self.old),
            after: n_chars(now),
        }
    }
}

impl Engine {
    /// Notes what the next turns of one cut needed and what of that is there, where nobody looks ahead: of one conversation in
    /// [`ONE_IN`], of all where all figures are asked for.
    pub(super) fn look_at_next_turn(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        metrics: &mut Metrics,
    ) {
        let is_asked = self.options.guesses()
            && self.options.strategy == Strategy::Messages
            && (self.options.all_figures || is_one_in(ONE_IN, conversation))
            && self.goes_by_use(conversation)
            && by_use::settled(conversation) == 0;
        let cuts = if is_asked { cuts_of(conversation, 1) } else { Vec::new() };
        if let Some(&at) = cuts.first() {
            metrics.set_next_turn(TurnCut::new(conversation, at).compressed(self, scratch));
            scratch.ended("metrics");
        }
    }
}

/// Characters of contents, reasoning and arguments before the last `window` messages, and how many of them what came out shows.
#[must_use]
pub fn extent(conversation: &Conversation<'_>, condensed: &Condensed, window: usize) -> NextTurn {
    let n_old = conversation.messages.len().saturating_sub(window);
    let before = conversation.messages[..n_old].iter().map(texts_of).collect::<Vec<_>>();
    let after = written(conversation, condensed, n_old);
    NextTurn { before: n_chars(&before), after: n_chars(&after), ..NextTurn::default() }
}

/// Characters of texts, and one between each two.
fn n_chars(texts: &[Vec<String>]) -> usize {
    texts.iter().flatten().map(|text| count_chars(text.as_bytes()) + 1).sum()
}

fn stands<'t>(mut texts: impl Iterator<Item = &'t String>, value: &str) -> bool {
    texts.any(|text| places(text, value).next().is_some())
}

/// Everything of a message that a model would see.
fn texts_of(message: &Message<'_>) -> Vec<String> {
    let mut texts: Vec<String> = message.texts().map(str::to_owned).collect();
    texts.extend(message.reasoning.iter().map(|thought| thought.text.to_string()));
    message.tool_calls.iter().for_each(|call| texts.extend(leaves_of(&call.arguments)));
    texts
}

fn leaves_of(arguments: &str) -> Vec<String> {
    let found = leaves(arguments);
    found.map_or_else(|| vec![arguments.to_owned()], |found| found.into_iter().map(|(_, leaf)| leaf.into()).collect())
}

/// The texts of the first `n` messages as they are written, whoever stands for them.
fn written(before: &Conversation<'_>, condensed: &Condensed, n: usize) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for output in &condensed.messages {
        let first = output.first_source();
        if first >= n {
            break;
        }
        let message = &before.messages[first];
        all.push(match output {
            Output::Kept { .. } => texts_of(message),
            Output::Replaced(replaced) => {
                let texts = by_use::texts_of(message, &replaced.body, &[]);
                let mut texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
                for (number, thought) in message.reasoning.iter().enumerate() {
                    texts.push(replaced.at(Spot::Thought(number)).unwrap_or(&thought.text).to_owned());
                }
                for (number, call) in message.tool_calls.iter().enumerate() {
                    texts.extend(leaves_of(replaced.at(Spot::Call(number)).unwrap_or(&call.arguments)));
                }
                texts
            }
        });
    }
    all
}

/// The values that assistants use, each once.
fn used_by<'m, 'a: 'm>(messages: impl Iterator<Item = &'m Message<'a>>) -> Vec<String> {
    let (mut known, mut needs): (HashSet<String, FixedState>, Vec<String>) = Default::default();
    let mut take = |value: &str| {
        if known.insert(value.to_owned()) {
            needs.push(value.to_owned());
        }
    };
    for message in messages.filter(|message| message.role == Role::Assistant) {
        for text in message.texts() {
            names(text, &mut take);
        }
        for leaf in message.tool_calls.iter().flat_map(|call| leaves_of(&call.arguments)) {
            if LEAF.contains(&leaf.trim().chars().count()) {
                take(leaf.trim());
            }
            names(&leaf, &mut take);
        }
    }
    needs
}

/// Calls `take` with what looks like an identifier or a number.
fn names(text: &str, take: &mut impl FnMut(&str)) {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_./#-".contains(&byte);
    for run in text.as_bytes().split(|&byte| !is_part(byte)) {
        let run = std::str::from_utf8(run).unwrap_or_default();
        let run = run.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        // Two signs at once join nothing.
        for name in run.split("..").flat_map(|run| run.split("--")).flat_map(|run| run.split("//")) {
            let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            if is_counted(name.as_bytes()) {
                take(name);
            }
        }
    }
}

/// The places of a value in a text where it stands as a word or words.
fn places<'t>(text: &'t str, value: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_whole = |&at: &usize| {
        let (before, behind) = (text.get(..at)?.chars().next_back(), text.get(at + value.len()..)?.chars().next());
        let begins = before.zip(value.chars().next()).is_none_or(|(a, b)| is_border(a, b));
        let ends = value.chars().next_back().zip(behind).is_none_or(|(a, b)| is_border(a, b));
        Some(begins && ends)
    };
    let found = memchr::memmem::find_iter(text.as_bytes(), value.as_bytes());
    found.filter(move |at| is_whole(at) == Some(true))
}

/// True where a word may end: at what is no letter or digit, at a hump, between letter and digit.
fn is_border(a: char, b: char) -> bool {
    !(a.is_alphanumeric() && b.is_alphanumeric())
        || b.is_uppercase() && !a.is_uppercase()
        || a.is_numeric() != b.is_numeric()
}

/// JSON with a member a line, so that it is compared member by member however it was laid out; other text as it is.
fn laid_out(text: &str) -> Cow<'_, str> {
    let is_json = text.starts_with(['{', '[']) && text.trim_end().ends_with(['}', ']']);
    let json = is_json.then(|| serde_json::from_str::<serde_json::Value>(text).ok()).flatten();
    json.and_then(|json| serde_json::to_string_pretty(&json).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The lines of a text without number, sign of a diff and indentation, those that say something.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(bare).filter(|line| line.chars().nth(MIN_LINE - 1).is_some())
}

fn bare(line: &str) -> &str {
    let line = line.trim();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (number.len() < line.len()).then(|| number.strip_prefix([':', '\t', '|', '→'])).flatten();
    numbered.unwrap_or(line).trim().trim_start_matches(['+', '-']).trim()
}

/// What stood before, to find surroundings in.
#[derive(Default)]
struct Source {
    lines: HashSet<Vec<u8>, FixedState>,
    whole: Vec<u8>,
}

/// Letters and digits alone.
fn squeezed(text: &str) -> Vec<u8> {
    text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().into_bytes()
}

impl Source {
    fn of(texts: &[Vec<String>]) -> Self {
        let texts: Vec<Cow<'_, str>> = texts.iter().flatten().map(|text| laid_out(text)).collect();
        let lines = texts.iter().flat_map(|text| text.split('\n')).map(squeezed).collect();
        Self { lines, whole: texts.iter().flat_map(|text| squeezed(text)).collect() }
    }

    /// True when a place of the value in a text has the surroundings of a place where it stood.
    fn has_in_place(&self, value: &str, text: &str) -> bool {
        if value.contains('\n') {
            return places(text, value).next().is_some();
        }
        places(text, value).take(MAX_TRIES).any(|at| {
            let (before, behind) =
                (text.get(..at).unwrap_or_default(), text.get(at + value.len()..).unwrap_or_default());
            let left = before.rsplit('\n').next().unwrap_or_default();
            let right = behind.split('\n').next().unwrap_or_default();
            let whole = [squeezed(left), squeezed(value), squeezed(right)].concat();
            if self.lines.contains(&whole) {
                return true;
            }
            let near = |text: &str, from_end: bool| {
                let text: String = if from_end {
                    text.chars().rev().take(MAX_SAME).collect::<Vec<_>>().into_iter().rev().collect()
                } else {
                    text.chars().take(MAX_SAME).collect()
                };
                let part = if from_end { text.rsplit('⋯').next() } else { text.split('⋯').next() };
                squeezed(part.unwrap_or_default())
            };
            let (left, right) = (near(left, true), near(right, false));
            let left = &left[left.len().saturating_sub(MAX_SIDE)..];
            let right = &right[..right.len().min(MAX_SIDE)];
            let around = [left, &squeezed(value), right].concat();
            left.len() + right.len() >= MIN_AROUND && memchr::memmem::find(&self.whole, &around).is_some()
        })
    }
}
