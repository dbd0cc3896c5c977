//! Several messages told as one: a chain of neighbours, `Q: … → A: …`, or messages about one topic, with what they share in
//! front. Takes the best units of each message, short ones whole. Knows texts and who says them; refuses to know where they
//! stood and why they are one.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::budget::{Style, budget_of};
use super::draft::{Draft, Proposal, Wrap, shorten};
use super::entities::{MAX_ENTITY_CHARS, entities};
use super::packing::GAP;
use super::prose::{self, MAX_UNCUT, extract, is_uncut, summarize};
use super::spoken::{Keys, Spoken, Voice};
use crate::model::{CompressionDepth, FlowKind, marker};
use crate::text::similarity::Terms;
use crate::text::{
    CueKind, Fact, FactKind, Span, Unit, UnitKind, Wish, announces, ask, begins_confirming, corrects, fold_key,
    is_confirmation, is_question, plain,
};

const ARROW: &str = " → ";
/// Shared facts in the label of a topic.
const MAX_LABEL: usize = 3;
/// What was corrected is told in so many characters.
const MAX_CORRECTED: usize = 160;
/// Shorter messages are told whole.
const MAX_WHOLE: usize = 120;
/// The sentence that an answer begins with may take this much, whatever the budget.
const MAX_LEAD: usize = 200;
/// With less left behind it nothing follows.
const MIN_REST: usize = 60;

/// The chain of `texts` as one summary: `[summary: <chain> (<n> messages, <kind>)]`, with the facts alone at the
/// aggressive depth. `None` for fewer than two texts.
#[must_use]
pub fn chain(kind: FlowKind, texts: &[Spoken<'_>], wrap: &Wrap, style: Style) -> Option<Proposal> {
    let [first, second, rest @ ..] = texts else { return None };
    if style.depth == CompressionDepth::Aggressive {
        return Some(summarize(texts, wrap, style, None));
    }
    let mut telling = Telling { body: Draft::default(), shown: Keys::default(), style };
    match kind {
        FlowKind::Qa => {
            telling.say("Q: ", first, Telling::tell);
            telling.say(" → A: ", second, Telling::tell_answer);
        }
        FlowKind::Request => {
            telling.say("Request: ", first, Telling::tell);
            telling.say(ARROW, second, Telling::tell_answer);
        }
        FlowKind::Correction => {
            telling.say("Correction: ", second, Telling::tell_question);
            telling.corrected(first, second);
        }
        FlowKind::Acknowledgment => {
            telling.tell(first);
            if !adds_nothing(second) {
                telling.say(ARROW, second, Telling::tell_answer);
            }
        }
    }
    for pair in texts.windows(2).skip(1).filter(|pair| !adds_nothing(&pair[1])) {
        let (label, how) = continuation(&pair[0], &pair[1]);
        telling.say(label, &pair[1], how);
    }
    if kind == FlowKind::Acknowledgment {
        telling.body.say(" (acknowledged)");
    } else if rest.iter().any(|text| is_confirmation(text.view.covered())) {
        telling.body.say(if kind == FlowKind::Request { " → confirmed" } else { " (confirmed)" });
    }
    Some(telling.proposal(texts, wrap, marker::chain_suffix(texts.len(), kind)))
}

/// Nothing but a confirmation or courtesies.
fn adds_nothing(spoken: &Spoken<'_>) -> bool {
    let view = &spoken.view;
    let is_filler = |unit: &Unit| view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler);
    is_confirmation(view.covered()) || !view.units.is_empty() && view.units.iter().all(is_filler)
}

/// What a later member of a chain is, and how it is told.
fn continuation(before: &Spoken<'_>, spoken: &Spoken<'_>) -> (&'static str, How) {
    let view = &spoken.view;
    if !matches!(spoken.voice, Voice::Task | Voice::User) {
        return (ARROW, Telling::tell_answer);
    }
    if corrects(view, &before.view) {
        return (" → Correction: ", Telling::tell_question);
    }
    let asked = || view.units.iter().rev().find_map(|unit| ask(unit.span.of(view.text)));
    let label = match asked().filter(|_| !begins_confirming(view.covered())) {
        Some(Wish::Question) => " → Q: ",
        Some(Wish::Request) => " → Request: ",
        None => ARROW,
    };
    (label, Telling::tell_question)
}

