//! What stays in view: the task, the words of the user of an assistant, the first of several copies; and what a
//! replacement must save.

use condenser::model::{Action, EngineOptions, HideBy, KeepCopy, Reason, marker};
use serde_json::json;

use crate::support::talk::{Done, classic, compress, compress_record, prose, record_of};

/// A conversation between speakers, followed by as many turns as the recency window holds.
fn talk(messages: &[(&str, &str)], options: &EngineOptions) -> Done {
    let last = [("user", "And then?"), ("assistant", "Then nothing."), ("user", "Fine."), ("assistant", "Good.")];
    compress(&[messages, &last].concat(), options)
}

#[test]
fn the_first_message_of_a_user_stays_however_long_it_is() {
    let task = format!("Please book the flight HAT045 for Anna Meyer. {}", prose(4_000));
    let messages = [("user", task.as_str()), ("assistant", &prose(2_000)), ("user", &prose(2_000))];
    talk(&messages, &EngineOptions::default())
        .because(0, Reason::FirstUser)
        .is(1, Action::Compressed)
        .is(2, Action::Compressed);
    talk(&messages, &EngineOptions { keep_first_user: false, ..EngineOptions::default() }).is(0, Action::Compressed);
    // What a program puts in front is not the task.
    let injected = format!("Caveat: {}", prose(3_000));
    let messages = [("user", injected.as_str()), ("user", task.as_str()), ("assistant", &prose(2_000))];
    let done = talk(&messages, &EngineOptions::default());
    done.because(1, Reason::FirstUser).is(0, Action::Compressed);
    // Blocks in tags are put in front by a program, and the task may stand behind them.
    let context = format!("<context>\n{}\n</context>", prose(3_000));
    let task = format!("<uploaded_files>\n/srv/garden\n</uploaded_files>\n{task}");
    let messages = [("user", context.as_str()), ("user", task.as_str()), ("assistant", &prose(2_000))];
    talk(&messages, &EngineOptions::default()).because(1, Reason::FirstUser).is(0, Action::Compressed);
    // A second pass keeps the same one.
    compress_record(&done.record, &EngineOptions::default()).because(1, Reason::FirstUser);
}

#[test]
fn consents_and_short_words_of_a_user_stay() {
    let consent = format!("Yes, please cancel both #W2378156 and #W9911714. {}", prose(900));
    let short = format!("Use the card that ends in 4242. {}", prose(1_000));
    let long = format!("I have been thinking about it. {}", prose(1_500));
    let answer = format!("Shall I cancel both? {}", prose(1_200));
    let messages = [
        ("user", "Hello, I want to cancel two orders."),
        ("assistant", answer.as_str()),
        ("user", consent.as_str()),
        ("assistant", answer.as_str()),
        ("user", short.as_str()),
        ("assistant", answer.as_str()),
        ("user", long.as_str()),
    ];
    talk(&messages, &EngineOptions::default())
        // What the consent answers.
        .because(1, Reason::UserWords)
        .because(2, Reason::UserWords)
        .because(4, Reason::UserWords)
        .is(6, Action::Compressed)
        .shows("#W2378156 and #W9911714");
}

#[test]
fn meetings_and_chats_of_many_speakers_are_still_merged() {
    let spoken = |name: &str, at: usize| {
        let text = format!("The {at}th point is about the remote control. {}", prose(350));
        json!({"role": "user", "name": name, "content": text})
    };
    let messages: Vec<_> = (0..20).map(|at| spoken(["Ada", "Ben"][at / 5 % 2], at)).collect();
    let done = compress_record(&record_of(&messages), &EngineOptions::default());
    assert!(done.sources.iter().any(|sources| sources.len() > 2), "{:?}", done.sources);
}

#[test]
fn a_replacement_saves_as_many_characters_as_asked_for_whatever_share_that_is() {
    for min_saving in [1, 200, 600] {
        let options = EngineOptions { recency_window: 0, min_saving, ..EngineOptions::default() };
        for n_chars in (150..2_400).step_by(150) {
            let done =
                compress(&[("assistant", &prose(n_chars)), ("user", "Thanks."), ("assistant", "Bye.")], &options);
            let saved = done.metrics.chars_in - done.metrics.chars_out;
            assert!(saved == 0 || saved >= min_saving, "{saved} of {n_chars} characters with {min_saving}");
            assert_eq!(saved > 0, done.decisions[0].0 == Action::Compressed);
        }
    }
}

