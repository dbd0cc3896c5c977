//! What readers of compacted sessions stumbled over.

use super::{Said, TASK, conversation, file, filling};
use crate::walk::{Rules, SaidBy, Standing, Walker};

/// What is shown of the message at `index`, where calls run commands.
pub(super) fn shown(said: &[Said<'_>], index: usize) -> String {
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 0, ..Rules::default() };
    let mut all = conversation(said);
    for call in all.messages.iter_mut().flat_map(|message| &mut message.tool_calls) {
        call.name = Some("Bash".into());
    }
    let views = Walker::default().walk(&all, &by, rules, &|_| Standing::Free);
    views.iter().find(|view| view.message == index).map_or_else(|| said[index].1.to_owned(), |view| view.text.clone())
}

pub(super) fn reads(text: &str) -> [Said<'_>; 4] {
    [
        TASK,
        (SaidBy::Assistant, "", r#"{"command": "make check"}"#),
        (SaidBy::Result, text, ""),
        (SaidBy::Assistant, "Done.", ""),
    ]
}

#[test]
fn the_number_of_a_viewer_counts_nothing() {
    let numbered: String = (1..40).map(|at| format!("   {at}\tresult = of_{}(x)\n", "a".repeat(at % 9))).collect();
    let shown = shown(&reads(&format!("begin of it\n{numbered}end of it\n")), 2);
    assert!(!shown.contains("result"), "{shown}");
}

#[test]
fn where_a_search_found_something_is_what_it_says() {
    let found =
        |by: usize| (0..8).map(|at| format!("{}:    def get_formset_of_{at}(self)\n", 100 + by + at * 9)).collect();
    let (before, after): (String, String) = (found(0), found(5));
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"command": "grep -n formset a.py"}"#),
        (SaidBy::Result, &before, ""),
        (SaidBy::Assistant, "", r#"{"command": "grep -n formset a.py"}"#),
        (SaidBy::Result, &after, ""),
        (SaidBy::Assistant, "See get_formset_of_3.", ""),
    ];
    assert!(!shown(&said, 4).contains("unchanged"), "{}", shown(&said, 4));
}

#[test]
fn a_reference_is_for_what_most_of_the_lines_are() {
    let known = file("a line of it");
    let new: String = (0..60).map(|at| format!("    {} other words\n", "y".repeat(2 + at % 11))).collect();
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"path": "a.rs"}"#),
        (SaidBy::Result, &known, ""),
        (SaidBy::Assistant, "", r#"{"path": "b.rs"}"#),
        (SaidBy::Result, &format!("begin of b\n{new}{}end of b\n", filling(12)), ""),
        (SaidBy::Assistant, "Done.", ""),
    ];
    let shown = shown(&said, 4);
    assert!(!shown.contains("since") && !shown.contains("as in"), "{shown}");
}

#[test]
fn a_reference_counts_all_lines_that_were_there_before() {
    let line = |at: usize| format!("    row {} of number_{at} and more\n", "x".repeat(at % 5));
    let known: String = (0..60).map(line).collect();
    let uses: String = (0..60).step_by(4).map(|at| format!("number_{at} ")).collect();
    let new: String = (0..9).map(|at| format!("    {} other words\n", "y".repeat(2 + at))).collect();
    let again = format!("{}{new}{}", (0..30).map(line).collect::<String>(), (30..60).map(line).collect::<String>());
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"command": "make show"}"#),
        (SaidBy::Result, &known, ""),
        (SaidBy::Assistant, "", r#"{"command": "make all"}"#),
        (SaidBy::Result, &again, ""),
        (SaidBy::Assistant, &uses, ""),
    ];
    let shown = shown(&said, 4);
    assert!(shown.contains("⋯ 38 lines, 30 unchanged since"), "{shown}");
}

#[test]
fn an_edit_says_in_one_sentence_that_it_was_made() {
    let path = "/workspace/project/src/components/forms/input.py";
    let result = format!(
        "The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:\n{}",
        filling(20)
    );
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"command": "make check"}"#),
        (SaidBy::Result, &result, ""),
        (SaidBy::Assistant, "Done.", ""),
    ];
    let shown = shown(&said, 2);
    assert!(shown.starts_with(&format!("The file {path} has been edited. ⋯ ")), "{shown}");
    assert!(!shown.contains("snippet"), "{shown}");
}

#[test]
fn what_is_left_out_by_the_source_itself_is_told() {
    let text = format!("begin\n{}[... Observation truncated due to length ...]\n{}end\n", filling(20), filling(20));
    assert!(shown(&reads(&text), 2).contains("truncated due to length"));
}

