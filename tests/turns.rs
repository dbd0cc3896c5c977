//! Meetings and chats of many speakers: neighbouring turns become one message that names who says what.

use condenser::model::{Action, CompressionDepth, EngineOptions, HideBy, LookAhead, Reason};
use serde_json::{Value, json};

use crate::support::talk::{Done, classic, compress_record, record_of};

const SPEAKERS: [&str; 3] = ["Ada", "Bo Berg", "Cem"];

fn options() -> EngineOptions {
    EngineOptions { recency_window: 0, compression_threshold: 0, ..EngineOptions::default() }
}

fn turn(name: &str, text: &str) -> Value {
    json!({"role": "user", "name": name, "content": text})
}

/// Talk about a shed, most of which says little.
pub(crate) fn small_talk(n: usize) -> Vec<Value> {
    let said = |at: usize| match at % 5 {
        0 => format!(
            "Well, I walked past the shed on the way, and the door of it was open all the {} long.",
            ["day", "night", "week"][at % 3]
        ),
        1 => "Mm-hmm.".to_owned(),
        2 => "It has been like that for as long as anybody can think back, so nobody looks at it any more.".to_owned(),
        3 => "Yeah, right.".to_owned(),
        _ => "The hinges are old and the wood around them is soft, as it is with the rest of the garden.".to_owned(),
    };
    (0..n).map(|at| turn(SPEAKERS[at % 3], &said(at))).collect()
}

/// The only text of a talk that becomes one message.
#[track_caller]
fn told(done: &Done) -> &str {
    assert_eq!(done.texts.len(), 1, "{:?}", done.texts);
    &done.texts[0]
}

#[test]
fn whoever_has_a_number_for_a_name_is_somebody() {
    let mut turns = small_talk(20);
    for (at, turn) in turns.iter_mut().enumerate() {
        turn["name"] = [json!(1), json!({"id": 2}), json!("Cem")][at % 3].clone();
    }
    turns[10]["content"] = json!("I refuse to sign the contract.");
    turns[12]["content"] = json!("We close gate KMS-7781 before May 3, 2026, for $900.");
    let done = compress_record(&record_of(&turns), &options());
    let text = told(&done);
    assert!(text.contains("1: ") && text.contains("We close gate KMS-7781") && !text.contains("merged"), "{text}");
    let record: Value = serde_json::from_str(&done.record).expect("JSON");
    assert_eq!(record["messages"][0].get("name"), None);
}

#[test]
fn a_question_whose_answer_is_left_out_says_so() {
    let mut turns = small_talk(30);
    turns[12] = turn("Ada", "Is the valve KMS-7781 shut?");
    let long = "What I can say of that is what everybody here can say as well, which is that it is as it was the last time \
        that anybody went to look at it, and that is a while ago by now.";
    turns[13] = turn("Bo Berg", long);
    turns[14] = turn("Cem", "No, we pay $900 for it before May 3, 2026.");
    let done = compress_record(&record_of(&turns), &options());
    let text = told(&done);
    assert!(text.contains("KMS-7781 shut? ...\nCem: ") && !text.contains("everybody here"), "{text}");
}

#[test]
fn a_word_of_assent_cuts_no_talk() {
    let mut turns = small_talk(30);
    for (at, word) in [(9, "OK ."), (14, "OK"), (21, "Ok.")] {
        turns[at] = turn(SPEAKERS[at % 3], word);
    }
    turns[12] = turn("Ada", "We close gate KMS-7781 before May 3, 2026, for $900.");
    told(&compress_record(&record_of(&turns), &options()));
}

#[test]
fn agents_that_talk_are_no_assistants_of_a_user_in_a_second_pass() {
    let turns: Vec<Value> = small_talk(40)
        .into_iter()
        .map(|mut turn| {
            turn["role"] = json!("assistant");
            turn
        })
        .collect();
    let first = compress_record(&record_of(&turns), &options());
    let second = compress_record(&first.record, &options());
    assert_eq!(second.record, first.record);
}

