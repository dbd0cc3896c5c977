//! Token budgets: what fits, what gives way first, and what is never touched.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use condenser::engine::Engine;
use condenser::error::Result;
use condenser::model::{Action, AdapterName, BudgetOutcome, BudgetStrategy, CompressionDepth, EngineOptions, Reason};
use condenser::summary::EntropyScorer;
use serde_json::json;

use crate::support::talk::{Done, all, classic, compress, compress_record, compress_with, prose, record, record_of};

fn budget(tokens: usize) -> EngineOptions {
    EngineOptions { token_budget: Some(tokens), ..classic() }
}

fn forced(tokens: usize) -> EngineOptions {
    EngineOptions { force_converge: true, ..budget(tokens) }
}

fn outcome(done: &Done) -> BudgetOutcome {
    done.metrics.budget.expect("there is a budget")
}

/// `n` turns of `n_chars` characters, no two alike.
fn talk(n: usize, n_chars: usize) -> Vec<(&'static str, String)> {
    let turn = |i: usize| {
        let role = if i.is_multiple_of(2) { "user" } else { "assistant" };
        (role, format!("Turn {i} is about the {i}th visit to the park. {}", prose(n_chars)))
    };
    (0..n).map(turn).collect()
}

fn borrowed<'a>(talk: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    talk.iter().map(|(role, text)| (*role, text.as_str())).collect()
}

#[test]
fn a_conversation_within_its_budget_stays_as_it_is() {
    let talk = talk(6, 300);
    let done = compress(&borrowed(&talk), &budget(100_000));
    assert!(done.decisions.iter().all(|&decision| decision == (Action::Preserved, Reason::WithinBudget)));
    assert_eq!((outcome(&done).fits, outcome(&done).recency_window), (true, 6));
    assert_eq!(outcome(&done).token_count, done.metrics.tokens_in);
}

#[test]
fn d8_the_recency_window_is_as_wide_as_the_budget_allows() {
    let talk = talk(20, 600);
    let mut last = 0;
    for tokens in (800..4_000).step_by(200) {
        let done = compress(&borrowed(&talk), &budget(tokens));
        let outcome = outcome(&done);
        assert_eq!(outcome.fits, done.metrics.tokens_out <= tokens);
        assert!(outcome.recency_window >= last, "a larger budget opens no smaller window");
        last = outcome.recency_window;
        let first_recent = 20 - outcome.recency_window;
        (first_recent..20).for_each(|index| assert_eq!(done.decisions[index].0, Action::Preserved));
        if outcome.fits && first_recent > 0 {
            assert!(done.metrics.tokens_out + 170 > tokens, "one message more would not have fitted: {outcome:?}");
        }
    }
    assert!(last > 10, "{last}");
}

#[test]
fn d7_below_the_threshold_the_budget_is_answered_too() {
    let talk = talk(4, 600);
    let options = EngineOptions { compression_threshold: 50_000, ..budget(200) };
    let done = compress(&borrowed(&talk), &options);
    assert!(!outcome(&done).fits);
    assert_eq!(outcome(&done).token_count, done.metrics.tokens_in);
    done.because(0, Reason::BelowThreshold);
}

#[test]
fn a_budget_of_nothing_does_not_fit_what_is_protected() {
    let done = compress(&[("system", "Be brief."), ("user", "Hello there.")], &forced(0));
    let outcome = outcome(&done);
    assert!(!outcome.fits);
    assert_eq!(outcome.protected_tokens, 3, "the system message");
    assert_eq!(outcome.token_count, 7, "nothing is emptied when that cannot help");
}

#[test]
fn d1_force_converge_reaches_every_budget_in_which_every_message_may_say_something() {
    let mut messages = vec![json!({"role": "system", "content": prose(200)})];
    for i in 0..12 {
        messages.push(json!({"role": "user", "content": "ok then"}));
        messages.push(
            json!({"role": "assistant", "content": format!("```rust\n{}\n```", "let answer = 42;\n".repeat(40 + i))}),
        );
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{i}"), "type": "function", "function": {"name": "f", "arguments": "{}"}}]}));
        messages.push(
            json!({"role": "tool", "tool_call_id": format!("c{i}"), "content": "{\"rows\": [1, 2, 3]}".repeat(30 + i)}),
        );
    }
    let record = record_of(&messages);
    for strategy in [BudgetStrategy::BinarySearch, BudgetStrategy::Tiered] {
        let mut last = None;
        for tokens in [70, 75, 80, 100, 240, 500, 1_000, 3_000, 6_000] {
            let options = EngineOptions { budget_strategy: strategy, recency_window: 0, ..forced(tokens) };
            let done = compress_record(&record, &options);
            let outcome = outcome(&done);
            // Each of the 36 others says at least that it was left out.
            let least = outcome.protected_tokens + 36 * 5;
            assert!(outcome.token_count <= tokens.max(least), "{strategy:?} {tokens}: {outcome:?}");
            assert!(done.texts.iter().filter(|text| text.is_empty()).count() <= 12, "only calls say nothing");
            for text in &done.texts {
                let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
                assert_eq!(fences % 2, 0, "an open fence in {text}");
            }
            if let Some(last) = last {
                assert!(done.metrics.chars_out >= last, "more room shows no less");
            }
            last = Some(done.metrics.chars_out);
        }
    }
}