/// A summary of a topic: `[summary: [<shared>] <extract> → <extract> (<n> messages)]`, each text with its own budget.
/// Where several sides speak, each change of the speaker is named.
#[must_use]
pub fn topic(texts: &[Spoken<'_>], wrap: &Wrap, style: Style) -> Proposal {
    if style.depth == CompressionDepth::Aggressive {
        return summarize(texts, wrap, style, None);
    }
    let mut telling = Telling { body: Draft::default(), shown: Keys::default(), style };
    let shared = shared(texts);
    if !shared.is_empty() {
        telling.body.say("[");
        let start = telling.body.text.len();
        telling.body.say(&shared.join(", "));
        telling.body.entities.push(start..telling.body.text.len());
        telling.body.say("] ");
    }
    let several = texts.windows(2).any(|pair| side(pair[0].voice) != side(pair[1].voice));
    let mut speaker = None;
    let mut told = Keys::default();
    for (at, spoken) in texts.iter().enumerate() {
        if at > 0 {
            telling.body.say(ARROW);
        }
        if several && speaker != side(spoken.voice) {
            speaker = side(spoken.voice);
            telling.body.say(speaker.unwrap_or_default());
        }
        if !told.insert(fold_key(spoken.view.covered().trim())) {
            telling.body.say("(the same again)");
        } else if several && spoken.voice == Voice::Assistant {
            telling.tell_answer(spoken);
        } else {
            telling.tell(spoken);
        }
    }
    telling.proposal(texts, wrap, marker::topic_suffix(texts.len()))
}

/// How a speaker is named.
fn side(voice: Voice) -> Option<&'static str> {
    match voice {
        Voice::Task | Voice::User => Some("user: "),
        Voice::Assistant => Some("assistant: "),
        Voice::Other | Voice::Program => None,
    }
}

/// A text that tells several.
struct Telling {
    body: Draft,
    shown: Keys,
    style: Style,
}