#[test]
fn turns_of_several_become_one_message_that_names_them() {
    let mut turns = small_talk(20);
    turns[7] = turn("Bo Berg", "We decided to buy the lock KMS-7781 for $45 by Friday.");
    turns[8] = turn("Cem", "It must not be left open before the 14 bicycles are out of it.");
    let done = compress_record(&record_of(&turns), &options());
    done.because(0, Reason::MergedCompressed).because(19, Reason::MergedCompressed);
    let text = told(&done);
    assert!(text.starts_with("[summary: ") && text.ends_with(" (20 messages, talk)]"), "{text}");
    for line in
        ["Bo Berg: We decided to buy the lock KMS-7781 for $45 by Friday.", "Cem: It must not be left open before"]
    {
        assert!(text.contains(&format!("\n{line}")), "{text}");
    }
    done.hides("Mm-hmm").hides("Yeah, right.");
    // The first speaker did not say it all.
    let record: Value = serde_json::from_str(&done.record).expect("JSON");
    let message = record["messages"][0].as_object().expect("a message");
    assert!(message["role"] == "user" && !message.contains_key("name"), "{message:?}");
}

#[test]
fn what_one_says_in_a_row_has_his_name_once() {
    let mut turns = small_talk(12);
    turns[5] = turn("Ada", "The council wants the plan KMS-1204 on 3 May.");
    turns[6] = turn("Ada", "The plan KMS-1204 costs $900 in the year 2031.");
    turns[7] = turn("Bo Berg", "Hm.");
    turns[8] = turn("Ada", "The 4 trees of row 17 must stay.");
    let done = compress_record(&record_of(&turns), &options());
    let ada = "Ada: The council wants the plan KMS-1204 on 3 May. The plan KMS-1204 costs $900 in the year 2031. ... \
               The 4 trees of row 17 must stay.";
    assert!(told(&done).contains(ada), "{:?}", done.texts);
}

#[test]
fn a_question_comes_with_its_answer_and_a_clause_with_its_end() {
    let mut turns = small_talk(24);
    turns[6] = turn("Ada", "Is the lock KMS-7781 in the house?");
    turns[7] = turn("Bo Berg", "No.");
    turns[12] = turn("Cem", "We decided to paint the 14 beams of the shed in green by Friday,");
    turns[13] = turn("Ada", "Mm-hmm.");
    turns[14] = turn("Cem", "when the weather is good.");
    turns[20] = turn("Ada", "No way.");
    let done = compress_record(&record_of(&turns), &options());
    done.shows("Ada: Is the lock KMS-7781 in the house?\nBo Berg: No.");
    done.shows("Cem: We decided to paint the 14 beams of the shed in green by Friday, ... when the weather is good.");
    done.hides("No way");
}

#[test]
fn speeches_and_structure_stand_between_the_turns() {
    let mut turns = small_talk(30);
    turns[10] =
        turn("Ada", &"I have come to speak about the 12 gardens of the town, which are in a bad state. ".repeat(12));
    turns[20] = turn("Cem", "```sh\nmake shed KMS=7781\n```");
    let done = compress_record(&record_of(&turns), &options());
    let sources: Vec<usize> = done.sources.iter().map(Vec::len).collect();
    assert_eq!(sources, [10, 1, 9, 1, 9]);
    done.shows("```sh\nmake shed KMS=7781\n```");
    let record: Value = serde_json::from_str(&done.record).expect("JSON");
    assert_eq!(record["messages"][1]["name"], "Ada");
}

#[test]
fn turns_that_are_dense_with_facts_stay() {
    let dense: Vec<Value> = (0..20)
        .map(|at| turn(SPEAKERS[at % 3], &format!("Gate {at} is KMS-{} and costs ${}.", 4000 + at, 90 + at)))
        .collect();
    let done = compress_record(&record_of(&dense), &options());
    assert_eq!(done.metrics.counts.preserved, 20);
    let moderate = EngineOptions { compression_depth: CompressionDepth::Moderate, ..options() };
    let done = compress_record(&record_of(&dense), &moderate);
    assert!(told(&done).contains("(20 messages, talk)"));
}

#[test]
fn talk_of_which_nothing_says_anything_is_counted() {
    let turns: Vec<Value> =
        (0..80).map(|at| turn(SPEAKERS[at % 3], ["Mm-hmm.", "Yeah.", "Sure.", "Right."][at % 4])).collect();
    let done = compress_record(&record_of(&turns), &options());
    assert_eq!(told(&done), "[80 messages of general discussion omitted]");
}

