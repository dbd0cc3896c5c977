//! What a sentence is worth. The weights are those of the documented scorer, extended to the kinds of facts
//! that it cannot see and to what one side asks of the other; every kind of cue counts once.

use super::ending::ending;
use super::entities::worth;
use super::harness;
use super::spoken::{Spoken, Voice};
use crate::text::{Bearing, CueKind, Fact, FactKind, Pointer, TextView, Unit, UnitKind, Wish, ask, is_question};

/// More facts than these points make a list, not a better sentence.
const MAX_FACT_POINTS: i32 = 16;
/// Only a unit that is nothing but filler gets this.
pub(super) const FILLER: i32 = -10;

/// What only announces or rates is shown where there is nothing else.
const EMPTY: i32 = -1;
/// A deed with a time, what all want, and a choice weigh as much as a decision.
const SETTLED: i32 = 4;
/// So many units before a choice are looked at for what was chosen, and so many are brought along.
const MAX_BACK: usize = 8;
const MAX_CHOSEN: usize = 2;
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

/// How much a fact counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    None,
    /// Rounded up, so that no fact is worth nothing.
    Half,
    Full,
}

impl Weight {
    fn of(self, points: i32) -> i32 {
        match self {
            Self::None => 0,
            Self::Half => (points + 1) / 2,
            Self::Full => points,
        }
    }
}

/// What the units of texts are worth apart from their facts.
#[derive(Default)]
pub(super) struct Scores {
    /// Of all units, text by text.
    fixed: Vec<Fixed>,
    /// Of each text where its units begin, and its last question, of a user also the last request: it waits for the other side.
    texts: Vec<(usize, Option<usize>)>,
}

/// Scores the units of one text.
#[derive(Clone, Copy)]
pub(super) struct Scorer<'v, 'a> {
    view: &'v TextView<'a>,
    fixed: &'v [Fixed],
    last_ask: Option<usize>,
}

#[derive(Clone, Copy)]
struct Fixed {
    points: i32,
    /// Asks something of the other side.
    asks: bool,
    bearing: Bearing,
}

impl Scores {
    /// Those of `texts`.
    pub(super) fn of(texts: &[Spoken<'_>]) -> Self {
        let mut scores = Self { fixed: Vec::new(), texts: Vec::with_capacity(texts.len()) };
        scores.fixed.reserve(texts.iter().map(|spoken| spoken.view.units.len()).sum());
        for spoken in texts {
            scores.push(spoken);
        }
        scores
    }

    /// Scores the units of the text with this number, of which `view` is the one.
    pub(super) fn scorer<'v, 'a>(&'v self, text: usize, view: &'v TextView<'a>) -> Scorer<'v, 'a> {
        let (first, last_ask) = self.texts[text];
        Scorer { view, fixed: &self.fixed[first..first + view.units.len()], last_ask }
    }

    /// The number of a unit among those of all texts.
    pub(super) fn number(&self, text: usize, unit: usize) -> usize {
        self.texts[text].0 + unit
    }

    fn push(&mut self, spoken: &Spoken<'_>) {
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
        let first = self.fixed.len();
        for (index, unit) in view.units.iter().enumerate() {
            let asked = asked(unit);
            match asked {
                Some(Wish::Question) => last_question = Some(index),
                Some(Wish::Request) => last_request = Some(index),
                None => {}
            }
            let is_reported = spoken.voice == Voice::Program && unit.span.start >= user_from;
            let mut bearing = unit.bearing;
            let asks = asked.is_some() || is_reported;
            bearing.is_empty &= !asks && may_be_empty(view, unit);
            let points = fixed_points(spoken, index, asked, bearing) + if is_reported { USER_WORDS } else { 0 };
            self.fixed.push(Fixed { points, asks, bearing });
        }
        let last_ask = match spoken.voice {
            Voice::Task | Voice::User => last_question.or(last_request),
            // "How can I help you?" waits for nothing in particular.
            Voice::Assistant => {
                view.units.iter().rposition(|unit| is_question(unit.span.of(view.text)) && !is_filler(view, unit))
            }
            Voice::Other | Voice::Program => None,
        };
        self.texts.push((first, last_ask));
    }
}

impl Scorer<'_, '_> {
    /// The score of unit `index`. `weight` says how much a fact counts: what is shown already does less.
    pub(super) fn score(&self, index: usize, weight: impl Fn(&Fact) -> Weight) -> i32 {
        let facts = self.view.facts_of(&self.view.units[index]).iter();
        let points: i32 = facts.map(|fact| weight(fact).of(worth(fact.kind).0)).sum();
        let Fixed { points: fixed, bearing, .. } = self.fixed[index];
        let points = points.min(MAX_FACT_POINTS) + fixed;
        if bearing.is_empty { points.min(EMPTY) } else { points }
    }

