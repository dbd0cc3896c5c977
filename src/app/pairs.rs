//! Conversations of a run before and after: read from its tables, decoded, with what was decided about each message.
//! Refuses to know how they are shown.

use crate::engine::{Engine, Scratch};
use crate::error::{Error, ErrorKind, Result};
use crate::io::{FoundConversation, Run, Shown, ShownMessage};
use crate::model::{Condensed, Conversation, LookAhead, NewBody, Output, PartView, ReadAs, Tokenizer};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Commit, note_round};
use crate::report::explained::{ExplainedConversation, why};
use crate::report::pair::{self, MessageVerdict, Pair, Utterance, VerdictsFrom};
use crate::shape::{self, Decoded};
use crate::walk::held_of;
use serde_json::Value;

/// The conversations of `run` with this id, before and after, in the order of the run; with `at`, only the one that came
/// from this row of this source. None is no error. `check` is asked between two of them and ends the search with its error.
pub fn pairs(run: &Run, id: &str, at: Option<(&str, u64)>, check: &dyn Fn() -> Result<()>) -> Result<Vec<Pair>> {
    let bridge = Bridge::new(1)?;
    let mut scratch = Scratch::default();
    let mut pairs = Vec::new();
    for commit in run.commits.iter().filter(|commit| at.is_none_or(|(source, _)| commit.holds(source))) {
        check()?;
        for sides in run.find_sides(commit, id, &bridge)? {
            check()?;
            if at.is_none_or(|at| at == (&*sides.source, sides.source_row)) {
                let engine = same_engine(run, &sides)?;
                pairs.push(pair_of(run, commit, id, sides, engine.as_ref(), &mut scratch)?);
            }
        }
    }
    Ok(pairs)
}

/// Why each unit of the conversations of `run` with this id stays or goes: what a plan of their originals says today, and a
/// line before it where it is not the plan that made the run. None is no error.
///
/// # Errors
/// `Usage` when the plan of the run cannot be made again.
pub fn reasons(run: &Run, id: &str, check: &dyn Fn() -> Result<()>) -> Result<Vec<String>> {
    let bridge = Bridge::new(1)?;
    let unplanned = || {
        let message = "the run asked a model, chose options for each conversation, counted tokens with a file, or left the conversation \
                       alone since it went on: it cannot be planned again";
        Error::new(ErrorKind::Usage, id, message)
    };
    let (mut scratch, mut found) = (Scratch::default(), Vec::new());
    for commit in &run.commits {
        check()?;
        for sides in run.find_sides(commit, id, &bridge)? {
            check()?;
            let mut original = decode(&sides.original, read_as(run, commit), id)?;
            note_round(&mut original.conversation, &sides.source);
            note_held(&mut original.conversation, &sides.behind.views);
            let engine = engine_of(run, &sides)?.ok_or_else(unplanned)?;
            let explained = engine.explain(&original.conversation, &mut scratch);
            let (condensed, place) = (&explained.condensed, (sides.source.as_str(), sides.source_row));
            let shown = spoken(&sides.shown, original.read_as, id)?;
            let is_same = is_what_is_shown(condensed, &shown, &sides);
            let (n_out, metrics) = (condensed.messages.len(), &condensed.metrics);
            let told = why(&ExplainedConversation::new(place, id, n_out, metrics, explained.messages));
            let head =
                if is_same { "" } else { "condenser plans this conversation otherwise today than the run did:\n" };
            let none = if told.is_empty() { "nothing of this conversation is hidden for its use\n" } else { "" };
            found.push(format!("{head}{none}{told}"));
        }
    }
    Ok(found)
}

/// Notes what of its system prompts another conversation of the run shows.
fn note_held(conversation: &mut Conversation<'_>, views: &[(u64, Vec<PartView>)]) {
    let messages = &conversation.messages;
    let of = |(index, views): &(u64, Vec<PartView>)| {
        let index = usize::try_from(*index).ok().filter(|&index| index < messages.len())?;
        Some(held_of(index, views, |part| messages[index].text_at(part).map_or(0, str::len)))
    };
    conversation.held = views.iter().filter_map(of).flatten().collect();
}