#[test]
fn a_reference_points_back_to_what_stands_before_it_and_says_how_that_begins() {
    let settings: String = (0..40).map(|at| format!("setting_{at}: value\n")).collect();
    let log = format!("host: web-7 in Hamburg\n{settings}");
    let answer = |at: usize| format!("Answer {at}. {}", prose(60));
    let mut messages = vec![json!({"role": "user", "content": "Look at the log every hour."})];
    for at in 0..4 {
        messages.push(json!({"role": "assistant", "content": answer(at), "tool_calls": [
            {"id": format!("c{at}"), "type": "function", "function": {"name": "log", "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": log}));
    }
    messages.push(json!({"role": "assistant", "content": "All is well."}));
    let done = compress_record(
        &record_of(&messages),
        &EngineOptions { hide_by: HideBy::Look, recency_window: 2, ..EngineOptions::default() },
    );
    done.because(2, Reason::DuplicateTarget).is(4, Action::Deduped).is(6, Action::Deduped);
    done.because(8, Reason::RecencyWindow);
    done.shows("[cce:dup of m2: \"host: web-7 in Hamburg\" — ");
    assert_eq!(marker::referred(&done.texts[4]), Some(("m2", log.chars().count())));
    let latest = EngineOptions {
        hide_by: HideBy::Look,
        recency_window: 2,
        keep_copy: KeepCopy::Last,
        ..EngineOptions::default()
    };
    compress_record(&record_of(&messages), &latest).is(2, Action::Deduped).because(8, Reason::RecencyWindow);
}

#[test]
fn no_copy_is_kept_whole_for_a_reference_that_saves_less() {
    // Two copies of a long text: summarising both is shorter than showing one.
    let long = format!("The report of the committee follows. {}", prose(9_000));
    let messages =
        [("user", "Read both."), ("assistant", long.as_str()), ("user", "Again."), ("assistant", long.as_str())];
    let done = talk(&messages, &EngineOptions::default());
    done.is(1, Action::Compressed).is(3, Action::Compressed);
    // A copy that stays for its place costs nothing: what stands before it is summarised by itself.
    let mut recent = messages.to_vec();
    recent.extend([("user", "Once more."), ("assistant", long.as_str())]);
    let done = compress(&recent, &EngineOptions { recency_window: 1, ..EngineOptions::default() });
    done.is(1, Action::Compressed).is(3, Action::Compressed).because(5, Reason::RecencyWindow);
}

#[test]
fn dedup_never_makes_a_conversation_longer() {
    for seed in 0..60 {
        let texts: Vec<String> = (0..4)
            .map(|at| format!("Text {} of {seed}. {}", at, prose(150 + (seed * 97 + at * 331) % 5_000)))
            .collect();
        let mut messages = Vec::new();
        for at in 0..14 {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            messages.push((role, texts[(seed * 7 + at * at) % texts.len()].as_str()));
        }
        let merged = EngineOptions {
            recency_window: 0,
            conversation_flow: true,
            semantic_clustering: true,
            ..EngineOptions::default()
        };
        for options in [EngineOptions::default(), classic(), merged] {
            let options = EngineOptions { fuzzy_dedup: seed % 2 == 0, ..options };
            let with = compress(&messages, &options).metrics.chars_out;
            let without = EngineOptions { dedup: false, fuzzy_dedup: false, ..options };
            let without = compress(&messages, &without).metrics.chars_out;
            assert!(with <= without, "seed {seed}: {with} characters, {without} without references");
        }
    }
}

#[test]
fn a_forced_budget_leaves_no_empty_message_and_gives_room_back() {
    for n_turns in [12, 40, 200] {
        let turns: Vec<(&str, String)> = (0..n_turns)
            .map(|at| (if at % 2 == 0 { "user" } else { "assistant" }, format!("Turn {at}: {}", prose(70 + at % 50))))
            .collect();
        let messages: Vec<(&str, &str)> = turns.iter().map(|(role, text)| (*role, text.as_str())).collect();
        for tokens in [120, 300, 900] {
            let options = EngineOptions {
                token_budget: Some(tokens),
                force_converge: true,
                recency_window: 1,
                ..EngineOptions::default()
            };
            let done = compress(&messages, &options);
            assert!(
                done.texts.iter().all(|text| !text.is_empty()),
                "{n_turns} turns in {tokens} tokens: {:?}",
                done.texts
            );
            let used = done.metrics.budget.expect("there is one").token_count;
            let is_open = done.decisions.iter().any(|(action, _)| *action == Action::Truncated);
            assert!(used * 10 >= tokens * 8 || !is_open, "{used} of {tokens} tokens are used for {n_turns} turns");
        }
    }
}

#[test]
fn messages_that_are_left_out_become_one_where_the_budget_asks_for_it() {
    let messages: Vec<_> = (0..400)
        .map(|at| (["Ada", "Ben", "Cem"][at % 3], format!("Line {at}.")))
        .map(|(name, text)| json!({"role": "user", "name": name, "content": text}))
        .collect();
    let options = EngineOptions {
        hide_by: HideBy::Look,
        token_budget: Some(200),
        force_converge: true,
        ..EngineOptions::default()
    };
    let done = compress_record(&record_of(&messages), &options);
    let budget = done.metrics.budget.expect("there is one");
    assert!(budget.fits, "{budget:?}");
    assert!(done.texts.iter().any(|text| text.ends_with(" messages omitted]")), "{:?}", done.texts);
}

#[test]
fn code_that_is_cut_is_closed() {
    let code = (0..200).map(|at| format!("let line_{at} = {at};\n")).collect::<String>();
    let text = format!("Here is the game:\n```rust\n{code}```\nHave fun.");
    let messages = [("user", "Write a game."), ("assistant", text.as_str()), ("user", "Thanks.")];
    let options =
        EngineOptions { token_budget: Some(300), force_converge: true, recency_window: 0, ..EngineOptions::default() };
    let done = compress(&messages, &options);
    let shown = &done.texts[1];
    assert!(shown.contains("line_20") && shown.matches("```").count() == 2, "{shown}");
    assert!(done.metrics.budget.is_some_and(|budget| budget.fits && budget.token_count > 200), "{shown}");
}

#[test]
fn classic_keeps_the_order_the_limits_and_the_formats_of_the_documented_engine() {
    let text = format!("I would like to know more about it. {}", prose(900));
    let messages =
        [("user", text.as_str()), ("assistant", &prose(700)), ("user", text.as_str()), ("assistant", "Yes.")];
    let done = compress(&messages, &EngineOptions { recency_window: 2, ..classic() });
    done.is(0, Action::Deduped).shows(&format!("[cce:dup of m2 — {} chars]", text.chars().count()));
}