#[test]
fn d1_truncation_never_enlarges_nor_cuts_a_grapheme() {
    let family = "👩‍👩‍👧‍👦".repeat(60);
    let talk = [("user", family.as_str()), ("assistant", "b"), ("user", &"x".repeat(516)), ("assistant", "done")];
    for tokens in 2..120 {
        let done = compress(&talk, &forced(tokens));
        let shown = done.texts[0].trim_end_matches(']');
        if let Some(rest) = shown.strip_prefix("[truncated — 420 chars: ") {
            assert_eq!(rest.chars().count() % 7, 0, "{rest}");
        }
        for (text, (_, original)) in done.texts.iter().zip(&talk) {
            assert!(text.chars().count() <= original.chars().count(), "{text}");
        }
    }
}

#[test]
fn d2_auto_tries_every_depth_before_it_truncates() {
    let talk = talk(30, 2_500);
    for tokens in [2_500, 3_500, 4_700] {
        let options = EngineOptions { compression_depth: CompressionDepth::Auto, ..budget(tokens) };
        let auto = compress(&borrowed(&talk), &options);
        let both = compress(&borrowed(&talk), &EngineOptions { force_converge: true, ..options });
        if outcome(&auto).fits {
            assert_eq!(both.record, auto.record, "{tokens}: nothing had to be truncated");
        }
        assert!(outcome(&both).fits);
    }
}

#[test]
fn d5_the_quality_gate_keeps_the_better_result() {
    let facts: Vec<(&str, String)> = (0..12)
        .map(|i| {
            let names: Vec<String> = (0..40)
                .map(|j| format!("handlerForQueue{i}x{j} reads src/queue/worker_{i}_{j}.rs and waits."))
                .collect();
            (if i % 2 == 0 { "user" } else { "assistant" }, names.join(" "))
        })
        .collect();
    let options = EngineOptions { compression_depth: CompressionDepth::Auto, ..budget(400) };
    let done = compress(&borrowed(&facts), &options);
    assert_eq!(outcome(&done).depth, CompressionDepth::Gentle, "{:?}", done.metrics);
    let forced = compress(&borrowed(&facts), &EngineOptions { force_converge: true, ..options });
    assert!(outcome(&forced).fits);
}

#[test]
fn d3_tiered_keeps_the_window_and_never_touches_structure() {
    let code = "```ts\nexport function chargeCard(amount: number) { return amount * 100; }\n```\n".repeat(6);
    let mut messages = vec![
        json!({"role": "user", "content": format!("{} The fetchUserProfile call fails.", prose(1_500))}),
        json!({"role": "assistant", "content": code}),
        json!({"role": "user", "content": prose(900)}),
        json!({"role": "assistant", "content": "Calling.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "{\"balance\": 12}".repeat(40)}),
    ];
    messages
        .extend((0..4).map(|i| json!({"role": if i % 2 == 0 { "assistant" } else { "user" }, "content": prose(400)})));
    let options = EngineOptions { budget_strategy: BudgetStrategy::Tiered, recency_window: 4, ..budget(1_100) };
    let done = compress_record(&record_of(&messages), &options);
    (5..9).for_each(|index| assert_eq!(done.decisions[index].0, Action::Preserved));
    for index in [1, 3, 4] {
        done.is(index, Action::Preserved);
    }
    done.shows("fetchUserProfile");
    assert!(!done.visible().contains("[summary: [summary:"), "summaries are never nested");
    let counts = done.metrics.counts;
    assert_eq!(counts.preserved, 7, "the counters tell what was done: {counts:?}");
    assert!(done.metrics.ratio > 1.2);
}

#[test]
fn d6_tokens_of_parts_and_arguments_count() {
    let long = prose(9_000);
    let record = record_of(&[
        json!({"role": "user", "content": [{"type": "text", "text": long}]}),
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": format!("{{\"q\": \"{}\"}}", prose(7_000))}}]}),
    ]);
    let done = compress_record(&record, &EngineOptions { message_overhead: 4, ..budget(100) });
    assert!(!outcome(&done).fits);
    assert!(done.metrics.tokens_in > 16_000 * 2 / 7, "{:?}", done.metrics);
    assert!(outcome(&done).protected_tokens > 7_000 * 2 / 7);
}

/// Counts how often it is asked.
#[derive(Debug, Default)]
struct Counting(AtomicUsize);