/// The engine that made what is shown, when it can be had: of this version, with one set of options, and asking
/// nobody but itself.
fn same_engine(run: &Run, sides: &FoundConversation) -> Result<Option<Engine>> {
    if run.manifest.engine_version == env!("CARGO_PKG_VERSION") { engine_of(run, sides) } else { Ok(None) }
}

/// The engine with the options of the run, when it had one set of options and asked nobody but itself; for a conversation that might go on
/// without look-ahead.
fn engine_of(run: &Run, sides: &FoundConversation) -> Result<Option<Engine>> {
    let options = &run.manifest.options;
    let mut engine = options.engine.clone();
    match sides.metrics.get("age").and_then(Value::as_str) {
        Some("young") => return Ok(None),
        Some("open") if engine.looks_ahead() == Some(LookAhead::Turns) => engine.look_ahead = LookAhead::Off,
        _ => {}
    }
    let is_alone =
        options.llm.is_none() && options.policy.is_none() && !matches!(options.engine.tokenizer, Tokenizer::File(_));
    if !is_alone {
        return Ok(None);
    }
    Engine::new(engine).map(|engine| Some(engine.explaining(true)))
}

fn pair_of(
    run: &Run,
    commit: &Commit,
    id: &str,
    sides: FoundConversation,
    engine: Option<&Engine>,
    scratch: &mut Scratch,
) -> Result<Pair> {
    let mut original = decode(&sides.original, read_as(run, commit), id)?;
    note_round(&mut original.conversation, &sides.source);
    note_held(&mut original.conversation, &sides.behind.views);
    let conversation = &original.conversation;
    let shown = spoken(&sides.shown, original.read_as, id)?;
    let n_messages = conversation.messages.len();
    let mut verdicts: Vec<Option<MessageVerdict>> = vec![None; n_messages];
    let mut verdicts_from = VerdictsFrom::Nowhere;
    for decision in &sides.decisions {
        let place = usize::try_from(decision.index).ok().and_then(|index| verdicts.get_mut(index));
        if let Some(slot) = place {
            verdicts_from = VerdictsFrom::Run;
            *slot = Some(MessageVerdict {
                action: decision.action.clone(),
                reason: decision.reason.clone(),
                details: decision.details.clone(),
                chars_in: decision.chars_in,
                chars_out: decision.chars_out,
            });
        }
    }
    if verdicts_from == VerdictsFrom::Nowhere
        && let Some(engine) = engine
    {
        let condensed = engine.condense(conversation, scratch);
        if is_what_is_shown(&condensed, &shown, &sides) {
            verdicts_from = VerdictsFrom::Engine;
            for decision in &condensed.decisions {
                if let Some(slot) = verdicts.get_mut(decision.index) {
                    *slot = Some(MessageVerdict::from(decision));
                }
            }
        }
    }
    Ok(Pair::new(pair::Sides {
        source: &sides.source,
        source_row: sides.source_row,
        original: &named(conversation, id),
        shown,
        behind: &sides.behind.messages,
        views: &sides.behind.views,
        verdicts,
        verdicts_from,
        metrics: sides.metrics,
    }))
}

/// The conversation under the name that the run gives it: the messages of a table do not say theirs.
fn named<'r>(conversation: &Conversation<'r>, id: &str) -> Conversation<'r> {
    Conversation {
        id: id.to_owned().into(),
        messages: conversation.messages.clone(),
        is_compacted: conversation.is_compacted,
        age: conversation.age,
        held: conversation.held.clone(),
    }
}

/// As what the records of a part were read, as far as its run says.
pub fn read_as<'r>(run: &'r Run, commit: &Commit) -> Option<ReadAs<'r>> {
    let of_table = commit.table.as_ref().and_then(|table| table.shape);
    let options = &run.manifest.options;
    ReadAs::told(options.map.as_ref(), of_table.or(options.shape))
}

