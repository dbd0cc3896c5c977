//! Whole conversations compacted: when, what stays, what a model may say and what stands there without one, night after
//! night, with the restore proven each time.

use condenser::engine::Engine;
use condenser::model::{
    Action, Answer, Answers, Ask, ChunkPolicy, CompactionAsk, CompactionTrigger, EngineOptions, NoAnswer,
    ProvenancePlace, Reason, Strategy, Summarizer, marker,
};
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as _;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::support::corpora;
use crate::support::options::Dice;
use crate::support::talk::{Done, compress_consulted, compress_record, prose, record_of};

/// From `messages` messages on, with `recent` of them left; a model is asked.
fn asking(messages: usize, recent: usize) -> EngineOptions {
    EngineOptions {
        strategy: Strategy::InsertThenCompress,
        summarizer: Summarizer::Normal,
        compaction_messages: messages,
        compaction_recent: recent,
        min_saving: 1,
        ..EngineOptions::default()
    }
}

/// The same without a model.
fn offline(messages: usize, recent: usize) -> EngineOptions {
    EngineOptions { summarizer: Summarizer::Deterministic, ..asking(messages, recent) }
}

/// Compresses with a model that answers by `reply`; the questions in their order.
#[track_caller]
fn with_model(
    record: &str,
    options: &EngineOptions,
    mut reply: impl FnMut(&CompactionAsk) -> Answer,
) -> (Done, Vec<CompactionAsk>) {
    let engine = Engine::new(options.clone()).expect("the options are right");
    let (mut answers, mut asked) = (Answers::default(), Vec::new());
    for _ in 0..5 {
        let mut open = Vec::new();
        let done = compress_consulted(record, &engine, &answers, &mut open);
        if open.is_empty() {
            return (done, asked);
        }
        for ask in open {
            // Where no summary can stand, the usual engine asks.
            let Ask::Compaction(question) = &ask else {
                answers.insert(ask.id(), Answer::None(NoAnswer::Failed));
                continue;
            };
            answers.insert(ask.id(), reply(question));
            asked.push(question.clone());
        }
    }
    panic!("the engine never stops asking");
}

fn says(text: &str) -> impl FnMut(&CompactionAsk) -> Answer {
    move |_| Answer::Text(text.to_owned())
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// The last reply of the assistant calls a tool of the Messages API, and its result comes from a user.
fn call_block(id: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "read", "input": {"path": "a.rs"}}]})
}

fn result_block(id: &str) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": prose(200)}]})
}

/// A system message and `n` pairs of user and assistant.
fn talk(n: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "system", "content": "You are a helpful gardener."})];
    for i in 0..n {
        messages.push(user(&format!("Please water bed {i} of the garden. {}", prose(300))));
        messages.push(assistant(&format!("I've watered bed {i}. {}", prose(300))));
    }
    messages
}

/// Indices of the messages that stay behind the summary.
fn tail(done: &Done) -> Vec<usize> {
    let reasons = done.decisions.iter().enumerate();
    reasons.filter(|(_, decision)| decision.1 == Reason::CompactionRecent).map(|(index, _)| index).collect()
}

fn n_archived(done: &Done) -> usize {
    done.metrics.compaction.as_ref().map_or(0, |outcome| outcome.n_archived)
}

const GOOD: &str = "<topics>watering the garden, beds</topics>\n<summary>\nThe user asks for the beds of the garden to be \
    watered, one after the other. Every bed so far was watered.\n</summary>";
const BODY: &str = "The user asks for the beds of the garden to be watered, one after the other. Every bed so far was \
    watered.";

#[test]
fn below_the_thresholds_a_conversation_stays_as_it_is() {
    let record = record_of(&talk(10));
    for options in [asking(22, 4), EngineOptions { compaction_forced: true, ..asking(22, 4) }] {
        let (done, asked) = with_model(&record, &options, says(GOOD));
        assert_eq!((done.record, asked.len()), (record.clone(), 0));
        assert!(done.decisions.iter().all(|decision| *decision == (Action::Preserved, Reason::BelowThreshold)));
        assert_eq!(done.metrics.compaction, None);
    }
}