#[test]
fn a_time_is_the_same_on_a_clock_of_twelve_hours() {
    let flights: String = (5..20)
        .map(|at| {
            format!(r#"{{"number": "HAT1{at:02}", "departure_time": "{at:02}:00:00", "seats": {{"free": {at}}}}},"#)
        })
        .collect();
    let result = format!("[{}]", flights.trim_end_matches(','));
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"from": "JFK"}"#),
        (SaidBy::Result, &result, ""),
        (SaidBy::Assistant, "HAT119 it is:\n- Departure: 07:00 PM", ""),
    ];
    let shown = shown(&said, 2);
    assert!(shown.contains("19:00:00") && !shown.contains("07:00:00"), "{shown}");
}

#[test]
fn digits_are_the_same_with_the_sign_of_hexadecimal() {
    let text = format!("server says\n{}n = 8951076FA3C4\n{}", filling(12), filling(12));
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"command": "nc host"}"#),
        (SaidBy::Result, &text, ""),
        (SaidBy::Assistant, "", r#"{"command": "decrypt -n 0x8951076FA3C4"}"#),
    ];
    assert!(shown(&said, 2).contains("n = 8951076FA3C4"));
}

#[test]
fn both_ends_of_a_range_are_lines_that_are_looked_at() {
    let text: String = (40..80).map(|at| format!("{}:fn of_{}()\n", at * 20, "a".repeat(at % 13))).collect();
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"command": "grep -n fn a.rs"}"#),
        (SaidBy::Result, &text, ""),
        (SaidBy::Assistant, "I look at 860-1240.", ""),
    ];
    let shown = shown(&said, 2);
    assert!(shown.contains("\n860:") && shown.contains("\n1240:"), "{shown}");
}

#[test]
fn a_block_has_both_of_its_fences_or_none() {
    let words = "These are some words of a page about it.\n".repeat(3);
    let text = format!("# Page\n{words}```python\n{}```\nsee parse_of_it here\n{words}", filling(9));
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"path": "a.md"}"#),
        (SaidBy::Result, &text, ""),
        (SaidBy::Assistant, "", r#"{"pattern": "parse_of_it"}"#),
    ];
    let shown = shown(&said, 2);
    assert_eq!(shown.matches("```").count() % 2, 0, "{shown}");
}

#[test]
fn a_long_message_of_sentences_is_a_persons_own() {
    let wish = "- I would like to keep the same dates and the same airport for all of us.\n".repeat(30);
    let said =
        [TASK, (SaidBy::Assistant, "Which dates?", ""), (SaidBy::Human, &wish, ""), (SaidBy::Assistant, "Done.", "")];
    assert_eq!(shown(&said, 2), wish);
    let dump = format!("# Log\n{wish}");
    let said =
        [TASK, (SaidBy::Assistant, "Which dates?", ""), (SaidBy::Human, &dump, ""), (SaidBy::Assistant, "Done.", "")];
    assert_ne!(shown(&said, 2), dump);
}

#[test]
fn what_changed_when_something_ran_again_is_worth_a_filler() {
    let run = |verdict: &str| format!("running it\n{}{verdict}\n{}finished\n", filling(20), filling(10));
    let (first, second) = (run("row 3 is False here"), run("row 3 is True now"));
    let long = filling(400);
    let said = [
        (SaidBy::Human, long.as_str(), ""),
        (SaidBy::Assistant, "", r#"{"command": "python a.py"}"#),
        (SaidBy::Result, first.as_str(), ""),
        (SaidBy::Assistant, "", r#"{"command": "python a.py"}"#),
        (SaidBy::Result, second.as_str(), ""),
        (SaidBy::Assistant, "It works.", ""),
    ];
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let rules = Rules { recency_window: 0, min_saving: 1, fillers: 8, ..Rules::default() };
    let views = Walker::default().walk(&conversation(&said), &by, rules, &|index| {
        if index == 0 { Standing::Kept } else { Standing::Free }
    });
    let view = views.iter().find(|view| view.message == 4).expect("something of it is hidden");
    assert!(view.text.contains("row 3 is True now"), "{}", view.text);
}

#[test]
fn what_is_still_to_be_done_outlasts_a_summary_of_what_went_before() {
    let done = "- something that was done before, and of which nobody speaks any more\n".repeat(40);
    let text = format!(
        "The session goes on.\n# 1. Done\n{done}# 2. Pending Tasks\n- write the page about it\n# 3. Files\n{done}"
    );
    let said = [TASK, (SaidBy::Assistant, "Yes.", ""), (SaidBy::Human, &text, ""), (SaidBy::Assistant, "I go on.", "")];
    let shown = shown(&said, 2);
    assert!(shown.contains("# 2. Pending Tasks\n- write the page about it\n"), "{shown}");
    assert!(shown.len() < text.len() / 2, "{shown}");
}

#[test]
fn what_a_person_answers_is_no_output() {
    let answer =
        format!("User has answered your questions: {}", "\"Which one?\"=\"The second\" and more of it, ".repeat(20));
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"question": "Which one?"}"#),
        (SaidBy::Result, &answer, ""),
        (SaidBy::Assistant, "Well.", ""),
    ];
    let mut all = conversation(&said);
    all.messages[1].tool_calls[0].name = Some("AskUserQuestion".into());
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let rules = Rules { recency_window: 0, min_saving: 1, ..Rules::default() };
    assert!(Walker::default().walk(&all, &by, rules, &|_| Standing::Free).is_empty());
}

