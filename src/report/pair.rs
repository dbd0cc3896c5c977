//! One conversation before and after, step by step: what stands there now, the originals behind it, and what was
//! decided about each. Knows conversations, no run, no page and no terminal.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Map, Value};

use super::ConversationFacts;
use crate::model::{Conversation, Decision, Figure, Message, PartView, ViewOp};

/// A conversation before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "pair"))]
pub struct Pair {
    /// Its id.
    pub id: String,
    /// The input that it came from.
    pub source: String,
    /// Its row there.
    pub source_row: u64,
    /// Number of messages before.
    pub n_before: usize,
    /// Its row of the metrics table by names of columns; what was not measured is left out.
    pub metrics: Map<String, Value>,
    /// Where the verdicts come from.
    pub verdicts_from: VerdictsFrom,
    /// The messages after, in order, each with what it stands for.
    pub steps: Vec<Step>,
}

/// Where the verdicts about a conversation come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VerdictsFrom {
    /// The run has them in its decisions table.
    Run,
    /// The engine decided anew, and came to the same output.
    Engine,
    /// Nobody knows them any more: only what stands for what is known.
    Nowhere,
}

impl VerdictsFrom {
    /// The same as a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Self::Run => "Decisions are those that the run wrote down.",
            Self::Engine => "Decisions were made again by the engine, with the same output.",
            Self::Nowhere => "Decisions are not known: the run has no table of them; --trace writes one.",
        }
    }
}

/// The texts of conversations before and after, for the page of a report.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// Nobody wanted them: the page says so.
    pub left_out: bool,
    /// Each with the run that it is from, a number in `runs`.
    pub pairs: Vec<(usize, Pair)>,
}

impl Texts {
    /// The place of the text of a conversation.
    pub fn place(&self, facts: &ConversationFacts) -> Option<usize> {
        self.pairs.iter().position(|(run, pair)| {
            *run == facts.run && pair.source == facts.figures.source && pair.source_row == facts.figures.source_row
        })
    }

    /// The id of the element of a page that shows the text at a place.
    pub(super) fn id_of(at: usize) -> String {
        format!("text-{at}")
    }
}

/// Those of the `figures` that were measured for a conversation.
pub(super) fn figures_of(pair: &Pair, figures: &[Figure]) -> impl Iterator<Item = (Figure, f64)> {
    figures.iter().filter_map(|figure| Some((*figure, pair.metrics.get(figure.as_str())?.as_f64()?)))
}

/// A message of the output and the originals behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Step {
    /// What is said now.
    pub after: Utterance,
    /// What was said before, in order; what stayed has one original with the same text.
    pub before: Vec<Before>,
    /// The original stands there as it was.
    pub is_unchanged: bool,
}

/// What a message says: its texts, then its tool calls as `(calls NAME ARGUMENTS)`, one below the other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Utterance {
    /// The role.
    pub role: String,
    /// The text as it is, control characters included.
    pub text: String,
}

/// An original.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Before {
    /// Its index in the conversation.
    pub index: usize,
    /// Its id in the input.
    pub message_id: Option<String>,
    /// What it said.
    pub spoken: Utterance,
    /// The bytes of its text that the sidecar says are hidden; `None` where it does not say.
    #[serde(skip)]
    pub hidden: Option<Vec<Range<usize>>>,
    /// What was decided; `None` when nobody knows any more.
    pub verdict: Option<MessageVerdict>,
}

/// What was decided about a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MessageVerdict {
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

/// What a pair is made of.
#[derive(Debug, Clone)]
pub struct Sides<'a, 'r> {
    /// The input.
    pub source: &'a str,
    /// The row of the conversation there.
    pub source_row: u64,
    /// The conversation as it was.
    pub original: &'a Conversation<'r>,
    /// What the output says, message by message; that of messages that stayed is not looked at.
    pub shown: Vec<Utterance>,
    /// The messages that something else stands for: index before, position after. All others stayed, in their order.
    pub behind: &'a [(u64, u64)],
    /// What is shown of the texts of messages, by index.
    pub views: &'a [(u64, Vec<PartView>)],
    /// What was decided, by index; may be fewer.
    pub verdicts: Vec<Option<MessageVerdict>>,
    /// Where that comes from.
    pub verdicts_from: VerdictsFrom,
    /// The row of the metrics table.
    pub metrics: Map<String, Value>,
}

impl From<&Decision> for MessageVerdict {
    fn from(decision: &Decision) -> Self {
        Self {
            action: decision.action.as_str().to_owned(),
            reason: decision.reason.as_str().to_owned(),
            details: decision.details.iter().map(|reason| reason.as_str().to_owned()).collect(),
            chars_in: decision.chars_in as u64,
            chars_out: decision.chars_out as u64,
        }
    }
}