/// A record, or the messages of a row.
pub fn decode<'r>(record: &'r str, read_as: Option<ReadAs<'r>>, id: &str) -> Result<Decoded<'r>> {
    let unknown = |detail: &str| {
        let message = format!("the record holds no conversation that can be shown: {detail}");
        Error::new(ErrorKind::Input, id, message).hinting("`condenser get` prints the record as it is")
    };
    // A byte order mark stands before the first record of a file.
    let record = record.trim_start_matches('\u{feff}');
    // What stands between the records of a document comes with the one behind it.
    let unframed = record.find('{').zip(record.rfind('}')).and_then(|(from, to)| record.get(from..=to));
    for record in [Some(record), unframed].into_iter().flatten() {
        let read_as = read_as.or_else(|| shape::detect(record).map(ReadAs::Shape));
        if let Some(decoded) = read_as.and_then(|read_as| shape::decode(record, read_as, id).ok()) {
            return Ok(decoded);
        }
    }
    let shape = shape::detect(record).ok_or_else(|| unknown("its shape is unknown"))?;
    shape::decode(record, shape, id).map_err(|reject| unknown(&reject.detail))
}

/// What the messages of the output say.
pub(super) fn spoken(shown: &Shown, read_as: ReadAs<'_>, id: &str) -> Result<Vec<Utterance>> {
    match shown {
        Shown::Record(record) => {
            let decoded = decode(record, Some(read_as), id)?;
            Ok(decoded.conversation.messages.iter().map(Utterance::of).collect())
        }
        Shown::Columns(messages) => Ok(messages.iter().map(of_columns).collect()),
    }
}

/// Columns hold a content list as JSON text.
fn of_columns(message: &ShownMessage) -> Utterance {
    let list = message.content.starts_with('[').then(|| serde_json::from_str::<Value>(&message.content).ok()).flatten();
    let text = match list {
        Some(Value::Array(parts)) if parts.iter().all(|part| part.is_object() || part.is_string()) => {
            let mut texts = Vec::new();
            for part in &parts {
                push_texts(part, &mut texts);
            }
            texts.join("\n")
        }
        _ => message.content.clone(),
    };
    Utterance { role: message.role.clone(), text }
}

/// The texts of a part of a content list, those of a tool result in it included.
fn push_texts<'v>(part: &'v Value, texts: &mut Vec<&'v str>) {
    match part {
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => texts.push(text),
        Value::Array(parts) => parts.iter().for_each(|part| push_texts(part, texts)),
        Value::Object(part) => {
            for key in ["text", "content", "output"] {
                if let Some(inner) = part.get(key) {
                    push_texts(inner, texts);
                }
            }
        }
        _ => {}
    }
}

/// True when the engine comes to the same messages with the same originals behind them.
fn is_what_is_shown(condensed: &Condensed, shown: &[Utterance], sides: &FoundConversation) -> bool {
    if condensed.messages.len() != shown.len() {
        return false;
    }
    // A text that is a list in JSON looks like a list of parts where it stands in a column.
    let in_column = |position: usize, text: &str| match &sides.shown {
        Shown::Columns(messages) => messages[position].content.contains(text),
        Shown::Record(_) => false,
    };
    let behind = &sides.behind.messages;
    let mut found = Vec::with_capacity(behind.len());
    for (position, (output, shown)) in condensed.messages.iter().zip(shown).enumerate() {
        let Output::Replaced(replacement) = output else { continue };
        let says = match &replacement.body {
            NewBody::Text(text) => shown.text.contains(text.as_str()) || in_column(position, text),
            NewBody::Parts(parts) => parts.iter().all(|(_, text)| shown.text.contains(text.as_str())),
        };
        if !says {
            return false;
        }
        found.extend(replacement.sources.iter().map(|&index| (index as u64, position as u64)));
    }
    found.sort_unstable();
    found == *behind
}
