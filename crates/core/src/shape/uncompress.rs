//! Expanding summaries by the provenance that they carry and a map from ids to messages: the way back for logs
//! whose only link to the originals is `metadata._cce_original`. A summary whose originals are not all there
//! stays, so nothing that it stood for vanishes.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use crate::model::{Condensed, Output, ReadAs, Reject, RejectReason};

use super::Decoded;
use super::binding::ids_of;
use super::cut::cut;
use super::escape::{Style, encode};
use super::index::invalid;
use super::json::{Kind, Scanner, around, between};
use super::layout::RestoreError;
use super::splice::brackets;

/// Rounds after the first one in which summaries of summaries are expanded.
const MAX_ROUNDS: usize = 10;

/// What is known about an original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'m> {
    /// Nothing.
    Nothing,
    /// Its exact JSON.
    Message(&'m str),
    /// Several texts, and nothing that says which of them stood here.
    Several,
}

/// Where originals are found.
pub trait Lookup: std::fmt::Debug {
    /// What is known about the messages with these ids that `summary`, a message as JSON, stands for: one answer for each,
    /// always the same for the same question.
    fn originals<'m>(&'m self, summary: &str, ids: &[String]) -> Vec<Found<'m>>;
}

/// A map from ids to messages, as text and in its order. Any key is an id, `__proto__` too.
#[derive(Debug, Clone, Default)]
pub struct VerbatimMap<'m> {
    entries: Vec<(Cow<'m, str>, &'m str)>,
    index: HashMap<Cow<'m, str>, usize>,
}

impl<'m> VerbatimMap<'m> {
    /// Reads `{"id": {message}, …}`.
    ///
    /// # Errors
    /// Says where the text is not JSON, which entry is no message, or which id has two different messages.
    pub fn read(json: &'m str) -> Result<Self, RestoreError> {
        let mut map = Self::default();
        let mut wrong = None;
        let mut scanner = Scanner::new(json);
        let outcome = scanner.peek().and_then(|kind| {
            if kind != Kind::Object {
                wrong = Some("the map is not an object of messages by id".to_owned());
                return scanner.value().map(|_| ());
            }
            scanner.object(|scanner, key| {
                let value = scanner.value()?;
                if value.kind != Kind::Object && wrong.is_none() {
                    wrong = Some(format!("the entry {:?} of the map is not a message", key.name));
                }
                if !map.insert(key.name.clone(), value.text) && wrong.is_none() {
                    wrong = Some(format!("the map has two different messages under the id {:?}", key.name));
                }
                Ok(())
            })?;
            scanner.end()
        });
        outcome.map_err(|bad| RestoreError(invalid(json, bad).detail))?;
        wrong.map_or(Ok(map), |wrong| Err(RestoreError(wrong)))
    }

    /// The ids and messages in their order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &'m str)> {
        self.entries.iter().map(|(id, message)| (id.as_ref(), *message))
    }

    /// The message with this id.
    #[must_use]
    pub fn message(&self, id: &str) -> Option<&'m str> {
        self.index.get(id).and_then(|&at| self.entries.get(at)).map(|&(_, message)| message)
    }

    /// False when there is another message under this id.
    fn insert(&mut self, id: Cow<'m, str>, message: &'m str) -> bool {
        if let Some(known) = self.message(&id) {
            return known == message;
        }
        self.index.insert(id.clone(), self.entries.len());
        self.entries.push((id, message));
        true
    }
}

impl Lookup for VerbatimMap<'_> {
    fn originals<'m>(&'m self, _summary: &str, ids: &[String]) -> Vec<Found<'m>> {
        ids.iter().map(|id| self.message(id).map_or(Found::Nothing, Found::Message)).collect()
    }
}

/// What became of the summaries among some messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uncompressed {
    /// Summaries that were replaced by their originals, over all rounds.
    pub expanded: usize,
    /// Messages that stayed as they were in the last round.
    pub passthrough: usize,
    /// Ids without an original, each once, in the order in which they were missed. An id whose entry leads back
    /// to itself counts as missing: its original was overwritten by a summary.
    pub missing_ids: Vec<String>,
    /// Ids with several originals of which none is known to be the right one, each once.
    pub ambiguous_ids: Vec<String>,
}

/// A message on its way back, and the link to the entry that it was expanded from.
#[derive(Debug, Clone, Copy)]
struct Item<'m> {
    message: &'m str,
    parent: Option<usize>,
}

/// The exact JSON of the messages in order, those that carry provenance expanded. With `recursive`, also the summaries
/// among the originals, in up to ten more rounds.
///
/// A group is expanded only when all of its originals are there. A summary among the originals is expanded at
/// one place only, so that the work stays within the size of the input whatever the map says.
#[must_use]
pub fn uncompress<'m>(messages: &[&'m str], lookup: &'m dyn Lookup, recursive: bool) -> (Vec<&'m str>, Uncompressed) {
    let mut rounds = Rounds { lookup, links: Vec::new(), missed: HashSet::default(), expanded: HashSet::default() };
    let mut result = Uncompressed::default();
    let mut items: Vec<Item<'m>> = messages.iter().map(|&message| Item { message, parent: None }).collect();
    for _ in 0..=if recursive { MAX_ROUNDS } else { 0 } {
        let before = result.expanded;
        items = rounds.expand(&items, &mut result);
        if result.expanded == before {
            break;
        }
    }
    (items.into_iter().map(|item| item.message).collect(), result)
}

