//! What is hidden and what stays, told by small conversations; what holds for every view; time.

mod failures;
mod parts;
mod readers;
mod reasoning;

use std::borrow::Cow;

use crate::model::{Content, Conversation, Message, Role, ToolCall, ViewOp};

use super::{Rules, SaidBy, Standing, UsedText, Walker};

/// A message: who says it, its text, and the arguments of a call.
pub(super) type Said<'a> = (SaidBy, &'a str, &'a str);

pub(super) fn message((by, text, arguments): Said<'_>) -> Message<'_> {
    Message {
        raw: "",
        id: None,
        role: match by {
            SaidBy::System => Role::System,
            SaidBy::Human => Role::User,
            SaidBy::Assistant => Role::Assistant,
            _ => Role::Tool,
        },
        name: None,
        content: Content::Text(Cow::Borrowed(text)),
        tool_calls: if arguments.is_empty() {
            Vec::new()
        } else {
            vec![ToolCall { id: None, name: Some("Read".into()), arguments: arguments.into(), place: Some("") }]
        },
        tool_call_id: None,
        results: Vec::new(),
        reasoning: Vec::new(),
        provenance: None,
    }
}

pub(super) fn conversation<'a>(said: &[Said<'a>]) -> Conversation<'a> {
    Conversation {
        id: "test".into(),
        messages: said.iter().map(|&said| message(said)).collect(),
        ..Conversation::default()
    }
}

/// What is shown of each message; nothing is in the window, and every saving is worth it.
fn walk(said: &[Said<'_>]) -> Vec<UsedText> {
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, explains: true, ..Rules::default() };
    let shown = Walker::default().walk(&conversation(said), &by, rules, &|_| Standing::Free);
    for view in &shown {
        check(said[view.message].1, view);
    }
    shown
}

/// What holds for every view: its text is what its operations say, they copy forwards, and what was JSON is.
pub(super) fn check(original: &str, view: &UsedText) {
    assert_eq!(view.view.apply(original).as_ref(), Some(&view.text), "{:?} of {original}", view.view);
    let mut is_open = false;
    for op in &view.view.ops {
        match op {
            ViewOp::Copy(..) => is_open = false,
            ViewOp::Mark(text, number) => {
                assert!(!std::mem::replace(&mut is_open, true), "{:?}", view.view);
                assert!(text.contains(&format!("#{number}")), "{text}");
            }
            ViewOp::Insert(_) => {}
        }
    }
    if serde_json::from_str::<serde_json::Value>(original).is_ok() {
        assert!(serde_json::from_str::<serde_json::Value>(&view.text).is_ok(), "{}", view.text);
    }
}

/// What is shown of the message at `index`.
fn shown(said: &[Said<'_>], index: usize) -> String {
    let views = walk(said);
    views.iter().find(|view| view.message == index).map_or_else(|| said[index].1.to_owned(), |view| view.text.clone())
}

const TASK: Said<'static> = (SaidBy::Human, "Find out why it fails.", "");

/// Lines that nothing speaks of.
pub(super) fn filling(n: usize) -> String {
    (0..n).map(|at| format!("    {} is a row of plain words\n", "x".repeat(2 + at % 7))).collect()
}

pub(super) fn file(middle: &str) -> String {
    format!("first of all\n{}{middle}\n{}last of all\n", filling(12), filling(12))
}

#[test]
fn a_line_stays_that_a_later_call_uses_and_the_rest_is_counted() {
    let read = file("    let retries = max_retries_of(config);");
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"path": "a.rs"}"#),
        (SaidBy::Result, &read, ""),
        (SaidBy::Assistant, "", r#"{"pattern": "max_retries_of"}"#),
    ];
    assert_eq!(
        shown(&said, 2),
        "first of all\n⋯ 12 lines #1\n    let retries = max_retries_of(config);\n⋯ 12 lines #2\nlast of all\n"
    );
}

#[test]
fn a_value_that_was_shown_needs_no_second_line() {
    let read = file("    let retries = max_retries_of(config);");
    let again = format!("another file\n{}", file("    other(max_retries_of(other), 3);"));
    let said = [
        TASK,
        (SaidBy::Result, &read, ""),
        (SaidBy::Result, &again, ""),
        (SaidBy::Assistant, "It is max_retries_of that counts.", ""),
    ];
    assert!(shown(&said, 1).contains("max_retries_of"));
    let text = shown(&said, 2);
    assert!(!text.contains("max_retries_of"), "{text}");
}

