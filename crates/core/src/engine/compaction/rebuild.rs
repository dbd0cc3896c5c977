//! Puts a body into the place of the archived messages: level, chunk, topics, the size guard. Knows what a round before
//! wrote; refuses to know who wrote the body.

use std::ops::Range;

use super::reply::join;
use crate::engine::fill::{Filler, saves};
use crate::engine::unit::{Filled, State, Unit};
use crate::model::marker::{Archive, Chunk};
use crate::model::{Action, ChunkPolicy, CompactionOutcome, CompactionTrigger, Provenance, Reason};
use crate::summary::{Draft, Quote};

/// Share of the archived characters that a summary may have.
const SHARE: f64 = 0.25;
/// A summary of a little may be longer than that share.
const MIN_CHARS: usize = 1_000;
/// Four thousand tokens: more is read again with every later message.
const MAX_CHARS: usize = 16_000;

/// A body and what is said about it.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) body: Draft,
    pub(super) topics: Option<String>,
    /// What a model says; `None` when it does not.
    pub(super) continues: Option<bool>,
}

/// What stands for the archived messages, and how it came to be, as far as the text tells.
pub(super) type Rebuilt = (Unit, CompactionOutcome);

/// What all bodies for one conversation have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'e> {
    pub(super) trigger: CompactionTrigger,
    pub(super) policy: ChunkPolicy,
    /// The summary of the round before.
    pub(super) earlier: Option<&'e Archive<'e>>,
}

impl Frame<'_> {
    /// Compactions, this one included.
    pub(super) fn level(&self) -> usize {
        self.earlier.map_or(1, |earlier| earlier.level + 1)
    }

    /// Characters that a body for `archived` may have; 0 where nothing could be saved.
    pub(super) fn max_chars(&self, filler: &Filler<'_>, archived: &Range<usize>) -> usize {
        let n_chars = n_chars(filler, archived);
        let written = Written { body: Draft::default(), topics: None, continues: None };
        let (text, _, _) = self.text(&written);
        let provenance = filler.provenance(&archived.clone().collect::<Vec<_>>());
        let metadata = filler.metadata(&Provenance { compaction: true, ..provenance });
        let n_around = text.chars().count() + metadata.map_or(0, |json| json.chars().count());
        let room = n_chars.saturating_sub(n_around + filler.min_saving);
        ((n_chars as f64 * SHARE) as usize).clamp(MIN_CHARS, MAX_CHARS).min(room)
    }

    /// The unit for `archived`; `None` when it would save too little.
    pub(super) fn rebuild(&self, filler: &Filler<'_>, archived: &Range<usize>, written: &Written) -> Option<Rebuilt> {
        let members: Vec<usize> = archived.clone().collect();
        let (text, body, outcome) = self.text(written);
        let shift = |range: Range<usize>| range.start + body.start..range.end + body.start;
        let quotes = written.body.quoted().map(|range| Quote { range: shift(range), is_known: false }).collect();
        let draft = Draft { text, quotes, ..Draft::default() };
        let provenance = Provenance { compaction: true, ..filler.provenance(&members) };
        let filled: Filled = filler.filled(draft, Action::Compressed, Reason::Compacted, provenance);
        let is_shorter = saves(filled.chars_out, n_chars(filler, archived), filler.min_saving);
        if !is_shorter || !filler.saves_tokens(&filled, &members) {
            return None;
        }
        Some((filler.unit(members, State::Replaced(filled)), outcome))
    }

    /// The text of the summary, where its body stands, and what it says of itself.
    fn text(&self, written: &Written) -> (String, Range<usize>, CompactionOutcome) {
        let last = self.earlier.map(|earlier| &earlier.chunk);
        let goes_on = match self.policy {
            ChunkPolicy::Idle => self.trigger == CompactionTrigger::Forced,
            ChunkPolicy::New => false,
            ChunkPolicy::Model => written.continues == Some(true),
        };
        let continued = last.filter(|_| goes_on);
        let topics = [continued.and_then(|chunk| chunk.topics), written.topics.as_deref()];
        let outcome = CompactionOutcome {
            level: self.level(),
            chunk: last.map_or(1, |last| last.number + usize::from(continued.is_none())),
            trigger: self.trigger,
            n_archived: 0,
            n_recent: 0,
            n_pulled_back: 0,
            topics: join(topics.into_iter().flatten().flat_map(|topics| topics.split(','))),
            continues: continued.is_some(),
            by_model: false,
        };
        let mut earlier: Vec<Chunk<'_>> = last.filter(|_| !outcome.continues).cloned().into_iter().collect();
        earlier.extend(self.earlier.iter().flat_map(|earlier| earlier.earlier.iter().cloned()));
        let archive = Archive {
            level: outcome.level,
            chunk: Chunk { number: outcome.chunk, topics: outcome.topics.as_deref() },
            earlier,
            n_older: self.earlier.map_or(0, |earlier| earlier.n_older),
            body: &written.body.text,
        };
        let (text, body) = archive.write();
        (text, body, outcome)
    }
}

/// Characters of what would go: texts and arguments of calls.
fn n_chars(filler: &Filler<'_>, archived: &Range<usize>) -> usize {
    archived.clone().map(|index| filler.view.chars(index) + filler.view.chars_beside(index)).sum()
}