impl Utterance {
    /// What `message` says.
    pub fn of(message: &Message<'_>) -> Self {
        let pieces = pieces(message).map(|(before, text, behind)| before + text + behind);
        let text = pieces.collect::<Vec<_>>().join("\n");
        Self { role: message.role.as_str().to_owned(), text }
    }
}

/// A piece of what a message says: what stands before a text of it, the text, and what stands behind.
type Piece<'m> = (String, &'m str, &'static str);

/// The pieces of what `message` says, one below the other: thoughts, texts, calls.
fn pieces<'m>(message: &'m Message<'_>) -> impl Iterator<Item = Piece<'m>> {
    let thoughts = message.reasoning.iter().map(|thought| ("(thinks ".to_owned(), &*thought.text, ")"));
    let texts = message.texts().filter(|text| !text.is_empty()).map(|text| (String::new(), text, ""));
    let calls = message.tool_calls.iter().map(|call| {
        let name = call.name.as_deref().unwrap_or("tool");
        (format!("(calls {name} "), &*call.arguments, ")")
    });
    thoughts.chain(texts).chain(calls)
}

/// The stretches of what `message` says that its `views` do not copy.
fn hidden_of(message: &Message<'_>, views: &[PartView]) -> Vec<Range<usize>> {
    let (mut hidden, mut at) = (Vec::new(), 0);
    for (before, text, behind) in pieces(message) {
        at += before.len();
        let of_view = |view: &PartView| match (view.call, view.thought) {
            (Some(call), _) => message.tool_calls.get(call).map(|call| &*call.arguments),
            (None, Some(thought)) => message.reasoning.get(thought).map(|thought| &*thought.text),
            (None, None) => message.text_at(view.part),
        };
        // The same text, not an equal one.
        let view = views.iter().find(|view| of_view(view).is_some_and(|of| std::ptr::eq(of, text)));
        let copies = view.into_iter().flat_map(|view| &view.ops).filter_map(|op| match op {
            ViewOp::Copy(from, to) => Some((*from, *to)),
            _ => None,
        });
        let mut shown_to = if view.is_some() { 0 } else { text.len() };
        for (from, to) in copies.chain([(text.len(), text.len())]) {
            if text.get(shown_to..from).is_some_and(|gone| !gone.trim().is_empty()) {
                hidden.push(at + shown_to..at + from);
            }
            shown_to = to;
        }
        at += text.len() + behind.len() + 1;
    }
    hidden
}

impl Pair {
    /// As JSON on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts always serialize")
    }

    /// Puts the two sides together.
    pub fn new(sides: Sides<'_, '_>) -> Self {
        let Sides { source, source_row, original, shown, behind, views, mut verdicts, verdicts_from, metrics } = sides;
        let n_before = original.messages.len();
        verdicts.resize(n_before, None);
        let mut replaced = vec![false; n_before];
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); shown.len()];
        for &(index, position) in behind {
            let (Ok(index), Ok(position)) = (usize::try_from(index), usize::try_from(position)) else { continue };
            if let (Some(slot), Some(sources)) = (replaced.get_mut(index), sources.get_mut(position))
                && !std::mem::replace(slot, true)
            {
                sources.push(index);
            }
        }
        let mut stayed = (0..n_before).filter(|&index| !replaced[index]);
        let mut before = |index: usize| {
            let message = &original.messages[index];
            Before {
                index,
                message_id: message.id.as_deref().map(str::to_owned),
                spoken: Utterance::of(message),
                hidden: views.iter().find(|(of, _)| *of == index as u64).map(|(_, views)| hidden_of(message, views)),
                verdict: verdicts[index].take(),
            }
        };
        let mut steps = Vec::with_capacity(shown.len());
        for (after, mut sources) in shown.into_iter().zip(sources) {
            let is_unchanged = sources.is_empty();
            sources.sort_unstable();
            let before: Vec<Before> = if is_unchanged {
                stayed.next().map(&mut before).into_iter().collect()
            } else {
                sources.into_iter().map(&mut before).collect()
            };
            let after = match before.first() {
                // What stayed says what it said, however the run writes it down.
                Some(before) if is_unchanged => before.spoken.clone(),
                // What stands for others is a copy of the first of them with another text.
                Some(before) => Utterance { role: before.spoken.role.clone(), text: after.text },
                None => after,
            };
            steps.push(Step { after, before, is_unchanged });
        }
        Self {
            id: original.id.to_string(),
            source: source.to_owned(),
            source_row,
            n_before,
            metrics,
            verdicts_from,
            steps,
        }
    }
}