#[test]
fn a_date_stays_that_begins_a_time_whatever_other_dates_are_used_later() {
    let made = |day: u8| format!("{}\ncreated 2024-05-{day:02}T04:17:23\n{}", filling(8), filling(8));
    // Another one tells already what was created in that year.
    let before = made(11);
    for day in 1..=9 {
        let answer = format!("It was created on 2024-05-0{day}.");
        let calls = ["2024-05-15 2024-05-16 2024-05-17", r#"{"dates": "2024-05-05, 2024-04-05, 2023-05-05"}"#];
        for call in calls {
            let first = made(day).replace("plain", "other");
            let said = [
                (SaidBy::Result, before.as_str(), ""),
                (SaidBy::Result, first.as_str(), ""),
                (SaidBy::Assistant, answer.as_str(), ""),
                (SaidBy::Assistant, "", call),
            ];
            assert!(shown(&said, 1).contains(&format!("2024-05-0{day}T")), "{}", shown(&said, 1));
        }
    }
}

#[test]
fn every_line_stays_that_an_edit_must_repeat() {
    let read = file("    if a < b {\n        return early;\n    }\n    // and so on");
    let edit = r#"{"old_string": "    if a < b {\n        return early;\n    }\n    // and so on", "new_string": "x"}"#;
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Assistant, "", edit)];
    let text = shown(&said, 1);
    assert!(text.contains("    if a < b {\n        return early;\n    }\n    // and so on\n"), "{text}");
}

#[test]
fn a_fact_stays_with_what_it_belongs_to() {
    let read = file("coverage of parser: 83.5%\ncoverage of writer: 61.0%");
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Assistant, "The parser has a coverage of 83.5 %.", "")];
    let text = shown(&said, 1);
    assert!(text.contains("coverage of parser: 83.5%") && !text.contains("writer"), "{text}");
}

#[test]
fn a_run_of_lines_is_shown_once_and_a_repeat_says_where() {
    let read = file("    nothing of note");
    let longer = format!("first of all\n{}", "    wholly new line that nobody needs\n");
    let all: String = (0..30).map(|at| format!("line of the file with number_{at}\n")).collect();
    let uses: String = (0..30).map(|at| format!("number_{at} ")).collect();
    let said = [
        TASK,
        (SaidBy::Result, &all, ""),
        (SaidBy::Result, &all, ""),
        (SaidBy::Assistant, &uses, ""),
        (SaidBy::Human, &read, ""),
        (SaidBy::Human, &longer, ""),
    ];
    assert_eq!(shown(&said, 1), all);
    assert_eq!(shown(&said, 2), "⋯ 30 lines as in an earlier text #1");
}

#[test]
fn a_repeat_of_what_was_hidden_says_that_it_is_unchanged() {
    let read = file("    nothing of note");
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Result, &read, "")];
    assert_eq!(shown(&said, 1), "first of all\n⋯ 25 lines #1\nlast of all\n");
    assert_eq!(shown(&said, 2), "⋯ 27 lines, unchanged since an earlier text #2");
}

#[test]
fn how_a_command_ended_always_stays() {
    let ran = format!("begin\n{}12 passed, 1 failed\n{}done here\nExit code 3\n", filling(20), filling(20));
    let said = [TASK, (SaidBy::Result, &ran, ""), (SaidBy::Result, &ran, "")];
    for index in [1, 2] {
        let text = shown(&said, index);
        assert!(text.contains("12 passed, 1 failed") && text.contains("Exit code 3"), "{text}");
    }
}

#[test]
fn a_failure_stays_with_its_lines_and_its_place() {
    let ran =
        format!("begin\n{}src/a.rs:12:5: error: no such name `foo`\n{}error: it failed\n", filling(30), filling(30));
    let text = shown(&[TASK, (SaidBy::Result, &ran, "")], 1);
    assert!(text.contains("src/a.rs:12:5: error: no such name `foo`") && text.contains("error: it failed"), "{text}");
    assert!(text.contains("⋯"), "{text}");
}

