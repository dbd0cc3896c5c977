//! A text in the making that remembers which of its parts are quoted from the source, so that what is visible
//! can be measured without guessing.

use std::ops::Range;

use super::entities::Entity;
use crate::model::marker;
use crate::text::{Span, TextView, Unit, cut, plain, spaced_key};

/// The text that will stand in a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The whole text.
    pub text: String,
    /// What of `text` is quoted from the source, in order.
    pub quotes: Vec<Quote>,
    /// Byte ranges of `text` that list entities.
    pub entities: Vec<Range<usize>>,
    /// Keys of the units and facts of the source that it shows, as far as they are known.
    pub shown: Vec<u64>,
    /// Where another could write; `None` when nobody else can.
    pub slot: Option<Slot>,
    /// Summaries inside the text, in order, each of which another could write.
    pub passages: Vec<Passage>,
}

/// Words of the source in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Byte range of the text.
    pub range: Range<usize>,
    /// These are whole units, of which `shown` has all keys: nobody has to look for facts in the words.
    pub is_known: bool,
}

impl Quote {
    fn shifted(&self, offset: usize) -> Self {
        Self { range: self.range.start + offset..self.range.end + offset, is_known: self.is_known }
    }
}

/// A summary that stands for a passage of a text whose rest stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Byte range of the draft's text.
    pub range: Range<usize>,
    /// What it stands for in the source.
    pub source: Span,
    /// Where in the draft's text another could write.
    pub slot: Slot,
}

/// The body of a summary, which a model may write in place of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Byte range of the draft's text.
    pub body: Range<usize>,
    /// Facts that the body does not show are listed behind it, where there is room.
    pub is_listed: bool,
}

impl Slot {
    fn shifted(&self, offset: usize) -> Self {
        Self { body: self.body.start + offset..self.body.end + offset, is_listed: self.is_listed }
    }
}

/// How a summary is wrapped.
#[derive(Debug, Clone, Default)]
pub struct Wrap {
    /// The summary id to be shown, with `embed_summary_id`.
    pub embedded_id: Option<String>,
    /// Messages that the summary stands for.
    pub n_messages: usize,
}

impl Draft {
    /// Appends words of our own.
    pub fn say(&mut self, words: &str) {
        self.text.push_str(words);
    }

    /// Appends words of the source with white space collapsed; returns the characters added.
    pub fn quote(&mut self, words: &str) -> usize {
        self.quote_units(words, false)
    }

    /// The same for words of which `is_known` what they show, see [`Quote::is_known`].
    pub(super) fn quote_units(&mut self, words: &str, is_known: bool) -> usize {
        let start = self.text.len();
        let n_chars = cut::push_collapsed(&mut self.text, words);
        self.quotes.push(Quote { range: start..self.text.len(), is_known });
        n_chars
    }

    /// Appends words of the source that follow the last ones there, quoted as one with them.
    pub(super) fn quote_on(&mut self, words: &str, is_known: bool) {
        let last = self.quotes.pop();
        let (start, was_known) = last.map_or((self.text.len(), true), |last| (last.range.start, last.is_known));
        self.text.push(' ');
        cut::push_collapsed(&mut self.text, words);
        self.quotes.push(Quote { range: start..self.text.len(), is_known: was_known && is_known });
    }

    /// Appends words of the source as they are.
    pub fn quote_exact(&mut self, words: &str) {
        let start = self.text.len();
        self.text.push_str(words);
        self.quotes.push(Quote { range: start..self.text.len(), is_known: false });
    }

    /// Notes that `unit` of `view` is shown.
    pub(super) fn shows(&mut self, view: &TextView<'_>, unit: &Unit) {
        self.shown.extend(keys(view, unit));
    }

    /// Appends another draft, without its slot.
    pub fn append(&mut self, other: &Self) {
        let offset = self.text.len();
        let shift = |range: &Range<usize>| range.start + offset..range.end + offset;
        self.text.push_str(&other.text);
        self.quotes.extend(other.quotes.iter().map(|quote| quote.shifted(offset)));
        self.entities.extend(other.entities.iter().map(shift));
        self.shown.extend(&other.shown);
    }

    /// Appends the summary of a passage of the source.
    pub fn append_passage(&mut self, summary: &Self, source: Span) {
        let offset = self.text.len();
        self.append(summary);
        if let Some(slot) = &summary.slot {
            self.passages.push(Passage { range: offset..self.text.len(), source, slot: slot.shifted(offset) });
        }
    }

