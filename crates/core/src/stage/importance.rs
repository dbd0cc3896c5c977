//! Rule 6: messages that later ones depend on, and those that direct what comes, are kept. Memory and time are linear:
//! facts are looked up in an index, and a fact that is nearly everywhere tells nothing.

use serde::Serialize;

use super::{Plan, Stage, View};
use crate::model::{Reason, Role};
use crate::text::{
    CueKind, FactKind, Lexer, Speaker, TextView, Unit, UnitKind, correction, is_question, names_constraint,
};

/// Share of the score for what later messages use.
const REFERENCES: f64 = 0.5;
/// Share of the score for the place: later messages weigh a little more.
const PLACE: f64 = 0.1;
const DIRECTIVE: f64 = 0.15;
const CORRECTION: f64 = 0.25;
const CONSTRAINT: f64 = 0.10;
const MAX_CONTENT: f64 = 0.4;
/// A fact counts for so many of the messages that use it next: keeps a name used by thousands linear.
const MAX_USES: usize = 64;
/// A fact that more than half of the messages have, and at least so many, tells nothing.
const MIN_COMMON: usize = 8;
/// Fewer references than this are chance, and none of them the most.
const MIN_MOST: u32 = 2;
/// Words at the head of a sentence in which an assistant speaks of itself.
const N_HEAD: usize = 4;

/// Scores all messages and keeps those at the threshold. Runs after duplicates and corrected messages were found: so
/// an important text is kept once, and what is taken back is not kept for having been important.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeepImportant;

impl Stage for KeepImportant {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let threshold = view.options.importance_threshold;
        // Without a budget nobody asks how far below the threshold a message is.
        let parts = parts(view, |rest| view.options.token_budget.is_some() || rest + MAX_CONTENT >= threshold);
        plan.importance = parts.iter().map(|parts| parts.score).collect();
        for index in plan.free().collect::<Vec<_>>() {
            if !view.is_large(index) && plan.importance[index] >= threshold {
                plan.keep(index, Reason::Importance);
            }
        }
    }
}

/// The importance of a message and what it is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ImportanceParts {
    /// 0 to 1; `importance_threshold` is held against it.
    pub score: f64,
    /// Later messages that use a fact of it again.
    pub references: u32,
    /// The points for these, up to 0.5.
    pub used: f64,
    /// The points for what its text directs, corrects and demands, up to 0.4.
    pub content: f64,
    /// The points for its place, up to 0.1.
    pub place: f64,
}

/// The importance of every message by its index in the input, 0 to 1, and what it is made of:
/// `0.5 * references / most references + content signals + 0.1 * index / last index`. References are the later
/// messages that use a fact of the message again, in their text or in the arguments of their calls.
#[must_use]
pub fn importance_parts(view: &View<'_>) -> Vec<ImportanceParts> {
    parts(view, |_| true)
}

/// The same, without the content signals of messages whose other points say that they do not matter.
fn parts(view: &View<'_>, content_matters: impl Fn(f64) -> bool) -> Vec<ImportanceParts> {
    let references = references(view);
    let counts = |index: &usize| !is_preserved(view, *index);
    let most = (0..view.len()).filter(counts).map(|index| references[index]).max().unwrap_or(0).max(MIN_MOST);
    let last = view.len().saturating_sub(1).max(1);
    (0..view.len())
        .map(|index| {
            let used = REFERENCES * (f64::from(references[index].min(most)) / f64::from(most));
            let place = PLACE * index as f64 / last as f64;
            let rest = used + place;
            let content = if content_matters(rest) { content_signals(view, index) } else { 0.0 };
            ImportanceParts { score: (rest + content).min(1.0), references: references[index], used, content, place }
        })
        .collect()
}

/// What a text itself says of its importance, 0 to 0.4: 0.15 when it directs or decides, 0.25 when it corrects, 0.1
/// when it names a constraint. Words that only mention such things count for nothing.
fn score_content_signals(text: &TextView<'_>, speaker: Speaker) -> f64 {
    let directs = text.units.iter().any(|unit| directs(text, unit, speaker));
    let corrects = correction(text, speaker).is_some();
    let constrains = names_constraint(text);
    let points = [(directs, DIRECTIVE), (corrects, CORRECTION), (constrains, CONSTRAINT)];
    let sum: f64 = points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum();
    sum.min(MAX_CONTENT)
}

fn content_signals(view: &View<'_>, index: usize) -> f64 {
    // What a tool prints and what a program injects directs nobody.
    let message = &view.conversation.messages[index];
    if matches!(message.role, Role::Tool | Role::Function) {
        return 0.0;
    }
    let speaker = view.speaker(index);
    view.texts(index).map(|text| score_content_signals(&text, speaker)).fold(0.0, f64::max)
}

