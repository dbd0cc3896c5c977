//! Damage planted into what came out of a conversation, in known ways, and changes that do no harm. The same input gives
//! the same damage: every second finding is hit, the first among them. Knows what metrics read, not what they say of it.

use crate::engine::{Passage, PassageKind, ReadMessage, ReadReplacement, Reading};
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
    plant: fn(&Conversation<'_>, &mut Reading, &mut Lexer) -> bool,
}

impl Kind {
    /// Changes `reading`; `None` when there is nothing that this kind could change.
    pub(super) fn plant(&self, original: &Conversation<'_>, reading: &Reading, lexer: &mut Lexer) -> Option<Reading> {
        let mut changed = reading.clone();
        ((self.plant)(original, &mut changed, lexer) && changed != *reading).then_some(changed)
    }
}

/// All kinds in the order in which they are told.
pub(super) const KINDS: [Kind; 15] = [
    Kind {
        name: "identifiers_removed",
        says: "identifiers, paths and URLs are taken out of the texts",
        is_damage: true,
        plant: |_, reading, lexer| {
            edit(reading, PassageKind::Quoted, lexer, &|text| facts(text, FactKind::is_technical, |_| String::new()))
        },
    },
    Kind {
        name: "prose_facts_removed",
        says: "names, amounts, dates and numbers are taken out of the texts",
        is_damage: true,
        plant: |_, reading, lexer| {
            edit(reading, PassageKind::Quoted, lexer, &|text| {
                facts(text, |fact| fact.is_precise() && !fact.is_technical(), |_| String::new())
            })
        },
    },
    Kind {
        name: "digits_flipped",
        says: "a digit of a number, amount or version becomes another",
        is_damage: true,
        plant: |_, reading, lexer| {
            edit(reading, PassageKind::Quoted, lexer, &|text| facts(text, FactKind::is_precise, flipped))
        },
    },
    Kind {
        name: "negations_removed",
        says: "`not`, `never` and the like are taken out of the texts",
        is_damage: true,
        plant: |_, reading, lexer| edit(reading, PassageKind::Quoted, lexer, &negations),
    },
    Kind {
        name: "errors_removed",
        says: "lines that tell a failure are taken out of the texts",
        is_damage: true,
        plant: |_, reading, lexer| edit(reading, PassageKind::Quoted, lexer, &errors),
    },
    Kind {
        name: "fences_broken",
        says: "the marks of fenced blocks are taken out of the texts",
        is_damage: true,
        plant: |_, reading, lexer| edit(reading, PassageKind::Quoted, lexer, &fences),
    },
    Kind {
        name: "entity_lists_removed",
        says: "the lists of entities behind summaries are taken away",
        is_damage: true,
        plant: |_, reading, lexer| {
            edit(reading, PassageKind::Listed, lexer, &|text| vec![(0..text.text.len(), String::new())])
        },
    },
    Kind {
        name: "summary_emptied",
        says: "the longest text that stands for others says nothing any more",
        is_damage: true,
        plant: |_, reading, _| emptied(reading),
    },
    Kind {
        name: "kept_message_lost",
        says: "the longest message that stayed becomes a summary that says nothing",
        is_damage: true,
        plant: |original, reading, _| lost(original, reading),
    },
    Kind {
        name: "summaries_exchanged",
        says: "two texts that stand for others stand in each other's place",
        is_damage: true,
        plant: |_, reading, _| exchanged(reading),
    },
    Kind {
        name: "wrong_reference",
        says: "a reference names another message",
        is_damage: true,
        plant: |_, reading, _| misled(reading),
    },
    Kind {
        name: "order_swapped",
        says: "two neighbours of the output change places",
        is_damage: true,
        plant: |_, reading, _| swapped(reading),
    },
    Kind {
        name: "spaces_added",
        says: "white space behind the texts",
        is_damage: false,
        plant: |_, reading, lexer| {
            edit(reading, PassageKind::Quoted, lexer, &|text| {
                vec![(text.text.len()..text.text.len(), "  \n".to_owned())]
            })
        },
    },
    Kind {
        name: "entities_reordered",
        says: "the lists of entities in another order",
        is_damage: false,
        plant: |_, reading, lexer| edit(reading, PassageKind::Listed, lexer, &reordered),
    },
    Kind {
        name: "frames_reworded",
        says: "the words of the engine around the texts are others",
        is_damage: false,
        plant: |_, reading, _| reworded(reading),
    },
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
fn edit(reading: &mut Reading, kind: PassageKind, lexer: &mut Lexer, edits: &dyn Fn(&TextView<'_>) -> Edits) -> bool {
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

fn emptied(reading: &mut Reading) -> bool {
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

fn exchanged(reading: &mut Reading) -> bool {
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

fn misled(reading: &mut Reading) -> bool {
    let said = replacements(reading).flat_map(|replaced| replaced.texts.iter_mut().flatten());
    let mut said = said.filter(|passage| passage.kind == PassageKind::Said);
    match said.find(|passage| passage.text.starts_with("[cce:")) {
        Some(Passage { text, .. }) => {
            *text = text.replacen(" of ", " of another-", 1).replacen(" by ", " by another-", 1);
            true
        }
        None => false,
    }
}

fn swapped(reading: &mut Reading) -> bool {
    let middle = reading.messages.len() / 2;
    if middle == 0 {
        return false;
    }
    reading.messages.swap(middle - 1, middle);
    true
}

fn reworded(reading: &mut Reading) -> bool {
    let mut n_changed = 0;
    for passage in replacements(reading).flat_map(|replaced| replaced.texts.iter_mut().flatten()) {
        if passage.kind == PassageKind::Said && passage.text.contains("[summary: ") {
            passage.text = passage.text.replace("[summary: ", "[in short: ");
            n_changed += 1;
        }
    }
    n_changed > 0
}