#[test]
fn each_trigger_is_told() {
    let record = record_of(&talk(10));
    let tokens = compress_record(&record, &offline(999, 4)).metrics.tokens_in;
    let by_tokens = |compaction_tokens| EngineOptions { compaction_tokens, ..offline(999, 4) };
    let trigger =
        |options: &EngineOptions| compress_record(&record, options).metrics.compaction.map(|outcome| outcome.trigger);
    assert_eq!(trigger(&offline(21, 4)), Some(CompactionTrigger::Count));
    assert_eq!(trigger(&by_tokens(tokens)), Some(CompactionTrigger::Tokens));
    assert_eq!(trigger(&by_tokens(tokens + 1)), None);
    let forced = |recent| EngineOptions { compaction_forced: true, compaction_recent: recent, ..by_tokens(tokens) };
    assert_eq!(trigger(&forced(19)), Some(CompactionTrigger::Forced));
    assert_eq!(
        trigger(&EngineOptions { compaction_tokens: usize::MAX, ..forced(4) }),
        None,
        "20,000 tokens are wanted"
    );
    let long: Vec<Value> = talk(120);
    let options = EngineOptions { compaction_forced: true, ..asking(999, 20) };
    let done = compress_record(&record_of(&long), &options);
    assert_eq!(done.metrics.compaction.map(|outcome| outcome.trigger), Some(CompactionTrigger::Forced));
    assert_eq!(trigger(&EngineOptions { compression_threshold: tokens + 1, ..offline(2, 4) }), None);
}

#[test]
fn a_conversation_that_is_all_recent_messages_is_no_shorter_for_it() {
    let mut messages = talk(3);
    messages.push(user(&prose(90_000)));
    let options = EngineOptions { compaction_tokens: 9_000, ..asking(999, 1) };
    let (done, asked) = with_model(&record_of(&messages), &options, says(GOOD));
    assert_eq!((asked.len(), &done.metrics.compaction), (0, &None), "less than a tenth of it could go");
    done.because(0, Reason::BelowThreshold);
}

#[test]
fn a_summary_of_a_user_stands_between_the_head_and_the_tail() {
    let messages = talk(10);
    let (done, asked) = with_model(&record_of(&messages), &asking(5, 3), says(GOOD));
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].turns.len(), 18, "all before the tail, the system included");
    assert_eq!(asked[0].turns[0].role, "system");
    let value: Value = serde_json::from_str(&done.record).expect("a record");
    let output = value["messages"].as_array().expect("messages");
    assert_eq!(output[0], messages[0]);
    assert_eq!(output[1]["role"], "user");
    let expected = format!(
        "[Compressed conversation summary, level 1, chunk 1: earlier turns are archived]\n\n{BODY}\n\nArchived chunks, \
         newest first:\nChunk 1: watering the garden, beds\n\
         Archived turns are read with `condenser show RUN ID --archive N`.\n[End of the compressed conversation summary]"
    );
    assert_eq!(output[1]["content"], expected.as_str());
    assert_eq!(output[2..], messages[18..], "three messages, and the one before them, since no user follows a user");
    done.because(0, Reason::PreservedRole).because(1, Reason::Compacted).is(1, Action::Compressed);
    done.because(17, Reason::Compacted).because(18, Reason::CompactionRecent);
    assert_eq!(done.details[1], [Reason::LlmSummary]);
    let outcome = done.metrics.compaction.expect("it was compacted");
    assert_eq!((outcome.n_archived, outcome.n_recent, outcome.n_pulled_back), (17, 3, 0));
    assert_eq!((outcome.level, outcome.chunk, outcome.continues, outcome.by_model), (1, 1, false, true));
    assert_eq!(outcome.topics.as_deref(), Some("watering the garden, beds"));
    assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (1, 0));
}

/// Section of the tail selection: the smallest tails that keep calls with their results.
#[test]
fn calls_and_results_stay_together() {
    let read = json!({"path": "a.rs"});
    let ask = user(&prose(900));
    let first = [ask.clone(), call("c1", "read", &read), result("c1", &prose(200)), assistant("Done with it.")];
    assert_eq!(tail(&compress_record(&record_of(&first), &offline(1, 2))), [1, 2, 3]);
    let second = [
        ask.clone(),
        call("c1", "read", &read),
        result("c1", &prose(200)),
        ask.clone(),
        call("c2", "read", &read),
        result("c2", &prose(200)),
    ];
    let blocks = [ask.clone(), call_block("c1"), result_block("c1"), ask.clone(), call_block("c2"), result_block("c2")];
    for messages in [&second, &blocks] {
        let record = record_of(messages);
        assert_eq!(tail(&compress_record(&record, &offline(1, 1))), [4, 5]);
        // Behind a summary of a user no user stands, and the pair before it is whole.
        assert_eq!(tail(&compress_record(&record, &offline(1, 3))), [1, 2, 3, 4, 5]);
        assert_eq!(n_archived(&compress_record(&record, &offline(1, 6))), 0, "nothing is left to archive");
    }
    let siblings = [
        ask.clone(),
        assistant("Let me see."),
        ask.clone(),
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        ]}),
        result("a", "one"),
        result("b", "two"),
    ];
    let record = record_of(&siblings);
    assert_eq!(tail(&compress_record(&record, &offline(1, 2))), [3, 4, 5], "a call counts, its other results do not");
    assert_eq!(tail(&compress_record(&record, &offline(1, 3))), [1, 2, 3, 4, 5]);
    assert_eq!(tail(&compress_record(&record, &offline(1, 0))), [0; 0]);
}