/// A sentence or an item that obliges or decides. An assistant's "I need to look at it" obliges nobody, and those who
/// discuss what must be done decide nothing by that.
fn directs(text: &TextView<'_>, unit: &Unit, speaker: Speaker) -> bool {
    let is_said = matches!(unit.kind, UnitKind::Sentence | UnitKind::Fragment | UnitKind::ListItem);
    let is_directive =
        |kind: CueKind| kind == CueKind::Decision || kind == CueKind::Obligation && speaker != Speaker::Peer;
    if !is_said || !text.cues_of(unit).iter().any(|cue| is_directive(cue.kind)) {
        return false;
    }
    let words = unit.span.of(text.text);
    let speaks_of_itself = |word: &str| {
        let word = word.split(['\'', '’', ',']).next().unwrap_or_default();
        matches!(word, "I" | "Let" | "let" | "Now" | "We" | "we")
    };
    let is_own = speaker == Speaker::Assistant && words.split_whitespace().take(N_HEAD).any(speaks_of_itself);
    !is_own && !is_question(words)
}

/// Number of later messages that use a fact of each message again.
fn references(view: &View<'_>) -> Vec<u32> {
    let mut uses: Vec<(u64, u32)> = Vec::new();
    let mut lexer = Lexer::default();
    for (index, message) in view.conversation.messages.iter().enumerate() {
        let first = uses.len();
        for text in view.texts(index) {
            let facts = text.facts.iter().filter(|fact| tells(fact.kind));
            uses.extend(facts.map(|fact| (fact.key, index as u32)));
        }
        for call in &message.tool_calls {
            lexer.clear();
            let lexed = lexer.lex_facts(&call.arguments);
            let facts = lexer.view(&call.arguments, &lexed).facts.iter().filter(|fact| tells(fact.kind));
            uses.extend(facts.map(|fact| (fact.key, index as u32)));
        }
        dedup_from(&mut uses, first);
    }
    uses.sort_unstable();
    count_later(&uses, view.len())
}

/// Sorts what was pushed since `first` and drops what is there twice.
fn dedup_from(uses: &mut Vec<(u64, u32)>, first: usize) {
    let mut own = uses.split_off(first);
    own.sort_unstable();
    own.dedup();
    uses.append(&mut own);
}

/// Distinct later messages per message, over the runs of equal keys in `uses`.
fn count_later(uses: &[(u64, u32)], n_messages: usize) -> Vec<u32> {
    let is_common = |n_uses: usize| n_uses > MIN_COMMON && n_uses * 2 > n_messages;
    let mut later: Vec<Vec<&[(u64, u32)]>> = vec![Vec::new(); n_messages];
    for run in uses.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1 && !is_common(run.len())) {
        for (at, &(_, index)) in run.iter().enumerate() {
            let next = run.get(at + 1..).unwrap_or_default();
            let next = next.get(..MAX_USES).unwrap_or(next);
            if !next.is_empty() {
                later[index as usize].push(next);
            }
        }
    }
    let mut counted_for = vec![u32::MAX; n_messages];
    let count = |(index, runs): (usize, &Vec<&[(u64, u32)]>)| {
        let mut n_later = 0;
        for &(_, other) in runs.iter().copied().flatten() {
            if std::mem::replace(&mut counted_for[other as usize], index as u32) != index as u32 {
                n_later += 1;
            }
        }
        n_later
    };
    later.iter().enumerate().map(count).collect()
}

/// Facts by which one message depends on another: identifiers, places, tickets. Names and numbers are in messages
/// that have nothing to do with each other.
fn tells(kind: FactKind) -> bool {
    kind.is_technical()
        || matches!(
            kind,
            FactKind::Kebab
                | FactKind::Alphanumeric
                | FactKind::Ticket
                | FactKind::Hash
                | FactKind::Ip
                | FactKind::Host
                | FactKind::Email
        )
}

fn is_preserved(view: &View<'_>, index: usize) -> bool {
    let role = view.conversation.messages[index].role.as_str();
    view.options.preserve.iter().any(|preserved| preserved == role)
}

#[cfg(test)]
mod tests {
    use super::{MAX_USES, count_later};

    #[test]
    fn a_later_message_counts_once_however_much_it_shares() {
        let mut uses = vec![(7, 0), (7, 1), (7, 2), (9, 0), (9, 2), (11, 3)];
        uses.sort_unstable();
        assert_eq!(count_later(&uses, 4), [2, 1, 0, 0]);
    }

    #[test]
    fn a_fact_that_is_everywhere_tells_nothing_and_a_frequent_one_is_bounded() {
        let everywhere: Vec<(u64, u32)> = (0..100).map(|index| (1, index)).collect();
        assert_eq!(count_later(&everywhere, 100), [0; 100]);
        let half: Vec<(u64, u32)> = (0..200).map(|index| (1, index * 2)).collect();
        let counts = count_later(&half, 400);
        assert_eq!(counts[0], MAX_USES as u32);
        assert_eq!(counts[398], 0);
    }
}