    /// The summary of a passage by itself.
    #[must_use]
    pub fn passage(&self, passage: &Passage) -> Self {
        let Range { start, end } = passage.range;
        let inside = |ranges: &[Range<usize>]| -> Vec<Range<usize>> {
            let ranges = ranges.iter().filter(|range| range.start >= start && range.end <= end);
            ranges.map(|range| range.start - start..range.end - start).collect()
        };
        // Whose keys are whose is not known any more.
        let quote = |range| Quote { range, is_known: false };
        let Slot { body, is_listed } = &passage.slot;
        Self {
            text: self.text.get(start..end).unwrap_or_default().to_owned(),
            quotes: inside(&self.quoted().collect::<Vec<_>>()).into_iter().map(quote).collect(),
            entities: inside(&self.entities),
            shown: Vec::new(),
            slot: Some(Slot { body: body.start - start..body.end - start, is_listed: *is_listed }),
            passages: Vec::new(),
        }
    }

    /// The draft with another text in the place of `range`; passages before it stay where they are.
    #[must_use]
    pub fn with(&self, range: &Range<usize>, other: &Self) -> Self {
        let shift = |at: usize| at - range.end + range.start + other.text.len();
        let join = |own: &[Range<usize>], others: &[Range<usize>]| -> Vec<Range<usize>> {
            let before = own.iter().filter(|own| own.end <= range.start).cloned();
            let inside = others.iter().map(|other| other.start + range.start..other.end + range.start);
            let behind = own.iter().filter(|own| own.start >= range.end).map(|own| shift(own.start)..shift(own.end));
            before.chain(inside).chain(behind).collect()
        };
        let quotes = join(&self.quoted().collect::<Vec<_>>(), &other.quoted().collect::<Vec<_>>());
        let mut text = self.text.clone();
        text.replace_range(range.clone(), &other.text);
        Self {
            text,
            quotes: quotes.into_iter().map(|range| Quote { range, is_known: false }).collect(),
            entities: join(&self.entities, &other.entities),
            shown: [self.shown.as_slice(), &other.shown].concat(),
            slot: None,
            passages: self.passages.iter().filter(|passage| passage.range.end <= range.start).cloned().collect(),
        }
    }

    /// Appends the draft that this one is the beginning of, with its slot.
    pub fn lead(&mut self, other: &Self) {
        let offset = self.text.len();
        self.append(other);
        self.slot = other.slot.as_ref().map(|slot| slot.shifted(offset));
    }

    /// Byte ranges of `text` that are quoted.
    pub fn quoted(&self) -> impl Iterator<Item = Range<usize>> {
        self.quotes.iter().map(|quote| quote.range.clone())
    }

    /// Characters of the whole text.
    #[must_use]
    pub fn n_chars(&self) -> usize {
        self.text.chars().count()
    }
}

/// Quotes `text`, cut to `budget` characters with `...` when it is longer.
pub fn shorten(text: &str, budget: usize, out: &mut Draft) {
    let mut flat = String::new();
    if cut::push_collapsed(&mut flat, text) <= budget {
        out.quote(&flat);
    } else {
        out.quote(cut::prefix(&flat, budget.saturating_sub(3)));
        out.say("...");
    }
}

/// Quotes the beginning of `text` as it is, up to `n_chars` characters; a fence that the cut leaves open is closed.
pub fn shorten_raw(text: &str, n_chars: usize, out: &mut Draft) {
    let text = text.trim();
    let head = cut::prefix(text, n_chars);
    let Some((_, fence)) = open_fence(head) else {
        out.quote_exact(head);
        return;
    };
    let room = n_chars.saturating_sub(fence.len() + 2);
    let whole_lines = cut::prefix(text, room).rsplit_once('\n').map_or("", |(lines, _)| lines);
    match open_fence(whole_lines) {
        Some((at, fence)) if at > 0 && whole_lines.get(at..).is_some_and(|code| code.contains('\n')) => {
            out.quote_exact(whole_lines);
            out.say(&format!("\n{fence}\n"));
        }
        Some((at, _)) if at > 0 => out.quote_exact(whole_lines.get(..at).unwrap_or_default().trim_end()),
        None if !whole_lines.is_empty() => out.quote_exact(whole_lines),
        // Nothing but the beginning of a long line of code.
        _ => out.quote_exact(head.split_once('\n').map_or(head, |(_, code)| code)),
    }
}

/// Where the last fence of `text` stands, and its signs, when the text does not close it.
fn open_fence(text: &str) -> Option<(usize, &str)> {
    let (mut open, mut at) = (None, 0);
    for line in text.split_inclusive('\n') {
        let signs = line.trim_start();
        if signs.starts_with("```") || signs.starts_with("~~~") {
            open = if open.is_some() { None } else { Some((at, signs.get(..3).unwrap_or_default())) };
        }
        at += line.len();
    }
    open
}

