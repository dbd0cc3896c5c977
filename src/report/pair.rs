//! One conversation before and after, step by step: what stands there now, the originals behind it, and what was
//! decided about each. Knows conversations, no run, no page and no terminal.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Conversation, Message};

/// A conversation before and after.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// Its id.
    pub id: String,
    /// The input that it came from.
    pub source: String,
    /// Its row there.
    pub source_row: u64,
    /// Number of messages before.
    pub n_before: usize,
    /// The messages after, in order, each with what it stands for.
    pub steps: Vec<Step>,
}

/// A message of the output and the originals behind it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// What is said now.
    pub after: Spoken,
    /// What was said before, in order; what stayed has one original with the same text.
    pub before: Vec<Before>,
    /// The original stands there as it was.
    pub is_unchanged: bool,
}

/// What a message says: its texts, then its tool calls as `(calls NAME ARGUMENTS)`, one below the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Spoken {
    /// The role.
    pub role: String,
    /// The text as it is, control characters included.
    pub text: String,
}

/// An original.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Before {
    /// Its index in the conversation.
    pub index: usize,
    /// Its id in the input.
    pub message_id: Option<String>,
    /// What it said.
    pub spoken: Spoken,
    /// What was decided; `None` when nobody knows any more.
    pub verdict: Option<Verdict>,
}

/// What was decided about a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// What was done, such as `compressed`.
    pub action: String,
    /// The rule that decided.
    pub reason: String,
    /// Further reasons of the classifier.
    pub details: Vec<String>,
    /// Characters before.
    pub chars_in: u64,
    /// Its share of the characters that stand for it.
    pub chars_out: u64,
}

impl Spoken {
    /// What `message` says.
    #[must_use]
    pub fn of(message: &Message<'_>) -> Self {
        let mut text = String::new();
        let mut push = |piece: &str| {
            if !piece.is_empty() {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(piece);
            }
        };
        message.texts().for_each(&mut push);
        for call in &message.tool_calls {
            push(&format!("(calls {} {})", call.name.as_deref().unwrap_or("tool"), call.arguments));
        }
        Self { role: message.role.as_str().to_owned(), text }
    }
}

impl Pair {
    /// Puts the two sides together. `behind` has the replaced messages as index before and position after; all others
    /// stayed, in their order. `verdicts` are by index, and may be fewer.
    #[must_use]
    pub fn new(
        place: (&str, u64),
        original: &Conversation<'_>,
        shown: &Conversation<'_>,
        behind: &[(u64, u64)],
        mut verdicts: Vec<Option<Verdict>>,
    ) -> Self {
        let n_before = original.messages.len();
        verdicts.resize(n_before, None);
        let mut replaced = vec![None; n_before];
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); shown.messages.len()];
        for &(index, position) in behind {
            let (Ok(index), Ok(position)) = (usize::try_from(index), usize::try_from(position)) else { continue };
            if let (Some(slot), Some(sources)) = (replaced.get_mut(index), sources.get_mut(position)) {
                *slot = Some(position);
                sources.push(index);
            }
        }
        let mut stayed = (0..n_before).filter(|&index| replaced[index].is_none());
        let mut before = |index: usize| {
            let message = &original.messages[index];
            Before {
                index,
                message_id: message.id.as_deref().map(str::to_owned),
                spoken: Spoken::of(message),
                verdict: verdicts[index].take(),
            }
        };
        let steps = shown.messages.iter().zip(&sources).map(|(message, sources)| {
            let is_unchanged = sources.is_empty();
            let indices = if is_unchanged { stayed.next().into_iter().collect() } else { sources.clone() };
            let before = indices.into_iter().map(&mut before).collect();
            Step { after: Spoken::of(message), before, is_unchanged }
        });
        let steps = steps.collect();
        let (source, source_row) = (place.0.to_owned(), place.1);
        Self { id: original.id.to_string(), source, source_row, n_before, steps }
    }
}