#[test]
fn a_reply_that_a_log_cut_in_two_stays_whole() {
    let ask = user(&prose(900));
    let read = json!({"path": "a.rs"});
    // One message answers the calls of both, and names the second first.
    let both = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c2", "content": "two"},
        {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
    ]});
    let messages = [ask, assistant("Sure."), user("Go on."), call("c1", "f", &read), call("c2", "f", &read), both];
    let done = compress_record(&record_of(&messages), &offline(1, 1));
    assert_eq!(tail(&done), [3, 4, 5]);
}

#[test]
fn results_without_ids_stay_with_what_stands_before_them() {
    let observation = json!({"role": "tool", "content": "three files"});
    let messages = [user(&prose(900)), assistant("ls"), observation.clone(), observation];
    assert_eq!(tail(&compress_record(&record_of(&messages), &offline(1, 1))), [1, 2, 3]);
}

#[test]
fn a_system_message_in_the_middle_goes_to_the_archive_and_one_in_the_tail_stays() {
    let mut messages = talk(6);
    messages.insert(3, json!({"role": "system", "content": "Be brief from now on."}));
    messages.insert(12, json!({"role": "system", "content": "Use metric units."}));
    let done = compress_record(&record_of(&messages), &offline(5, 4));
    done.because(0, Reason::PreservedRole).because(3, Reason::Compacted).because(12, Reason::CompactionRecent);
    assert_eq!(done.texts.iter().filter(|text| text.contains("metric units")).count(), 1);
}

#[test]
fn where_no_user_begins_the_usual_engine_works() {
    let texts: Vec<String> = (0..12).map(|i| format!("{} Number {i} is done.", prose(500))).collect();
    let greeting: Vec<Value> =
        texts.iter().enumerate().map(|(i, text)| if i % 2 == 0 { assistant(text) } else { user(text) }).collect();
    let two_texts =
        json!({"role": "user", "content": [{"type": "text", "text": prose(300)}, {"type": "text", "text": "b"}]});
    let named = json!({"role": "user", "name": "Ada", "content": prose(300)});
    let mut in_two = talk(6);
    in_two[1] = two_texts;
    let mut by_name = talk(6);
    by_name[1] = named;
    for messages in [greeting, in_two, by_name] {
        let record = record_of(&messages);
        let done = compress_record(&record, &offline(5, 4));
        assert_eq!(done.metrics.compaction, None);
        let usual = EngineOptions { min_saving: 1, ..EngineOptions::default() };
        assert_eq!(done.record, compress_record(&record, &usual).record);
    }
}

#[test]
fn an_image_beside_the_only_text_stays_with_the_summary() {
    let mut messages = talk(6);
    messages[1] = json!({"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "text", "text": prose(400)},
    ]});
    let (done, _) = with_model(&record_of(&messages), &asking(5, 4), says(GOOD));
    let value: Value = serde_json::from_str(&done.record).expect("a record");
    assert_eq!(value["messages"][1]["content"][0]["type"], "image_url");
    assert!(value["messages"][1]["content"][1]["text"].as_str().is_some_and(|text| text.contains(BODY)));
}

#[test]
fn every_answer_that_cannot_be_used_leaves_the_summary_of_the_engine() {
    let record = record_of(&talk(10));
    let own = compress_record(&record, &offline(5, 4)).record;
    let long = format!("<summary>{}</summary>", prose(20_000));
    let cases = [
        (Answer::Text(String::new()), Reason::LlmEmpty),
        (Answer::Text("<topics>a, b</topics>".into()), Reason::LlmEmpty),
        (Answer::Text("<topics>a</topics><summary>The user asks for".into()), Reason::LlmUnreadable),
        (Answer::Text(long), Reason::LlmTooLong),
        (Answer::Text("<summary><tool_call>{\"name\": \"water\"}</tool_call></summary>".into()), Reason::LlmToolCall),
        (Answer::Text("<summary>The beds in src/garden/beds.rs were watered.</summary>".into()), Reason::LlmInvented),
        (Answer::None(NoAnswer::Failed), Reason::LlmFailed),
        (Answer::None(NoAnswer::TooLong), Reason::LlmFailed),
        (Answer::None(NoAnswer::Offline), Reason::LlmOffline),
    ];
    for (answer, reason) in cases {
        let (done, _) = with_model(&record, &asking(5, 4), |_| answer.clone());
        assert_eq!(done.record, own, "{answer:?}");
        assert_eq!(done.details[1], [reason], "{answer:?}");
        assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (0, 1));
        assert_eq!(done.metrics.compaction.map(|outcome| outcome.by_model), Some(false));
    }
}