struct Rounds<'m> {
    lookup: &'m dyn Lookup,
    /// Ids that led to messages, each with the link before it.
    links: Vec<(String, Option<usize>)>,
    missed: HashSet<String>,
    /// Ids of summaries that were expanded.
    expanded: HashSet<String>,
}

impl<'m> Rounds<'m> {
    fn expand(&mut self, items: &[Item<'m>], result: &mut Uncompressed) -> Vec<Item<'m>> {
        result.passthrough = 0;
        let mut out = Vec::with_capacity(items.len());
        for &item in items {
            if let Some(originals) = self.originals(item, result) {
                result.expanded += 1;
                out.extend(originals);
            } else {
                result.passthrough += 1;
                out.push(item);
            }
        }
        out
    }

    /// All originals of a summary; `None` when it is none, when one is missing, or when it was expanded before.
    fn originals(&mut self, item: Item<'m>, result: &mut Uncompressed) -> Option<Vec<Item<'m>>> {
        let ids = ids_of(item.message)?;
        let mut messages = Vec::with_capacity(ids.len());
        for (id, found) in ids.iter().zip(self.lookup.originals(item.message, &ids)) {
            let list = match found {
                Found::Message(message) if !self.leads_back(item, id) => {
                    messages.push(message);
                    continue;
                }
                Found::Several => &mut result.ambiguous_ids,
                Found::Message(_) | Found::Nothing => &mut result.missing_ids,
            };
            if self.missed.insert(id.clone()) {
                list.push(id.clone());
            }
        }
        let (origin, _) = item.parent.and_then(|at| self.links.get(at)).cloned().unzip();
        if messages.len() < ids.len() || origin.is_some_and(|origin| !self.expanded.insert(origin)) {
            return None;
        }
        let items = ids.into_iter().zip(messages).map(|(id, message)| {
            self.links.push((id, item.parent));
            Item { message, parent: Some(self.links.len() - 1) }
        });
        Some(items.collect())
    }

    /// True when `item` was itself found under `id`, or stands below a message that was.
    fn leads_back(&self, item: Item<'_>, id: &str) -> bool {
        let mut next = item.parent;
        while let Some((known, parent)) = next.and_then(|at| self.links.get(at)) {
            if known == id {
                return true;
            }
            next = *parent;
        }
        false
    }
}

/// A record with its summaries expanded; everything outside its list of messages is copied.
///
/// # Errors
/// Says why the record holds no conversation in this shape.
pub fn uncompress_record<'r>(
    record: &'r str,
    read_as: impl Into<ReadAs<'r>>,
    lookup: &dyn Lookup,
    recursive: bool,
) -> Result<(String, Uncompressed), Reject> {
    let index = cut(record, read_as.into())?;
    if index.log.is_some() {
        let detail = "events stand between the messages of an event log, and a map of messages does not say where; \
                      restore it from its run or sidecar";
        return Err(Reject { reason: RejectReason::UnknownShape, detail: detail.to_owned() });
    }
    let (messages, back) = uncompress(&index.messages, lookup, recursive);
    let (before, after) = around(record, index.list);
    let (open, close) = brackets(&index);
    // A single message tells the style by what stands between its members.
    let separator = index.separator(1).or_else(|| match index.members(0) {
        [first, second, ..] => Some(between(record, first.value.text, second.key)),
        _ => None,
    });
    let list = messages.join(separator.unwrap_or(","));
    Ok(([before, open, &list, close, after].concat(), back))
}

/// The map from provenance ids to the exact originals of one conversation, as a JSON object.
///
/// # Errors
/// Refuses to put two different messages under one id, and a summary that does not name all its sources.
pub fn verbatim_map(decoded: &Decoded<'_>, condensed: &Condensed) -> Result<String, RestoreError> {
    let mut map = VerbatimMap::default();
    for output in &condensed.messages {
        let Output::Replaced(replacement) = output else { continue };
        let ids = &replacement.provenance.ids;
        if ids.len() != replacement.sources.len() {
            let (n_ids, n_sources) = (ids.len(), replacement.sources.len());
            return Err(RestoreError(format!("a summary of {n_sources} messages names {n_ids} ids")));
        }
        for (id, &source) in ids.iter().zip(&replacement.sources) {
            let message = decoded.index.messages.get(source).copied();
            let message = message.ok_or_else(|| RestoreError(format!("there is no message {source}")))?;
            if !message.starts_with('{') {
                return Err(RestoreError(format!("message {source} is a text, which no summary names")));
            }
            if !map.insert(Cow::Borrowed(id), message) {
                return Err(RestoreError(format!("two different messages have the id {id:?}")));
            }
        }
    }
    let mut json = String::from("{");
    for (at, (id, message)) in map.entries().enumerate() {
        json.push_str(if at > 0 { "," } else { "" });
        encode(id, Style::MINIMAL, &mut json);
        json.push(':');
        json.push_str(message);
    }
    json.push('}');
    Ok(json)
}
