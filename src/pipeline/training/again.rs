//! Compressed messages that are shown whole again: where hiding saved little, or as far as there is room. Knows what was hidden; refuses
//! to know why.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::windows::MOST_UNKNOWN;
use crate::model::{Condensed, Content, Conversation, NewBody, Output};
use crate::walk::Copies;

/// Hiding saves at least so many bytes of a message …
const MIN_SAVED: usize = 1000;
/// … and one part in so many of it.
const MIN_PART: usize = 3;

/// Shows again what saved little: what somebody may have read there is worth more.
pub(super) fn show_little(condensed: &mut Condensed, conversation: &Conversation<'_>) {
    show(condensed, conversation, |saved, of| saved < MIN_SAVED || saved * MIN_PART < of);
}

/// Shows again, in at most `room` bytes, the messages that show last what edits of learned turns copy, where it is hidden; gives what
/// room is left.
pub(super) fn show_copied(
    condensed: &mut Condensed,
    conversation: &Conversation<'_>,
    is_learned: impl Fn(usize) -> bool,
    room: usize,
) -> usize {
    let mut wanted = BTreeSet::new();
    for (_, lines) in hidden_copies(condensed, conversation, is_learned) {
        wanted.extend(lines.into_iter().flatten());
    }
    let mut left = room;
    for output in &mut condensed.messages {
        if let Some((index, saved, _)) = saved(output, conversation)
            && wanted.contains(&index)
            && let Some(rest) = left.checked_sub(saved)
        {
            left = rest;
            *output = Output::Kept { index };
        }
    }
    left
}

/// Turns whose edits copy lines of which more than a quarter is hidden.
pub(super) fn blind(condensed: &Condensed, conversation: &Conversation<'_>) -> Vec<usize> {
    let edits = hidden_copies(condensed, conversation, |_| true);
    let is_blind = |lines: &[Option<usize>]| lines.iter().flatten().count() * MOST_UNKNOWN > lines.len();
    edits.into_iter().filter(|(_, lines)| is_blind(lines)).map(|(message, _)| message).collect()
}

/// Of each turn that edits, for each line that it copies and that stands before it, the last message that shows it, where it is hidden.
fn hidden_copies(
    condensed: &Condensed,
    conversation: &Conversation<'_>,
    is_learned: impl Fn(usize) -> bool,
) -> Vec<(usize, Vec<Option<usize>>)> {
    let before = Copies::of(conversation);
    let mut after = conversation.clone();
    for output in &condensed.messages {
        if let Output::Replaced(replacement) = output
            && let [index] = *replacement.sources
            && let Some(message) = after.messages.get_mut(index)
        {
            message.content = Content::Text(Cow::Owned(match &replacement.body {
                NewBody::Text(text) => text.clone(),
                NewBody::Parts(parts) => parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n"),
            }));
        }
    }
    let after = Copies::of(&after);
    let edits = before.messages().filter(|&message| is_learned(message));
    let lines = |message: usize| {
        let shown = before.shown(message).zip(after.shown(message));
        shown.filter_map(|(before, after)| {
            Some(before.filter(|_| after.is_none()).map(|(_, last)| last)).filter(|_| before.is_some())
        })
    };
    edits.map(|message| (message, lines(message).collect())).collect()
}

/// Shows again what saved least, as long as that takes at most `room` bytes.
pub(super) fn show_most(condensed: &mut Condensed, conversation: &Conversation<'_>, room: usize) {
    let mut saved: Vec<usize> =
        condensed.messages.iter().filter_map(|output| saved(output, conversation)).map(|(_, saved, _)| saved).collect();
    saved.sort_unstable();
    let mut left = room;
    let n_shown = saved.iter().take_while(|saved| left.checked_sub(**saved).map(|rest| left = rest).is_some()).count();
    // Of those that saved the same the first ones.
    let most = saved[..n_shown].last().copied().unwrap_or_default();
    let mut n_equal = saved[..n_shown].iter().filter(|saved| **saved == most).count();
    show(condensed, conversation, |saved, _| {
        let is_last = saved == most && n_equal > 0;
        n_equal -= usize::from(is_last);
        saved < most || is_last
    });
}

fn show(condensed: &mut Condensed, conversation: &Conversation<'_>, mut is_shown: impl FnMut(usize, usize) -> bool) {
    for output in &mut condensed.messages {
        if let Some((index, saved, of)) = saved(output, conversation)
            && is_shown(saved, of)
        {
            *output = Output::Kept { index };
        }
    }
}

/// Of a message that is compressed by itself its index, the bytes that hiding saves, and those that it had.
fn saved(output: &Output, conversation: &Conversation<'_>) -> Option<(usize, usize, usize)> {
    let Output::Replaced(replacement) = output else { return None };
    let [index] = *replacement.sources else { return None };
    let before: usize = conversation.messages.get(index)?.texts().map(str::len).sum();
    let after: usize = match &replacement.body {
        NewBody::Text(text) => text.len(),
        NewBody::Parts(parts) => parts.iter().map(|(_, text)| text.len()).sum(),
    };
    Some((index, before.saturating_sub(after), before))
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, Scratch};
    use crate::model::{EngineOptions, Output, ShapeName};
    use crate::shape::decode;

    use super::{show_little, show_most};

    /// A session that reads logs, of which nothing is used, of so many lines.
    fn record(lengths: &[usize]) -> String {
        let log = |n: usize| (0..n).map(|at| format!("plain words of line {at} that go on\\n")).collect::<String>();
        let turns: Vec<String> = lengths
            .iter()
            .enumerate()
            .map(|(at, n)| {
                format!(
                    r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"c{at}","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c{at}","content":"{}"}}"#,
                    log(*n)
                )
            })
            .collect();
        format!(r#"{{"messages":[{{"role":"user","content":"look"}},{}]}}"#, turns.join(","))
    }

    #[test]
    fn what_saves_least_is_whole_again_as_far_as_there_is_room() {
        let record = record(&[10, 200, 40, 100, 40, 1]);
        let decoded = decode(&record, ShapeName::Openai, "r").expect("a record");
        let options = EngineOptions { recency_window: 0, ..EngineOptions::default() };
        let condensed = Engine::new(options).expect("options").condense(&decoded.conversation, &mut Scratch::default());
        let hidden = |condensed: &crate::model::Condensed| -> Vec<usize> {
            condensed
                .messages
                .iter()
                .filter(|output| matches!(output, Output::Replaced(_)))
                .map(Output::first_source)
                .collect()
        };
        assert_eq!(hidden(&condensed), [2, 4, 6, 8, 10], "each of them has a line that nobody uses");
        let shown = |room| {
            let mut condensed = condensed.clone();
            show_most(&mut condensed, &decoded.conversation, room);
            hidden(&condensed)
        };
        assert_eq!(shown(0), [2, 4, 6, 8, 10]);
        assert_eq!(shown(1_000), [4, 6, 8, 10]);
        assert_eq!(shown(2_500), [4, 8, 10], "of equal ones the first");
        assert_eq!(shown(100_000), [0_usize; 0]);
        let mut little = condensed.clone();
        show_little(&mut little, &decoded.conversation);
        assert_eq!(hidden(&little), [4, 6, 8, 10]);
    }
}