#[test]
fn for_as_long_as_the_question_is_open_the_summary_of_the_engine_stands_there() {
    let record = record_of(&talk(10));
    let engine = Engine::new(asking(5, 4)).expect("options");
    let mut asks = Vec::new();
    let open = compress_consulted(&record, &engine, &Answers::default(), &mut asks);
    assert_eq!(asks.len(), 1);
    assert_eq!(open.record, compress_record(&record, &offline(5, 4)).record);
    assert!(open.details[1].is_empty());
}

#[test]
fn a_question_that_is_too_long_is_asked_again_with_less() {
    let record = record_of(&talk(20));
    let too_long_beyond = |n_turns: usize| {
        move |ask: &CompactionAsk| {
            if ask.turns.len() > n_turns { Answer::None(NoAnswer::TooLong) } else { Answer::Text(GOOD.to_owned()) }
        }
    };
    // 41 messages, of which 4 stay: the archive is 1..37.
    let asked = |n_turns| {
        let (done, asked) = with_model(&record, &asking(5, 3), too_long_beyond(n_turns));
        let outcome = done.metrics.compaction.clone().expect("it was compacted");
        let n_turns: Vec<usize> = asked.iter().map(|ask| ask.turns.len()).collect();
        (n_turns, outcome.n_archived, outcome.n_pulled_back, outcome.n_recent, outcome.by_model)
    };
    assert_eq!(asked(38), (vec![38], 37, 0, 3, true));
    // One message back would put a user behind the summary: it is two.
    assert_eq!(asked(37), (vec![38, 36], 35, 2, 3, true));
    // Half of the archive back.
    assert_eq!(asked(35), (vec![38, 36, 20], 19, 18, 3, true));
    assert_eq!(asked(3), (vec![38, 36, 20], 37, 0, 3, false));
    let (done, _) = with_model(&record, &asking(5, 3), too_long_beyond(35));
    assert_eq!(tail(&done), (20..41).collect::<Vec<_>>(), "what was pulled back stays between summary and tail");
}

/// Twenty new messages a night, the oldest of them in the archive every night.
fn nights(
    options: &EngineOptions,
    n: usize,
    mut reply: impl FnMut(usize, &CompactionAsk) -> Answer,
) -> Vec<(Done, Vec<CompactionAsk>)> {
    let mut messages = talk(0);
    let mut done = Vec::new();
    for night in 0..n {
        for i in 0..10 {
            messages.push(user(&format!("Please water bed {i} of field {night}. {}", prose(300))));
            messages.push(assistant(&format!("I've watered it. {}", prose(300))));
        }
        let (tonight, asked) = with_model(&record_of(&messages), options, |ask| reply(night, ask));
        let value: Value = serde_json::from_str(&tonight.record).expect("a record");
        messages.clone_from(value["messages"].as_array().expect("messages"));
        done.push((tonight, asked));
    }
    done
}

fn topical(night: usize) -> Answer {
    Answer::Text(format!("<topics>field {night}, watering</topics><summary>Field {night} was watered.</summary>"))
}

#[test]
fn levels_and_chunks_go_on_from_night_to_night() {
    for provenance in [ProvenancePlace::Sidecar, ProvenancePlace::Metadata] {
        let options = EngineOptions { provenance, ..asking(15, 4) };
        let nights = nights(&options, 13, |night, _| topical(night));
        for (night, (done, asked)) in nights.iter().enumerate() {
            let outcome = done.metrics.compaction.as_ref().expect("compacted every night");
            assert_eq!((outcome.level, outcome.chunk, outcome.continues), (night + 1, night + 1, false));
            let archive = marker::Archive::read(&done.texts[1]).expect("a summary");
            assert_eq!(archive.body, format!("Field {night} was watered."));
            let numbers: Vec<usize> = archive.earlier.iter().map(|chunk| chunk.number).collect();
            assert_eq!(numbers, (1..=night).rev().take(10).collect::<Vec<_>>());
            assert_eq!(archive.n_older, night.saturating_sub(10));
            assert!(
                archive
                    .earlier
                    .iter()
                    .all(|chunk| chunk.topics == Some(&*format!("field {}, watering", chunk.number - 1)))
            );
            assert_eq!(asked[0].previous_topics, None);
            let shown = asked[0].turns.iter().any(|turn| turn.text.starts_with("[Compressed conversation summary"));
            assert_eq!(shown, night > 0, "the summary before is shown to the model");
        }
    }
}

