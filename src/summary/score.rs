//! What a sentence is worth. The weights are those of the documented scorer, extended to the kinds of facts
//! that it cannot see and to what one side asks of the other; every kind of cue counts once.

use super::harness;
use crate::text::{Ask, CueKind, Fact, FactKind, TextView, Unit, UnitKind, ask};

/// More facts than these points make a list, not a better sentence.
const MAX_FACT_POINTS: i32 = 16;
/// Only a unit that is nothing but filler gets this.
pub(super) const FILLER: i32 = -10;

/// What a text opens with is what it is about, when it is more than a salutation.
const FIRST: i32 = 1;
/// Scraps of talk ("Thanks!", "Herr Präsident!"): fewer bytes than this, and neither a fact nor a cue in them.
const SCRAP_BYTES: usize = 22;
const MIN_FIRST_CHARS: u32 = 40;
/// What a user asks is what all that follows is about.
const USER_QUESTION: i32 = 4;
const USER_REQUEST: i32 = 2;
/// A user's words inside the report of a program.
const USER_WORDS: i32 = 8;

/// Who speaks: what a reader needs of a text differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Voice {
    /// A user who opens the conversation: what is said here is the task.
    Task,
    /// A user.
    User,
    /// The one that answers the user.
    Assistant,
    /// Anybody else: one of several speakers, a summary of several messages.
    #[default]
    Other,
    /// A program.
    Program,
}

/// A text and who says it.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'a> {
    /// The text.
    pub view: TextView<'a>,
    /// Who says it.
    pub voice: Voice,
}

/// Scores the units of one text.
pub(super) struct Scorer<'v, 'a> {
    view: &'v TextView<'a>,
    voice: Voice,
    /// The last question, of a user also the last request, waits for the other side.
    last_ask: Option<usize>,
    /// From here on a user speaks.
    user_from: u32,
}

impl<'v, 'a> Scorer<'v, 'a> {
    pub(super) fn new(spoken: &'v Spoken<'a>) -> Self {
        let view = &spoken.view;
        let last = |asks: Ask| {
            let is_one = |unit: &Unit| {
                // "How can I help you?" waits for nothing in particular.
                let is_filler = spoken.voice == Voice::Assistant && is_filler(view, unit);
                ask(unit.span.of(view.text)) == Some(asks) && !is_filler
            };
            view.units.iter().rposition(is_one)
        };
        let (last_ask, user_from) = match spoken.voice {
            Voice::Task | Voice::User => (last(Ask::Question).or_else(|| last(Ask::Request)), 0),
            Voice::Assistant => (last(Ask::Question), u32::MAX),
            Voice::Other => (None, u32::MAX),
            Voice::Program => (None, harness::words_of_user(view).unwrap_or(u32::MAX)),
        };
        Self { view, voice: spoken.voice, last_ask, user_from }
    }

    /// The score of a unit. `is_new` says whether a fact counts: facts that the summary shows already do not.
    pub(super) fn score(&self, unit: &Unit, is_new: impl Fn(&Fact) -> bool) -> i32 {
        let view = self.view;
        let facts: i32 = view.facts_of(unit).iter().filter(|fact| is_new(fact)).map(|fact| points(fact.kind)).sum();
        let mut seen = [false; CueKind::COUNT];
        let mut cues = 0;
        for cue in view.cues_of(unit) {
            if !std::mem::replace(&mut seen[cue.kind as usize], true) {
                cues += match cue.kind {
                    CueKind::Correction => 6,
                    CueKind::Emphasis | CueKind::Decision => 4,
                    CueKind::Reasoning | CueKind::Obligation | CueKind::Status => 3,
                    CueKind::Negation => 2,
                    CueKind::Question => 1,
                    CueKind::Filler => FILLER,
                };
            }
        }
        let asks = self.asks(unit);
        // What a user asks is never filler, however few words it has.
        cues += asks - if asks > 0 && seen[CueKind::Filler as usize] { FILLER } else { 0 };
        let length = i32::from((40..=120).contains(&unit.n_chars)) * 2;
        let heading = if unit.kind == UnitKind::Heading { -2 } else { 0 };
        let is_first = view.units.first().is_some_and(|first| first.span == unit.span);
        let opens = is_first && unit.kind != UnitKind::Heading && unit.n_chars >= MIN_FIRST_CHARS;
        let first = if opens { FIRST } else { 0 };
        let tells = || view.facts_of(unit).iter().any(|fact| fact.kind.is_precise()) || cues > 1;
        let known = harness::points(unit.span.of(view.text));
        let scrap = if known <= 0 && unit.span.len() < SCRAP_BYTES && !tells() { FILLER } else { 0 };
        facts.min(MAX_FACT_POINTS) + cues + length + heading + first + scrap + known
    }

    /// What the unit asks of the other side.
    fn asks(&self, unit: &Unit) -> i32 {
        if unit.span.start < self.user_from {
            return 0;
        }
        let words = if self.voice == Voice::Program { USER_WORDS } else { 0 };
        words
            + match ask(unit.span.of(self.view.text)) {
                Some(Ask::Question) => USER_QUESTION,
                Some(Ask::Request) => USER_REQUEST,
                None => 0,
            }
    }

    /// The unit that asks last, which is shown whatever the budget says.
    pub(super) fn last_ask(&self) -> Option<usize> {
        self.last_ask
    }

    /// True for a unit that asks something of the other side and is to be shown for that.
    pub(super) fn is_asking(&self, unit: &Unit) -> bool {
        self.asks(unit) > 0
    }
}

fn is_filler(view: &TextView<'_>, unit: &Unit) -> bool {
    view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler)
}

fn points(kind: FactKind) -> i32 {
    match kind {
        FactKind::Camel
        | FactKind::Pascal
        | FactKind::Snake
        | FactKind::Screaming
        | FactKind::Path
        | FactKind::Ticket
        | FactKind::Money => 3,
        FactKind::Quantity
        | FactKind::Vowelless
        | FactKind::FileRef
        | FactKind::Host
        | FactKind::Ip
        | FactKind::Version
        | FactKind::Date
        | FactKind::Percent
        | FactKind::Hash
        | FactKind::Alphanumeric
        | FactKind::Kebab
        | FactKind::Email
        | FactKind::Phone => 2,
        FactKind::Number
        | FactKind::Time
        | FactKind::Url
        | FactKind::Quoted
        | FactKind::CodeSpan
        | FactKind::Name
        | FactKind::Acronym => 1,
    }
}
