//! Damage planted into what came out of a conversation, in known ways, and changes that do no harm. The same input gives
//! the same damage: every second finding is hit, the first among them. Knows what metrics read, not what they say of it.

use crate::engine::{Excerpt, ExcerptKind, ReadMessage, ReadReplacement, Reading};
use crate::model::Conversation;
use crate::text::{CueKind, FactKind, Lexer, Severity, TextView};

/// A way to damage, or to change without harm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// Its published name.
    pub(super) name: &'static str,
    /// What is done, in a few words.
    pub(super) says: &'static str,
    /// False when nothing of worth is lost, so that a metric that falls raises a false alarm.
    pub(super) is_damage: bool,
    change: Change,
}

/// What is changed.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// Every second finding in passages of a kind.
    Passages(ExcerptKind, fn(&TextView<'_>) -> Edits),
    /// Something of the whole; false when there is nothing that could be changed.
    Whole(fn(&Conversation<'_>, &mut Reading) -> bool),
}

impl Kind {
    /// Changes `reading`; `None` when there is nothing that this kind could change.
    pub(super) fn plant(&self, original: &Conversation<'_>, reading: &Reading, lexer: &mut Lexer) -> Option<Reading> {
        let mut changed = reading.clone();
        let is_changed = match self.change {
            Change::Passages(kind, edits) => edit(&mut changed, kind, lexer, edits),
            Change::Whole(change) => change(original, &mut changed),
        };
        (is_changed && changed != *reading).then_some(changed)
    }
}

const fn damage(name: &'static str, says: &'static str, change: Change) -> Kind {
    Kind { name, says, is_damage: true, change }
}

const fn harmless(name: &'static str, says: &'static str, change: Change) -> Kind {
    Kind { name, says, is_damage: false, change }
}

const fn quoted(edits: fn(&TextView<'_>) -> Edits) -> Change {
    Change::Passages(ExcerptKind::Quoted, edits)
}

const fn listed(edits: fn(&TextView<'_>) -> Edits) -> Change {
    Change::Passages(ExcerptKind::Listed, edits)
}

/// All kinds in the order in which they are told.
pub(super) const KINDS: [Kind; 15] = [
    damage(
        "identifiers_removed",
        "identifiers, paths and URLs are taken out of the texts",
        quoted(|text| facts(text, FactKind::is_technical, |_| String::new())),
    ),
    damage(
        "prose_facts_removed",
        "names, amounts, dates and numbers are taken out of the texts",
        quoted(|text| facts(text, |fact| fact.is_precise() && !fact.is_technical(), |_| String::new())),
    ),
    damage(
        "digits_flipped",
        "a digit of a number, amount or version becomes another",
        quoted(|text| facts(text, FactKind::is_precise, flipped)),
    ),
    damage("negations_removed", "`not`, `never` and the like are taken out of the texts", quoted(negations)),
    damage("errors_removed", "lines that tell a failure are taken out of the texts", quoted(errors)),
    damage("fences_broken", "the marks of fenced blocks are taken out of the texts", quoted(fences)),
    damage(
        "entity_lists_removed",
        "the lists of entities behind summaries are taken away",
        listed(|text| vec![(0..text.text.len(), String::new())]),
    ),
    damage("summary_emptied", "the longest text that stands for others says nothing any more", Change::Whole(emptied)),
    damage(
        "kept_message_lost",
        "the longest message that stayed becomes a summary that says nothing",
        Change::Whole(lost),
    ),
    damage(
        "summaries_exchanged",
        "two texts that stand for others stand in each other's place",
        Change::Whole(exchanged),
    ),
    damage("wrong_reference", "a reference names another message", Change::Whole(misled)),
    damage("order_swapped", "two neighbours of the output change places", Change::Whole(swapped)),
    harmless(
        "spaces_added",
        "white space behind the texts",
        quoted(|text| vec![(text.text.len()..text.text.len(), "  \n".to_owned())]),
    ),
    harmless("entities_reordered", "the lists of entities in another order", listed(reordered)),
    harmless("frames_reworded", "the words of the engine around the texts are others", Change::Whole(reworded)),
];

/// Pieces of a text, in order and apart, and what stands there instead.
type Edits = Vec<(std::ops::Range<usize>, String)>;

fn replacements(reading: &mut Reading) -> impl Iterator<Item = &mut ReadReplacement> {
    reading.messages.iter_mut().filter_map(|message| match message {
        ReadMessage::Kept { .. } => None,
        ReadMessage::Replaced(replaced) => Some(replaced),
    })
}

/// Applies every second edit to the passages of a kind, counted over all of them.
fn edit(reading: &mut Reading, kind: ExcerptKind, lexer: &mut Lexer, edits: fn(&TextView<'_>) -> Edits) -> bool {
    let mut n_found = 0;
    let texts = replacements(reading).flat_map(|replaced| replaced.texts.iter_mut());
    for passage in texts.flatten().filter(|passage| passage.kind == kind) {
        lexer.clear();
        let lexed = lexer.lex(&passage.text);
        let found = edits(&lexer.view(&passage.text, &lexed));
        let mut changed = String::with_capacity(passage.text.len());
        let mut end = 0;
        for (range, new) in found {
            n_found += 1;
            if n_found % 2 == 1 && range.start >= end {
                changed.push_str(passage.text.get(end..range.start).unwrap_or_default());
                changed.push_str(&new);
                end = range.end;
            }
        }
        changed.push_str(passage.text.get(end..).unwrap_or_default());
        passage.text = changed;
    }
    n_found > 0
}

fn facts(text: &TextView<'_>, is_meant: impl Fn(FactKind) -> bool, new: impl Fn(&str) -> String) -> Edits {
    let mut facts: Vec<_> = text.facts.iter().filter(|fact| is_meant(fact.kind)).map(|fact| fact.span).collect();
    facts.sort_by_key(|span| (span.start, span.end));
    let edit = |span: crate::text::Span| (span.start as usize..span.end as usize, new(span.of(text.text)));
    facts.into_iter().map(edit).filter(|(range, new)| text.text.get(range.clone()) != Some(new)).collect()
}

/// The last digit becomes another; a text without digits stays.
fn flipped(fact: &str) -> String {
    let Some(at) = fact.rfind(|c: char| c.is_ascii_digit()) else { return fact.to_owned() };
    let turn = |(index, c): (usize, char)| match c.to_digit(10) {
        Some(digit) if index == at => char::from_digit((digit + 5) % 10, 10).unwrap_or(c),
        _ => c,
    };
    fact.char_indices().map(turn).collect()
}

fn negations(text: &TextView<'_>) -> Edits {
    let cues = text.cues.iter().filter(|cue| matches!(cue.kind, CueKind::Negation | CueKind::Obligation));
    let word = |at: usize| {
        let rest = text.text.get(at..).unwrap_or_default();
        let n_bytes = rest.find(char::is_whitespace).unwrap_or(rest.len());
        // A contraction: its cue stands at the word or in it.
        (at..at + n_bytes.max(rest.chars().next().map_or(0, char::len_utf8)), String::new())
    };
    let mut edits: Edits = cues.map(|cue| word(cue.at as usize)).collect();
    edits.sort_by_key(|(range, _)| range.start);
    edits
}

fn errors(text: &TextView<'_>) -> Edits {
    let failures = text.lines.iter().filter(|line| line.severity == Severity::Failure);
    failures.map(|line| (line.span.start as usize..line.span.end as usize, String::new())).collect()
}

fn fences(text: &TextView<'_>) -> Edits {
    text.text.match_indices("```").map(|(at, mark)| (at..at + mark.len(), String::new())).collect()
}

fn reordered(text: &TextView<'_>) -> Edits {
    let mut names: Vec<&str> = text.text.split(", ").collect();
    names.reverse();
    vec![(0..text.text.len(), names.join(", "))]
}

fn length(replaced: &ReadReplacement) -> usize {
    replaced.texts.iter().flatten().map(|passage| passage.text.len()).sum()
}

fn emptied(_: &Conversation<'_>, reading: &mut Reading) -> bool {
    let Some(longest) = replacements(reading).max_by_key(|replaced| length(replaced)) else { return false };
    longest.texts.iter_mut().for_each(Vec::clear);
    true
}

fn lost(original: &Conversation<'_>, reading: &mut Reading) -> bool {
    let chars =
        |index: usize| original.messages.get(index).map_or(0, |message| message.texts().map(str::len).sum::<usize>());
    let kept = reading.messages.iter().enumerate().filter_map(|(at, message)| match message {
        ReadMessage::Kept { index } if chars(*index) > 0 => Some((chars(*index), at, *index)),
        _ => None,
    });
    let Some((_, at, index)) = kept.max() else { return false };
    reading.messages[at] =
        ReadMessage::Replaced(ReadReplacement { sources: vec![index], texts: vec![Vec::new()], parts: None });
    true
}

fn exchanged(_: &Conversation<'_>, reading: &mut Reading) -> bool {
    let mut texts: Vec<&mut ReadReplacement> = replacements(reading).filter(|replaced| length(replaced) > 0).collect();
    match texts.as_mut_slice() {
        [first, .., last] => {
            std::mem::swap(&mut first.texts, &mut last.texts);
            std::mem::swap(&mut first.parts, &mut last.parts);
            true
        }
        _ => false,
    }
}

fn misled(_: &Conversation<'_>, reading: &mut Reading) -> bool {
    let said = replacements(reading).flat_map(|replaced| replaced.texts.iter_mut().flatten());
    let mut said = said.filter(|passage| passage.kind == ExcerptKind::Said);
    match said.find(|passage| passage.text.starts_with("[cce:")) {
        Some(Excerpt { text, .. }) => {
            *text = text.replacen(" of ", " of another-", 1).replacen(" by ", " by another-", 1);
            true
        }
        None => false,
    }
}

fn swapped(_: &Conversation<'_>, reading: &mut Reading) -> bool {
    let middle = reading.messages.len() / 2;
    if middle == 0 {
        return false;
    }
    reading.messages.swap(middle - 1, middle);
    true
}

fn reworded(_: &Conversation<'_>, reading: &mut Reading) -> bool {
    let mut n_changed = 0;
    for passage in replacements(reading).flat_map(|replaced| replaced.texts.iter_mut().flatten()) {
        if passage.kind == ExcerptKind::Said && passage.text.contains("[summary: ") {
            passage.text = passage.text.replace("[summary: ", "[in short: ");
            n_changed += 1;
        }
    }
    n_changed > 0
}
