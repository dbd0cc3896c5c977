//! What the next turns of a finished conversation needed of what stood before a cut, and what of that is still shown when the part
//! before the cut is compressed by itself. Knows messages and texts; refuses to know why something is shown.

use std::cell::OnceCell;
use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::{Engine, Scratch, by_use};
use crate::model::{Condensed, Conversation, Message, Output, Role, Spot};
use crate::shape::leaves;
use crate::text::count_chars;
use crate::walk::is_counted;

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

/// What was needed, and what of it is there: sums over cuts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NextTurn {
    /// Values that the messages behind the cut use, that stood before it and not in the last messages.
    pub needed: usize,
    /// Those that still stand in their own surroundings.
    pub in_place: usize,
    /// Characters before the last messages: contents, reasoning and leaves of arguments.
    pub before: usize,
    /// Those of them that are shown.
    pub after: usize,
}

impl std::ops::AddAssign for NextTurn {
    fn add_assign(&mut self, other: Self) {
        self.needed += other.needed;
        self.in_place += other.in_place;
        self.before += other.before;
        self.after += other.after;
    }
}

impl NextTurn {
    /// Share of what was needed that stands in its place; `None` when nothing was needed.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        (self.needed > 0).then(|| self.in_place as f64 / self.needed as f64)
    }

    /// Characters before over after.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.before as f64 / self.after.max(1) as f64
    }
}

/// A finished conversation cut in two, the first part as it would have been seen then.
#[derive(Debug)]
pub struct TurnCut<'a> {
    before: Conversation<'a>,
    /// The texts of its messages but for the last ones.
    old: Vec<Vec<String>>,
    /// The texts of the last ones, and what was needed of the others, once somebody asks.
    late: Vec<String>,
    needs: OnceCell<Vec<String>>,
    used: Vec<String>,
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
        let before = Conversation { id: conversation.id.clone(), messages: before.to_vec(), ..Conversation::default() };
        Self { before, old, late, needs: OnceCell::new(), used }
    }

    /// What is there when the engine compresses it.
    #[must_use]
    pub fn compressed(&self, engine: &Engine, scratch: &mut Scratch) -> NextTurn {
        self.judge(&written(&self.before, &engine.condense(&self.before, scratch), self.old.len()))
    }

    /// The same of the characters alone, which is faster.
    #[must_use]
    pub fn size(&self, engine: &Engine, scratch: &mut Scratch) -> NextTurn {
        let now = written(&self.before, &engine.condense(&self.before, scratch), self.old.len());
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

    fn judge(&self, now: &[Vec<String>]) -> NextTurn {
        let needs = self.needs.get_or_init(|| {
            let is_needed =
                |value: &&String| stands(self.old.iter().flatten(), value) && !stands(self.late.iter(), value);
            self.used.iter().filter(is_needed).cloned().collect()
        });
        let source = Source::of(&self.old);
        let is_there = |value: &&String| now.iter().flatten().any(|text| source.has_in_place(value, text));
        NextTurn {
            needed: needs.len(),
            in_place: needs.iter().filter(is_there).count(),
            before: n_chars(&self.old),
            after: n_chars(now),
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
    texts.extend(message.reasoning.iter().map(ToString::to_string));
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
                texts.extend(message.reasoning.iter().map(ToString::to_string));
                for (number, call) in message.tool_calls.iter().enumerate() {
                    let spot = replaced.spots.iter().find(|(spot, _)| *spot == Spot::Call(number));
                    texts.extend(leaves_of(spot.map_or(&*call.arguments, |(_, written)| written)));
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

/// What stood before, to find surroundings in.
struct Source {
    lines: HashSet<Vec<u8>, FixedState>,
    whole: Vec<u8>,
}

/// Letters and digits alone.
fn squeezed(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80).collect()
}

impl Source {
    fn of(texts: &[Vec<String>]) -> Self {
        let all = || texts.iter().flatten();
        let mut lines: HashSet<Vec<u8>, FixedState> = all().flat_map(|text| text.split('\n')).map(squeezed).collect();
        // JSON is compared member by member, however it is laid out.
        for text in all().filter(|text| text.starts_with(['{', '['])) {
            let laid_out =
                serde_json::from_str(text).and_then(|json: serde_json::Value| serde_json::to_string_pretty(&json));
            lines.extend(laid_out.unwrap_or_default().lines().map(squeezed));
        }
        Self { lines, whole: all().flat_map(|text| squeezed(text)).collect() }
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