#[test]
fn json_on_one_line_is_laid_out_and_still_parses() {
    let items: Vec<String> = (0..20)
        .map(|at| format!(r#"{{"id": "item_{at}", "state": "open", "note": "a note that is long enough"}}"#))
        .collect();
    let json = format!(r#"{{"total": 20, "items": [{}], "next": null}}"#, items.join(", "));
    let said = [TASK, (SaidBy::Result, &json, ""), (SaidBy::Assistant, "", r#"{"id": "item_7"}"#)];
    assert_eq!(
        shown(&said, 1),
        "{\n \"total\": 20,\n \"items\": [\n  \"⋯ 7 items #1\",\n  {\"id\": \"item_7\", \"state\": \"open\", \"note\": \"a note \
         that is long enough\"},\n  \"⋯ 12 items #2\"\n ],\n \"next\": null\n}"
    );
}

#[test]
fn a_text_inside_a_json_string_is_cut_by_its_own_lines() {
    let inner: String = (0..40).map(|at| format!("row {at} of the text\\n")).collect();
    let json = format!(r#"{{"path": "a", "content": "{inner}the needle_in_it\nend"}}"#);
    let said = [TASK, (SaidBy::Result, &json, ""), (SaidBy::Assistant, "needle_in_it", "")];
    let text = shown(&said, 1);
    assert!(text.contains("lines #1\\nthe needle_in_it\\nend\""), "{text}");
}

#[test]
fn a_long_line_shows_what_is_used_with_its_surroundings() {
    let line = format!("{} the value is needle_in_it and {}", "abc ".repeat(100), "def ".repeat(100));
    let said = [TASK, (SaidBy::Result, &line, ""), (SaidBy::Assistant, "needle_in_it", "")];
    let text = shown(&said, 1);
    assert!(text.starts_with("⋯ ") && text.contains("the value is needle_in_it and") && text.len() < 250, "{text}");
}

#[test]
fn dashes_arrows_and_quotes_end_words() {
    for line in [
        "    44\u{2192}needle_in_it = 1",
        "    before\u{2014}needle_in_it",
        "    \u{201c}needle_in_it\u{201d}\u{a0}and",
    ] {
        let read = file(line);
        let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Assistant, "needle_in_it", "")];
        assert!(shown(&said, 1).contains(line), "{line}");
    }
}

#[test]
fn a_state_is_told_in_any_of_its_forms() {
    for (line, answer) in [
        ("    sync_test.go:216: all checks passed", "All tests pass in sync_test.go here."),
        ("    job nightly: pass", "The nightly job passed."),
    ] {
        let read = file(line);
        // What the answer names stands elsewhere, too; its state stands here only.
        let said = [
            TASK,
            (SaidBy::Result, "sync_test.go nightly", ""),
            (SaidBy::Result, &read, ""),
            (SaidBy::Assistant, answer, ""),
        ];
        assert!(shown(&said, 2).contains(line), "{line}");
    }
}

#[test]
fn a_copied_line_that_is_long_counts_as_shown() {
    let line = format!("    {}", "a long line of prose to be replaced ".repeat(12));
    let read = file(&line);
    let old = format!(r#"{{"old_string": "{}", "new_string": "y"}}"#, line.trim());
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Assistant, "", &old)];
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, explains: true, ..Rules::default() };
    let mut walker = Walker::default();
    walker.walk(&conversation(&said), &by, rules, &|_| Standing::Free);
    let grounding = walker.grounding();
    assert_eq!((grounding.edits, grounding.edits_whole), (1, 1));
}

#[test]
fn both_lines_of_a_frame_stay_or_go() {
    let trace = "  File \"/src/deep/needle_in_it.py\", line 898, in get\n    raise Missing(attr)";
    let read = file(trace);
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Assistant, "needle_in_it", "")];
    assert!(shown(&said, 1).contains(trace));
}

#[test]
fn an_edit_says_that_it_was_made_each_time() {
    let edit = r#"{"file_path": "/src/auth.go", "old_string": "a", "new_string": "b"}"#;
    let result = format!("The file /src/auth.go has been updated.\n{}", filling(30));
    let calls = (SaidBy::Assistant, "", edit);
    let said = [TASK, calls, (SaidBy::Result, &result, ""), calls, (SaidBy::Result, &result, "")];
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let mut conversation = conversation(&said);
    for call in conversation.messages.iter_mut().flat_map(|message| &mut message.tool_calls) {
        call.name = Some("Edit".into());
    }
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, explains: true, ..Rules::default() };
    let shown = Walker::default().walk(&conversation, &by, rules, &|_| Standing::Free);
    let lines = shown.iter().map(|view| view.text.lines().next().unwrap_or_default());
    assert_eq!(lines.collect::<Vec<_>>(), ["The file /src/auth.go has been updated."; 2]);
}