/// A way to tell a message.
type How = fn(&mut Telling, &Spoken<'_>);

impl Telling {
    fn say(&mut self, label: &str, spoken: &Spoken<'_>, how: How) {
        self.body.say(label);
        how(self, spoken);
    }

    fn tell(&mut self, spoken: &Spoken<'_>) {
        if !self.tell_whole(spoken, MAX_WHOLE) {
            self.extract(spoken, budget_of(spoken, self.style));
        }
    }

    /// The same for what is answered outside, which must not be cut where it is not long.
    fn tell_question(&mut self, spoken: &Spoken<'_>) {
        if !self.tell_whole(spoken, MAX_UNCUT) {
            self.extract(spoken, budget_of(spoken, self.style));
        }
    }

    /// The same for an answer, which mostly gives itself in its first sentence and explains it then.
    fn tell_answer(&mut self, spoken: &Spoken<'_>) {
        if self.tell_whole(spoken, MAX_WHOLE) {
            return;
        }
        let budget = budget_of(spoken, self.style);
        // Where the caller's scorer decides, no sentence comes first by its place.
        let is_free = spoken.hints.entropy.is_none() && !spoken.hints.by_clauses;
        let Some(at) = lead(spoken, budget.max(MAX_LEAD)).filter(|_| is_free) else {
            return self.extract(spoken, budget);
        };
        let view = &spoken.view;
        let unit = &view.units[at];
        self.body.quote(&plain(unit.span.of(view.text)));
        self.shown.extend(view.facts_of(unit).iter().map(|fact| fact.key));
        self.body.shows(view, unit);
        let left = budget.saturating_sub(unit.n_chars as usize + 1);
        let rest = view.passage(Span { start: unit.span.end, end: view.text.len() as u32 });
        if left < MIN_REST || rest.units.is_empty() {
            return;
        }
        let mut more = Draft::default();
        extract(&Spoken { view: rest, ..*spoken }, left, &mut self.shown, &mut more);
        // What only could be cut is left out: the answer stands already.
        if more.text.ends_with("...") {
            return;
        }
        let words = |unit: &Unit| plain(unit.span.of(view.text)).split_whitespace().collect::<Vec<_>>().join(" ");
        let follows = rest.units.first().is_some_and(|next| more.text.starts_with(&words(next)));
        self.body.say(if follows { " " } else { GAP });
        self.body.append(&more);
    }

    /// Tells a text of up to `max_chars` characters whole, and one that could only be cut.
    fn tell_whole(&mut self, spoken: &Spoken<'_>, max_chars: usize) -> bool {
        let is_whole = spoken.view.counts.chars as usize <= max_chars || is_uncut(spoken, self.style);
        if is_whole {
            prose::tell(spoken, &mut self.shown, &mut self.body);
        }
        is_whole
    }

    fn extract(&mut self, spoken: &Spoken<'_>, budget: usize) {
        extract(spoken, budget, &mut self.shown, &mut self.body);
    }

    /// Appends the sentence of `spoken` that `correction` is about, or the best ones.
    fn corrected(&mut self, spoken: &Spoken<'_>, correction: &Spoken<'_>) {
        self.body.say(" (corrects: ");
        let view = &spoken.view;
        let terms = Terms::of([correction.view]);
        let in_common = |index: &usize| Terms::of([view.passage(view.units[*index].span)]).in_common(&terms);
        let meant = (0..view.units.len()).rev().max_by_key(in_common).filter(|index| in_common(index) > 0);
        if view.counts.chars as usize <= MAX_CORRECTED {
            shorten(&plain(view.covered()), MAX_CORRECTED, &mut self.body);
        } else if let Some(index) = meant {
            shorten(&plain(view.units[index].span.of(view.text)), MAX_CORRECTED, &mut self.body);
        } else {
            self.extract(spoken, MAX_CORRECTED.min(budget_of(spoken, self.style)));
        }
        self.body.say(")");
    }

    fn proposal(self, texts: &[Spoken<'_>], wrap: &Wrap, suffix: String) -> Proposal {
        let entities = entities(texts, &self.body.text);
        Proposal::summary(self.body, wrap, entities).counted(suffix)
    }
}

/// The first sentence that says something and fits.
fn lead(spoken: &Spoken<'_>, budget: usize) -> Option<usize> {
    let view = &spoken.view;
    let says = |unit: &Unit| {
        let text = unit.span.of(view.text);
        let is_filler = view.cues_of(unit).iter().any(|cue| cue.kind == CueKind::Filler);
        !is_filler && unit.kind != UnitKind::Heading && !is_question(text) && !announces(text)
    };
    let at = view.units.iter().position(says)?;
    let unit = &view.units[at];
    let is_sentence =
        unit.kind == UnitKind::Sentence && !unit.span.of(view.text).trim_end_matches('*').ends_with([':', '：']);
    (is_sentence && unit.n_chars as usize <= budget).then_some(at)
}

/// The facts that two or more of the texts have, those of the most texts first.
fn shared(texts: &[Spoken<'_>]) -> Vec<String> {
    use FactKind::{CodeSpan, Phone, Quoted, Vowelless};
    struct Shared<'a> {
        text: &'a str,
        n_texts: usize,
        last: usize,
    }
    let mut slots: HashMap<u64, usize, FixedState> = HashMap::default();
    let mut found: Vec<Shared<'_>> = Vec::new();
    for (at, Spoken { view, .. }) in texts.iter().enumerate() {
        let text = |fact: &Fact| fact.span.of(view.text);
        // Amounts, dates and quotations say something about a topic and do not name it.
        let names = |kind: FactKind| !kind.is_amount() && !matches!(kind, Phone | Quoted | CodeSpan | Vowelless);
        let tells = |fact: &&Fact| names(fact.kind) && fact.span.len() <= MAX_ENTITY_CHARS;
        for fact in view.facts.iter().filter(tells) {
            let next = found.len();
            let slot = *slots.entry(fact.key).or_insert(next);
            if slot == next {
                found.push(Shared { text: text(fact), n_texts: 1, last: at });
            } else if found[slot].last != at {
                found[slot].n_texts += 1;
                found[slot].last = at;
            }
        }
    }
    found.retain(|shared| shared.n_texts > 1);
    found.sort_by_key(|shared| std::cmp::Reverse(shared.n_texts));
    let mut label: Vec<&str> = Vec::new();
    for shared in found {
        let is_part = |known: &&str| known.contains(shared.text) || shared.text.contains(*known);
        if label.len() < MAX_LABEL && !label.iter().any(is_part) {
            label.push(shared.text);
        }
    }
    label.into_iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
