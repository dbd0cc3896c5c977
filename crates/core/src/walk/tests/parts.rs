//! Who says a text is decided part by part, told by small conversations.

use crate::model::{Content, Conversation, Message, Part, ResultParts, Role, ToolCall};
use crate::walk::{Rules, SaidBy, Standing, UsedText, Walker};

use super::{filling, message};

/// A message of results and of what a person says beside them: each part with the call that it answers.
fn results<'a>(parts: &[(Option<&'a str>, &'a str)]) -> Message<'a> {
    let answers = |(at, &(call, _)): (usize, &(Option<&'a str>, &'a str))| {
        Some(ResultParts { parts: at..at + 1, call: Some(call?.into()) })
    };
    Message {
        role: Role::Tool,
        content: Content::Parts(parts.iter().map(|(_, text)| Part::Text((*text).into())).collect()),
        tool_call_id: parts.iter().find_map(|(call, _)| *call).map(Into::into),
        results: parts.iter().enumerate().filter_map(answers).collect(),
        ..message((SaidBy::Result, "", ""))
    }
}

/// A message that calls tools: id, name and arguments of each call.
fn calls<'a>(calls: &[(&'a str, &'a str, &'a str)]) -> Message<'a> {
    let call = |&(id, name, arguments): &(&'a str, &'a str, &'a str)| ToolCall {
        id: Some(id.into()),
        name: Some(name.into()),
        arguments: arguments.into(),
        ..ToolCall::default()
    };
    Message { tool_calls: calls.iter().map(call).collect(), ..message((SaidBy::Assistant, "", "")) }
}

fn walk(messages: &[Message<'_>]) -> Vec<UsedText> {
    let by = |message: &Message<'_>| match message.role {
        Role::User => SaidBy::Human,
        Role::Assistant => SaidBy::Assistant,
        _ => SaidBy::Result,
    };
    let by: Vec<SaidBy> = messages.iter().map(by).collect();
    let conversation = Conversation { id: "test".into(), messages: messages.to_vec(), ..Conversation::default() };
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, explains: true, ..Rules::default() };
    Walker::default().walk(&conversation, &by, rules, &|_| Standing::Free)
}

fn shown(views: &[UsedText], message: usize, part: usize) -> Option<&str> {
    views.iter().find(|view| (view.message, view.view.part) == (message, part)).map(|view| view.text.as_str())
}

/// Words of a person, of about so many bytes, in lines of which nothing is used.
fn words(n_bytes: usize) -> String {
    let line = "please be so kind and look at this once more\n";
    line.repeat(n_bytes / line.len())
}

const TASK: &str = "Find out why it fails.";

#[test]
fn what_a_person_says_beside_a_result_stays() {
    let read = format!("first of all\n{}last of all", filling(20));
    let said = words(1_400);
    let messages = [
        message((SaidBy::Human, TASK, "")),
        calls(&[("a", "Read", r#"{"path": "a.rs"}"#)]),
        results(&[(Some("a"), &read), (None, &said)]),
    ];
    let views = walk(&messages);
    assert_eq!(shown(&views, 2, 0), Some("first of all\n⋯ 20 lines #1\nlast of all"));
    assert_eq!(shown(&views, 2, 1), None);
}

#[test]
fn what_a_person_pastes_beside_a_result_is_cut_unless_it_is_the_task() {
    let pasted = format!("the log\n{}\nthat was all", filling(80));
    let beside = |task: &str| {
        let messages = [
            message((SaidBy::Human, task, "")),
            calls(&[("a", "Read", r#"{"path": "a.rs"}"#)]),
            results(&[(Some("a"), "done"), (None, "Why is that?"), (None, &pasted)]),
        ];
        let from = usize::from(task.is_empty());
        walk(&messages[from..])
    };
    let views = beside(TASK);
    let text = shown(&views, 2, 2).expect("it is cut");
    assert!(text.starts_with("the log\n") && text.contains("lines #1") && text.ends_with("that was all"), "{text}");
    assert_eq!(views.len(), 1, "{views:?}");
    assert_eq!(beside(""), []);
}

#[test]
fn what_a_person_says_beside_a_result_uses_what_stands_before() {
    let read = format!("first of all\n{}the key is needle_in_it\n{}last of all", filling(10), filling(10));
    let with = |said: &str| {
        let messages = [
            message((SaidBy::Human, TASK, "")),
            calls(&[("a", "Read", r#"{"path": "a.rs"}"#)]),
            results(&[(Some("a"), &read)]),
            calls(&[("b", "Read", r#"{"path": "b.rs"}"#)]),
            results(&[(Some("b"), "nothing"), (None, said)]),
        ];
        shown(&walk(&messages), 2, 0).unwrap_or(&read).contains("needle_in_it")
    };
    assert!(with("Why is there a needle_in_it?") && !with("Why?"));
}

#[test]
fn each_result_of_a_message_is_of_its_own_call() {
    let first: String = (0..30).map(|at| format!("line of the one file with number_{at}\n")).collect();
    let second: String = (0..30).map(|at| format!("line of the other file with letter_{at}\n")).collect();
    let uses: String = (0..30).map(|at| format!("number_{at} letter_{at} ")).collect();
    let call = calls(&[("a", "Read", r#"{"path": "/src/a.go"}"#), ("b", "Read", r#"{"path": "/src/b.go"}"#)]);
    let messages = [
        message((SaidBy::Human, TASK, "")),
        call.clone(),
        results(&[(Some("a"), &first), (Some("b"), &second)]),
        call,
        // Parallel calls end in any order.
        results(&[(Some("b"), &second), (Some("a"), &first)]),
        message((SaidBy::Assistant, &uses, "")),
    ];
    let views = walk(&messages);
    assert_eq!(shown(&views, 2, 0).or(shown(&views, 2, 1)), None);
    assert_eq!(shown(&views, 4, 0), Some("⋯ 30 lines as in Read b.go #1"));
    assert_eq!(shown(&views, 4, 1), Some("⋯ 30 lines as in Read a.go #2"));
}

#[test]
fn results_of_calls_that_are_made_at_once_find_theirs_whatever_message_it_is_in() {
    let all: String = (0..30).map(|at| format!("line of the file with number_{at}\n")).collect();
    let uses: String = (0..30).map(|at| format!("number_{at} ")).collect();
    let messages = [
        message((SaidBy::Human, TASK, "")),
        calls(&[("a", "Read", r#"{"path": "/src/a.go"}"#)]),
        calls(&[("b", "Read", r#"{"path": "/src/b.go"}"#)]),
        results(&[(Some("a"), &all)]),
        results(&[(Some("b"), &all)]),
        message((SaidBy::Assistant, &uses, "")),
    ];
    assert_eq!(shown(&walk(&messages), 4, 0), Some("⋯ 30 lines as in Read a.go #1"));
}
