//! What an assistant thinks uses values as what it says does, told by small conversations.

use crate::model::{Conversation, Grounding, Message, Thought};
use crate::walk::{Rules, SaidBy, Standing, Walker};

use super::{TASK, file, message};

/// A message in which an assistant thinks.
fn thinks(thought: &str) -> Message<'_> {
    Message {
        reasoning: vec![Thought { text: thought.into(), places: Vec::new() }],
        ..message((SaidBy::Assistant, "", ""))
    }
}

/// What is shown of a text that an assistant reads before it thinks and says something, and what is measured.
fn shown(read: &str, thought: &str, says: &str) -> (String, Grounding) {
    let said = [TASK, (SaidBy::Result, read, ""), (SaidBy::Assistant, says, "")];
    let mut messages = said.map(message).to_vec();
    messages.insert(2, thinks(thought));
    let by = [SaidBy::Human, SaidBy::Result, SaidBy::Assistant, SaidBy::Assistant];
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, explains: true, ..Rules::default() };
    let mut walker = Walker::default();
    let views =
        walker.walk(&Conversation { id: "test".into(), messages, ..Conversation::default() }, &by, rules, &|_| {
            Standing::Free
        });
    (views.first().map_or_else(|| read.to_owned(), |view| view.text.clone()), walker.grounding())
}

#[test]
fn names_and_facts_that_a_thought_uses_stay() {
    let read = file("    let retries = max_retries_of(config);\n    coverage of parser: 83.5%\n    a chrysanthemum");
    let (text, _) = shown(&read, "So max_retries_of it is. The parser has 83.5%, like a chrysanthemum.", "");
    assert!(text.contains("max_retries_of(config)") && text.contains("parser: 83.5%"), "{text}");
    assert!(!text.contains("chrysanthemum"), "{text}");
    let (text, _) = shown(&read, "So this is it.", "Like a chrysanthemum.");
    assert!(!text.contains("max_retries_of") && text.contains("chrysanthemum"), "{text}");
}

#[test]
fn grounding_measures_what_is_said_and_not_what_is_thought() {
    let read = file("    let retries = max_retries_of(config);\n    coverage of parser: 83.5%\n    first_name");
    let thought = "So max_retries_of it is, first_name or not. The parser has 83.5%.";
    let (text, with) = shown(&read, thought, "It is first_name.");
    let (_, without) = shown(&read, "", "It is first_name.");
    assert!(text.contains("max_retries_of"), "{text}");
    assert_eq!((with.used, with.used_in_place, with.facts), (1, 1, 0));
    assert_eq!(with, without);
}

#[test]
fn a_thought_shows_nothing() {
    let read = file("    let retries = max_retries_of(config);");
    let again = format!("another file\n{read}");
    let messages = [
        message(TASK),
        thinks("Is there a max_retries_of?"),
        message((SaidBy::Result, &read, "")),
        message((SaidBy::Result, &again, "")),
        message((SaidBy::Assistant, "It is max_retries_of.", "")),
    ];
    let by = [SaidBy::Human, SaidBy::Assistant, SaidBy::Result, SaidBy::Result, SaidBy::Assistant];
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, ..Rules::default() };
    let conversation = Conversation { id: "test".into(), messages: messages.to_vec(), ..Conversation::default() };
    let views = Walker::default().walk(&conversation, &by, rules, &|_| Standing::Free);
    assert!(views[0].text.contains("max_retries_of"), "{views:?}");
    assert_eq!(views.iter().map(|view| view.message).collect::<Vec<_>>(), [2, 3]);
}