#[test]
fn what_a_person_says_between_what_he_pastes_stays() {
    let dump: String = (0..60).map(|at| format!("2025-11-10 03:00:{at:02} INFO worker {at} took {at} ms\n")).collect();
    let code = "    value = ctx.lookup('0', user)\n    return render(value, 0)\n".repeat(40);
    let trace = "java.lang.NullPointerException: x\n\tat com.foo.Service.run(Service.java:12)\n".repeat(30);
    for wish in [
        "Please only change the retry code, do NOT touch the scheduler, and use branch hotfix/retry.",
        "don't upgrade spring",
        "port must be 8123",
        "scale svc3 to 5, leave svc9 alone",
        "Bitte nur den Zeitplan ändern, sonst nichts.",
    ] {
        for pasted in [&dump, &code, &trace] {
            let said = [
                TASK,
                (SaidBy::Assistant, "Which part?", ""),
                (SaidBy::Human, &format!("{pasted}{wish}\n{pasted}"), ""),
                (SaidBy::Assistant, "Done.", ""),
            ];
            let shown = shown(&said, 2);
            assert!(shown.contains(wish) && shown.contains('⋯'), "{shown}");
        }
    }
}

#[test]
fn a_reminder_is_shown_the_first_time() {
    let reminder = "<system-reminder>\nNever write to the table of the orders, use port 8123\n</system-reminder>";
    let (first, second) = (filling(20), (0..40).map(|at| format!("    row {at} of it\n")).collect::<String>());
    let (first, second) = (format!("begin\n{first}\n{reminder}"), format!("begin\n{second}\n{reminder}"));
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"command": "make a"}"#),
        (SaidBy::Result, &first, ""),
        (SaidBy::Assistant, "", r#"{"command": "make b"}"#),
        (SaidBy::Result, &second, ""),
        (SaidBy::Assistant, "Done.", ""),
    ];
    assert!(shown(&said, 2).contains("use port 8123"), "{}", shown(&said, 2));
    assert!(!shown(&said, 4).contains("8123"), "{}", shown(&said, 4));
}

#[test]
fn a_command_as_a_list_of_words_is_named_by_what_it_does() {
    let text = file("a line of it");
    let ask = r#"{"command": ["bash", "-lc", "cat src/a.rs"]}"#;
    let said = [
        TASK,
        (SaidBy::Assistant, "", ask),
        (SaidBy::Result, &text, ""),
        (SaidBy::Assistant, "", r#"{"command": ["kubectl", "get", "pods"]}"#),
        (SaidBy::Result, &text, ""),
        (SaidBy::Assistant, "", ask),
        (SaidBy::Result, &text, ""),
        (SaidBy::Assistant, "Done.", ""),
    ];
    assert!(shown(&said, 4).contains("since Bash cat src/a.rs"), "{}", shown(&said, 4));
    assert!(shown(&said, 6).contains("since Bash kubectl get pods"), "{}", shown(&said, 6));
}

#[test]
fn a_value_that_many_records_have_stays_with_few_of_them() {
    let record =
        |at: usize| format!(r#"{{"id": "invoice_{at}", "auto": true, "note": "{}"}}"#, "a long note ".repeat(16));
    let result = format!("[{}]", (0..30).map(record).collect::<Vec<_>>().join(","));
    let said = [
        TASK,
        (SaidBy::Assistant, "", r#"{"of": "all"}"#),
        (SaidBy::Result, &result, ""),
        (SaidBy::Assistant, "For invoice_17 auto is true.", ""),
    ];
    let shown = shown(&said, 2);
    let (_, wanted) = shown.split_once("invoice_17").expect("it is used");
    assert!(wanted.contains("\"auto\": true") && shown.matches("auto").count() <= 9, "{shown}");
}

#[test]
fn where_marks_would_be_long_nothing_is_hidden() {
    let text = format!("begin\n{}{}\n{}end\n", filling(40), "⋯".repeat(50), filling(40));
    assert_eq!(shown(&reads(&text), 2), text);
}