#[test]
fn an_idle_session_goes_on_with_its_chunk_and_a_model_may_say_so() {
    let idle = EngineOptions { compaction_forced: true, compaction_tokens: 500, ..asking(999, 4) };
    let done = nights(&idle, 3, |night, _| topical(night));
    let last = done[2].0.metrics.compaction.as_ref().expect("compacted");
    assert_eq!((last.level, last.chunk, last.continues), (3, 1, true));
    assert_eq!(last.topics.as_deref(), Some("field 0, watering, field 1, field 2"));

    let new = EngineOptions { compaction_chunks: ChunkPolicy::New, ..idle };
    assert_eq!(
        nights(&new, 3, |night, _| topical(night))[2].0.metrics.compaction.as_ref().map(|last| last.chunk),
        Some(3)
    );

    let model = EngineOptions { compaction_chunks: ChunkPolicy::Model, ..asking(15, 4) };
    let done = nights(&model, 4, |night, ask| {
        assert_eq!(ask.previous_topics.is_some(), night > 0);
        let flag =
            ["", "<continues_previous>yes</continues_previous>", "<continues_previous>no</continues_previous>", ""]
                [night];
        let Answer::Text(text) = topical(night) else { unreachable!() };
        Answer::Text(format!("{flag}{text}"))
    });
    let chunks: Vec<(usize, bool)> = done
        .iter()
        .filter_map(|(done, _)| done.metrics.compaction.as_ref())
        .map(|last| (last.chunk, last.continues))
        .collect();
    assert_eq!(chunks, [(1, false), (1, true), (2, false), (3, false)]);
}

#[test]
fn a_second_pass_without_news_changes_nothing() {
    let (once, _) = with_model(&record_of(&talk(10)), &asking(2, 4), says(GOOD));
    let (twice, asked) = with_model(&once.record, &asking(2, 4), says(GOOD));
    assert_eq!((twice.record, asked.len()), (once.record.clone(), 0), "the thresholds are met, but nothing is new");
    // Nor does the usual engine touch the summary.
    let usual =
        compress_record(&once.record, &EngineOptions { recency_window: 0, min_saving: 1, ..EngineOptions::default() });
    usual.because(1, Reason::AlreadyCompressed);
}

/// Work on files with calls, errors, decisions.
fn work(n: usize) -> Vec<Value> {
    let mut messages = vec![user(&format!("Please move the parser into its own crate. {}", prose(200)))];
    for i in 0..n {
        messages.push(call(&format!("r{i}"), "Read", &json!({"file_path": format!("src/part_{i}.rs")})));
        messages.push(result(&format!("r{i}"), &prose(400)));
        messages.push(call(
            &format!("w{i}"),
            "Edit",
            &json!({"file_path": "src/parser/mod.rs", "old_string": "a", "new_string": "b"}),
        ));
        messages.push(result(&format!("w{i}"), "error: cannot find function `parse_date` in this scope"));
        messages.push(assistant("We decided to keep the old name of parse_date. I've moved the tests as well."));
        messages.push(user("You must never touch the public interface. Can you also update the changelog?"));
    }
    messages.push(assistant("Now let me run the tests."));
    for word in ["Good.", "Fine."] {
        messages.push(user(word));
        messages.push(assistant("They pass."));
    }
    messages
}

#[test]
fn the_summary_of_the_engine_quotes_what_counts() {
    let done = compress_record(&record_of(&work(6)), &offline(5, 2));
    let text = &done.texts[0];
    for says in [
        "Messages: 8 user, 19 assistant, 12 tool",
        "Asked for:\n- Please move the parser into its own crate.\n- Can you also update the changelog?",
        "Rules:\n- You must never touch the public interface.",
        "Decided:\n- We decided to keep the old name of parse_date.",
        "Done last:\n- I've moved the tests as well.",
        "- error: cannot find function `parse_date` in this scope",
        "Files changed: src/parser/mod.rs",
        "Files read: src/part_0.rs, src/part_1.rs, src/part_2.rs, src/part_3.rs, src/part_4.rs, src/part_5.rs",
        "Tools, the last used first: Edit (6), Read (6)",
        "In progress:\n- Now let me run the tests.",
        "Chunk 1: parse_date\n",
    ] {
        assert!(text.contains(says), "{says:?} is missing in\n{text}");
    }
    assert!(done.metrics.fact_retention > Some(0.5), "{:?}\n{text}", done.metrics);
    // What was said in arguments only is no longer there.
    assert!(done.metrics.chars_in > done.metrics.chars_out * 2);
}