    /// The units that unit `index` chooses among, by the words that point back to them; the nearest first.
    pub(super) fn chosen_by(&self, index: usize) -> Vec<usize> {
        let units = &self.view.units;
        let is_decision = || self.view.cues_of(&units[index]).iter().any(|cue| cue.kind == CueKind::Decision);
        let Bearing { points_back, chooses, .. } = self.fixed[index].bearing;
        let Some(pointer) = points_back.filter(|_| chooses || is_decision()) else { return Vec::new() };
        let before = || (index.saturating_sub(MAX_BACK)..index).rev();
        let offers = |at: &usize| units[*at].bearing.offers;
        let is_item = |at: &usize| units[*at].kind == UnitKind::ListItem;
        let mut found: Vec<usize> = match pointer {
            Pointer::Nth(nth) => {
                let items: Vec<usize> = before().skip_while(|at| !is_item(at)).take_while(is_item).collect();
                let item = items.iter().rev().nth(usize::from(nth) - 1).copied();
                before().find(|&at| units[at].bearing.ordinal == nth).or(item).into_iter().collect()
            }
            Pointer::Both => before().skip_while(|at| !offers(at)).take_while(offers).take(MAX_CHOSEN).collect(),
            Pointer::Last => Vec::new(),
        };
        if found.is_empty() {
            found.extend(before().find(offers).or(index.checked_sub(1)));
        }
        found.retain(|&at| self.fixed[at].points > FILLER / 2);
        found
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

/// True for a unit without facts, except numbers and names, and without what is a statement in any case.
fn may_be_empty(view: &TextView<'_>, unit: &Unit) -> bool {
    let states = |kind: CueKind| !matches!(kind, CueKind::Emphasis | CueKind::Reasoning | CueKind::Filler);
    let tells = |kind: FactKind| kind.is_precise() && kind != FactKind::Number;
    !view.facts_of(unit).iter().any(|fact| tells(fact.kind)) && !view.cues_of(unit).iter().any(|cue| states(cue.kind))
}

/// What a unit is worth apart from its facts.
fn fixed_points(spoken: &Spoken<'_>, index: usize, asked: Option<Wish>, bearing: Bearing) -> i32 {
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
        Some(Wish::Question) => USER_QUESTION,
        Some(Wish::Request) => USER_REQUEST,
        None => 0,
    };
    let settles = bearing.settles || bearing.chooses && bearing.points_back.is_some();
    cues += if settles && !seen[CueKind::Decision as usize] { SETTLED } else { 0 };
    // What a user asks is never filler, however few words it has.
    cues -= if asked.is_some() && seen[CueKind::Filler as usize] { FILLER } else { 0 };
    let length = i32::from((40..=120).contains(&unit.n_chars)) * 2;
    let heading = if unit.kind == UnitKind::Heading { -2 } else { 0 };
    let opens = index == 0 && unit.kind != UnitKind::Heading && unit.n_chars >= MIN_FIRST_CHARS;
    let first = if opens { FIRST } else { 0 };
    let tells = || view.facts_of(unit).iter().any(|fact| fact.kind.is_precise()) || cues > 1;
    let known = if spoken.voice.may_be_injected() || text.starts_with('<') { harness::points(text) } else { 0 };
    let scrap = if known <= 0 && unit.span.len() < SCRAP_BYTES && !tells() { FILLER } else { 0 };
    let numbers = i32::from(bearing.numbers);
    cues + numbers + length + heading + first + scrap + known
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
    let scores = Scores::of(&[*spoken]);
    let scorer = scores.scorer(0, view);
    (0..view.units.len()).all(|index| f64::from(scorer.score(index, |_| Weight::Full)) < threshold)
}

fn is_filler(view: &TextView<'_>, unit: &Unit) -> bool {
    view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler)
}
