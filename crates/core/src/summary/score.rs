//! What a sentence is worth. The weights are those of the documented scorer, extended to the kinds of facts
//! that it cannot see and to what one side asks of the other; every kind of cue counts once.

use super::ending::ending;
use super::harness;
use super::hints::Hints;
use crate::text::{Ask, CueKind, Fact, FactKind, TextView, Unit, UnitKind, ask, is_question};

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
    /// What else is known of it.
    pub hints: Hints<'a>,
}

impl Voice {
    /// True when what an agent program adds by itself may stand in the text.
    pub(super) fn may_be_injected(self) -> bool {
        matches!(self, Self::Task | Self::User | Self::Program)
    }
}

/// Scores the units of one text.
pub(super) struct Scorer<'v, 'a> {
    view: &'v TextView<'a>,
    /// What a unit is worth apart from its facts.
    fixed: Vec<Fixed>,
    /// The last question, of a user also the last request, waits for the other side.
    last_ask: Option<usize>,
}

#[derive(Clone, Copy)]
struct Fixed {
    points: i32,
    /// Asks something of the other side.
    asks: bool,
}

impl<'v, 'a> Scorer<'v, 'a> {
    pub(super) fn new(spoken: &'v Spoken<'a>) -> Self {
        let view = &spoken.view;
        // From where on a user speaks.
        let user_from = match spoken.voice {
            Voice::Task | Voice::User => 0,
            Voice::Assistant | Voice::Other => u32::MAX,
            Voice::Program => harness::words_of_user(view).unwrap_or(u32::MAX),
        };
        let asked = |unit: &Unit| if unit.span.start < user_from { None } else { ask(unit.span.of(view.text)) };
        let mut last_question = None;
        let mut last_request = None;
        let mut fixed = Vec::with_capacity(view.units.len());
        for (index, unit) in view.units.iter().enumerate() {
            let asked = asked(unit);
            match asked {
                Some(Ask::Question) => last_question = Some(index),
                Some(Ask::Request) => last_request = Some(index),
                None => {}
            }
            let is_reported = spoken.voice == Voice::Program && unit.span.start >= user_from;
            let points = fixed_points(spoken, index, asked) + if is_reported { USER_WORDS } else { 0 };
            fixed.push(Fixed { points, asks: asked.is_some() || is_reported });
        }
        let last_ask = match spoken.voice {
            Voice::Task | Voice::User => last_question.or(last_request),
            // "How can I help you?" waits for nothing in particular.
            Voice::Assistant => {
                view.units.iter().rposition(|unit| is_question(unit.span.of(view.text)) && !is_filler(view, unit))
            }
            Voice::Other | Voice::Program => None,
        };
        Self { view, fixed, last_ask }
    }

    /// The score of unit `index`. `is_new` says whether a fact counts: facts that the summary shows already do not.
    pub(super) fn score(&self, index: usize, is_new: impl Fn(&Fact) -> bool) -> i32 {
        let facts = self.view.facts_of(&self.view.units[index]).iter();
        let points: i32 = facts.filter(|fact| is_new(fact)).map(|fact| points(fact.kind)).sum();
        points.min(MAX_FACT_POINTS) + self.fixed[index].points
    }

    /// The unit that asks last, which is shown whatever the budget says.
    pub(super) fn last_ask(&self) -> Option<usize> {
        self.last_ask
    }

    /// True for a unit that asks something of the other side and is to be shown for that.
    pub(super) fn is_asking(&self, index: usize) -> bool {
        self.fixed[index].asks
    }
}

/// What a unit is worth apart from its facts.
fn fixed_points(spoken: &Spoken<'_>, index: usize, asked: Option<Ask>) -> i32 {
    let view = &spoken.view;
    let unit = &view.units[index];
    let text = unit.span.of(view.text);
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
    cues += match asked {
        Some(Ask::Question) => USER_QUESTION,
        Some(Ask::Request) => USER_REQUEST,
        None => 0,
    };
    // What a user asks is never filler, however few words it has.
    cues -= if asked.is_some() && seen[CueKind::Filler as usize] { FILLER } else { 0 };
    let length = i32::from((40..=120).contains(&unit.n_chars)) * 2;
    let heading = if unit.kind == UnitKind::Heading { -2 } else { 0 };
    let opens = index == 0 && unit.kind != UnitKind::Heading && unit.n_chars >= MIN_FIRST_CHARS;
    let first = if opens { FIRST } else { 0 };
    let tells = || view.facts_of(unit).iter().any(|fact| fact.kind.is_precise()) || cues > 1;
    let known = if spoken.voice.may_be_injected() || text.starts_with('<') { harness::points(text) } else { 0 };
    let scrap = if known <= 0 && unit.span.len() < SCRAP_BYTES && !tells() { FILLER } else { 0 };
    cues + length + heading + first + scrap + known
}

/// True when no unit of the text reaches `threshold` and none states a fact, an obligation, a decision or a denial.
#[must_use]
pub fn is_general(spoken: &Spoken<'_>, threshold: f64) -> bool {
    let view = &spoken.view;
    let tells =
        |kind: CueKind| matches!(kind, CueKind::Decision | CueKind::Obligation | CueKind::Correction | CueKind::Status);
    if view.facts.iter().any(|fact| fact.kind.is_precise() || fact.kind == FactKind::Name)
        || view.cues.iter().any(|cue| tells(cue.kind))
        || !ending(spoken).is_empty()
    {
        return false;
    }
    let scorer = Scorer::new(spoken);
    (0..view.units.len()).all(|index| f64::from(scorer.score(index, |_| true)) < threshold)
}

fn is_filler(view: &TextView<'_>, unit: &Unit) -> bool {
    view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler)
}

/// What a fact of this kind is worth.
pub(super) fn points(kind: FactKind) -> i32 {
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