#[test]
fn tags_are_no_topics_and_bare_failures_give_way_to_telling_ones() {
    let mut messages = work(6);
    let failed = "Traceback (most recent call last):\n  File \"run.py\", line 3, in <module>\nValueError: the token of line 7 is \
        bad\n[Command finished with exit code 1]";
    messages[0]["content"] = json!("<pr_text>Please move the parser.</pr_text> <pr_text>Also the tests.</pr_text>");
    let call = json!({"id": "run", "type": "function", "function": {"name": "run", "arguments": "{}"}});
    messages.insert(1, json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    messages.insert(2, json!({"role": "tool", "tool_call_id": "run", "content": failed}));
    let done = compress_record(&record_of(&messages), &offline(5, 2));
    let text = &done.texts[0];
    assert!(text.contains("- ValueError: the token of line 7 is bad"), "{text}");
    for bare in ["Traceback", "[Command finished", "Chunk 1: pr_text", ", pr_text"] {
        assert!(!text.contains(bare), "{bare:?} in\n{text}");
    }
}

#[test]
fn an_archive_of_which_nothing_can_be_quoted_stays() {
    let turn = |role: &str, at: usize| json!({"role": role, "content": "Hm, yes. ".repeat(1 + at % 3)});
    let messages: Vec<Value> = (0..40).map(|at| turn(if at % 2 == 0 { "user" } else { "assistant" }, at)).collect();
    let done = compress_record(&record_of(&messages), &offline(5, 2));
    assert_eq!(done.texts.len(), 40, "{:?}", done.texts);
    done.because(0, Reason::MergeReverted);
}

#[test]
fn what_the_engine_says_by_itself_gets_shorter_with_every_level() {
    let mut messages = work(8);
    let mut sizes = Vec::new();
    for level in 1..=5 {
        let done = compress_record(&record_of(&messages), &offline(5, 2));
        let outcome = done.metrics.compaction.expect("compacted");
        assert_eq!((outcome.level, outcome.chunk, outcome.by_model), (level, level, false));
        let value: Value = serde_json::from_str(&done.record).expect("a record");
        messages.clone_from(value["messages"].as_array().expect("messages"));
        assert_eq!(done.texts[0].contains("Before that (level"), level > 1, "{}", done.texts[0]);
        assert!(done.texts[0].contains("parser"), "the task is not forgotten: {}", done.texts[0]);
        sizes.push(marker::Archive::read(&done.texts[0]).expect("a summary").body.chars().count());
        messages.extend(work(8));
        messages.last_mut().expect("a reply")["content"] = json!("Anything else?");
    }
    assert!(sizes[4] < sizes[0] + 200 && sizes.iter().all(|size| *size < 1_700), "{sizes:?}");
}

/// Calls that are archived are gone: their characters, tokens and facts are no longer counted as shown.
#[test]
fn archived_calls_are_counted_as_removed() {
    let command = json!({"command": "deploy --ticket KMS-7781 --host build-7.example.com ".repeat(20)});
    let messages = [
        user(&prose(300)),
        call("c", "Bash", &command),
        result("c", "ok"),
        assistant("That was it."),
        user("And?"),
        assistant("Fine."),
    ];
    let done = compress_record(&record_of(&messages), &offline(1, 1));
    done.because(1, Reason::Compacted);
    assert!(done.metrics.chars_out * 2 < done.metrics.chars_in, "{:?}", done.metrics);
    assert_eq!(done.metrics.fact_retention, Some(0.0), "{:?}", done.metrics);
}

fn message() -> impl proptest::strategy::Strategy<Value = Vec<Value>> {
    let text = (1_usize..600).prop_map(prose);
    prop_oneof![
        4 => text.clone().prop_map(|text| vec![user(&text)]),
        4 => text.clone().prop_map(|text| vec![assistant(&text)]),
        1 => text.clone().prop_map(|text| vec![json!({"role": "system", "content": text})]),
        3 => (text.clone(), 0..9_u8).prop_map(|(text, n)| {
            vec![call(&format!("c{n}"), "read", &json!({"path": text})), result(&format!("c{n}"), &text)]
        }),
        1 => (text.clone(), 0..9_u8).prop_map(|(text, n)| {
            vec![call_block(&format!("c{n}")), call_block(&format!("d{n}")), result_block(&format!("d{n}")), result_block(&format!("c{n}")), user(&text)]
        }),
        1 => (0..9_u8).prop_map(|n| vec![result(&format!("c{n}"), "an orphan")]),
        1 => (0..9_u8).prop_map(|n| vec![call(&format!("c{n}"), "read", &json!({}))]),
        1 => text.prop_map(|text| vec![user(&format!("[Compressed conversation summary, level 3, chunk 2: earlier turns are archived]\n\n{text}x\n\nArchived chunks, newest first:\nChunk 2: a\nChunk 1\n[End of the compressed conversation summary]"))]),
    ]
}

/// Answers good and bad, the same for the same question.
fn seeded(ask: &CompactionAsk) -> Answer {
    let id = Ask::Compaction(ask.clone()).id();
    let dice = &mut Dice::new(u64::from_le_bytes(id[..8].try_into().expect("eight bytes")));
    let said: Vec<&str> = ask.turns.iter().flat_map(|turn| turn.text.lines()).filter(|line| !line.is_empty()).collect();
    let quote = if said.is_empty() { "Nothing." } else { said[dice.below(said.len())] };
    match dice.below(8) {
        0 => Answer::None(NoAnswer::TooLong),
        1 => Answer::None(dice.pick(&[NoAnswer::Failed, NoAnswer::Offline])),
        2 => Answer::Text(dice.pick(&["", "<summary>", "<topics>a</topics>", "</summary>"]).to_owned()),
        3 => Answer::Text(quote.to_owned()),
        _ => Answer::Text(format!("<topics>a, {}</topics>\n<summary>{quote}</summary>", dice.below(9))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_for_any_conversation(
        system in any::<bool>(),
        parts in prop::collection::vec(message(), 0..14),
        recent in 0_usize..8,
        policy in prop::sample::select(vec![ChunkPolicy::Idle, ChunkPolicy::New, ChunkPolicy::Model]),
        forced in any::<bool>(),
        metadata in any::<bool>(),
    ) {
        let mut messages: Vec<Value> = Vec::new();
        if system {
            messages.push(json!({"role": "system", "content": "Be brief."}));
        }
        messages.extend(parts.into_iter().flatten());
        let provenance = if metadata { ProvenancePlace::Metadata } else { ProvenancePlace::Sidecar };
        let options = EngineOptions {
            compaction_chunks: policy,
            compaction_forced: forced,
            compaction_tokens: 100,
            provenance,
            ..asking(4, recent)
        };
        // Restored, partitioned, not larger, pairs whole, no new neighbours of one role: checked by the helper.
        let record = record_of(&messages);
        let (done, _) = with_model(&record, &options, seeded);
        prop_assert_eq!(&with_model(&record, &options, seeded).0.record, &done.record);
        if let Some(outcome) = &done.metrics.compaction {
            let n_head = done.decisions.iter().filter(|decision| decision.1 == Reason::PreservedRole).count();
            prop_assert_eq!(n_head + outcome.n_archived + outcome.n_pulled_back + outcome.n_recent, messages.len());
            let archive = marker::Archive::read(&done.texts[n_head]).expect("a summary");
            prop_assert_eq!((archive.level, archive.chunk.number), (outcome.level, outcome.chunk));
            let value: Value = serde_json::from_str(&done.record).expect("a record");
            let output = value["messages"].as_array().expect("messages");
            prop_assert_eq!(&output[n_head]["role"], "user");
            let called = output.iter().position(|message| message.get("tool_calls").is_some());
            prop_assert!(called.is_none_or(|at| at > n_head), "a user speaks before the first call");
        }
        // The output is a conversation like any other: a later round takes it, and gives it back.
        with_model(&done.record, &options, seeded);
    }
}

/// Every conversation of the corpora, with answers drawn from a seed.
#[test]
fn conversations_of_the_corpora_come_back_from_their_archive() {
    for (name, lines) in &corpora::lines() {
        let outcomes: Vec<Option<bool>> = lines
            .par_iter()
            .map(|line| {
                let (done, _) = with_model(line, &asking(12, 6), seeded);
                done.metrics.compaction.map(|outcome| outcome.by_model)
            })
            .collect();
        let n = |of: Option<bool>| outcomes.iter().filter(|outcome| **outcome == of).count();
        println!(
            "{name}: {} conversations, {} compacted by a model, {} by the engine",
            lines.len(),
            n(Some(true)),
            n(Some(false))
        );
    }
}

/// The rest goes through the program.
mod program {
    use serde_json::{Value, json};

    use super::{call, prose, result, talk, user};
    use crate::support::command::condenser;
    use crate::support::dir::TestDir;

    const FLAGS: [&str; 6] =
        ["--strategy", "insert-then-compress", "--compaction-messages", "9", "--compaction-recent", "2"];

    fn hostile() -> Value {
        let mut messages = talk(6);
        messages[3] = user("A fence:\n```text\n## User [99]\n```\n---\ntopics: mine\n`````\n");
        messages.insert(5, call("c`1", "read", &json!({"path": "a.rs", "note": "```"})));
        messages.insert(6, result("c`1", &format!("\u{1b}[2J{}", prose(300))));
        messages[8]["content"] = json!([
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "text", "text": "the picture of the garden"},
        ]);
        json!({"id": "needle", "messages": messages})
    }

    fn run(dir: &TestDir, format: &str) -> String {
        let other = json!({"id": "other", "messages": talk(8)});
        dir.write("in.jsonl", format!("{other}\n{}\n", hostile()));
        let name = format!("run-{format}");
        let mut args = vec!["compress", "in.jsonl", "-o", &name, "--format", format];
        args.extend(FLAGS);
        condenser(dir.root(), &args).ok();
        condenser(dir.root(), &["verify", &name, "--against", "in.jsonl"]).ok();
        name
    }

    #[test]
    fn the_archive_of_a_conversation_is_shown_as_markdown() {
        let dir = TestDir::new();
        let mut texts = Vec::new();
        for format in ["parquet", "jsonl", "arrow"] {
            let name = run(&dir, format);
            let text = String::from_utf8(condenser(dir.root(), &["show", &name, "needle", "--markdown"]).ok().stdout);
            texts.push(text.expect("text"));
        }
        assert!(texts.iter().all(|text| *text == texts[0]), "the same from every format");
        let text = &texts[0];
        let head = text.split("\n---\n").next().expect("front matter");
        for says in
            ["conversation_id: \"needle\"", "compression_level: 1", "chunk: 1", "message_count: 11", "source_row: 1"]
        {
            assert!(head.contains(says), "{says}: {head}");
        }
        // What is inside fences is no structure: only real headings are outside.
        let (mut open, mut headings) = (None::<String>, Vec::new());
        for line in text.lines() {
            let ticks: String = line.chars().take_while(|c| *c == '`').collect();
            match &open {
                None if ticks.len() >= 3 => open = Some(ticks),
                None if line.starts_with("## ") => headings.push(line),
                Some(ticks) if line == ticks => open = None,
                _ => {}
            }
        }
        assert_eq!(open, None);
        assert_eq!(headings.len(), 11, "{headings:?}");
        assert_eq!(headings[0], "## User [1]");
        assert_eq!(headings[5], "## Tool result [6] for ``c`1``");
        for says in [
            "A fence:\n```text\n## User [99]\n```\n---",
            "_Tool call:_ `read` ``c`1``",
            "_[_`image_url`_]_",
            &prose(300),
        ] {
            assert!(text.contains(says), "{says:?} in\n{text}");
        }
        assert!(!text.contains("base64,AAAA"), "bytes are a badge");
        // As the summary itself says.
        let same = condenser(dir.root(), &["show", "run-parquet", "needle", "--archive", "1"]).ok().stdout;
        assert_eq!(String::from_utf8_lossy(&same), *text);
        let other = condenser(dir.root(), &["show", "run-parquet", "needle", "--archive", "7"]).exits(1).stderr;
        assert!(other.contains("this run holds chunk 1"), "{other}");
    }

    #[test]
    fn what_stands_for_a_conversation_is_shown_with_its_originals() {
        let dir = TestDir::new();
        for format in ["parquet", "jsonl"] {
            let name = run(&dir, format);
            let args = ["show", &name, "needle", "--width", "70", "--full"];
            let text = String::from_utf8(condenser(dir.root(), &args).ok().stdout).expect("text");
            assert!(text.starts_with("needle · in.jsonl row 1\n15 → 5 messages,"), "{text}");
            assert!(text.contains("[Compressed conversation summary"), "{text}");
            let n_compacted = text.lines().filter(|line| line.contains("compacted")).count();
            assert_eq!(n_compacted, 11, "{text}");
            assert!(text.contains("A fence:"), "{text}");
            assert!(!text.contains('\u{1b}') && text.contains("\\u{1b}[2J"), "nothing drives the terminal");
            condenser(dir.root(), &["show", &name, "nobody"]).exits(1);
        }
    }

    #[test]
    fn the_figures_of_a_compaction_stand_in_the_metrics() {
        let dir = TestDir::new();
        let name = run(&dir, "jsonl");
        let told = condenser(dir.root(), &["report", &name, "--json"]).ok();
        assert!(String::from_utf8_lossy(&told.stdout).contains("\"conversations\""));
        let path = dir.path(&name).join("metrics/part-00000.jsonl.zst");
        let rows = zstd::decode_all(std::fs::File::open(path).expect("metrics")).expect("whole");
        let rows: Vec<Value> = String::from_utf8(rows)
            .expect("text")
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let row = &rows[1];
        for (column, value) in [
            ("compaction_level", json!(1)),
            ("compaction_chunk", json!(1)),
            ("compaction_archived", json!(11)),
            ("compaction_recent", json!(3)),
            ("compaction_pulled_back", json!(0)),
            ("compaction_trigger", json!("count")),
            ("compaction_continues", json!(false)),
            ("compaction_by_model", json!(false)),
        ] {
            assert_eq!(row[column], value, "{column}: {row}");
        }
    }
}