#[test]
fn users_of_an_assistant_tools_and_one_speaker_are_no_talk() {
    let is_talk = |turns: &[Value], options: &EngineOptions| {
        compress_record(&record_of(turns), options).texts.iter().any(|text| text.ends_with(", talk)]"))
    };
    let turns = small_talk(20);
    assert!(is_talk(&turns, &options()));
    let with = |other: Value| [turns.as_slice(), &[other]].concat();
    assert!(!is_talk(&with(json!({"role": "assistant", "content": "How can I help you?"})), &options()));
    let call = json!({"role": "assistant", "name": "Dee", "content": null, "tool_calls":
        [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "It is open."});
    assert!(!is_talk(&[turns.as_slice(), &[call, result]].concat(), &options()));
    let of_one: Vec<Value> =
        turns.iter().map(|turn| json!({"role": "user", "name": "Ada", "content": turn["content"]})).collect();
    assert!(!is_talk(&of_one, &options()));
    // Where roles take turns nobody has a neighbour of his own role.
    let pair = |(at, turn): (usize, &Value)| {
        let (role, name) = [("user", "Ada"), ("assistant", "Bo")][at % 2];
        json!({"role": role, "name": name, "content": turn["content"]})
    };
    assert!(!is_talk(&turns.iter().enumerate().map(pair).collect::<Vec<_>>(), &options()));
}

#[test]
fn looks_strictness_and_the_documented_engine_know_no_talk() {
    let turns = small_talk(40);
    let look = EngineOptions { hide_by: HideBy::Look, ..options() };
    let strict = EngineOptions { look_ahead: LookAhead::Strict, ..options() };
    for options in [look, strict, EngineOptions { recency_window: 0, ..classic() }] {
        let done = compress_record(&record_of(&turns), &options);
        assert!(done.sources.iter().all(|sources| sources.len() == 1), "{:?}", done.texts);
    }
}

#[test]
fn a_second_pass_changes_nothing_and_a_longer_meeting_only_its_end() {
    for n in [3, 8, 20, 47, 160] {
        for is_dense in [false, true] {
            let mut turns = small_talk(n);
            let dense = turns.iter_mut().enumerate().filter(|(at, _)| is_dense && at % 7 < 4);
            dense.for_each(|(at, slot)| {
                *slot = turn(
                    SPEAKERS[at % 3],
                    &format!(
                        "Gate {at} of row {} is KMS-{} and costs ${} since 20{at:02}.",
                        at % 9,
                        4000 + at,
                        90 + at
                    ),
                );
            });
            let options = EngineOptions { resummarize_after: 2, recency_window: 4, ..options() };
            let first = compress_record(&record_of(&turns), &options);
            let second = compress_record(&first.record, &options);
            assert_eq!(second.record, first.record, "{n} turns");
            let mut record: Value = serde_json::from_str(&first.record).expect("JSON");
            let messages = record["messages"].as_array_mut().expect("messages");
            messages.extend(small_talk(60));
            let longer = compress_record(&record.to_string(), &options);
            assert!(longer.sources.len() < first.texts.len() + 60);
            let told = first.texts.iter().filter(|text| text.ends_with(", talk)]"));
            assert!(told.clone().all(|text| longer.texts.contains(text)), "{:?}", longer.texts);
        }
    }
}

#[test]
fn budgets_cut_what_is_told_behind_the_names() {
    let turns = small_talk(120);
    for token_budget in [900, 400, 150, 60] {
        for force_converge in [false, true] {
            let options = EngineOptions { token_budget: Some(token_budget), force_converge, ..options() };
            let done = compress_record(&record_of(&turns), &options);
            assert!(done.decisions.iter().all(|(action, _)| *action != Action::Preserved), "{:?}", done.texts);
        }
    }
}

#[test]
fn what_is_quoted_over_two_sentences_is_seen() {
    let mut turns = small_talk(20);
    turns[9] = turn("Ada", "The sign says \"Leave the 14 gates open. Shut the lock KMS-7781.\"");
    let done = compress_record(&record_of(&turns), &options());
    done.shows("Ada: The sign says \"Leave the 14 gates open. Shut the lock KMS-7781.\"");
    assert_eq!(done.metrics.fact_retention, Some(1.0));
}