#[test]
fn a_reminder_of_the_harness_is_not_the_end_of_a_text() {
    let reminder = "<system-reminder>\nWhenever you read a file, consider what it is.\n</system-reminder>\n";
    let read = format!("begin of it\n{}the end of it\n\n{reminder}", filling(30));
    let other: String = (0..30).map(|at| format!("    row {at} of another file\n")).collect();
    let other = format!("begin of another\n{other}the end of another\n\n{reminder}");
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Result, &other, "")];
    assert_eq!(shown(&said, 1), format!("begin of it\n⋯ 30 lines #1\nthe end of it\n\n{reminder}"));
    assert_eq!(shown(&said, 2), "begin of another\n⋯ 30 lines #2\nthe end of another\n⋯ reminder #3");
}

#[test]
fn short_values_stay_where_an_answer_speaks_of_them() {
    let padding = "x".repeat(200);
    let record = format!(
        r#"{{"id": "r-1", "padding": "{padding}", "cabin": "basic_economy", "bags": 2, "meals": "chosen when the gate of the flight is known to all"}}"#
    );
    let said =
        [TASK, (SaidBy::Result, &record, ""), (SaidBy::Assistant, "You have a basic economy ticket with 2 bags.", "")];
    let text = shown(&said, 1);
    assert!(text.contains(r#""cabin": "basic_economy""#) && text.contains(r#""bags": 2"#), "{text}");
    assert!(!text.contains("meals"), "{text}");
}

/// How many lines of a long text are shown under these rules.
fn n_shown(said: &[Said<'_>], index: usize, rules: Rules) -> usize {
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let shown = Walker::default().walk(&conversation(said), &by, rules, &|_| Standing::Free);
    let text = shown.iter().find(|view| view.message == index).map_or(said[index].1, |view| &view.text);
    text.lines().filter(|line| !line.starts_with('⋯')).count()
}

#[test]
fn results_use_what_stands_before_them_where_that_is_asked_for() {
    let read = file("    the key is needle_in_it");
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Result, "found needle_in_it here", "")];
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, ..Rules::default() };
    assert_eq!(n_shown(&said, 1, rules) + 1, n_shown(&said, 1, Rules { results_use: true, ..rules }));
}

#[test]
fn distractors_are_a_share_of_what_nothing_uses_and_always_the_same() {
    let uses: String = (0..100).map(|at| format!("number_{at} ")).collect();
    let read: String = (0..100).map(|at| format!("row with number_{at}\n{}", filling(4))).collect();
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Assistant, &uses, "")];
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, ..Rules::default() };
    let with = |distractors: f64| n_shown(&said, 1, Rules { distractors, ..rules }) - n_shown(&said, 1, rules);
    assert_eq!((with(0.0), with(1.0)), (0, 399));
    let some = with(0.2) / 4;
    assert!((10..30).contains(&some) && with(0.2) % 4 == 0, "{some} of 100");
    assert_eq!(with(0.2), with(0.2));
}

#[test]
fn signs_of_a_text_are_no_marks() {
    let read = file("⋯ 12 lines #1\n⋯⋯ more");
    let text = shown(&[TASK, (SaidBy::Result, &read, "")], 1);
    assert!(text.contains("\n⋯⋯⋯ 12 lines #1\n⋯ 12 lines #1\n"), "{text}");
}

#[test]
fn what_a_person_says_and_what_others_claimed_stays() {
    let long = file("nothing");
    let said = [TASK, (SaidBy::Human, &long, ""), (SaidBy::Result, &long, ""), (SaidBy::Assistant, &long, "")];
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let rules = Rules { recency_window: 0, ..Rules::default() };
    let standing = |index: usize| if index == 2 { Standing::Kept } else { Standing::Free };
    assert_eq!(Walker::default().walk(&conversation(&said), &by, rules, &standing), []);
}