/// The keys by which it is known again what a unit shows: its own, and those of its facts.
pub fn keys(view: &TextView<'_>, unit: &Unit) -> impl Iterator<Item = u64> {
    let facts = view.facts_of(unit).iter().map(|fact| fact.key);
    std::iter::once(unit_key(unit.span.of(view.text))).chain(facts)
}

/// By which the words of a unit are known again, however they are spaced and whatever a viewer of files puts before lines.
#[must_use]
pub fn unit_key(words: &str) -> u64 {
    spaced_key(&plain(words))
}

/// A text that may replace another, before it is known how long it may be.
#[derive(Debug, Clone)]
pub struct Proposal {
    body: Draft,
    /// Facts that are listed behind the body, the most telling first; `None` for a body that lists them itself.
    entities: Option<Vec<Entity>>,
    /// What is around the body; `None` for a body that stands by itself.
    frame: Option<Frame>,
}

#[derive(Debug, Clone)]
struct Frame {
    start: String,
    suffix: String,
}

impl Proposal {
    /// A summary: `[summary: <body><merge><entities>]`, with as many of `entities` as there is room
    /// for, the first ones.
    #[must_use]
    pub fn summary(body: Draft, wrap: &Wrap, entities: Vec<Entity>) -> Self {
        Self { entities: Some(entities), ..Self::unlisted(body, wrap) }
    }

    /// A summary that is all facts, or lines of which none may be shown without the others: nothing is listed.
    #[must_use]
    pub fn unlisted(body: Draft, wrap: &Wrap) -> Self {
        let start = marker::summary_start(wrap.embedded_id.as_deref());
        let frame = Frame { start, suffix: marker::merge_suffix(wrap.n_messages) };
        Self { body, entities: None, frame: Some(frame) }
    }

    /// A text that is complete.
    #[must_use]
    pub fn complete(body: Draft) -> Self {
        Self { body, entities: None, frame: None }
    }

    /// The same summary with another count of its messages than that of merged ones.
    #[must_use]
    pub fn counted(mut self, suffix: String) -> Self {
        if let Some(frame) = &mut self.frame {
            frame.suffix = suffix;
        }
        self
    }

    /// What a model wrote, in the slot of `draft`: what is around it stays, and the facts that it does not show are
    /// `entities`. `None` when there is no slot.
    #[must_use]
    pub fn answered(draft: &Draft, answer: &str, entities: Vec<Entity>) -> Option<Self> {
        let Slot { body, is_listed } = draft.slot.as_ref()?;
        let list = draft.entities.iter().find(|range| range.start >= body.end);
        let end = list.map_or(draft.text.len() - 1, |list| list.start - marker::ENTITIES.len());
        let frame = Frame {
            start: draft.text.get(..body.start)?.to_owned(),
            suffix: draft.text.get(body.end..end)?.to_owned(),
        };
        let mut body = Draft::default();
        body.quote_exact(answer);
        Some(Self { body, entities: is_listed.then_some(entities), frame: Some(frame) })
    }

    /// The fullest form whose number of characters `fits`.
    pub fn accept(self, fits: impl Fn(usize) -> bool) -> Option<Draft> {
        let n_chars = self.body.n_chars();
        let Some(frame) = self.frame else { return fits(n_chars).then_some(self.body) };
        let is_listed = self.entities.is_some();
        let mut listed = self.entities.unwrap_or_default();
        let plain = frame.start.chars().count() + n_chars + frame.suffix.chars().count() + 1;
        // The least telling one gives way first.
        let mut full = plain + marker::ENTITIES.len() - marker::BETWEEN_ENTITIES.len();
        full += listed.iter().map(|entity| entity.text.chars().count() + marker::BETWEEN_ENTITIES.len()).sum::<usize>();
        while !listed.is_empty() && !fits(full) {
            full -= listed.pop().map_or(0, |entity| entity.text.chars().count() + marker::BETWEEN_ENTITIES.len());
        }
        if listed.is_empty() && !fits(plain) {
            return None;
        }
        let start = frame.start.len();
        let mut out = Draft { text: frame.start, ..Draft::default() };
        out.append(&self.body);
        out.slot = Some(Slot { body: start..out.text.len(), is_listed });
        out.say(&frame.suffix);
        if !listed.is_empty() {
            listed.sort_by_key(|entity| entity.place);
            out.say(marker::ENTITIES);
            let start = out.text.len();
            out.say(
                &listed.iter().map(|entity| entity.text.as_str()).collect::<Vec<_>>().join(marker::BETWEEN_ENTITIES),
            );
            out.entities.push(start..out.text.len());
        }
        out.say("]");
        Some(out)
    }
}