impl EntropyScorer for Counting {
    fn score(&self, sentences: &[&str]) -> Result<Vec<f64>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(sentences.iter().map(|sentence| sentence.len() as f64).collect())
    }
}

#[test]
fn g3_a_budget_asks_a_scorer_once_however_many_ways_it_tries() {
    let talk = talk(40, 900);
    let options = EngineOptions { compression_depth: CompressionDepth::Auto, ..forced(1_500) };
    let scorer = Arc::new(Counting::default());
    let engine = Engine::new(options).expect("options").with_entropy(scorer.clone());
    let done = compress_with(&record(&borrowed(&talk)), &engine);
    assert!(outcome(&done).fits);
    // `compress_with` condenses once.
    assert_eq!(scorer.0.load(Ordering::Relaxed), 1);
}

#[test]
fn b19_money_dates_names_and_numbers_are_no_general_discussion() {
    let options = EngineOptions { relevance_threshold: Some(100.0), ..all() };
    let facts = [
        "The wire transfer of 4,500,000 dollars was approved by the board after a long talk. ",
        "It will all be settled on March 3, as everybody in the room had hoped for weeks. ",
        "The letter went to Acme Corporation, where somebody will surely read it one day. ",
        "There were 37 of them in the hall when the doors were closed in the evening. ",
    ];
    for fact in facts {
        let text = format!("{fact}{}", prose(500));
        let done = compress(&[("user", &text)], &options);
        assert_ne!(done.decisions[0].1, Reason::RelevanceDropped, "{fact}");
    }
    let done = compress(
        &[("user", &prose(600)), ("assistant", "Fine."), ("user", &prose(300)), ("user", &prose(400))],
        &options,
    );
    assert_eq!(done.texts[0], "[1 message of general discussion omitted]");
    assert_eq!(done.texts[2], "[2 messages of general discussion omitted]");
    assert_eq!(done.metrics.counts.relevance_dropped, 3);
}

#[test]
fn b24_the_shortest_summaries_name_each_fact_once_and_are_sentences_without_facts() {
    let options = EngineOptions { compression_depth: CompressionDepth::Aggressive, ..all() };
    let text = format!("The fetchUserProfile call waits for authService to answer. {}", prose(700));
    let done = compress(&[("user", &text)], &options);
    assert_eq!(done.texts[0], "[summary: fetchUserProfile, authService]");
    let done = compress(&[("user", &prose(900))], &options);
    assert!(done.texts[0].ends_with(".]") || done.texts[0].ends_with("...]"), "{}", done.texts[0]);
    assert!(done.texts[0].len() > 50, "{}", done.texts[0]);
}

#[test]
fn a_summary_defines_what_a_later_kept_message_uses() {
    let options = EngineOptions { coreference: true, recency_window: 1, ..EngineOptions::default() };
    let defined = format!(
        "{} The fetchLedger function reads the ledger of one customer. It must never be called twice, and KMS-7781 for \
         $4,500, INV-20391 for $12,900 and INV-20392 for $18,250 are due on 2024-05-01 at 14:30. {}",
        prose(400),
        prose(500)
    );
    let talk =
        [("user", defined.as_str()), ("assistant", "Good."), ("user", "Make sure that fetchLedger has a timeout.")];
    let done = compress(&talk, &options);
    done.shows("The fetchLedger function reads the ledger of one customer.");
    let again = compress_record(&done.record, &options);
    assert_eq!(again.record, done.record, "a context is not put in front twice");
    let without = [talk[0], talk[1], ("user", "Make sure that it has a timeout.")];
    assert!(!compress(&without, &options).texts[0].starts_with("[context: "));
}

/// Each of these made the documented engine quadratic: here a tenth of a megabyte of it goes through every option.
#[test]
fn g1_one_line_of_anything_goes_through_every_option() {
    let every = EngineOptions {
        fuzzy_dedup: true,
        importance_scoring: true,
        contradiction_detection: true,
        conversation_flow: true,
        semantic_clustering: true,
        coreference: true,
        discourse_aware: true,
        agent_tool_prepass: true,
        adapters: AdapterName::ALL.to_vec(),
        relevance_threshold: Some(3.0),
        ..forced(500)
    };
    for piece in [
        "word ",
        "中文没有空格",
        "1234567890",
        "ab-",
        " ",
        "\n",
        "a.b@c.d",
        "x:1:",
        "<a>",
        "{\"a\":",
        "- ",
        "`",
        "![",
        "key: ",
    ] {
        let long = piece.repeat(100_000 / piece.len());
        for role in ["user", "tool"] {
            let done =
                compress(&[(role, &long), ("assistant", "Thanks!"), (role, &piece.repeat(600 / piece.len()))], &every);
            assert!(outcome(&done).fits, "{piece:?}");
        }
    }
}