#[test]
fn references_name_the_call() {
    let all: String = (0..30).map(|at| format!("line of the file with number_{at}\n")).collect();
    let uses: String = (0..30).map(|at| format!("number_{at} ")).collect();
    let call = (SaidBy::Assistant, "", r#"{"path": "/src/deep/auth.go"}"#);
    let said =
        [TASK, call, (SaidBy::Result, &all, ""), call, (SaidBy::Result, &all, ""), (SaidBy::Assistant, &uses, "")];
    assert_eq!(shown(&said, 4), "⋯ 30 lines as in Read auth.go #1");
}

#[test]
fn scripts_without_blanks_are_searched_too() {
    let read = file("    这个系统处理数据库连接错误的方法");
    let said = [TASK, (SaidBy::Result, &read, ""), (SaidBy::Assistant, "问题在于数据库连接。", "")];
    let text = shown(&said, 1);
    assert!(text.contains("数据库连接错误"), "{text}");
}

#[test]
fn what_is_shown_keeps_the_line_that_heads_it() {
    let diff = |name: &str, line: &str| {
        format!(
            "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,9 +1,9 @@\n{}+{line}\n{}",
            filling(9),
            filling(9)
        )
    };
    let text = format!(
        "{}{}{}last\n",
        diff("a.rs", "plain"),
        diff("b.rs", "let most_wanted_name = 3;"),
        diff("c.rs", "plain")
    );
    let said = [TASK, (SaidBy::Result, &text, ""), (SaidBy::Assistant, "It is most_wanted_name.", "")];
    let of_diff = shown(&said, 1);
    assert!(of_diff.contains("diff --git a/b.rs b/b.rs\n⋯ 12 lines #2\n+let most_wanted_name = 3;\n"), "{of_diff}");
    let rows: String = (0..30).map(|at| format!("| {at} | plain row of cells |\n")).collect();
    let table = format!("{rows}| 31 | most_wanted_name |\n{rows}");
    let table = format!("some words\n| id | what |\n|----|------|\n{table}");
    let said = [TASK, (SaidBy::Result, &table, ""), (SaidBy::Assistant, "It is most_wanted_name.", "")];
    let of_table = shown(&said, 1);
    assert!(of_table.contains("| id | what |\n⋯ 31 rows #1\n| 31 | most_wanted_name |\n⋯ 29 rows #2\n"), "{of_table}");
}

#[test]
fn marks_of_logs_say_what_went_well() {
    let tests: String = (0..40).map(|at| format!("test plain::case_{at} ... ok\n")).collect();
    let text = format!("running 40 tests\n{tests}\ntest result: ok. 40 passed; 0 failed\n");
    let said = [TASK, (SaidBy::Result, &text, ""), (SaidBy::Assistant, "All is well.", "")];
    assert_eq!(shown(&said, 1), "running 40 tests\n⋯ 40 lines, 40 passed #1\n\ntest result: ok. 40 passed; 0 failed\n");
    let steps: String = (0..30).map(|at| format!("   Compiling part_{at} v0.1.{at}\n")).collect();
    let said = [TASK, (SaidBy::Result, &steps, ""), (SaidBy::Assistant, "All is well.", "")];
    assert!(shown(&said, 1).contains("⋯ 28 lines, 28 × Compiling #1\n"), "{}", shown(&said, 1));
}

#[test]
fn the_words_of_a_person_before_what_he_pastes_stay_whole() {
    let own = "It does not work and I do not know why, since it did before the change of yesterday. ".repeat(5);
    let text = format!("{own}\n{}", filling(60));
    let said = [TASK, (SaidBy::Human, &text, ""), (SaidBy::Assistant, "I see.", "")];
    assert!(shown(&said, 1).starts_with(&own), "{}", shown(&said, 1));
}

#[test]
fn words_around_what_is_quoted_stay_and_what_is_quoted_is_a_programs() {
    let text =
        format!("It fails since today:\n<output>\n$ make all\n{}exit code: 2\n</output>\nWhat may it be?", filling(60));
    let said = [TASK, (SaidBy::Human, &text, ""), (SaidBy::Assistant, "I see.", "")];
    let shown = shown(&said, 1);
    assert!(shown.starts_with("It fails since today:\n<output>\n$ make all\n⋯ "), "{shown}");
    assert!(shown.ends_with("exit code: 2\n</output>\nWhat may it be?"), "{shown}");
}
